"""The files of the stored references, random tensors to fill them with, and the language's syntax of attributes.

A line of GROUP.txt is one case: name | terms | expression | %variable=entry… | expected entry
where `terms` is how many elements a reduction adds up (1 for others), for tolerances.
"""

import json
import os
import struct
import zlib

import numpy as np
import torch

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "references")
DTYPES = {"bool": "BOOL", "int8": "I8", "uint8": "U8", "int16": "I16", "int32": "I32", "int64": "I64", "uint16": "U16", "uint32": "U32",
          "float16": "F16", "float32": "F32", "float64": "F64"}


def exact(array):
    """As PyTorch computes it: floats in float64."""
    tensor = torch.from_numpy(np.array(array))
    return tensor.double() if tensor.is_floating_point() else tensor


def rounded(tensor, dtype="float32"):
    with np.errstate(over="ignore"):
        return np.asarray(tensor.numpy()).astype(dtype)


class Group:
    """The cases of one file, and their tensors, equal ones stored once."""

    HEADER = "# name | terms | expression | inputs | expected"

    def __init__(self, name):
        self.name, self.lines, self.tensors, self.names, self.counts = name, [], [], {}, {}

    def entry(self, array):
        array = np.ascontiguousarray(array) if array.ndim else np.array(array)
        key = (str(array.dtype), array.shape, array.tobytes())
        if key not in self.names:
            self.names[key] = f"t{len(self.tensors)}"
            self.tensors.append((self.names[key], array))
        return self.names[key]

    def case(self, operator, expression, inputs, expected, terms=1):
        self.line(operator, terms, expression, inputs, lambda: self.entry(expected))

    def line(self, operator, terms, expression, inputs, rest):
        """`rest` gives the last fields of the line; entries are numbered in the order of the fields."""
        number = self.counts[operator] = self.counts.get(operator, 0) + 1
        variables = " ".join(f"%{name}={self.entry(value)}" for name, value in zip("abcdefg", inputs))
        self.lines.append(f"{operator}.{number} | {terms} | {expression} | {variables} | {rest()}")

    def write(self):
        header, offset = {}, 0
        order = sorted(self.tensors, key=lambda t: -t[1].itemsize)
        for name, array in order:
            header[name] = {"dtype": DTYPES[str(array.dtype)], "shape": list(array.shape),
                            "data_offsets": [offset, offset + array.nbytes]}
            offset += array.nbytes
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        with open(os.path.join(FOLDER, self.name + ".safetensors"), "wb") as f:
            f.write(struct.pack("<Q", len(text)) + text)
            for _, array in order:
                f.write(array.tobytes())
        with open(os.path.join(FOLDER, self.name + ".txt"), "w") as f:
            f.write(self.HEADER + "; written by make_references.py\n")
            f.write("\n".join(self.lines) + "\n")


class Draw:
    """Random tensors, by the operator's name."""

    def __init__(self, name):
        self.rng = np.random.RandomState(zlib.crc32(name.encode()))

    def floats(self, shape, low=-3.0, high=3.0, dtype="float32"):
        return np.asarray(self.rng.uniform(low, high, shape)).astype(dtype)

    def ints(self, shape, low=-9, high=9, dtype="int32"):
        return np.asarray(self.rng.randint(low, high + 1, shape)).astype(dtype)

    def nonzero(self, shape, high=9, dtype="int32"):
        a = self.ints(shape, 1, high, dtype)
        return np.asarray(np.where(self.rng.rand(*shape) < 0.5, a, -a)).astype(dtype)

    def bools(self, shape, share=0.5):
        return np.asarray(self.rng.rand(*shape) < share)


def text(value):
    """A Python value in the language's syntax."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, float):
        return repr(value) if np.isfinite(value) else {"inf": "inff", "-inf": "-inff"}[repr(value)]
    return repr(value)


def attributes(**values):
    return "".join(f", {name}={text(value)}" for name, value in values.items())
