"""The ops of `mx.fast`: every type, and what fits and what does not."""

FLOATS = ["float32", "float16", "bfloat16", "float64"]
OTHERS = ["int32", "bool_", "complex64"]
# The numbers are multiples of a power of two, so that every type holds them.
NUMBERS = "((mx.arange({size}) * 7 % 17 - 8) / 8).astype(mx.{dtype}).reshape({shape})"


def numbers(shape, dtype="float32"):
    size = 1
    for n in shape:
        size *= n
    return NUMBERS.format(size=size, dtype=dtype, shape=shape)


def norms():
    for x in FLOATS + OTHERS:
        yield f"mx.fast.rms_norm({numbers((3, 8), x)}, None, 1e-3)"
        yield f"mx.fast.layer_norm({numbers((3, 8), x)}, None, None, 1e-3)"
        for w in FLOATS + OTHERS:
            weight = f"mx.arange(8).astype(mx.{w})"
            yield f"mx.fast.rms_norm({numbers((3, 8), x)}, {weight}, 1e-3)"
            yield f"mx.fast.layer_norm({numbers((3, 8), x)}, {weight}, {weight}, 1e-3)"
            yield f"mx.fast.layer_norm({numbers((3, 8), x)}, None, {weight}, 1e-3)"
    for shape in [(), (1,), (0,), (4,), (0, 4), (4, 0), (2, 3, 4)]:
        for weight in [(), (1,), (4,), (0,), (1, 4), (3,)]:
            yield f"mx.fast.rms_norm(mx.ones({shape}), mx.ones({weight}), 1e-5)"
            yield f"mx.fast.layer_norm(mx.ones({shape}), mx.ones({weight}), None, 1e-5)"
            yield f"mx.fast.layer_norm(mx.ones({shape}), None, mx.ones({weight}), 1e-5)"


def ropes():
    fixed = "base=100.0, scale=1.0, offset=0"
    for dtype in FLOATS + OTHERS:
        for traditional in (False, True):
            yield f"mx.fast.rope({numbers((2, 3, 8), dtype)}, 8, traditional={traditional}, {fixed})"
            freqs = "base=None, scale=0.5, offset=3, freqs=mx.array([1.0, 2, 3])"
            yield f"mx.fast.rope({numbers((1, 2, 3, 8), dtype)}, 6, traditional={traditional}, {freqs})"
    for offset in ["3", "-2", "2.5", "True", "None", "mx.array(3)", "mx.array([3])", "mx.array([3, 5])", "mx.array([1, 2, 3])",
                   "mx.array([[3, 5]])", "mx.array(3.0)", "mx.array(True)", "mx.array(3, mx.uint8)", "[3, 5]"]:
        for shape in [(2, 3, 4), (2, 2, 3, 4), (1, 3, 4), (2, 2, 1, 3, 4)]:
            options = f"traditional=False, base=10.0, scale=1.0, offset={offset}"
            yield f"mx.fast.rope({numbers(shape)}, 4, {options})"
    for dims in [-2, 0, 1, 2, 3, 4, 5, 6]:
        yield f"mx.fast.rope({numbers((1, 3, 4))}, {dims}, traditional=True, {fixed})"
    for shape in [(), (4,), (3, 4), (0, 3, 4), (2, 0, 4), (2, 3, 4)]:
        yield f"mx.fast.rope(mx.ones({shape}), 4, traditional=False, {fixed})"


def attentions():
    call = "mx.fast.scaled_dot_product_attention({}, {}, {}, scale=0.4{})"
    q, k, v = (2, 4, 3, 8), (2, 2, 5, 8), (2, 2, 5, 6)
    masks = ["None", "'causal'", "''", "'other'", "3", "mx.array(True)", "mx.array(0.5)", "mx.ones((5,), mx.bool_)",
             "mx.arange(15).reshape(3, 5) % 2 == 0", "mx.arange(15).reshape(3, 5) / 8", "mx.zeros((3, 5), mx.int32)",
             "mx.zeros((4, 3, 5))", "mx.zeros((2, 3, 5))", "mx.zeros((2, 1, 3, 5))", "mx.zeros((2, 4, 3, 5), mx.bool_)",
             "mx.zeros((1, 2, 4, 3, 5))", "mx.zeros((3, 4))", "mx.zeros((3, 5), mx.float16)", "mx.zeros((3, 5), mx.bfloat16)"]
    for dtype in FLOATS + OTHERS:
        three = [numbers(shape, dtype) for shape in (q, k, v)]
        for mask in masks if dtype in FLOATS[:3] else masks[:2]:
            yield call.format(*three, f", mask={mask}")
        yield call.format(*three, f", sinks=mx.arange(4).astype(mx.{dtype})")
    for sinks in ["mx.ones((4,), mx.float16)", "mx.ones((4,), mx.int32)", "mx.ones((2,))", "mx.ones((4, 1))", "mx.array(1.0)", "1.0"]:
        for mask in ["None", "'causal'"]:
            yield call.format(*[numbers(shape) for shape in (q, k, v)], f", mask={mask}, sinks={sinks}")
    for shapes in [(q[1:], k, v), (q, k[1:], v), (q[1:], k[1:], v[1:]), ((1, 3, 3, 8), (1, 2, 5, 8), (1, 2, 5, 8)),
                   ((1, 2, 3, 8), (1, 2, 5, 4), (1, 2, 5, 8)), ((1, 2, 3, 8), (1, 2, 5, 8), (1, 1, 5, 8)),
                   ((2, 2, 3, 8), (1, 2, 5, 8), (1, 2, 5, 8)), ((1, 2, 3, 8), (1, 2, 5, 8), (1, 2, 4, 8)),
                   ((1, 2, 0, 8), (1, 2, 5, 8), (1, 2, 5, 8)), ((1, 2, 3, 8), (1, 2, 0, 8), (1, 2, 0, 8)),
                   ((0, 2, 3, 8), (0, 2, 5, 8), (0, 2, 5, 8)), ((1, 1, 5, 8), (1, 1, 2, 8), (1, 1, 2, 8))]:
        for mask in ["None", "'causal'"]:
            yield call.format(*[numbers(shape) for shape in shapes], f", mask={mask}")


def snippets():
    yield from norms()
    yield from ropes()
    yield from attentions()
