"""Runs snippets under the package that is installed as `mlx`, and writes what each gives, a line of JSON per snippet.

    python runner.py cpu|gpu [first [count]] < snippets.json

A snippet is Python text; what its last expression gives is described by type, shape, values and `repr`, and an exception by its
type. Nothing here knows whose package it is.
"""

import ast
import json
import math
import sys


def number(x):
    if isinstance(x, complex):
        return [number(x.real), number(x.imag)]
    if isinstance(x, float) and not math.isfinite(x):
        return "nan" if math.isnan(x) else ("inf" if x > 0 else "-inf")
    return x


def flat(values):
    return [x for item in values for x in flat(item)] if isinstance(values, list) else [number(values)]


def describe(value, mx):
    if isinstance(value, mx.array):
        values = flat(value.tolist())
        return {"dtype": str(value.dtype), "shape": list(value.shape), "values": values, "repr": repr(value)}
    if isinstance(value, dict):
        return {"dict": [[str(key), describe(item, mx)] for key, item in value.items()]}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [describe(item, mx) for item in value]}
    if type(value).__module__ == "numpy":
        return {"numpy": str(value.dtype), "shape": list(value.shape), "values": flat(value.tolist())}
    if isinstance(value, float) or isinstance(value, complex):
        return {"number": number(value), "type": type(value).__name__}
    text = repr(value)
    return {"type": type(value).__name__, "repr": text.split(" at 0x")[0]}


def run(source, scope, mx):
    """What the snippet gives."""
    try:
        body = ast.parse(source).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), "snippet", "exec"), scope)
        value = eval(compile(ast.Expression(last.value), "snippet", "eval"), scope) if last else None
        return describe(value, mx)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return {"error": type(error).__name__, "text": str(error)[:200]}


def main():
    import mlx.core as mx
    import mlx.utils
    import numpy as np

    device, first = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    count = int(sys.argv[3]) if len(sys.argv) > 3 else None
    mx.set_default_device(mx.cpu if device == "cpu" else mx.gpu)
    snippets = json.load(sys.stdin)[first:]
    for source in snippets[:count]:
        mx.random.seed(0)
        found = run(source, {"mx": mx, "np": np, "utils": mlx.utils}, mx)
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
