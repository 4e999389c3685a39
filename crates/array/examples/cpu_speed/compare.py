"""Prints how the CPU device compares with the MLX wheel, a line per case: both times and how many times as fast we are.

Both compute each case by turns, several rounds of it, and the least times are compared: other work on the machine makes single times
worthless. Needs the example, and a Python that has the wheel (`pip install "mlx[cpu]"`):

    cargo build --release -p pumice --example cpu_speed
    python crates/array/examples/cpu_speed/compare.py target/release/examples/cpu_speed [--only REGEX] [--rounds N] [--below RATIO]
"""

import argparse
import re
import subprocess
import time

import mlx.core as mx
import numpy as np

SAMPLE_NS = 15e6
SIZES = ["1024", "102400", "1048576", "16777216"]
BIG = "1048576"


def cases():
    for size in SIZES:
        for op in ["exp", "tanh", "sin", "sqrt", "abs", "negative", "logical_not", "pointwise11", "pointwise11_compiled"]:
            yield op, "float32", size, "plain"
        for op in ["add", "multiply", "maximum", "power", "less", "equal", "where"]:
            yield op, "float32", size, "plain"
        yield "floor_divide", "int32", size, "plain"
    for dtype in ["float16", "bfloat16", "int8", "int32", "bool"]:
        for op in ["abs", "negative", "logical_not", "add", "multiply", "maximum", "less", "equal", "where"]:
            if dtype != "bool" or op in ["logical_not", "equal", "where", "maximum"]:
                yield op, dtype, BIG, "plain"
    for dtype in ["float16", "bfloat16"]:
        for op in ["exp", "tanh", "sin", "sqrt", "power", "pointwise11"]:
            yield op, dtype, BIG, "plain"
    yield "floor_divide", "int8", BIG, "plain"
    types = ["float32", "float16", "bfloat16", "int8", "int32", "bool"]
    for a in types:
        for b in types:
            if a != b:
                yield "astype", a, BIG, b
    for look in ["transposed", "row", "column", "scalar"]:
        for dtype in ["float32", "float16", "int8"]:
            yield "add", dtype, "1024x1024", look
    for look in ["transposed", "row", "column"]:
        yield "where", "float32", "1024x1024", look
    for dtype in types:
        yield "sum", dtype, "4194304", "all"
        for length in [4, 64, 4096]:
            yield "sum", dtype, f"{4194304 // length}x{length}", "rows"
            yield "sum", dtype, f"{length}x{4194304 // length}", "columns"
    for dtype in ["float32", "bfloat16", "int32"]:
        for op in ["max", "argmax"]:
            yield op, dtype, "4194304", "all"
            for length in [4, 64, 4096]:
                yield op, dtype, f"{4194304 // length}x{length}", "rows"
                yield op, dtype, f"{length}x{4194304 // length}", "columns"
    for op in ["softmax", "layer_norm", "rms_norm", "fast_layer_norm", "fast_rms_norm"]:
        for dtype in ["float32", "float16", "bfloat16"]:
            for shape in ["65536x16", "8192x128", "1024x1024", "256x4096", "1x1048576"]:
                yield op, dtype, shape, "plain"
    for n in [64, 128, 256, 512, 1024, 2048]:
        yield "matmul", "float32", f"{n}x{n}x{n}", "plain"
    for dtype in ["float32", "float16", "bfloat16"]:
        yield "matmul", dtype, "512x512x512", "transposed"
        yield "matmul", dtype, "1x4096x4096", "plain"
        yield "matmul", dtype, "1x4096x4096", "transposed"
        yield "matmul", dtype, "32x128x128x128", "plain"
    for dtype in ["float16", "bfloat16"]:
        yield "matmul", dtype, "512x512x512", "plain"


def numbers(dtype, shape, seed):
    """The numbers the example makes."""
    count = int(np.prod(shape, dtype=np.int64))
    values = ((np.arange(count, dtype=np.int64) * (2 * seed + 1) % 1009).astype(np.float32) / 100 + 1).reshape(shape)
    values = mx.array(values)
    values = values < 5 if dtype == "bool" else values.astype(getattr(mx, dtype))
    mx.eval(values)
    return values


def other(dtype, shape, look):
    shapes = {"row": shape[1:], "column": shape[:1] + [1], "scalar": []}
    return numbers(dtype, shapes.get(look, shape), 3)


def pointwise11(x):
    y = mx.sigmoid(x) * x
    z = mx.tanh(y) + 0.5 * x
    return (mx.maximum(z, y) - mx.exp(-mx.abs(x))) * 0.25


def layer_norm(x):
    return (x - mx.mean(x, axis=-1, keepdims=True)) * mx.rsqrt(mx.var(x, axis=-1, keepdims=True) + 1e-5)


def rms_norm(x):
    return x * mx.rsqrt(mx.mean(mx.square(x), axis=-1, keepdims=True) + 1e-5)


COMPOSED = {"pointwise11": pointwise11, "layer_norm": layer_norm, "rms_norm": rms_norm}


def graph(op, dtype, shape, look):
    """The case for the wheel, as a function without arguments."""
    shape = [int(size) for size in shape.split("x")]
    if op == "matmul":
        *batch, m, k, n = shape
        x = numbers(dtype, batch + [m, k], 1)
        y = numbers(dtype, batch + [n, k], 2).T if look == "transposed" else numbers(dtype, batch + [k, n], 2)
        return lambda: x @ y
    x = numbers(dtype, shape, 1)
    x = x.T if look == "transposed" else x
    if op.endswith("_compiled"):
        compiled = mx.compile(COMPOSED[op.removesuffix("_compiled")])
        return lambda: compiled(x)
    if op in COMPOSED:
        return lambda: COMPOSED[op](x)
    if op == "astype":
        return lambda: x.astype(getattr(mx, look if look != "bool" else "bool_"))
    if op == "where":
        y, z = numbers("bool", shape, 2), other(dtype, shape, look)
        return lambda: mx.where(y, x, z)
    if op.startswith("fast_"):
        weight, bias = numbers(dtype, shape[-1:], 2), numbers(dtype, shape[-1:], 3)
        if op == "fast_layer_norm":
            return lambda: mx.fast.layer_norm(x, weight, bias, 1e-5)
        return lambda: mx.fast.rms_norm(x, weight, 1e-5)
    function = getattr(mx, op)
    if op == "softmax":
        return lambda: function(x, axis=-1)
    if op in ["sum", "max", "argmax"]:
        axis = {"rows": -1, "columns": 0}.get(look)
        return lambda: function(x, axis=axis)
    if op in ["add", "multiply", "maximum", "power", "floor_divide", "less", "equal"]:
        y = other(dtype, shape, look)
        return lambda: function(x, y)
    return lambda: function(x)


def least_time(call):
    mx.eval(call())
    begin, least, calls = time.perf_counter_ns(), float("inf"), 0
    while calls < 3 or time.perf_counter_ns() - begin < SAMPLE_NS:
        start = time.perf_counter_ns()
        mx.eval(call())
        least = min(least, time.perf_counter_ns() - start)
        calls += 1
    return least


def our_time(process, op, dtype, shape, look):
    process.stdin.write(f"{op.removesuffix('_compiled')} {dtype} {shape} {look}\n")
    process.stdin.flush()
    return int(process.stdout.readline())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("example")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--below", type=float, default=float("inf"), help="print only cases whose ratio is below")
    arguments = parser.parse_args()
    mx.set_default_device(mx.cpu)
    process = subprocess.Popen([arguments.example], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    print("| op | type | shape | look | ours µs | wheel µs | ratio |\n|---|---|---|---|--:|--:|--:|")
    for case in cases():
        if not re.search(arguments.only, " ".join(case)):
            continue
        call, ours, theirs = graph(*case), [], []
        for _ in range(arguments.rounds):
            ours.append(our_time(process, *case))
            theirs.append(least_time(call))
        ratio = min(theirs) / min(ours)
        if ratio < arguments.below:
            print(f"| {' | '.join(case)} | {min(ours) / 1e3:.1f} | {min(theirs) / 1e3:.1f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
