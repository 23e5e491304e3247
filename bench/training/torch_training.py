"""PyTorch's side of the training bench: the models of bench/training, with the names of the records in the Relay texts, and
how PyTorch trains them fastest."""
import copy
import os
import sys
import time

for folder in ("models", "harness"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", folder))
import torch
import torch.nn as nn
import torch.nn.functional as F

from torch_capsules import capsule_convolution, capsule_product
from torch_cells import CapsNet, CapsuleConv, Lltm, MiLstm, Scrn, SubLstm, margin, with_capsules
from torch_models import Bert, Named
from torch_nets import ShuffleNet, mobile_net, res_net50

RATE = 0.01


def classes(logits, y):
    return F.cross_entropy(logits, y.long())


def squares(values, y):
    return F.mse_loss(values, y)


class Mlp(Named):
    def __init__(self):
        super().__init__(fc1=nn.Linear(784, 512), fc2=nn.Linear(512, 512), fc3=nn.Linear(512, 10))

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class LeNet(Named):
    def __init__(self):
        super().__init__(conv1=nn.Conv2d(1, 6, 5, padding=2), conv2=nn.Conv2d(6, 16, 5), fc1=nn.Linear(400, 120),
                         fc2=nn.Linear(120, 84), fc3=nn.Linear(84, 10))

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2).flatten(1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class Basic(Named):
    def __init__(self, inputs, width):
        stride = 1 if inputs == width else 2
        super().__init__(conv1=nn.Conv2d(inputs, width, 3, stride, 1, bias=False), bn1=nn.BatchNorm2d(width),
                         conv2=nn.Conv2d(width, width, 3, 1, 1, bias=False), bn2=nn.BatchNorm2d(width))
        if stride > 1:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (self.downsample(x) if hasattr(self, "downsample") else x))


class ResNet18(Named):
    def __init__(self):
        widths = {"layer1": (64, 64), "layer2": (64, 128), "layer3": (128, 256), "layer4": (256, 512)}
        layers = {name: nn.Sequential(Basic(inputs, width), Basic(width, width)) for name, (inputs, width) in widths.items()}
        super().__init__(conv1=nn.Conv2d(3, 64, 7, 2, 3, bias=False), bn1=nn.BatchNorm2d(64), **layers, fc=nn.Linear(512, 1000))

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


class Lstm(nn.LSTMCell):
    """A loop over cells, as the recursive function is."""

    def __init__(self):
        super().__init__(300, 512)

    def forward(self, xs):
        state = None
        for t in range(xs.shape[0]):
            state = super().forward(xs[t], state)
        return state[0]


class LstmLayer(nn.Module):
    """PyTorch's fused layer with the weights of a cell."""

    def __init__(self, cell):
        super().__init__()
        self.layer = nn.LSTM(cell.input_size, cell.hidden_size)
        self.layer.load_state_dict({name + "_l0": tensor for name, tensor in cell.state_dict().items()})

    def forward(self, xs):
        return self.layer(xs)[0][-1]


class Row:
    """A model of the bench, what it is trained on, and how it is measured."""

    def __init__(self, module, x, y, loss, steps, images=False, others=None):
        self.module, self.x, self.y, self.loss, self.steps, self.images = module, x, y, loss, steps, images
        self.others = others or {}  # other modules of the same function, made of the first one

    def tensors(self):
        state = {f"net.{name}": tensor for name, tensor in self.module.state_dict().items()
                 if not name.endswith("num_batches_tracked")}
        return {**state, "x": self.x, "y": self.y}


def images(batch):
    return torch.randn(batch, 3, 224, 224), torch.randint(0, 1000, (batch,), dtype=torch.int32)


def digits(batch, *shape):
    return torch.randn(batch, *shape), torch.randint(0, 10, (batch,), dtype=torch.int32)


# Rows that take any batch, for as many examples, so that the best code has been compiled when a small one is measured.
SWEPT = {
    "mlp": lambda batch=64: Row(Mlp(), *digits(batch, 784), classes, 200 * 64 // batch),
    "lenet": lambda batch=32: Row(LeNet(), *digits(batch, 1, 28, 28), classes, 200 * 32 // batch, images=True),
    "lstm": lambda batch=16: Row(Lstm(), torch.randn(20, batch, 300), 0.5 * torch.randn(batch, 512), squares, 20 * 16 // batch,
                                           others={"layer": LstmLayer}),
}
ROWS = {
    **SWEPT,
    "resnet18": lambda: Row(ResNet18(), *images(1), classes, 10, images=True),
    "resnet18_batch16": lambda: Row(ResNet18(), *images(16), classes, 1, images=True),
    "resnet50": lambda: Row(res_net50(), *images(1), classes, 5, images=True),
    "mobilenet_v2": lambda: Row(mobile_net(), *images(1), classes, 10, images=True),
    "shufflenet": lambda: Row(ShuffleNet(), *images(1), classes, 20, images=True),
    "bert_base": lambda: Row(Bert(12, 768, 12), torch.randint(0, 30522, (1, 64), dtype=torch.int32), torch.randn(1, 768), squares, 3),
    **{name: lambda cell=cell: Row(cell(), torch.randn(20, 16, 300), 0.5 * torch.randn(16, 512), squares, 20)
       for name, cell in {"mi_lstm": MiLstm, "sub_lstm": SubLstm, "lltm": Lltm, "scrn": Scrn}.items()},
    "capsule_conv": lambda: Row(CapsuleConv(), torch.ones(1), torch.randn(1, 256, 13, 13, 4, 4), squares, 10,
                                others={"product": with_capsules(capsule_product),
                                        "convolution": with_capsules(capsule_convolution)}),
    "capsnet": lambda: Row(CapsNet(), torch.rand(8, 1, 28, 28), torch.randint(0, 10, (8,), dtype=torch.int32), margin, 5,
                           images=True),
}


def variants(row):
    """Functions that make a step and give its loss, each over a copy of the model."""
    def step_of(module, x, script=False):
        optimiser = torch.optim.SGD(module.parameters(), lr=RATE, foreach=True)
        forward = torch.jit.trace(module, x, check_trace=False) if script else module

        def step():
            optimiser.zero_grad(set_to_none=True)
            loss = row.loss(forward(x), row.y)
            loss.backward()
            optimiser.step()
            return loss
        return step

    def copied():
        return copy.deepcopy(row.module)

    yield "eager", lambda: step_of(copied(), row.x)
    yield "TorchScript", lambda: step_of(copied(), row.x, script=True)
    if row.images:
        last = torch.channels_last
        yield "eager channels last", lambda: step_of(copied().to(memory_format=last), row.x.contiguous(memory_format=last))
    for name, other in row.others.items():
        yield name, lambda other=other: step_of(other(row.module), row.x)


def milliseconds(step, count):
    begin = time.perf_counter()
    for _ in range(count):
        step()
    return (time.perf_counter() - begin) / count * 1000
