"""PyTorch as a process that the operators' bench times; bench/ops/peer_process.h has the lines it reads and writes.

    /usr/bin/python3 torch_peer.py THREADS
"""
import functools
import os
import resource
import statistics
import sys
import time
import warnings

answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)  # what libraries print is no answer
try:
    import numpy
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
    from torch.utils import mkldnn
except ImportError as problem:
    print(problem, file=answers)
    sys.exit(1)

THREADS = int(sys.argv[1])
TRIALS = 7
TRIAL_SECONDS = 2e-3


kept = {}


def arranged(weight, arrange):
    """A weight in another arrangement, made once: a program keeps it so."""
    if (weight, arrange) not in kept:
        kept[weight, arrange] = arrange(weight).contiguous()
    return kept[weight, arrange]


def linear(a, b):
    return F.linear(a, arranged(b, torch.t))


def windows_of(a, r, s):
    """The windows of a capsule convolution with stride 2, as a view."""
    n, c, h, w, i, k = a.shape
    by = a.stride()
    return a.as_strided((n, c, (h - r) // 2 + 1, (w - s) // 2 + 1, r, s, i, k),
                        (by[0], by[1], 2 * by[2], 2 * by[3], by[2], by[3], by[4], by[5]))


def capsule_einsum(a, b):
    return torch.einsum("ncyxrsik,ocrskj->noyxij", windows_of(a, *b.shape[2:4]), b)


def as_columns(b):
    return b.permute(1, 2, 3, 4, 0, 5).flatten(4).flatten(0, 3)


def capsule_product(a, b):
    """Windows as the rows of one matrix product."""
    o, c, r, s, k, j = b.shape
    windows = windows_of(a, r, s).permute(0, 2, 3, 6, 1, 4, 5, 7)
    result = torch.mm(windows.reshape(-1, c * r * s * k), arranged(b, as_columns))
    return result.view(*windows.shape[:4], o, j).permute(0, 4, 1, 2, 3, 5)


def as_filters(b):
    return b.permute(0, 5, 1, 4, 2, 3).flatten(2, 3).flatten(0, 1)


def capsule_convolution(a, b, layout=torch.contiguous_format):
    """A plain convolution: the rows of a pose are its batch, its columns are channels."""
    n, c, h, w, i, k = a.shape
    rows = a.permute(0, 4, 1, 5, 2, 3).reshape(n * i, c * k, h, w).contiguous(memory_format=layout)
    result = F.conv2d(rows, arranged(b, as_filters), stride=2)
    return result.view(n, i, b.shape[0], b.shape[5], *result.shape[2:]).permute(0, 2, 4, 5, 1, 3)


class Expression(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *operands):
        return self.function(*operands)


def frozen(module, *inputs):
    traced = torch.jit.freeze(torch.jit.trace(module.eval(), inputs))
    for _ in range(3):
        traced(*inputs)
    return traced


def sample(function, count):
    """Seconds, and whether another process had one of the cores meanwhile (bench/ops/stopwatch.h)."""
    preempted = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
    busy, start = time.process_time(), time.perf_counter()
    for _ in range(count):
        function()
    took, busy = time.perf_counter() - start, time.process_time() - busy
    preempted = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - preempted
    return took, preempted > 0 and busy < 0.97 * THREADS * took


def seconds(function, count):
    return sample(function, count)[0]


def expression_variants(expressions, inputs):
    names = ", ".join(chr(ord("a") + k) for k in range(len(inputs)))

    def eager(function):
        return lambda: function(*inputs)

    def script(function):
        module = frozen(Expression(function), *inputs)
        return lambda: module(*inputs)

    for expression in expressions:
        function = eval(f"lambda {names}: {expression}", globals())
        yield f"eager {expression}", functools.partial(eager, function)
        yield f"TorchScript {expression}", functools.partial(script, function)


def module_variants(expression, inputs):
    data, weight = inputs

    def module():
        made = eval(expression).eval()
        made.weight.data = weight.clone()
        return made

    last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(data.dim())

    def eager(layout=torch.contiguous_format):
        made, operand = module().to(memory_format=layout), data.contiguous(memory_format=layout)
        return lambda: made(operand)

    def script(layout=torch.contiguous_format, optimise=False):
        operand = data.contiguous(memory_format=layout)
        made = frozen(module().to(memory_format=layout), operand)
        if optimise:
            made = torch.jit.optimize_for_inference(made)
            made(operand)
        return lambda: made(operand)

    def opaque():
        made, operand = mkldnn.to_mkldnn(module()), data.to_mkldnn()
        return lambda: made(operand)

    yield "eager", eager
    yield "TorchScript", script
    yield "TorchScript optimised", lambda: script(optimise=True)
    if last:
        yield "eager channels last", lambda: eager(last)
        yield "TorchScript channels last", lambda: script(last)
    yield "mkldnn", opaque


def fastest(variants):
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


def prepare(fields):
    inputs, expressions, module, result_file = [], [], "", ""
    for field in fields:
        key, value = field.split("=", 1)
        if key == "input":
            inputs.append(torch.from_numpy(numpy.load(value)).clone())
        elif key == "expression":
            expressions.append(value)
        elif key == "module":
            module = value
        elif key == "result":
            result_file = value
    kept.clear()
    variants = module_variants(module, inputs) if module else expression_variants(expressions, inputs)
    name, function = fastest(variants)
    result = function()
    result = result.to_dense() if result.is_mkldnn else result
    numpy.save(result_file, result.contiguous().numpy())
    return name, function


def main():
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


with torch.inference_mode():
    main()
