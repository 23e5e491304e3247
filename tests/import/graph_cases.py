"""Cases for the tests of TensorFlow's graphs: small graphs with inputs and what TensorFlow computes of them.

A file of tests/import/graphs is a family of operators: of each case the graph (`NAME/graph`, bytes), its inputs
(`NAME/in/INPUT`) and its results (`NAME/out/0`). They are by NumPy and PyTorch, after TensorFlow's documentation.
"""

import pathlib
import sys

# PyTorch brings a protobuf of its own, which must not be the first one.
from graph_file import Graph, Type  # isort: skip
import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent.parent / "bench/models"))
from safetensors_file import write_safetensors  # noqa: E402

FOLDER = pathlib.Path(__file__).parent / "graphs"
RNG = np.random.default_rng(0)
F32 = Type("float32")


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


class Cases:
    def __init__(self):
        self.tensors = {}

    def add(self, name, graph, *results):
        self.tensors[f"{name}/graph"] = graph.bytes()
        for key, array in graph.inputs.items():
            self.tensors[f"{name}/in/{key}"] = array
        for k, result in enumerate(results):
            result = np.asarray(result)
            self.tensors[f"{name}/out/{k}"] = result.astype(np.float32) if result.dtype == np.float64 else result

    def of(self, name, op, inputs, *results, **attributes):
        """A graph of one node. Arrays are inputs; other values are constants."""
        graph, names = Graph(), []
        for k, value in enumerate(inputs):
            is_input = isinstance(value, np.ndarray)
            names.append(graph.input("xyzuv"[k], value) if is_input else graph.constant(value.value, value.dtype))
        graph.add(op, *names, name="result", **attributes)
        self.add(name, graph, *results)

    def write(self, family):
        write_safetensors(str(FOLDER / f"{family}.safetensors"),
                          {name: torch.from_numpy(np.array(array)) for name, array in self.tensors.items()})


class Known:
    """A constant of the graph."""

    def __init__(self, value, dtype=None):
        self.value, self.dtype = value, dtype


def channels_first(x):
    return x.transpose(0, x.ndim - 1, *range(1, x.ndim - 1)).copy()
