"""PyTorch's side of the models' bench: it makes a model with random weights, and is timed on it.

    /usr/bin/python3 torch_peer.py THREADS

A request names the model and two files: the one is to hold what @main of its Relay text takes, by the names of the
parameters; the other is for the result.
"""
import copy
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from torch_process import fastest, frozen, serve

import numpy
import torch
import torch.nn as nn
import torch_capsules as capsules

from safetensors_file import write_safetensors
import torch_models as models

SEED = 1


def weights_of(module):
    return {f"weights.{name}": tensor for name, tensor in module.state_dict().items()
            if not name.endswith("num_batches_tracked")}


def eager(module, *inputs):
    return lambda: module(*inputs)


def script(module, *inputs, optimise=False):
    # Tracing changes what it is given.
    made = frozen(copy.deepcopy(module), *inputs)
    if optimise:
        made = torch.jit.optimize_for_inference(made)
        made(*inputs)
    return lambda: made(*inputs)


def plain_variants(module, *inputs):
    yield "eager", lambda: eager(module, *inputs)
    yield "TorchScript", lambda: script(module, *inputs)
    yield "TorchScript optimised", lambda: script(module, *inputs, optimise=True)


def convolutional_variants(module, image):
    yield from plain_variants(module, image)
    last = torch.channels_last
    module_last, image_last = copy.deepcopy(module).to(memory_format=last), image.contiguous(memory_format=last)
    yield "eager channels last", lambda: eager(module_last, image_last)
    yield "TorchScript channels last", lambda: script(module_last, image_last)
    yield "TorchScript channels last optimised", lambda: script(module_last, image_last, optimise=True)


class Model:
    """A model of the bench: a module, its inputs by the names of @main's parameters, and how PyTorch runs it."""

    def __init__(self, module, inputs, variants=plain_variants, weights=weights_of):
        models.randomise(module)
        self.module, self.inputs = module.eval(), inputs
        self.operands = list(inputs.values())
        self.variants = variants(self.module, *self.operands)
        self.weights = weights(self.module)


def convolutional(module, name, *shape):
    return Model(module, {name: torch.randn(1, *shape)}, convolutional_variants)


def recurrent(cell, layer=None):
    """A cell over 20 vectors; `layer` is PyTorch's own with the same weights."""
    def variants(module, xs):
        yield from plain_variants(module, xs)
        if layer:
            yield "layer", lambda: eager(models.FusedLayer(layer, module.cell), xs)
            yield "layer TorchScript", lambda: script(models.FusedLayer(layer, module.cell), xs)

    return Model(models.CellLoop(cell), {"xs": torch.randn(20, 1, 300)}, variants,
                 lambda module: weights_of(module.cell))


def bert(layers, width, heads):
    tokens = torch.randint(0, 30522, (1, 64), dtype=torch.int32)
    return Model(models.Bert(layers, width, heads), {"tokens": tokens})


def gpt2():
    return Model(models.Gpt2(), {"tokens": torch.randint(0, 50257, (64,), dtype=torch.int32)})


def random_tree(leaves):
    """A random binary tree by the parts of its nodes (torch_models.TreeLstm)."""
    left, right = [-1] * leaves, [-1] * leaves

    def make(first, last):
        if last - first == 1:
            return first
        middle = int(torch.randint(first + 1, last, ()))
        a, b = make(first, middle), make(middle, last)
        left.append(a)
        right.append(b)
        return len(left) - 1

    make(0, leaves)
    return [torch.tensor(side, dtype=torch.int32) for side in (left, right)]


def tree_lstm():
    def variants(module, words, left, right):
        yield "eager", lambda: eager(module, words, left, right)
        # A trace would hold for this tree alone; by levels its nodes are in order beforehand.
        yield "eager by levels", lambda: eager(models.TreeLstmByLevels(module, left, right), words)
        yield "TorchScript in order", lambda: in_order(module, words, left.tolist(), right.tolist())

    def in_order(module, *inputs):
        made = torch.jit.freeze(torch.jit.script(models.TreeLstmInOrder(module).eval()))
        for _ in range(3):
            made(*inputs)
        return lambda: made(*inputs)

    left, right = random_tree(20)
    return Model(models.TreeLstm(), {"words": torch.randn(20, 300), "left": left, "right": right}, variants)


def capsule_conv():
    def variants(module, poses):
        for function in (capsules.capsule_einsum, capsules.capsule_product, capsules.capsule_convolution):
            made = models.CapsuleConv(function)
            made.weight = module.weight
            for name, make in plain_variants(made.eval(), poses):
                yield f"{name} {function.__name__}", make

    return Model(models.CapsuleConv(capsules.capsule_einsum), {"poses": torch.randn(1, 64, 28, 28, 4, 4)}, variants)


MODELS = {
    "resnet18": lambda: convolutional(models.resnet18(), "image", 3, 224, 224),
    "resnet50": lambda: convolutional(models.resnet50(), "image", 3, 224, 224),
    "mobilenet_v2": lambda: convolutional(models.MobileNetV2(), "image", 3, 224, 224),
    "squeezenet": lambda: convolutional(models.SqueezeNet(), "image", 3, 224, 224),
    "vgg16": lambda: convolutional(models.Vgg16(), "image", 3, 224, 224),
    "dqn": lambda: convolutional(models.Dqn(), "image", 4, 84, 84),
    "dcgan": lambda: convolutional(models.Dcgan(), "noise", 100, 1, 1),
    "capsule_conv": capsule_conv,
    "lstm": lambda: recurrent(nn.LSTMCell(300, 512), nn.LSTM),
    "gru": lambda: recurrent(nn.GRUCell(300, 512), nn.GRU),
    "mi_lstm": lambda: recurrent(models.MiLstmCell(300, 512)),
    "tree_lstm": tree_lstm,
    "bert_tiny": lambda: bert(2, 128, 2),
    "bert_base": lambda: bert(12, 768, 12),
    "gpt2": gpt2,
    "decoder": lambda: Model(models.Decoder(), {"memory": torch.randn(32, 256)}),
}


def prepare(fields):
    request = dict(field.split("=", 1) for field in fields)
    torch.manual_seed(SEED)
    model = MODELS[request["model"]]()
    write_safetensors(request["arguments"], {**model.inputs, **model.weights})
    numpy.save(request["result"], model.module(*model.operands).numpy())
    return fastest(model.variants)


if __name__ == "__main__":
    with torch.inference_mode():
        serve(prepare)
