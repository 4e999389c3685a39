"""Writes fast.txt: what the MLX wheel gives for the ops of mlx.core.fast, and for their derivatives.

Run with a Python that has the wheel (`pip install "mlx[cpu]"`): python fast.py > fast.txt

Lines: `NAME TYPE SHAPE HEX | SHAPE HEX | …`: the result of a case that tests/fast.rs knows by its name, then the cotangents of its
floating inputs (of float32 only). Shapes are written 2x3, HEX are little-endian bytes. Input number s has
((7 i + 3 + 5 s) mod 17 - 8) / 8 as its element i, a mask of bools whether that is above -0.5; offsets are 3, or 3 and 5; frequencies
are 1 + i. The cotangent is input number 9.
"""

import mlx.core as mx
import numpy as np

mx.set_default_device(mx.cpu)
fast = mx.fast


def given(number, shape, dtype=mx.float32):
    i = np.arange(int(np.prod(shape)))
    return mx.array((((7 * i + 3 + 5 * number) % 17 - 8) / 8).astype(np.float32).reshape(shape)).astype(dtype)


def rope(offset=3, **options):
    return lambda x: fast.rope(x, **{"dims": 8, "traditional": False, "base": 100.0, "scale": 0.5, "offset": offset, **options})


def attention(mask=None, sinks=False):
    def call(q, k, v, *more):
        used = more[0] if mask == "input" else mask
        return fast.scaled_dot_product_attention(q, k, v, scale=0.4, mask=used, sinks=more[-1] if sinks else None)

    return call


def seen(shape):
    return given(3, shape) > -0.5


QKV = [(2, 4, 3, 8), (2, 2, 5, 8), (2, 2, 5, 6)]
# Name, function, shapes of the floating inputs.
CASES = [
    ("rms_norm", lambda x, w: fast.rms_norm(x, w, 1e-3), [(3, 40), (40,)]),
    ("rms_norm_plain", lambda x: fast.rms_norm(x, None, 1e-3), [(2, 3, 9)]),
    ("layer_norm", lambda x, w, b: fast.layer_norm(x, w, b, 1e-3), [(3, 40), (40,), (40,)]),
    ("layer_norm_plain", lambda x: fast.layer_norm(x, None, None, 1e-3), [(2, 3, 9)]),
    ("layer_norm_weight", lambda x, w: fast.layer_norm(x, w, None, 1e-3), [(3, 9), (9,)]),
    ("layer_norm_bias", lambda x, b: fast.layer_norm(x, None, b, 1e-3), [(3, 9), (9,)]),
    ("rope", rope(), [(2, 3, 4, 8)]),
    ("rope_traditional", rope(traditional=True, dims=6), [(2, 3, 4, 8)]),
    ("rope_offsets", rope(offset=mx.array([3, 5])), [(2, 3, 4, 8)]),
    ("rope_freqs", rope(base=None, freqs=mx.array([1.0, 2, 3, 4])), [(2, 4, 10)]),
    ("attention", attention(), QKV),
    ("attention_causal", attention("causal"), QKV),
    ("attention_bools", lambda q, k, v: attention("input")(q, k, v, seen((4, 3, 5))), QKV),
    ("attention_added", attention("input"), QKV + [(2, 1, 3, 5)]),
    ("attention_sinks", attention("causal", sinks=True), QKV + [(4,)]),
]


def text(x):
    data = np.array(x.view(mx.uint16) if x.dtype == mx.bfloat16 else x).tobytes().hex()
    return f"{'x'.join(map(str, x.shape))} {data}"


for name, call, shapes in CASES:
    for dtype in (mx.float32, mx.float16, mx.bfloat16, mx.float64):
        inputs = [given(s, shape, dtype) for s, shape in enumerate(shapes)]
        found = [call(*inputs)]
        if dtype == mx.float32:
            found += mx.vjp(call, inputs, [given(9, found[0].shape)])[1]
        print(name, str(dtype).split(".")[-1], " | ".join(text(x) for x in found))
