"""What must not crash, hang or grow: threads, forks, exits with work in flight, exceptions inside traced functions, many arrays.

    python robustness.py [cpu|gpu]
"""

import os
import resource
import subprocess
import sys
import threading

import mlx.core as mx

DEVICE = sys.argv[1] if len(sys.argv) > 1 else "cpu"
mx.set_default_device(mx.cpu if DEVICE == "cpu" else mx.gpu)


def threads_compute_side_by_side():
    wrong = []

    def work(seed):
        for i in range(200):
            x = mx.full((17,), float(seed + i))
            if (x * 2 + 1).sum().item() != 17 * (2 * (seed + i) + 1):
                wrong.append((seed, i))

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    [worker.start() for worker in workers]
    [worker.join() for worker in workers]
    assert not wrong, wrong[:3]


def the_interpreter_may_exit_with_work_in_flight():
    source = f"import mlx.core as mx; mx.set_default_device(mx.{DEVICE}); x = mx.ones((512, 512))\n"
    source += "for _ in range(20): x = x @ x * 0.001\nmx.async_eval(x)"
    assert subprocess.run([sys.executable, "-c", source], timeout=120).returncode == 0


def a_forked_child_may_exit():
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def exceptions_inside_traced_functions_leave_no_trace():
    def fails(x):
        raise KeyError("inside")

    for transform in (mx.grad, mx.compile, mx.vmap, mx.checkpoint, mx.custom_function):
        try:
            transform(fails)(mx.ones((2,)))
        except KeyError:
            continue
        raise AssertionError(f"{transform} swallowed an exception")
    assert mx.grad(lambda x: x * x)(mx.array(3.0)).item() == 6.0


def arrays_outlive_their_streams():
    made = []

    def work():
        with mx.stream(mx.new_stream(mx.cpu if DEVICE == "cpu" else mx.gpu)):
            made.append(mx.ones((4,)) * 3)
            mx.eval(made[-1])

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    assert (made[0] + 1).tolist() == [4.0] * 4


def a_million_arrays_leave_memory_flat():
    def churn(count):
        for i in range(count):
            mx.array(float(i)) + 1

    churn(100_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    churn(1_000_000)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 20_000, f"{grown} KiB more"


def a_chain_of_a_hundred_thousand_nodes_is_built_and_dropped():
    x = mx.array(0.0)
    for _ in range(100_000):
        x = x + 1
    assert x.item() == 100_000.0
    for _ in range(100_000):
        x = x + 1
    del x


def buffers_outlive_the_array_they_were_asked_of():
    a = mx.array([1, 2, 3])
    memory = memoryview(a)
    a += 1
    assert memory.tolist() == [1, 2, 3] and a.tolist() == [2, 3, 4]
    del a
    assert memory.tolist() == [1, 2, 3]


def what_is_written_through_a_buffer_is_seen():
    import numpy as np

    a = mx.array([1.0, 2.0, 3.0])
    b = np.array(a, copy=False)
    b[0] = 10.0
    assert a.tolist() == [10.0, 2.0, 3.0] and (a + 1).tolist() == [11.0, 3.0, 4.0]


def main():
    tests = [value for value in globals().values() if callable(value) and getattr(value, "__module__", "") == "__main__"]
    for test in tests:
        if test is not main:
            test()
            print(f"{test.__name__.replace('_', ' ')}: ok", flush=True)


if __name__ == "__main__":
    main()
