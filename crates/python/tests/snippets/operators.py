"""Operators: types with types, types with Python's numbers, in both orders and in place."""

DTYPES = "bool_ uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64 bfloat16 complex64".split()
NUMBERS = ["True", "3", "2.5", "(1+2j)", "np.float32(2)", "np.int64(3)", "np.float64(2.5)", "np.array([2, 3])"]


def snippets():
    for dtype in DTYPES:
        a = f"mx.array([1, 2], mx.{dtype})"
        for op in "+ - * / // % **".split():
            for number in NUMBERS:
                if not (op in ("//", "%") and ("j" in number or dtype == "complex64")):
                    yield f"{a} {op} {number}"
            for number in NUMBERS[:3]:
                if not (op in ("//", "%") and dtype == "complex64"):
                    yield f"{number} {op} {a}"
        for op in "== != < <= > >=".split():
            yield f"{a} {op} 2"
            yield f"1.5 {op} {a}"
        for op in "& | ^ << >>".split():
            yield f"{a} {op} 1"
            yield f"{a} {op} {a}"
        for op in "- + ~ abs".split():
            yield f"{op}({a})"
        for op in "+= -= *= /= //= %= **=".split():
            if not (op in ("//=", "%=") and dtype == "complex64"):
                yield f"a = {a}; b = a; a {op} 2; (a, b, a is b)"
        for other in DTYPES:
            yield f"{a} + mx.array([3], mx.{other})"
        yield f"a = {a}; b = a; a += 2.5; (a, b, a is b)"
    for op in "&= |= ^= <<= >>=".split():
        yield f"a = mx.array([5, 6]); b = a; a {op} 1; (a, b, a is b)"
    yield "a = mx.ones((2, 2)); b = a; a @= mx.ones((2, 2)); (b, a is b)"
    for other in ["None", "'a'", "[1, 2]", "(1,)", "{}", "object()", "b'ab'", "2**40", "-2**70"]:
        for op in "+ - * / // % ** == != < >= & | << @".split():
            yield f"mx.array([1, 2]) {op} {other}"
        for op in "+ * == < & @".split():
            yield f"{other} {op} mx.array([1, 2])"
    for value in ["300", "-1", "256", "-129", "2**31"]:
        for dtype in ["int8", "uint8", "int32", "uint32", "int64", "bool_", "float16"]:
            yield f"mx.array([1], mx.{dtype}) + {value}"
    for shape in ["(2, 3)", "(3,)", "(2, 1)", "(1, 3)", "()", "(4,)", "(0,)", "(1, 1, 3)"]:
        yield f"(mx.ones((2, 3)) + mx.ones({shape})).shape"
        yield f"mx.zeros({shape}) < mx.ones((2, 1))"
