"""Compares what snippets give here with what they give under MLX.

    python differential.py                    # ours, on the CPU and on the GPU, against expected.json
    python differential.py cpu --only index   # one device, only snippets with this text
    python differential.py gpu --every 10     # a sample: a software driver takes its time for every new kernel
    python differential.py --bless PYTHON     # adds to expected.json what the MLX wheel gives that PYTHON has

Snippets are lines of `snippets/*.txt` and what `snippets/*.py` yield: add a line, bless, and read the difference. Blessing runs what
expected.json has no line for, and takes lines out that belong to no snippet; to have a line made again, delete it. Where ours differ
on purpose, `differences.txt` has the snippet and the reason.
"""

import argparse
import json
import math
import pathlib
import runpy
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
# How far numbers may be apart, by type: functions are computed in other ways, sums in another order.
TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 3e-6, "complex64": 3e-6, "float64": 3e-6}


def all_snippets():
    found = {}
    for path in sorted((HERE / "snippets").iterdir()):
        if path.suffix == ".txt":
            lines = (line.strip() for line in path.read_text().splitlines())
            found.update((line.replace("\\n", "\n"), None) for line in lines if line and not line.startswith("#"))
        elif path.suffix == ".py":
            found.update((source, None) for source in runpy.run_path(str(path))["snippets"]())
    return list(found)


def run_all(python, device, snippets):
    """What each snippet gives, one after the other; a process that dies takes one snippet with it."""
    done = 0
    while done < len(snippets):
        command = [python, str(HERE / "runner.py"), device, str(done)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            process.stdin.write(json.dumps(snippets))
            process.stdin.close()
            for line in process.stdout:
                done += 1
                yield json.loads(line)
        if done < len(snippets):
            done += 1
            yield {"error": "crash", "text": f"the process ended with {process.returncode}"}


def close(a, b, tolerance):
    if isinstance(a, list) or isinstance(b, list):
        return isinstance(a, list) and isinstance(b, list) and len(a) == len(b) and all(close(x, y, tolerance) for x, y in zip(a, b))
    if isinstance(a, float) and isinstance(b, (int, float)) or isinstance(b, float) and isinstance(a, (int, float)):
        return a == b or math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)
    return a == b


def text(described):
    """One NaN counts as any other."""
    return described.replace("-nan", "nan") if isinstance(described, str) else described


def agree(ours, theirs):
    """Whether two descriptions are of the same; of nearly the same floats, `repr` may differ."""
    if theirs.get("error") == "crash":
        return ours.get("error") != "crash"
    if "error" in theirs:
        # Their conversions end in this where an argument is of a wrong type.
        return "error" in ours and ours["error"] != "crash" and (
            ours["error"] == theirs["error"] or "bad_cast" in theirs["text"])
    if ours.keys() != theirs.keys():
        return False
    for kind in ("dict", "list", "tuple"):
        if kind in theirs:
            if len(ours[kind]) != len(theirs[kind]):
                return False
            if kind == "dict":
                return all(a[0] == b[0] and agree(a[1], b[1]) for a, b in zip(ours[kind], theirs[kind]))
            return all(agree(a, b) for a, b in zip(ours[kind], theirs[kind]))
    if "values" in theirs:
        dtype = (theirs.get("dtype") or theirs.get("numpy")).removeprefix("mlx.core.")
        # By their text zeros differ by their signs.
        same = json.dumps(ours["values"]) == json.dumps(theirs["values"])
        if not same and not close(ours["values"], theirs["values"], TOLERANCE.get(dtype, 0)):
            return False
        return all(text(ours[key]) == text(theirs[key]) for key in theirs if key != "values" and (same or key != "repr"))
    if "number" in theirs:
        return ours["type"] == theirs["type"] and close(ours["number"], theirs["number"], 3e-6)
    return ours == theirs


def differences():
    """Patterns of snippets that differ on purpose: the text itself, or what it begins with."""
    lines = (HERE / "differences.txt").read_text().splitlines()
    return [line.split("  # ")[0].replace("\\n", "\n") for line in lines if "  # " in line]


def differs_on_purpose(source, known):
    return any(source == text or text.endswith("*") and source.startswith(text[:-1]) for text in known)


def compare(device, snippets, expected, python):
    known = differences()
    wrong = 0
    for source, ours in zip(snippets, run_all(python, device, snippets)):
        theirs = expected[source]
        if differs_on_purpose(source, known) or agree(ours, theirs):
            continue
        if "float64 is not supported on the GPU" in ours.get("text", ""):
            continue
        wrong += 1
        print(f"{device}: {source!r}\n  ours   {json.dumps(ours)[:400]}\n  theirs {json.dumps(theirs)[:400]}", flush=True)
    print(f"{device}: {len(snippets)} snippets, {wrong} differ.")
    return wrong


def bless(python, snippets, expected):
    """What is expected of every snippet: as before, or by the MLX wheel if it was not known."""
    missing = [source for source in snippets if source not in expected]
    found = dict(zip(missing, run_all(python, "cpu", missing)))
    for description in found.values():
        # Texts are each package's own; this one only says that an argument was of a wrong type.
        if "error" in description and "bad_cast" not in description["text"]:
            description["text"] = ""
    crashes = sum(description.get("error") == "crash" for description in found.values())
    gone = len(expected.keys() - set(snippets))
    print(f"{len(found)} snippets added, of which {crashes} end the process there; {gone} lines of no snippet taken out.")
    return {source: found.get(source) or expected[source] for source in snippets}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("devices", nargs="*", default=["cpu", "gpu"])
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=1, help="only every so manieth snippet: software drivers are slow")
    parser.add_argument("--bless", metavar="PYTHON")
    parser.add_argument("--python", default=sys.executable)
    arguments = parser.parse_args()
    snippets = all_snippets()
    path = HERE / "expected.json"
    expected = json.loads(path.read_text()) if path.exists() else {}
    if arguments.bless:
        blessed = bless(arguments.bless, snippets, expected)
        lines = ",\n".join(f"{json.dumps(s)}: {json.dumps(d)}" for s, d in blessed.items())
        path.write_text("{\n" + lines + "\n}\n")
        return 0
    unknown = [source for source in snippets if source not in expected]
    if unknown:
        print(f"{len(unknown)} snippets have no line in expected.json, the first {unknown[0]!r}: run with --bless.")
        return 1
    snippets = [source for source in snippets if arguments.only in source][:: arguments.every]
    return sum(compare(device, snippets, expected, arguments.python) for device in arguments.devices) > 0


if __name__ == "__main__":
    sys.exit(main())
