"""What a call costs the host, in nanoseconds, under the package that is installed as `mlx`.

    python host_cost.py > ours.json; OTHER/python host_cost.py > theirs.json
    python host_cost.py ours.json theirs.json      # both, and the quotient
"""

import json
import sys
import time


def best(call, count, clock=time.thread_time_ns):
    """The least time of one of `count` calls, over several rounds: the thread's own, whatever else the machine does."""
    times = []
    for _ in range(15):
        start = clock()
        for _ in range(count):
            call()
        times.append((clock() - start) / count)
    return min(times)


def measure():
    import mlx.core as mx

    mx.set_default_device(mx.cpu)
    a, b = mx.array([1.0, 2.0]), mx.array([3.0, 4.0])
    mx.eval(a, b)

    def chain():
        x = a
        for _ in range(1000):
            x = x + b
        mx.eval(x)

    calls = {
        "a + b": lambda: a + b,
        "a * 2.0": lambda: a * 2.0,
        "mx.add(a, b)": lambda: mx.add(a, b),
        "mx.exp(a)": lambda: mx.exp(a),
        "a.shape": lambda: a.shape,
        "a.dtype": lambda: a.dtype,
        "a.reshape(1, 2)": lambda: a.reshape(1, 2),
        "a[0]": lambda: a[0],
        "a[None]": lambda: a[None],
        "mx.sum(a, axis=0)": lambda: mx.sum(a, axis=0),
        "a.sum()": lambda: a.sum(),
        "a @ b": lambda: a @ b,
        "mx.array(1.0)": lambda: mx.array(1.0),
        "a.astype(mx.float16)": lambda: a.astype(mx.float16),
    }
    costs = {name: best(call, 5_000) for name, call in calls.items()}
    costs["1,000 dependent adds and eval"] = best(chain, 5, time.perf_counter_ns)
    return costs


def main():
    if len(sys.argv) < 3:
        print(json.dumps(measure(), indent=1))
        return
    ours, theirs = (json.load(open(path)) for path in sys.argv[1:3])
    for name, cost in ours.items():
        print(f"{name:32} {cost:12.0f} {theirs[name]:12.0f} {cost / theirs[name]:6.2f}")


if __name__ == "__main__":
    main()
