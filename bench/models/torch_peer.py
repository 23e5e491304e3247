"""PyTorch's side of the models' bench: it makes a model with random weights, and is timed on it.

    /usr/bin/python3 torch_peer.py THREADS

A request names the model and two files: the one is to hold what @main of its Relay text takes, by the names of the
parameters; the other is for the result.
"""
import copy
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))
from torch_process import fastest, frozen, serve  # noqa: E402, the path comes first

import numpy  # noqa: E402
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402

from safetensors_file import write_safetensors  # noqa: E402
import torch_models as models  # noqa: E402

SEED = 1


def randomise(module):
    """Weights with which activations keep their size from layer to layer, and statistics as after a training."""
    for part in module.modules():
        if isinstance(part, (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)):
            nn.init.kaiming_normal_(part.weight)
        elif isinstance(part, nn.Embedding):
            nn.init.normal_(part.weight)
        elif isinstance(part, nn.BatchNorm2d):
            nn.init.normal_(part.running_mean, 0, 0.1)
            nn.init.uniform_(part.running_var, 0.5, 1.5)
        if isinstance(part, (nn.BatchNorm2d, nn.LayerNorm)):
            nn.init.uniform_(part.weight, 0.5, 1)
        bias = getattr(part, "bias", None)
        if isinstance(bias, torch.Tensor):
            nn.init.normal_(bias, 0, 0.1)


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
        randomise(module)
        self.module, self.inputs = module.eval(), inputs
        self.operands = list(inputs.values())
        self.variants = variants(self.module, *self.operands)
        self.weights = weights(self.module)


def image_model(module, channels=3, extent=224):
    return Model(module, {"image": torch.randn(1, channels, extent, extent)}, convolutional_variants)


def recurrent_model(cell, layer):
    def variants(module, xs):
        yield from plain_variants(module, xs)
        yield "layer", lambda: eager(models.FusedLayer(layer, module.cell), xs)
        yield "layer TorchScript", lambda: script(models.FusedLayer(layer, module.cell), xs)

    return Model(models.CellLoop(cell(300, 512)), {"xs": torch.randn(20, 1, 300)}, variants,
                 lambda module: weights_of(module.cell))


def bert(layers, width, heads):
    tokens = torch.randint(0, 30522, (1, 64), dtype=torch.int32)
    return Model(models.Bert(layers, width, heads), {"tokens": tokens})


MODELS = {
    "resnet18": lambda: image_model(models.resnet18()),
    "mobilenet_v2": lambda: image_model(models.MobileNetV2()),
    "squeezenet": lambda: image_model(models.SqueezeNet()),
    "lstm": lambda: recurrent_model(nn.LSTMCell, nn.LSTM),
    "gru": lambda: recurrent_model(nn.GRUCell, nn.GRU),
    "bert_tiny": lambda: bert(2, 128, 2),
    "bert_base": lambda: bert(12, 768, 12),
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
