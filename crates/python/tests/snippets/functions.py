"""Functions of one and of two operands over types, and reductions over axes."""

UNARY = """abs acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh bitwise_invert ceil conj conjugate cos cosh
degrees erf erfinv exp expm1 floor imag isfinite isinf isnan isneginf isposinf log log10 log1p log2 logical_not negative positive
radians real reciprocal round rsqrt sigmoid sign sin sinh sqrt square stop_gradient tan tanh trunc nan_to_num""".split()
BINARY = """add arctan2 bitwise_and bitwise_or bitwise_xor divide equal floor_divide greater greater_equal left_shift less less_equal
logaddexp logical_and logical_or logical_xor maximum minimum multiply not_equal power remainder right_shift subtract
array_equal divmod""".split()
REDUCTIONS = "all any logsumexp max mean min prod sum var std argmax argmin".split()
# Integers to the power of themselves differ where they overflow; so do signs of zero in complex functions.
TYPES = ["bool_", "uint8", "int8", "int32", "int64", "float16", "bfloat16", "float32", "complex64"]


def snippets():
    for name in UNARY:
        for dtype in TYPES:
            if dtype == "complex64" and name in ("round", "trunc", "ceil", "floor", "sign", "erf", "erfinv", "nan_to_num"):
                continue
            yield f"mx.{name}(mx.array([0.25, 0.5, 0.75], mx.{dtype}))"
        yield f"mx.{name}(0.5)"
        yield f"mx.{name}(None)"
        yield f"mx.{name}([0.5])"
        yield f"mx.{name}('a')"
        yield f"mx.{name}()"
        yield f"mx.{name}(mx.array([0.5]), stream=mx.cpu)"
    for name in BINARY:
        for dtype in TYPES:
            if dtype == "complex64" and name in ("arctan2", "floor_divide", "remainder", "divmod", "logaddexp"):
                continue
            yield f"mx.{name}(mx.array([1, 2, 3], mx.{dtype}), mx.array([3, 2, 1], mx.{dtype}))"
        yield f"mx.{name}(mx.array([1, 2]), 2)"
        yield f"mx.{name}(2, mx.array([1, 2]))"
        yield f"mx.{name}(1, 2)"
        yield f"mx.{name}(mx.zeros((2, 3)), mx.zeros((4,)))"
        yield f"mx.{name}(1)"
    for name in REDUCTIONS:
        for dtype in TYPES:
            if dtype == "complex64" and name in ("logsumexp", "std", "var", "argmax", "argmin"):
                continue
            yield f"mx.{name}(mx.array([[1, 0, 3], [4, 5, 2]], mx.{dtype}))"
        for axis in ["0", "1", "-1", "2", "-3", "None", "(0, 1)", "[1]", "(0, 0)", "()", "'a'", "1.5"]:
            yield f"mx.{name}(mx.array([[1.0, 0, 3], [4, 5, 2]]), axis={axis})"
            yield f"mx.array([[1.0, 0, 3], [4, 5, 2]]).{name}({axis}, keepdims=True)"
        yield f"mx.{name}(mx.zeros((0,)))"
        yield f"mx.{name}(mx.zeros((2, 0)), axis=0)"
        yield f"mx.{name}([1, 2])"
        yield f"mx.{name}(1)"
    for name in "abs conj cos exp log log10 log1p log2 reciprocal round rsqrt sin sqrt square".split():
        yield f"mx.array([0.5, 1.0]).{name}()"
        yield f"mx.array([0.5, 1.0]).{name}(stream=mx.cpu)"
    for axis in ["None", "0", "1", "-1", "(0, 1)", "2"]:
        yield f"mx.softmax(mx.array([[1.0, 2, 3], [4, 5, 6]]), axis={axis})"
    for shapes in [("(2, 3)", "(3, 4)"), ("(3,)", "(3,)"), ("(3,)", "(3, 2)"), ("(2, 3)", "(3,)"), ("(2, 2, 3)", "(3, 2)"),
                   ("(2, 3)", "(2, 3)"), ("()", "(2,)"), ("(1, 0)", "(0, 2)"), ("(5, 1, 2, 3)", "(4, 3, 2)")]:
        for dtype in ["float32", "float16", "bfloat16", "complex64", "int32"]:
            yield f"mx.ones({shapes[0]}, mx.{dtype}) @ mx.ones({shapes[1]}, mx.{dtype})"
    for dtype in ["float32", "float16"]:
        yield f"mx.addmm(mx.ones((2, 2), mx.{dtype}), mx.ones((2, 3), mx.{dtype}), mx.ones((3, 2), mx.{dtype}), alpha=0.5, beta=2.0)"
