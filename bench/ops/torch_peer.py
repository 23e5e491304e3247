"""PyTorch's side of the operators' bench.

    /usr/bin/python3 torch_peer.py THREADS
"""
import functools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from torch_process import fastest, frozen, serve  # noqa: E402, the path comes first

import numpy  # noqa: E402
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch.utils import mkldnn  # noqa: E402

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


with torch.inference_mode():
    serve(prepare)
