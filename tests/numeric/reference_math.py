"""References of the elementary functions (stdlib/math.relay), and their gradients."""

import numpy as np
import torch

from reference_groups import Draw

# Functions of one number: where they are drawn, and PyTorch's.
FUNCTIONS = [
    ("expm1", -6.0, 6.0, torch.expm1),
]
SHAPES = [(), (0,), (17,), (3, 5), (2, 3, 1, 7)]
SMALL = np.array([0.0, -0.0, 1e-30, -1e-30, 1e-10, -1e-10, 1e-5, -1e-5, 1e-3, -1e-3, 0.03, -0.03, 0.5, -0.5], dtype="float32")
LARGE = np.array([-1e30, -1e8, -200.0, -20.0, -2.0, 2.0, 20.0, 200.0, 1e8, 1e30, np.inf, -np.inf, np.nan], dtype="float32")


def exact(array):
    return torch.from_numpy(np.array(array)).double()


def rounded(tensor, dtype):
    with np.errstate(over="ignore"):
        return np.asarray(tensor.numpy()).astype(dtype)


def functions(group):
    for name, low, high, function in FUNCTIONS:
        draw = Draw("math " + name)
        rows = [draw.floats(s, low, high) for s in SHAPES]
        rows += [draw.floats((19,), low, high, "float64"), draw.floats((2, 9), low, high, "float16")]
        for a in rows + [SMALL, LARGE, SMALL.astype("float64")]:
            group.case(name, f"{name}(%a)", [a], rounded(function(exact(a)), a.dtype))


def gradients(group):
    for name, low, high, function in FUNCTIONS:
        a = Draw("gradients math " + name).floats((2, 9), low, high)
        small = SMALL[(SMALL > low) & (SMALL < high)]
        for a in (a, small):
            group.gradient(name, f"{name}(%a)", [a], function, 4)


MAKERS = [functions]
