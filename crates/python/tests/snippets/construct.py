"""Arrays from Python's values, and back."""

DTYPES = "bool_ uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64 bfloat16 complex64".split()
VALUES = """1|-1|True|2.5|1j|[1, 2]|[1, 2.5]|[True, 2]|[True, False]|[1, 2j]|[]|[[]]|[[], []]|[[1], [2]]|[[1, 2], [3]]|[1, [2]]|[[1], 2]|(1, 2)
((1, 2), [3, 4])|[mx.array(1), mx.array(2)]|[mx.array(1), 2.5]|[mx.array([1, 2]), mx.array([3, 4])]|[mx.array([1]), [2]]
[mx.array([1]), mx.array([1, 2])]|range(3)|'a'|None|{}|object()|b'ab'|bytearray(b'ab')|memoryview(b'ab')|2**31|2**40|-2**31|[1, 2**40]
2**63|-2**63|2**64|float('nan')|float('inf')|[float('nan'), -float('inf')]|1e40|[0.1, 1e-8]|[300, -1]|np.float32(1.5)|np.int8(3)
np.float64(2.5)|np.bool_(True)|np.arange(3)|np.arange(3.0)|np.zeros((2, 0))|np.array(5)|np.array([1, 2], dtype=np.uint16)
np.array([1, 2], dtype=np.float16)|np.array([1j])|np.array([True, False])|np.arange(6).reshape(2, 3).T
np.array(['a'])|[np.float32(1)]|[np.float64(1)]|[np.array([1, 2])]|mx.array([1, 2])|mx.array(1.5)|[None]|['a']|[[[1]]]""".replace("\n", "|").split("|")
BACK = "tolist() item() shape dtype size ndim nbytes itemsize T.shape real imag __len__() __dlpack_device__()".split()


def snippets():
    for value in VALUES:
        yield f"mx.array({value})"
        yield f"mx.asarray({value})"
        for dtype in ("int32", "float32", "uint8", "bool_", "complex64", "bfloat16"):
            yield f"mx.array({value}, mx.{dtype})"
    for dtype in DTYPES:
        a = f"mx.array([[1, 0, 3]], mx.{dtype})"
        yield from (f"{a}.{name}" for name in BACK)
        for call in ["repr", "str", "bytes", "len", "list", "bool", "int", "float", "complex", "np.array", "np.asarray", "memoryview"]:
            yield f"{call}({a})"
            yield f"{call}(mx.array(3, mx.{dtype}))"
        yield f"memoryview({a}).format"
        yield f"memoryview({a}).strides"
        yield f"import pickle; pickle.loads(pickle.dumps({a}))"
        yield f"{a}.__getstate__()[1]"
        yield f"mx.from_dlpack({a})"
        yield f"np.from_dlpack({a})"
        yield f"mx.array(np.array({a}))"
        yield f"mx.zeros((2, 2), mx.{dtype})"
        yield f"mx.ones((2,), mx.{dtype})"
        yield f"mx.full((2,), 3, mx.{dtype})"
        yield f"mx.eye(2, dtype=mx.{dtype})"
        yield f"mx.arange(4, dtype=mx.{dtype})"
        yield f"mx.zeros_like({a})"
        yield f"mx.ones_like({a})"
        yield f"mx.{dtype}"
        yield f"hash(mx.{dtype})"
        yield f"mx.{dtype}.size"
        yield f"mx.finfo(mx.{dtype})"
        yield f"mx.iinfo(mx.{dtype})"
        yield f"f = mx.finfo(mx.{dtype}); (f.min, f.max, f.eps, f.smallest_normal, f.bits, f.dtype)"
        yield f"i = mx.iinfo(mx.{dtype}); (i.min, i.max, i.dtype)"
        for other in DTYPES:
            yield f"{a}.astype(mx.{other})"
            yield f"mx.result_type(mx.{dtype}, mx.{other})"
            yield f"mx.can_cast(mx.{dtype}, mx.{other})"
        for other in ("uint8", "int32", "float32", "complex64"):
            yield f"mx.array([1, 2, 3, 4, 5, 6, 7, 8], mx.{dtype}).view(mx.{other})"
        for category in "complexfloating floating inexact signedinteger unsignedinteger integer number generic".split():
            yield f"mx.issubdtype(mx.{dtype}, mx.{category})"
        for kind in ["bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric", "foo"]:
            yield f"mx.isdtype(mx.{dtype}, '{kind}')"
    for spec in ["", ".2f", "d", ">8", "e"]:
        yield f"format(mx.array(3), '{spec}')"
        yield f"format(mx.array(3.14159), '{spec}')"
        yield f"format(mx.array([1.0]), '{spec}')"
