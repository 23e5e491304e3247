"""Networks of the training bench beside its own, with the names of the library's records."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from torch_models import MobileNetV2, Named, conv, resnet50


def renamed(module, *pairs):
    """The module, whose weights have other names in its state."""
    def hook(_, state, prefix, __):
        for name in list(state):
            new = name
            for old, into in pairs:
                new = new.replace(old, into)
            if new != name:
                state[new] = state.pop(name)
    module._register_state_dict_hook(hook)
    return module


def mobile_net():
    return renamed(MobileNetV2(), ("first.", "stage1."), ("stage7.0.", "stage7."))


def res_net50():
    return renamed(resnet50(), ("shortcut.", "downsample.0."), ("bn4.", "downsample.1."))


class ConvNorm(Named):
    def __init__(self, inputs, outputs, kernel, stride=1, groups=1):
        super().__init__(conv=conv(inputs, outputs, kernel, stride, groups), bn=nn.BatchNorm2d(outputs))

    def forward(self, x):
        return self.bn(self.conv(x))


def in_turn(a, b):
    return torch.stack((a, b), 2).flatten(1, 2)


class Unit(Named):
    def __init__(self, c):
        super().__init__(conv1=ConvNorm(c, c, 1), depthwise=ConvNorm(c, c, 3, 1, c), conv2=ConvNorm(c, c, 1))

    def forward(self, x):
        by, x = x.chunk(2, 1)
        return in_turn(by, F.relu(self.conv2(self.depthwise(F.relu(self.conv1(x))))))


class UnitDown(Named):
    def __init__(self, i, c):
        super().__init__(depthwise1=ConvNorm(i, i, 3, 2, i), conv1=ConvNorm(i, c, 1), conv2=ConvNorm(i, c, 1),
                         depthwise2=ConvNorm(c, c, 3, 2, c), conv3=ConvNorm(c, c, 1))

    def forward(self, x):
        near = F.relu(self.conv1(self.depthwise1(x)))
        return in_turn(near, F.relu(self.conv3(self.depthwise2(F.relu(self.conv2(x))))))


def units(c, count):
    return nn.Sequential(*[Unit(c) for _ in range(count)])


class ShuffleNet(Named):
    def __init__(self, c=58):
        seven = nn.Sequential(units(2 * c, 3), units(2 * c, 3), Unit(2 * c))
        super().__init__(conv1=ConvNorm(3, 24, 3, 2), stage2=nn.Sequential(UnitDown(24, c), units(c, 3)),
                         stage3=nn.Sequential(UnitDown(2 * c, 2 * c), seven),
                         stage4=nn.Sequential(UnitDown(4 * c, 4 * c), units(4 * c, 3)), conv5=ConvNorm(8 * c, 1024, 1),
                         fc=nn.Linear(1024, 1000))

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 3, 2, 1)
        return self.fc(F.relu(self.conv5(self.stage4(self.stage3(self.stage2(x))))).mean((2, 3)))
