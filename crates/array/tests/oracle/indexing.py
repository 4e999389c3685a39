"""What the MLX wheel gives for index expressions: makes indexing.txt beside this file.

Run with the wheel's Python: `python indexing.py > indexing.txt`. A line is a case: what is done, the shape of x (0, 1, 2, … in it), the
expression, the value's shape (1000, 1001, … or 2, 3, … in it; - for none), and the result's shape and elements, or the error's kind. The
words of an expression are Python's; an index array is written `@shape=elements`. The wheel refuses some assignments for the way it spreads
the value over axes; where NumPy accepts them, its result stands in the line, behind a ~.
"""

import itertools

import mlx.core as mx
import numpy as np

mx.set_default_device(mx.cpu)


def numbers(shape, start):
    size = 1
    for n in shape:
        size *= n
    return (mx.arange(size) + start).reshape(shape)


def index(word):
    if word == "None":
        return None
    if word == "...":
        return ...
    if word.startswith("@"):
        shape, elements = word[1:].split("=")
        shape = [int(n) for n in shape.split("x") if n]
        elements = [int(n) for n in elements.split(",") if n]
        return mx.array(elements, mx.int32).reshape(shape)
    if ":" in word:
        return slice(*[int(part) if part else None for part in word.split(":")])
    return int(word)


def shape_text(shape):
    return "x".join(str(n) for n in shape) or "()"


def by_numpy(kind, shape, key, value):
    """What NumPy gives, or None if it refuses too."""
    x = np.array(numbers(shape, 0))
    key = tuple(np.array(part) if isinstance(part, mx.array) else part for part in (key if isinstance(key, tuple) else (key,)))
    try:
        if kind == "get":
            x = x[key]
        elif kind == "set":
            x[key] = np.array(numbers(value, 1000))
        else:
            # ufunc.at drops no axes of one element in front, as assignment does.
            given, selected = np.array(numbers(value, 2)), x[key].shape
            while given.ndim > len(selected) and given.shape[0] == 1:
                given = given[0]
            getattr(np, kind).at(x, key, given)
    except (ValueError, IndexError):
        return None
    return f"~{shape_text(x.shape)} {','.join(str(n) for n in x.reshape(-1).tolist())}"


def case(kind, shape, expression, value=None):
    words = expression.split()
    key = tuple(index(word) for word in words)
    key = key[0] if len(key) == 1 else key
    x = numbers(shape, 0)
    try:
        if kind == "get":
            y = x[key]
        elif kind == "set":
            x[key] = numbers(value, 1000)
            y = x
        else:
            y = getattr(x.at[key], kind)(numbers(value, 2))
        mx.eval(y)
        result = f"{shape_text(y.shape)} {','.join(str(n) for n in y.reshape(-1).tolist())}"
    except (ValueError, IndexError) as error:
        result = by_numpy(kind, shape, key, value) or type(error).__name__
    given = "-" if value is None else shape_text(value)
    print(f"{kind};{shape_text(shape)};{expression};{given};{result}")


GETS = {
    (7,): ["2", "-1", ":", "1:5", "-3:", ":-2", "::2", "::-1", "5:1:-2", "-100:100", "5:1", "10:20", "...", "None", "... None",
           "None 3", "@3=0,6,2", "@2x2=0,-1,3,3", "@=4", "@0=", "None @2=1,2", "@2=1,2 None", "1 1", "... ..."],
    (3, 4): ["1", "1 2", ": 1", ":: -1", "1: :2", "::-1 ::-2", "None 1 None", "... 0", "0 ...", ": None :", "@2=0,2", ": @2=0,3",
             "@2=0,2 @2=1,3", "@2=0,2 1", "1 @2=0,2", "@2x1=0,2 @2=1,3", "1: @2=0,2", "@2=0,2 1:3", "@2=0,2 ::-1", "@2=0,2 None",
             "None @2=0,2", "@=1 @=2", "@2=0,2 @3=0,1,2", "0 0 0", "@1=0 @3=0,1,2", "... @2=0,1", "@2=-1,-3 None :"],
}
PARTS = {
    "int": ["1", "-1"],
    "slice": [":", "1:", "::-1"],
    "array": ["@2=0,1", "@2x1=1,0"],
    "None": ["None"],
}


def three_axes():
    """Expressions over three axes: every order of kinds, with one of each kind's words in turn."""
    turn = itertools.count()
    for kinds in itertools.product(["int", "slice", "array"], repeat=3):
        yield " ".join(PARTS[kind][next(turn) % len(PARTS[kind])] for kind in kinds)
    for kinds in itertools.product(["int", "slice", "array", "None"], repeat=3):
        if kinds.count("None") == 1:
            yield " ".join(PARTS[kind][next(turn) % len(PARTS[kind])] for kind in kinds)
    for kinds in itertools.product(["int", "slice", "array"], repeat=2):
        words = [PARTS[kind][next(turn) % len(PARTS[kind])] for kind in kinds]
        yield f"{words[0]} ... {words[1]}"
        yield f"... {words[0]} {words[1]}"
        yield f"None {words[0]} None {words[1]}"


def values_for(shape):
    """Shapes that broadcast to what is selected, one that has too many axes of one element, and one that does not fit."""
    yield ()
    yield tuple(shape)
    yield (1, 1, *shape)
    if shape:
        yield tuple(shape[1:])
        yield (*shape[:-1], shape[-1] + 1)


def main():
    expressions = [(shape, expression) for shape, all in GETS.items() for expression in all]
    expressions += [((2, 3, 4), expression) for expression in three_axes()]
    for shape, expression in expressions:
        case("get", shape, expression)
    turn = itertools.count()
    updates = ["add", "subtract", "multiply", "maximum", "minimum"]
    for shape, expression in expressions:
        try:
            key = tuple(index(word) for word in expression.split())
            selected = numbers(shape, 0)[key].shape
        except (ValueError, IndexError):
            case("set", shape, expression, ())
            continue
        values = list(values_for(selected))
        # Which of several elements at one place wins is left to chance.
        unique = all(len(set(e.split("=")[1].split(","))) == len(e.split("=")[1].split(",")) for e in expression.split() if "@" in e)
        for value in values[:2] + [values[next(turn) % len(values)]]:
            if unique:
                case("set", shape, expression, value)
        case(updates[next(turn) % len(updates)], shape, expression, values[next(turn) % len(values)])


if __name__ == "__main__":
    main()
