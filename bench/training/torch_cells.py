"""Cells of the training bench beside PyTorch's own, and capsules, with the names of the library's records."""
import torch
import torch.nn as nn
import torch.nn.functional as F

import torch_capsules as capsules


class Cell(nn.Module):
    """A loop of `step` over the weights; the output of the last step."""

    def __init__(self, **shapes):
        super().__init__()
        for name, shape in shapes.items():
            bound = 1 / shape[-1] ** 0.5
            setattr(self, name, nn.Parameter(torch.empty(shape).uniform_(-bound, bound)))

    def forward(self, xs):
        state = (xs.new_zeros(xs.shape[1], self.units[0]), xs.new_zeros(xs.shape[1], self.units[1]))
        for t in range(xs.shape[0]):
            state = self.step(xs[t], *state)
        return self.output(*state)

    def output(self, h, c):
        return h


class MiLstm(Cell):
    units = (512, 512)

    def __init__(self):
        super().__init__(weight_ih=(2048, 300), weight_hh=(2048, 512), alpha=(2048,), beta1=(2048,), beta2=(2048,), bias=(2048,))
        for name in ("alpha", "beta1", "beta2"):
            nn.init.ones_(getattr(self, name))

    def step(self, x, h, c):
        wx, uh = F.linear(x, self.weight_ih), F.linear(h, self.weight_hh)
        i, f, g, o = (self.alpha * wx * uh + self.beta1 * uh + self.beta2 * wx + self.bias).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


class SubLstm(Cell):
    units = (512, 512)

    def __init__(self):
        super().__init__(weight_ih=(2048, 300), weight_hh=(2048, 512), bias=(2048,))

    def step(self, x, h, c):
        i, f, z, o = (F.linear(x, self.weight_ih) + F.linear(h, self.weight_hh) + self.bias).sigmoid().chunk(4, 1)
        c = f * c + z - i
        return c.sigmoid() - o, c


class Lltm(Cell):
    units = (512, 512)

    def __init__(self):
        super().__init__(weights=(1536, 812), bias=(1536,))

    def step(self, x, h, c):
        i, o, candidate = F.linear(torch.cat([h, x], 1), self.weights, self.bias).chunk(3, 1)
        c = c + F.elu(candidate) * i.sigmoid()
        return c.tanh() * o.sigmoid(), c


class Scrn(Cell):
    units = (64, 512)

    def __init__(self):
        super().__init__(input_context=(64, 300), input_hidden=(512, 300), context_hidden=(512, 64), hidden_hidden=(512, 512),
                         hidden_output=(512, 512), context_output=(512, 64))

    def step(self, x, s, h):
        s = 0.05 * F.linear(x, self.input_context) + 0.95 * s
        h = (F.linear(s, self.context_hidden) + F.linear(x, self.input_hidden) + F.linear(h, self.hidden_hidden)).sigmoid()
        return s, h

    def output(self, s, h):
        return F.linear(h, self.hidden_output) + F.linear(s, self.context_output)


def squash(s):
    square = (s * s).sum(-1, keepdim=True)
    return s * (square + 1e-9).sqrt() / (1 + square)


class CapsNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.primary = nn.Conv2d(1, 256, 9), nn.Conv2d(256, 256, 9, 2)
        self.transforms = nn.Parameter(0.1 * torch.randn(1152, 10, 16, 8))
        self.decoder = nn.Sequential(nn.Linear(160, 512), nn.Linear(512, 1024), nn.Linear(1024, 784))

    def forward(self, x):
        p = self.primary(F.relu(self.conv1(x))).reshape(-1, 32, 8, 36).transpose(2, 3)
        votes = torch.einsum("coed,bcd->bcoe", self.transforms, squash(p.reshape(-1, 1152, 8)))
        logits = torch.zeros(votes.shape[:3])
        for round in range(3):
            v = squash(torch.einsum("bco,bcoe->boe", logits.softmax(-1), votes))
            if round < 2:
                logits = logits + torch.einsum("bcoe,boe->bco", votes, v)
        return ((v * v).sum(-1) + 1e-9).sqrt()


class CapsuleConv(nn.Module):
    """The convolution alone, with the gradients of both operands."""

    def __init__(self, function=capsules.capsule_einsum):
        super().__init__()
        self.function = function
        self.poses = nn.Parameter(torch.randn(1, 64, 28, 28, 4, 4))
        self.weight = nn.Parameter(0.05 * torch.randn(256, 64, 3, 3, 4, 4))

    def forward(self, scale):
        return scale * self.function(self.poses, self.weight)


def with_capsules(function):
    """Another way of the same convolution, whose weights are arranged anew in each step."""
    def made(module):
        other = CapsuleConv(lambda a, b: function(a, b, arranged=lambda weight, arrange: arrange(weight)))
        other.load_state_dict(module.state_dict())
        return other
    return made


def margin(lengths, y):
    there = F.one_hot(y.long(), 10).float()
    short, long = F.relu(0.9 - lengths), F.relu(lengths - 0.1)
    return (there * short * short + 0.5 * (1 - there) * long * long).sum(1).mean()
