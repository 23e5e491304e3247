"""Weights and inputs that are not stored: each element is a function of its tensor's path and of its position. As in
formula.h, which says what the function is."""

import numpy as np
import torch

MASK = (1 << 64) - 1


def bits(path, count):
    """SplitMix64 (Steele, Lea and Flood 2014) from the FNV-1a hash of the path."""
    h = 14695981039346656037
    for c in path.encode():
        h = ((h ^ c) * 1099511628211) & MASK
    z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(h)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) >> np.uint64(40)


def filled(path, shape, middle, spread):
    """Numbers of float32, as float64."""
    drawn = bits(path, int(np.prod(shape, dtype=np.int64))).astype(np.float64) / 8388608 - 1
    return torch.from_numpy((middle + spread * drawn).astype(np.float32).astype(np.float64).reshape(shape))


def weight(path, shape):
    if len(shape) >= 2:
        return filled(path, shape, 0.0, np.sqrt(6 / float(np.prod(shape[1:], dtype=np.float64))))
    part = path.rsplit(".", 1)[-1]
    return filled(path, shape, *{"weight": (1.0, 0.1), "running_var": (1.0, 0.5)}.get(part, (0.0, 0.1)))


@torch.no_grad()
def fill(module, prefix=""):
    """A module in float64 for inference, its parameters and buffers by their names behind the prefix."""
    module = module.double().eval()
    for name, tensor in module.state_dict().items():
        if tensor.is_floating_point():
            tensor.copy_(weight(prefix + name, tuple(tensor.shape)))
    return module


def floats(name, number, shape):
    return filled(f"{name} {number}", shape, 0.0, 1.0)


def integers(name, number, shape):
    drawn = bits(f"{name} {number}", int(np.prod(shape, dtype=np.int64))) % np.uint64(10)
    return torch.from_numpy(drawn.astype(np.int64).reshape(shape))


def of(module, *shape):
    """The results of a model for the input `x` of a shape and a number; `module` makes the model."""
    return lambda number: fill(module())(floats("x", number, shape))
