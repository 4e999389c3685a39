"""Writes elementwise.txt: what the MLX wheel gives for every element-wise op and type.

Run with a Python that has the wheel (`pip install "mlx[cpu]"`): python elementwise.py > elementwise.txt

Lines: `x|a|b|c TYPE HEX` are inputs (x of ops of one array; a and b of ops of two; vjp_x and so on of derivatives), then
`OP TYPE RESULT_TYPE HEX` (of `astype`, every type to every other, with inputs c), or `OP TYPE ERROR_NAME` where the wheel refuses, and `vjp OP TYPE HEX [HEX]`.
HEX are little-endian bytes. Left out is what the wheel does not define or does in several ways: quotients by a zero integer,
logic of imaginary numbers. Where its functions are less exact than the type (exp and erf by 1e-5, several of float64 as if of
float32), the results are those of Python's math, rounded to the type. Its vjp of a complex power lacks a conjugate.
"""

import math

import mlx.core as mx
import numpy as np

mx.set_default_device(mx.cpu)

INTS = [mx.uint8, mx.uint16, mx.uint32, mx.uint64, mx.int8, mx.int16, mx.int32, mx.int64]
FLOATS = [mx.float16, mx.float32, mx.float64, mx.bfloat16]
DTYPES = [mx.bool_] + INTS + FLOATS + [mx.complex64]
NAN, INF = float("nan"), float("inf")

UNARY = """negative abs sign square sqrt rsqrt reciprocal exp expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh
cosh tanh arcsinh arccosh arctanh erf erfinv sigmoid floor ceil round trunc positive logical_not bitwise_invert isnan isinf
isposinf isneginf isfinite real imag conjugate degrees radians nan_to_num""".split()
BINARY = """add subtract multiply divide floor_divide remainder power maximum minimum arctan2 logaddexp equal not_equal less
less_equal greater greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift
isclose""".split()

X = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.5, 0.1, -0.3, 0.9, -0.95, 2.0, -3.7, 10.0, -20.0]
X += [60.0, 1e-3, -1e-4, 300.0]
A = [NAN, 1.0, INF, -INF, 0.0, -0.0, 7.0, -7.0, 7.0, -7.0, 5.5, 0.3, 2.0, 1.5, -2.0, 0.0, 3.0, 1.0, 1e3, 0.7]
B = [1.0, NAN, 2.0, 3.0, -0.0, 0.0, 3.0, 3.0, -3.0, -3.0, 0.25, 0.7, 10.0, -1.5, 3.0, 2.0, 3.0, INF, 1.001e3, -0.7]
C = [0.0, -0.0, 1.0, -1.5, 100.75, -100.25, 0.3, -1.0, 65.5, 127.0]
VJP_X = [0.3, -0.4, 0.75, 0.9, 0.25, 0.6]
VJP_A = [0.3, 1.4, 0.75, 2.0, 0.25, 0.6]
VJP_B = [1.3, 0.4, 0.75, 2.0, 1.25, 0.5]
G = [1.0, -2.0, 0.5, 3.0, 1.0, 0.25]
# Kinks, ties and poles, of float32 only.
EDGE_X, EDGE_A, EDGE_B, EDGE_G = [0.0, -0.0, 1.0, -1.0], [0.0, 0.0, -2.0, -1.0], [0.0, 2.0, 2.0, -1.0], [1.0, 1.0, 2.0, 1.0]


def array(values, dtype):
    return mx.array(np.array(values, np.float32)).astype(dtype)


def complex_array(values, turn):
    parts = np.array(values, np.float32)
    return mx.array((parts + 1j * np.roll(parts, turn)).astype(np.complex64))


def integers(dtype, low, high):
    """Small numbers, and the ends of the type."""
    name = str(dtype).split(".")[-1]
    info = np.iinfo(name)
    signed = info.min < 0
    small = [v for v in low if signed or v >= 0]
    ends = [v for v in high if info.min <= v <= info.max] + [info.max, info.max - 1, info.min, info.max // 2 + 1]
    return mx.array(np.array((small + ends + small)[:20], dtype=name))


def inputs(dtype):
    if dtype == mx.bool_:
        return [mx.array([False, True, True, False]), mx.array([False, False, True, True]), mx.array([False, True, False, True])]
    if dtype in INTS:
        x = integers(dtype, [0, 1, 2, 3, 7, 10, -1, -2, -5], [100, 127])
        a = integers(dtype, [7, -7, 7, -7, 0, 1, 2, 3, 5, -2, -1], [100, 3])
        b = integers(dtype, [3, 3, -3, -3, 5, 2, 7, 1, 3, 9, 5], [2, 2])
        n = min(a.size, b.size)
        a, b = a[:n], b[:n]
        one = mx.array(np.ones(n, str(dtype).split(".")[-1]))
        lowest = np.iinfo(str(dtype).split(".")[-1]).min
        overflows = (a == mx.array(np.full(n, lowest))) & (b == -1) if lowest < 0 else one == 0
        return [x, a, mx.where((b == 0) | overflows, one, b)]
    if dtype == mx.complex64:
        finite = lambda values: [v if np.isfinite(v) else 1.25 for v in values]
        x = complex_array([v for v in finite(X) if abs(v) < 60], 1)
        return [x, complex_array(finite(A), 1), complex_array(finite(B), 2)]
    return [array(X, dtype), array(A, dtype), array(B, dtype)]


def hexed(x):
    if x.dtype == mx.bfloat16:
        x = x.view(mx.uint16)
    return np.array(x).tobytes().hex()


def name(dtype):
    return str(dtype).split(".")[-1].removesuffix("_")


def erfinv(x):
    """By bisection on what is left of 1, which keeps its digits."""
    if not abs(x) < 1:
        return math.copysign(INF, x) if abs(x) == 1 else NAN
    low, high = 0.0, 6.0
    while low < (middle := (low + high) / 2) < high:
        below = math.erf(middle) < abs(x) if abs(x) < 0.5 else math.erfc(middle) > 1 - abs(x)
        low, high = (middle, high) if below else (low, middle)
    return math.copysign(low, x)


PRECISE = {
    "exp": np.exp,
    "sin": np.sin,
    "cos": np.cos,
    "erf": np.vectorize(math.erf),
    "erfinv": np.vectorize(erfinv),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "logaddexp": np.logaddexp,
}


def precisely(op, y, args):
    """The result, from Python where the wheel's is not as exact as its type."""
    if y.dtype == mx.float64 and op in PRECISE or y.dtype == mx.float32 and op in ("exp", "erf"):
        with np.errstate(all="ignore"):
            exact = PRECISE[op](*[np.array(x.astype(y.dtype)).astype(np.float64) for x in args])
            return mx.array(exact, dtype=y.dtype) if y.dtype == mx.float64 else mx.array(exact.astype(np.float32))
    return y


def line(op, dtype, args):
    if op in ("logical_and", "logical_or", "logical_xor") and dtype == mx.complex64:
        return
    try:
        y = precisely(op, getattr(mx, op)(*args), args)
        mx.eval(y)
        print(op, name(dtype), name(y.dtype), hexed(y))
    except Exception as error:
        print(op, name(dtype), type(error).__name__)


def vjp_line(op, dtype, args, g):
    function = getattr(mx, op)
    if op == "power" and dtype == mx.complex64:
        return
    try:
        y = function(*args)
        if y.dtype not in FLOATS + [mx.complex64]:
            return
        gs = mx.vjp(function, args, [g.astype(y.dtype)])[1]
        mx.eval(gs)
        print("vjp", op, name(dtype), *[hexed(g.astype(a.dtype)) for g, a in zip(gs, args)])
    except Exception:
        pass


for dtype in DTYPES:
    x, a, b = inputs(dtype)
    for label, value in zip("xab", [x, a, b]):
        print(label, name(dtype), hexed(value))
    for op in UNARY:
        line(op, dtype, [x])
    for op in BINARY:
        line(op, dtype, [a, b])

for dtype in DTYPES:
    if dtype in INTS:
        c = inputs(dtype)[0]
    else:
        c = complex_array(C, 1) if dtype == mx.complex64 else array(C, dtype)
    print("c", name(dtype), hexed(c))
    for to in DTYPES:
        print("astype", name(dtype), name(to), hexed(c.astype(to)))

for dtype in [mx.float32, mx.complex64]:
    if dtype == mx.float32:
        x, a, b, g = [array(v, dtype) for v in [VJP_X + EDGE_X, VJP_A + EDGE_A, VJP_B + EDGE_B, G + EDGE_G]]
    else:
        x, a, b, g = complex_array(VJP_X, 1), complex_array(VJP_A, 1), complex_array(VJP_B, 2), complex_array(G, 1)
    for label, value in [("vjp_x", x), ("vjp_a", a), ("vjp_b", b), ("vjp_g", g)]:
        print(label, name(dtype), hexed(value))
    for op in UNARY:
        if op == "arccosh" and dtype == mx.float32:
            continue
        vjp_line(op, dtype, [x], g)
    for op in BINARY:
        vjp_line(op, dtype, [a, b], g)
