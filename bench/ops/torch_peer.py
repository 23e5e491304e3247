"""PyTorch's side of the operators' bench.

    /usr/bin/python3 torch_peer.py THREADS
"""
import functools
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from torch_process import fastest, frozen, serve
from torch_capsules import arranged, capsule_convolution, capsule_einsum, capsule_product, kept

import numpy
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils import mkldnn


def linear(a, b):
    return F.linear(a, arranged(b, torch.t))


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
