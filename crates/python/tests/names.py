"""Lists every public name of MLX's core as bound here, pending an op, or not applicable.

    python names.py API.json            # counts, and the names that are missing
    python names.py API.json --all      # every name

API.json lists the names: `{"modules": {"mlx.core": {name: ...}, ...}, "array_members": {name: ...}}`.
"""

import importlib
import json
import sys

# What makes no sense here, and why.
NOT_APPLICABLE = {
    "mlx.core.metal.start_capture": "captures are Xcode's",
    "mlx.core.metal.stop_capture": "captures are Xcode's",
    "mlx.core.fast.cuda_kernel": "CUDA's source text",
    "mlx.core.fast.precompiled_cuda_kernel": "CUDA's binaries",
}


def names(api):
    for module, members in api["modules"].items():
        if module.startswith("mlx.core") or module == "mlx.utils":
            yield from ((module, name) for name in members if not (module == "mlx.utils" and not name.startswith("tree")))
    yield from (("mlx.core.array", name) for name in api["array_members"])


def holder(module):
    if module == "mlx.core.array":
        return importlib.import_module("mlx.core").array
    return importlib.import_module(module)


def state(module, name):
    if f"{module}.{name}" in NOT_APPLICABLE:
        return "not applicable"
    return "bound" if hasattr(holder(module), name) else "pending"


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit("usage: names.py API.json [--all]: what of MLX's public names is bound, and what is not")
    api = json.load(open(sys.argv[1]))
    found = [(module, name, state(module, name)) for module, name in names(api)]
    for module, name, what in found:
        if what == "pending" or "--all" in sys.argv:
            print(f"{what:15} {module}.{name}")
    for what in ("bound", "pending", "not applicable"):
        print(f"{sum(w == what for *_, w in found):5} {what}")


if __name__ == "__main__":
    main()
