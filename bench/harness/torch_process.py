"""PyTorch as a process that a bench times; bench/harness/peer_process.h has the lines it reads and writes.

A bench's script imports this first, and ends with `serve(prepare)`. It is started with the number of threads.
"""
import os
import resource
import statistics
import sys
import time
import warnings

answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)  # what libraries print is no answer
try:
    import numpy  # PyTorch needs it for what it writes
    import torch
except ImportError as problem:
    print(problem, file=answers)
    sys.exit(1)

THREADS = int(sys.argv[1])
TRIALS = 7
TRIAL_SECONDS = 2e-3


def frozen(module, *inputs):
    traced = torch.jit.freeze(torch.jit.trace(module.eval(), inputs))
    for _ in range(3):
        traced(*inputs)
    return traced


def sample(function, count):
    """Seconds, and whether another process had one of the cores meanwhile (bench/harness/stopwatch.h)."""
    preempted = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
    busy, start = time.process_time(), time.perf_counter()
    for _ in range(count):
        function()
    took, busy = time.perf_counter() - start, time.process_time() - busy
    preempted = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - preempted
    return took, preempted > 0 and busy < 0.97 * THREADS * took


def seconds(function, count):
    return sample(function, count)[0]


def fastest(variants):
    """The name and the function of the fastest; variants are names with functions that make functions."""
    made, why = [], None
    for name, make in variants:
        try:
            function = make()
            function()
            made.append((name, function))
        except Exception as problem:  # this build has no such path
            why = problem
    if not made:
        raise why
    if len(made) == 1:
        return made[0]
    counts = [1 + int(TRIAL_SECONDS / max(seconds(f, 1), 1e-9)) for _, f in made]
    times = [[] for _ in made]
    for _ in range(TRIALS):
        for k, (_, f) in enumerate(made):
            times[k].append(seconds(f, counts[k]) / counts[k])
    medians = [statistics.median(t) for t in times]
    return made[medians.index(min(medians))]


def serve(prepare):
    """Answers requests; `prepare` takes the fields of one and returns a name and what to time."""
    torch.set_num_threads(THREADS)
    warnings.filterwarnings("ignore")
    print("ready", file=answers)
    function = None
    for line in sys.stdin:
        line = line.rstrip("\n")
        if line.startswith("prepare\t"):
            function = None
            try:
                name, function = prepare(line.split("\t")[1:])
                print(f"prepared {name}", file=answers)
            except Exception as problem:
                print(f"none: {str(problem).splitlines()[0]}", file=answers)
        else:
            _, count, warm = line.split()
            if warm == "1":
                function()
            took, disturbed = sample(function, int(count))
            print(f"took {took:.9f} {int(disturbed)}", file=answers)
