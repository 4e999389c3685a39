"""Writes the type stubs of `mlx.core` from what the built module says of itself: names, signatures, docstrings.

    python stubs.py            # writes python/mlx/core/*.pyi
    python stubs.py --check    # says whether they are as they would be written

Types of arguments follow from their names, which mean the same everywhere.
"""

import enum
import importlib
import inspect
import pathlib
import sys

HERE = pathlib.Path(__file__).parent / "python" / "mlx" / "core"
MODULES = ["", "random", "fast", "linalg", "fft", "metal", "cuda", "distributed", "pumice"]
HEADER = '''from typing import Any, Callable, Sequence

{imports}'''
SHARED = """scalar = bool | int | float | complex
StreamOrDevice = Stream | ThreadLocalStream | Device | DeviceType | None

"""
TYPES = {
    "stream": "StreamOrDevice", "dtype": "Dtype | None", "axis": "int | Sequence[int] | None", "axes": "Any", "shape": "int | Sequence[int]",
    "keepdims": "bool", "key": "array | None", "fun": "Callable", "f": "Callable", "arrays": "Any", "arys": "array", "k": "int", "n": "int",
    "m": "int | None", "ddof": "int", "correction": "int | None", "precise": "bool", "equal_nan": "bool", "rtol": "float", "atol": "float",
    "decimals": "int", "num": "int | None", "limit": "int", "seed": "int", "sparse": "bool | None", "indexing": "str | None",
    "shapeless": "bool", "precision": "int", "name": "str", "off": "bool", "copy": "bool | None",
}
# What gives something else than an array.
GIVES = {
    "mlx.core.random.split": "array", "divmod": "list[array]", "split": "list[array]", "broadcast_arrays": "list[array]", "meshgrid": "tuple[array, ...]", "eval": "None",
    "async_eval": "None", "synchronize": "None", "default_device": "Device", "default_stream": "Stream", "new_stream": "Stream",
    "new_thread_unsafe_stream": "Stream", "new_thread_local_stream": "ThreadLocalStream", "stream": "StreamContext", "result_type": "Dtype",
    "is_available": "bool", "issubdtype": "bool", "isdtype": "bool", "can_cast": "bool", "item": "scalar", "tolist": "Any",
    "vjp": "tuple[list[array], list[array]]", "jvp": "tuple[list[array], list[array]]", "printoptions": "Any", "get_printoptions": "PrintOptions",
    "set_printoptions": "None", "broadcast_shapes": "tuple[int, ...]", "device_info": "dict[str, str | int]", "stats": "dict[str, Any]",
    "devices": "list[dict[str, Any]]", "disable": "None", "set_fusion": "None", "init": "Group", "depends": "Any",
    **dict.fromkeys("grad value_and_grad vmap compile checkpoint".split(), "Callable"),
    **dict.fromkeys("atleast_1d atleast_2d atleast_3d".split(), "array | list[array]"),
    **dict.fromkeys("seed clear_cache clear_streams reset_peak_memory set_default_device set_default_stream".split(), "None"),
    **dict.fromkeys("disable_compile enable_compile".split(), "None"),
    **dict.fromkeys("get_active_memory get_peak_memory get_cache_memory get_memory_limit device_count".split(), "int"),
    **dict.fromkeys("set_memory_limit set_cache_limit set_wired_limit rank size".split(), "int"),
}
PROPERTIES = {"shape": "tuple[int, ...]", "dtype": "Dtype", "at": "ArrayAt", "device": "Device", "type": "DeviceType", "precision": "int",
              **dict.fromkeys("T mT real imag".split(), "array"), **dict.fromkeys("size ndim itemsize nbytes bits".split(), "int"),
              **dict.fromkeys("eps smallest_normal".split(), "float")}
SPECIAL = {"__len__": "int", "__bool__": "bool", "__int__": "int", "__float__": "float", "__complex__": "complex", "__index__": "int",
           "__hash__": "int", "__repr__": "str", "__format__": "str", "__bytes__": "bytes", "__iter__": "Any", "__setitem__": "None",
           "__dlpack_device__": "tuple[int, int]", "__array__": "Any", "__dlpack__": "Any", "__array_namespace__": "Any", "__exit__": "None",
           "__getstate__": "tuple", "__setstate__": "None", "__reduce__": "Any", "__call__": "Any", "__enter__": "Any"}

# Arguments of mlx.core.fast, where the same names stand for other things.
FAST = {**TYPES, **dict.fromkeys("x a q k v".split(), "array"), **dict.fromkeys("weight bias freqs sinks".split(), "array | None"),
        **dict.fromkeys("eps scale".split(), "float"), "base": "float | None", "dims": "int", "traditional": "bool", "offset": "int | array",
        "mask": "None | str | array", "force_fused": "bool"}


def signature(function, is_method, types=TYPES):
    """The arguments, with types by their names."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (ValueError, TypeError):
        return "(*args: Any, **kwargs: Any)"
    parts, star, slash = [], False, False
    for i, p in enumerate(parameters):
        if is_method and i == 0 and p.name == "self":
            parts.append("self")
            continue
        if slash and p.kind != p.POSITIONAL_ONLY:
            parts.append("/")
            slash = False
        slash = slash or p.kind == p.POSITIONAL_ONLY
        if p.kind == p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        star = star or p.kind == p.VAR_POSITIONAL
        mark = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        default = "" if p.default is p.empty else " = ..."
        parts.append(f"{mark}{p.name}: {types.get(p.name, 'Any')}{default}")
    if slash:
        parts.append("/")
    return f"({', '.join(parts)})"


def function_stub(name, function, indent="", is_method=False):
    gives = SPECIAL.get(name) or GIVES.get(f"{getattr(function, '__module__', '')}.{name}") or GIVES.get(name, "array")
    # What operators are given is named by PyO3.
    types = FAST if getattr(function, "__module__", "") == "mlx.core.fast" else TYPES
    types = {} if name.startswith("__") else types
    doc = (inspect.getdoc(function) or "").split("\n")[0].replace('"', "'")
    body = f'"""{doc}"""' if doc and not name.startswith("__") else "..."
    return f"{indent}def {name}{signature(function, is_method, types)} -> {gives}: {body}\n"


def class_stub(name, cls):
    if issubclass(cls, enum.Enum):
        members = "".join(f"    {member} = {cls[member].value}\n" for member in cls.__members__)
        return f"class {name}:\n{members}\n"
    lines = []
    for member, value in sorted(vars(cls).items()):
        if type(value).__name__ in ("getset_descriptor", "member_descriptor") and not member.startswith("__"):
            kind = PROPERTIES.get(member, "Any")
            lines.append(f"    @property\n    def {member}(self) -> {kind}: ...\n")
        elif member == "__new__":
            lines.append("    def __init__(self, *args: Any, **kwargs: Any) -> None: ...\n")
        elif callable(value) and (not member.startswith("__") or member not in dir(object)):
            lines.append(function_stub(member, value, "    ", True))
    return f"class {name}:\n{''.join(lines) or '    ...'}\n"


def module_stub(name):
    module = importlib.import_module(f"mlx.core.{name}" if name else "mlx.core")
    members = {k: v for k, v in sorted(vars(module).items()) if not k.startswith("_")}
    classes = "".join(class_stub(k, v) for k, v in members.items() if inspect.isclass(v))
    values = "".join(f"{k}: {type(v).__name__ if v is not None else 'None'}\n" for k, v in members.items()
                     if not (inspect.isclass(v) or callable(v) or inspect.ismodule(v)))
    functions = "".join(function_stub(k, v) for k, v in members.items() if callable(v) and not inspect.isclass(v))
    if name:
        imports = "from . import Device, DeviceType, Dtype, Stream, StreamOrDevice, ThreadLocalStream, array, scalar\n\n"
        return HEADER.format(imports=imports) + classes + values.replace("_RandomState", "Any") + functions
    imports = "".join(f"from . import {m} as {m}\n" for m in MODULES if m) + "\n"
    return HEADER.format(imports=imports) + classes + SHARED + values + "\n" + functions


def main():
    wrong = []
    HERE.mkdir(exist_ok=True)
    for name in MODULES:
        path = HERE / f"{name or '__init__'}.pyi"
        text = module_stub(name)
        compile(text, str(path), "exec")
        if "--check" in sys.argv:
            wrong += [str(path)] if not path.exists() or path.read_text() != text else []
        else:
            path.write_text(text)
    print("\n".join(f"{path} is not what stubs.py writes." for path in wrong) or "The stubs are as the module says.")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
