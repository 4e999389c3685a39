"""Index expressions: reading, assigning, updating."""

A = "a = mx.arange(24).reshape(2, 3, 4); "
INDICES = """0|-1|1|None|...|:|1:|:-1|::2|::-1|5:1:-2|0, 1|0, 1, 2|0, 1, 2, 3|-1, ..., 0|..., 1|..., None|None, 0|:, 1|:, :, 1|:, None, 1:
1, :, ::2|..., ::-1|mx.array(1)|mx.array([0, 1])|mx.array([[0, 1], [1, 0]])|[0, 1]|[[0], [1]]|:, mx.array([0, 2])
:, [0, 2], 1|mx.array([0, 1]), mx.array([1, 2])|mx.array([0, 1]), :, mx.array([1, 2])|0, mx.array([0, 2])|..., mx.array([0, 3])
mx.array([[0], [1]]), mx.array([0, 2])|mx.array([1, 0]), None, 0|None, mx.array([1])|1:, mx.array([0, 1]), ::2|0:0|2:1|..., ...
True|1.0|'a'|(0, 'a')|mx.array([True, False])|mx.array([0.5])|np.array([0, 1])|2**40|slice(0.5, 1)|slice(mx.array(0), 1)|()
mx.array([0, 1], mx.uint8)|mx.array([-1, 0])|-1, -1, -1|:, -1:, :1|::3, ::-2|None, None|0, None, ..., None|[True, False]|{}""".replace("\n", "|").split("|")
VALUES = ["7", "2.5", "mx.array(9)", "True"]


def snippets():
    for index in INDICES:
        yield f"{A}a[{index}]"
        yield f"{A}a.astype(mx.float32)[{index}].shape"
        for value in VALUES:
            yield f"{A}a[{index}] = {value}; a"
        yield f"{A}b = a; a[{index}] = 1; (b, a is b)"
        yield f"{A}a[{index}] = a[{index}] + 100; a"
        for op in ["add", "subtract", "multiply", "maximum", "minimum"]:
            yield f"{A}a.at[{index}].{op}(3)"
    for value in ["mx.ones((4,))", "mx.ones((3, 4))", "mx.ones((2, 3, 4))", "mx.ones((1, 1, 4))", "mx.ones((5,))", "[1, 2]", "None",
                  "np.ones(4)", "'a'", "1j", "mx.ones((1, 1, 1, 4))", "np.float32(3)"]:
        yield f"{A}a[0] = {value}; a"
        yield f"{A}a[...] = {value}; a"
        yield f"{A}a[:, mx.array([0, 1])] = {value}; a"
    yield "a = mx.zeros((4,)); a[mx.array([True, False, True, False])] = 5; a"
    yield "a = mx.zeros((4,)); a[mx.array([True, False, True, False])] = mx.array([1.0, 2.0]); a"
    yield "a = mx.zeros((2, 2)); a[mx.array([True, False])] = 5; a"
    yield "a = mx.zeros((2, 2)); a[mx.array([True, False, True])] = 5; a"
    yield "a = mx.zeros((3,)); a.at[mx.array([0, 0, 1])].add(1)"
    yield "a = mx.ones((3,)); a.at[mx.array([0, 0, 1])].multiply(2)"
    yield "a = mx.zeros((3,)); a.at[mx.array([0, 0, 1])].divide(2)"
    yield "a = mx.zeros((3,)); a.at.add(1)"
    yield "a = mx.zeros((3,)); b = a[:]; a[0] = 1; (a, b)"
    yield "a = mx.zeros((3,)); b = mx.array(a); a[0] = 1; (a, b)"
    yield "import copy; a = mx.zeros((3,)); b = copy.copy(a); c = copy.deepcopy(a); a += 1; (a, b, c)"
    yield "a = mx.array(3); a[0]"
    yield "a = mx.array(3); a[()]"
    yield "a = mx.array(3); a[...] = 4; a"
    yield "a = mx.array(3); a[None]"
    yield "del mx.zeros((3,))[0]"
    yield "[x.item() for x in mx.arange(12)]"
    yield "[x.tolist() for x in mx.arange(6).reshape(3, 2)]"
    yield "2 in mx.array([1, 2])"
