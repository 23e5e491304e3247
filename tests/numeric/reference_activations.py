"""References of the activation functions (stdlib/activation.relay), and their gradients."""

import numpy as np
import torch
import torch.nn.functional as F

from reference_groups import Draw, attributes, exact

ACTIVATIONS = [
    ("nn.gelu", {}, F.gelu), ("nn.gelu", dict(approximate="tanh"), lambda x: F.gelu(x, approximate="tanh")),
    ("nn.silu", {}, F.silu), ("nn.elu", {}, F.elu), ("nn.elu", dict(alpha=0.25), lambda x: F.elu(x, 0.25)),
    ("nn.selu", {}, F.selu), ("nn.hardsigmoid", {}, F.hardsigmoid), ("nn.hardswish", {}, F.hardswish),
    ("nn.mish", {}, F.mish), ("nn.softsign", {}, F.softsign), ("nn.softplus", {}, F.softplus),
    ("nn.celu", {}, F.celu), ("nn.celu", dict(alpha=0.25), lambda x: F.celu(x, 0.25)),
    ("nn.shrink", {}, F.hardshrink), ("nn.shrink", dict(lambd=1.5, bias=1.5), lambda x: F.softshrink(x, 1.5)),
    ("nn.shrink", dict(lambd=0.75, bias=0.25), lambda x: (x - 0.25) * (x > 0.75) + (x + 0.25) * (x < -0.75)),
    ("nn.threshold", {}, lambda x: F.threshold(x, 1.0, 0.0)), ("nn.threshold", dict(threshold=-0.5, value=2.0), lambda x: F.threshold(x, -0.5, 2.0)),
]
# Where a naive formula overflows or cancels.
ENDS = np.array([-200.0, -88.0, -20.0, -5.0, -3.0, -1e-3, 0.0, 1e-3, 3.0, 5.0, 20.0, 88.0, 200.0], dtype="float32")
SHAPES = [(), (0,), (17,), (3, 5), (2, 3, 1, 7)]


def activations(group):
    for name, given, function in ACTIVATIONS:
        draw = Draw("activations")
        rows = [draw.floats(s, -6.0, 6.0) for s in SHAPES]
        rows += [draw.floats((19,), -6.0, 6.0, "float64"), draw.floats((2, 9), -4.0, 4.0, "float16"), ENDS]
        for a in rows:
            group.case(name, f"{name}(%a{attributes(**given)})", [a], function(exact(a)).numpy().astype(a.dtype))


def hardmax(group):
    for shape, axis in [((5,), -1), ((3, 4), 0), ((3, 4), -1), ((2, 3, 4), 1), ((0, 3), 1)]:
        a = Draw("hardmax").ints(shape, -2, 2).astype("float32")
        largest = torch.argmax(exact(a), axis) if a.size else torch.zeros(0, dtype=torch.int64)
        wanted = torch.movedim(F.one_hot(largest, shape[axis]), -1, axis)
        group.case("nn.hardmax", f"nn.hardmax(%a{attributes(axis=axis)})", [a], np.ascontiguousarray(wanted.numpy().astype("float32")))


def gradients(group):
    for name, given, function in ACTIVATIONS:
        # PyTorch's own where the slopes differ: the ends of the lines.
        smooth = np.abs(ENDS) != 3 if name.startswith("nn.hard") else ENDS == ENDS
        for a in (Draw("gradients activations").floats((2, 9), -6.0, 6.0), ENDS[smooth]):
            group.gradient(name, f"{name}(%a{attributes(**given)})", [a], function, 4)
    group.gradient("nn.hardmax", "nn.hardmax(%a)", [Draw("hardmax").floats((2, 4))], lambda x: 0 * x)


MAKERS = [activations, hardmax]
