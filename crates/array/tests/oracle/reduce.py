"""Writes reduce.txt: what the MLX wheel gives for every reduction, type and kind of axes.

Run with a Python that has the wheel (`pip install "mlx[cpu]"`): python reduce.py > reduce.txt

Lines: `input NAME TYPE SHAPE HEX`; `call OP NAME TYPE LOOK AXES KEEPDIMS RESULT_TYPE SHAPE HEX`, or an error's name instead of the last
three; `vjp OP NAME AXES HEX` with the cotangent 1, 2, 3, …; `long OP HEX` of an array of 100,003 numbers made by a formula. HEX are
little-endian bytes; SHAPE and AXES are numbers joined by commas, `none` for none, `-` for an empty list. LOOK is how the input is
looked at: plain, transposed, or every axis backwards. Where the wheel computes halves in halves (mean, softmax, logsumexp) the results
are those of float32, rounded once; var and std, which it takes from the mean of squares, are NumPy's. Softmax and logsumexp of integers
and bools, which it gets wrong along any but the last axis, are those of float32.
"""

import warnings

import mlx.core as mx
import numpy as np

mx.set_default_device(mx.cpu)
warnings.simplefilter("ignore")

INTS = [mx.uint8, mx.uint16, mx.uint32, mx.uint64, mx.int8, mx.int16, mx.int32, mx.int64]
HALVES = [mx.float16, mx.bfloat16]
DTYPES = [mx.bool_] + INTS + HALVES + [mx.float32, mx.float64, mx.complex64]
REDUCE = ["sum", "prod", "min", "max", "all", "any", "mean", "var", "std", "logsumexp"]
ARG = ["argmin", "argmax"]
EXPONENTIALS = ["softmax", "logsumexp"]
LOOKS = {
    "plain": lambda x: x,
    "transposed": lambda x: x.T,
    "backwards": lambda x: x[tuple(slice(None, None, -1) for _ in x.shape)],
}


def name(dtype):
    return str(dtype).split(".")[-1].rstrip("_")


def hexed(x):
    if x.dtype == mx.bfloat16:
        x = x.view(mx.uint16)
    return np.array(x).tobytes().hex() or "-"


def listed(numbers):
    if numbers is None:
        return "none"
    return ",".join(map(str, numbers)) or "-"


def call(op, x, axes, keepdims, tracing=False):
    f = getattr(mx, op)
    if op in EXPONENTIALS + ["mean"] and x.dtype in HALVES:
        return call(op, x.astype(mx.float32), axes, keepdims).astype(x.dtype)
    if op in EXPONENTIALS and x.dtype in INTS + [mx.bool_]:
        return call(op, x.astype(mx.float32), axes, keepdims)
    if op in ("var", "std") and not tracing:
        dtype = f(x, axis=axes, keepdims=keepdims).dtype
        wide = np.array(x.astype(mx.float32) if x.dtype in HALVES else x)
        wide = wide.astype(np.complex128 if x.dtype == mx.complex64 else np.float64)
        axes = None if axes is None else tuple(axes)
        return mx.array(np.array(getattr(np, op)(wide, axis=axes, keepdims=keepdims)), dtype=dtype)
    if op in ARG:
        return f(x, axis=None if axes is None else axes[0], keepdims=keepdims)
    if op == "softmax":
        return f(x, axis=axes)
    return f(x, axis=axes, keepdims=keepdims)


def result(op, x, axes, keepdims):
    try:
        y = call(op, x, axes, keepdims)
        mx.eval(y)
        return f"{name(y.dtype)} {listed(y.shape)} {hexed(y)}"
    except (ValueError, IndexError) as error:
        return type(error).__name__


def values(dtype, shape, seed):
    draw = np.random.default_rng(seed)
    if dtype in INTS + [mx.bool_]:
        low = 0 if "u" in name(dtype) or dtype == mx.bool_ else -3
        return mx.array(draw.integers(low, 5, shape)).astype(dtype)
    numbers = draw.uniform(-2, 2, shape).astype(np.float32)
    if dtype == mx.complex64:
        return mx.array(numbers) + 1j * mx.array(draw.uniform(-2, 2, shape).astype(np.float32))
    return mx.array(numbers).astype(dtype)


def main():
    for seed, dtype in enumerate(DTYPES):
        x = values(dtype, (3, 5, 7), seed)
        print("input", "cube", name(dtype), listed(x.shape), hexed(x))
        for op in REDUCE + ARG + ["softmax"]:
            kinds = [([0], True), ([-1], False)] + ([] if op == "softmax" else [(None, False)])
            for axes, keepdims in kinds + ([] if op in ARG + ["softmax"] else [([0, 2], False)]):
                print("call", op, "cube", name(dtype), "plain", listed(axes), int(keepdims), result(op, x, axes, keepdims))
            if dtype in (mx.float32, mx.int8, mx.bfloat16) and op != "softmax":
                for look in ("transposed", "backwards"):
                    for axes in (None, [1], [2]):
                        y = result(op, LOOKS[look](x), axes, False)
                        print("call", op, "cube", name(dtype), look, listed(axes), 0, y)
    special()
    errors()
    derivatives()
    long()


def special():
    nan, inf = float("nan"), float("inf")
    rows = {
        "nan": [1.0, nan, 3.0, nan], "infinite": [inf, 1.0, -2.0, inf], "lowest": [-inf, -inf, -inf, -inf],
        "masked": [-inf, 1.0, 2.0, -inf], "both": [inf, -inf, 0.0, 1.0], "tied": [2.0, 3.0, 3.0, 2.0],
    }
    for which, row in rows.items():
        for dtype in (mx.float32, mx.float16):
            x = mx.array(row).astype(dtype)
            print("input", which, name(dtype), "4", hexed(x))
            for op in REDUCE + ARG + ["softmax"]:
                print("call", op, which, name(dtype), "plain", "none", 0, result(op, x, None, False))


def errors():
    for which, shape in (("scalar", ()), ("empty", (0,)), ("rows0", (0, 3)), ("columns0", (3, 0)), ("small", (2, 3))):
        x = mx.ones(shape, mx.float32)
        print("input", which, "float32", listed(shape), hexed(x))
        for op in REDUCE + ARG + ["softmax"]:
            several = [] if op in ARG else [[], [0, 1], [0, 0], [0, -2], [0, 5]]
            for axes in [None, [0], [-1], [3], [-3]] + several:
                print("call", op, which, "float32", "plain", listed(axes), 0, result(op, x, axes, False))


def derivatives():
    zeros = mx.array([[2.0, 0.0, 3.0, -1.0], [0.0, 5.0, 0.0, 2.0], [1.5, 2.0, 4.0, 4.0]])
    print("input", "zeros", "float32", "3,4", hexed(zeros))
    for op in ["sum", "prod", "min", "max", "mean", "var", "logsumexp", "softmax"]:
        for axes in (None, [0], [1]):
            y = call(op, zeros, axes, False)
            g = (mx.arange(y.size) + 1).astype(mx.float32).reshape(y.shape)
            _, (gradient,) = mx.vjp(lambda x: call(op, x, axes, False, True), [zeros], [g])
            print("vjp", op, "zeros", listed(axes), hexed(gradient))


def long():
    x = (mx.arange(100003, dtype=mx.int32) * 7919 % 1009).astype(mx.float32) / 512.0 - 1.0
    for op in REDUCE + ARG:
        if op not in ("prod", "all", "any"):
            print("long", op, hexed(call(op, x, None, False)))
    # The wheel's exponentials are wrong by 1e-6.
    powers = np.exp(np.array(x).astype(np.float64))
    print("long", "softmax", hexed(mx.array((powers / powers.sum())[:64].astype(np.float32))))


main()
