"""Writes matmul.txt: what the MLX wheel gives for matrix products.

Run with a Python that has the wheel (`pip install "mlx[cpu]"`): python matmul.py > matmul.txt

Lines: `OP TYPE TYPE [TYPE] SHAPE SHAPE [SHAPE] RESULT_TYPE RESULT_SHAPE HEX`, or `… ERROR_NAME` where the wheel refuses, and
`vjp_OP …` with the cotangents of the inputs, each as `SHAPE HEX`. Shapes are written 2x3, that of a number as -. HEX are
little-endian bytes. Input number s has ((7 i + 3 + 5 s) mod 17 - 8) / 8 as its element i (complex: the imaginary part is that
of i + 1; unsigned: the absolute value); the cotangent is input number 3. All sums of products are exact in float32, so results are rounded once, and equal.
addmm is called with alpha = 0.5, beta = 2, tensordot with one axis.
"""

import mlx.core as mx
import numpy as np

mx.set_default_device(mx.cpu)

FLOATS = [mx.float32, mx.float16, mx.bfloat16, mx.float64, mx.complex64]
MIXED = [(mx.int32, mx.float16), (mx.float16, mx.bfloat16), (mx.bool_, mx.float32), (mx.uint64, mx.int8)]
MIXED += [(mx.complex64, mx.float32)]
SHAPES = [((3,), (3,)), ((3,), (3, 2)), ((2, 3), (3,)), ((4, 5), (5, 3)), ((9, 33), (33, 17)), ((2, 4, 5), (5, 3))]
SHAPES += [((2, 1, 2, 3), (3, 3, 2)), ((3,), (4, 3, 2)), ((4, 2, 3), (3,)), ((1, 70), (70, 19)), ((19, 70), (70, 1))]
SHAPES += [((2, 0), (0, 3)), ((0, 3), (3, 2)), ((0,), (0,)), ((0, 2, 3), (3, 2))]
WRONG = [((), (3,)), ((2, 3), (2, 3)), ((3,), (4,)), ((2, 2, 3), (3, 3, 2))]
ADDMM = [((3,), (5, 7), (7, 3)), ((5, 3), (5, 7), (7, 3)), ((), (6,), (6,)), ((2, 1, 5), (2, 3, 4), (2, 4, 5))]
ADDMM += [((5,), (2, 3, 4), (4, 5)), ((3,), (2, 0), (0, 3))]
ADDMM_WRONG = [((7,), (3, 2), (2, 3)), ((4, 3, 3), (3, 2), (2, 3)), ((3,), (3, 2), (3, 3)), ((5, 1), (3, 2), (2,))]
ADDMM_WRONG += [((), (), (3,))]
INNER = [((3,), (3,)), ((2, 3), (4, 5, 3)), ((2, 3), ()), ((), ()), ((2, 3), (4,))]
OUTER = [((3,), (2,)), ((2, 2), (3,)), ((), (2,)), ((0,), (2,))]
TENSORDOT = [((2, 3, 4), (4, 5)), ((2, 3), (4, 5)), ((4,), (4, 2, 3))]


def array(shape, dtype, seed):
    size = int(np.prod(shape, dtype=np.int64))
    i = np.arange(size + 1)
    values = ((7 * i + 3 + 5 * seed) % 17 - 8) / 8
    if dtype == mx.complex64:
        return mx.array((values[:size] + 1j * values[1:]).astype(np.complex64).reshape(shape))
    values = np.abs(values) if name(dtype).startswith("uint") else values
    return mx.array(values[:size].astype(np.float32).reshape(shape)).astype(dtype)


def name(dtype):
    return str(dtype).removeprefix("mlx.core.")


def show(shape):
    return "x".join(map(str, shape)) or "-"


def bits(a):
    a = a.view(mx.uint16) if a.dtype == mx.bfloat16 else a
    return np.array(a).tobytes().hex() or "-"


def inputs(dtypes, shapes):
    return [array(shape, dtype, seed) for seed, (shape, dtype) in enumerate(zip(shapes, dtypes))]


def line(op, call, dtypes, shapes):
    head = " ".join([op, *map(name, dtypes), *map(show, shapes)])
    try:
        out = call(*inputs(dtypes, shapes))
        mx.eval(out)
        print(head, name(out.dtype), show(out.shape), bits(out))
    except Exception as error:
        print(head, type(error).__name__)


def vjp_line(op, call, dtypes, shapes):
    given = inputs(dtypes, shapes)
    out = call(*given)
    _, grads = mx.vjp(call, given, [array(out.shape, out.dtype, 3)])
    head = " ".join(["vjp_" + op, *map(name, dtypes), *map(show, shapes)])
    print(head, " ".join(f"{show(g.shape)} {bits(g)}" for g in grads))


def addmm(c, a, b):
    return mx.addmm(c, a, b, 0.5, 2.0)


def tensordot(a, b):
    return mx.tensordot(a, b, 1 if a.shape[-1] == b.shape[0] else 0)


for dtype in FLOATS:
    for shapes in SHAPES:
        line("matmul", mx.matmul, [dtype] * 2, shapes)
    for shapes in ADDMM:
        line("addmm", addmm, [dtype] * 3, shapes)
    for shapes in SHAPES[:4] + SHAPES[5:9]:
        vjp_line("matmul", mx.matmul, [dtype] * 2, shapes)
    for shapes in ADDMM[:5]:
        vjp_line("addmm", addmm, [dtype] * 3, shapes)
for dtypes in MIXED:
    line("matmul", mx.matmul, dtypes, SHAPES[3])
    line("addmm", addmm, (dtypes[1], *dtypes), ADDMM[0])
for dtypes in [(mx.int32, mx.int32), (mx.uint8, mx.bool_)]:
    line("matmul", mx.matmul, dtypes, SHAPES[3])
    line("addmm", addmm, (dtypes[1], *dtypes), ADDMM[0])
    line("outer", mx.outer, dtypes, OUTER[0])
    line("inner", mx.inner, dtypes, INNER[0])
for shapes in WRONG:
    line("matmul", mx.matmul, FLOATS[:1] * 2, shapes)
for shapes in ADDMM_WRONG:
    line("addmm", addmm, FLOATS[:1] * 3, shapes)
for op, call, cases in [("inner", mx.inner, INNER), ("outer", mx.outer, OUTER), ("tensordot", tensordot, TENSORDOT)]:
    for shapes in cases:
        line(op, call, FLOATS[:1] * 2, shapes)
