"""Frozen graphs of TensorFlow without TensorFlow: messages of import/tensorflow/graph.proto, by protobuf's compiler."""

import importlib
import pathlib
import subprocess
import sys
import tempfile

import numpy

ROOT = pathlib.Path(__file__).parent.parent.parent
PROTO = "import/tensorflow/graph.proto"


def messages():
    folder = tempfile.mkdtemp()
    subprocess.run(["protoc", f"--proto_path={(ROOT / PROTO).parent}", f"--python_out={folder}", "graph.proto"], check=True)
    sys.path.insert(0, folder)
    return importlib.import_module("graph_pb2")


pb = messages()
DTYPES = {"float32": pb.DT_FLOAT, "float64": pb.DT_DOUBLE, "int32": pb.DT_INT32, "int64": pb.DT_INT64, "bool": pb.DT_BOOL,
          "uint8": pb.DT_UINT8, "resource": pb.DT_RESOURCE}


class Type(str):
    """A dtype as an attribute."""


class Shape(tuple):
    """A shape as an attribute; -1 is unknown."""


class Function(str):
    """The name of a function as an attribute."""


def set_shape(message, shape):
    for extent in shape:
        message.dim.add(size=extent)


def set_tensor(message, array):
    message.dtype = DTYPES[str(array.dtype)]
    set_shape(message.tensor_shape, array.shape)
    message.tensor_content = array.tobytes()


def set_attribute(message, value):
    if isinstance(value, Type):
        message.type = DTYPES[value]
    elif isinstance(value, Shape):
        message.shape.SetInParent()
        set_shape(message.shape, value)
    elif value is None:
        message.shape.unknown_rank = True
    elif isinstance(value, Function):
        message.func.name = value
    elif isinstance(value, str):
        message.s = value.encode()
    elif isinstance(value, bool):
        message.b = value
    elif isinstance(value, int):
        message.i = value
    elif isinstance(value, float):
        message.f = value
    elif isinstance(value, (numpy.ndarray, numpy.generic)):
        set_tensor(message.tensor, numpy.asarray(value))
    elif value and isinstance(value[0], Type):
        message.list.type.extend(DTYPES[t] for t in value)
    else:
        message.list.SetInParent()
        message.list.i.extend(value)


class Graph:
    """Nodes one after the other; a node is known by its name. `add` gives the name of its first output."""

    def __init__(self, nodes=None):
        self.message = pb.GraphDef()
        self.nodes = self.message.node if nodes is None else nodes
        self.inputs, self.taken, self.scope = {}, set(), ""

    def unique(self, name):
        candidate, number = self.scope + name, 0
        while candidate in self.taken:
            number += 1
            candidate = f"{self.scope}{name}_{number}"
        self.taken.add(candidate)
        return candidate

    def add(self, op, *inputs, name=None, **attributes):
        node = self.nodes.add(name=self.unique(name or op), op=op)
        node.input.extend(i if isinstance(i, str) else self.constant(i, name=f"{(name or op)}/const") for i in inputs)
        for key, value in attributes.items():
            set_attribute(node.attr[key], value)
        return node.name

    def constant(self, value, dtype=None, name="Const"):
        array = numpy.asarray(value)
        if dtype or array.dtype == numpy.float64 or (array.dtype == numpy.int64 and not isinstance(value, numpy.ndarray)):
            array = array.astype(dtype or ("float32" if array.dtype == numpy.float64 else "int32"))
        return self.add("Const", name=name, dtype=Type(str(array.dtype)), value=array)

    def input(self, name, array, shape=None):
        self.inputs[name] = array
        return self.add("Placeholder", name=name, dtype=Type(str(array.dtype)), shape=Shape(array.shape if shape is None else shape))

    def loop(self, frame, first, condition, body):
        """A loop of TensorFlow 1: `condition` and `body` get the names of the states; the results are those that leave it."""
        entered = [self.add("Enter", value, name=f"{frame}/Enter", frame_name=self.scope + frame, is_constant=False)
                   for value in first]
        merged = [self.add("Merge", value, f"{self.scope}{frame}/NextIteration_of_{k}", name=f"{frame}/Merge")
                  for k, value in enumerate(entered)]
        holds = self.add("LoopCond", condition(*merged), name=f"{frame}/LoopCond")
        switched = [self.add("Switch", value, holds, name=f"{frame}/Switch") for value in merged]
        states = [self.add("Identity", f"{value}:1", name=f"{frame}/Identity") for value in switched]
        for k, value in enumerate(body(*states)):
            self.add("NextIteration", value, name=f"{frame}/NextIteration_of_{k}")
        return [self.add("Exit", value, name=f"{frame}/Exit") for value in switched]

    def invariant(self, frame, value):
        return self.add("Enter", value, name=f"{frame}/{value}", frame_name=self.scope + frame, is_constant=True)

    def branch(self, scope, condition, values, then, otherwise):
        """`tf.cond` of TensorFlow 1: both functions get the values as they are in their branch."""
        kept = self.add("Identity", condition, name=f"{scope}/pred_id")
        pivot = self.add("Switch", condition, condition, name=f"{scope}/Switch")
        pivots = [self.add("Identity", pivot + port, name=f"{scope}/switch_{port[1:] or 0}") for port in ("", ":1")]
        results = []
        for function, port, at in ((otherwise, "", pivots[0]), (then, ":1", pivots[1])):
            switched = [self.add("Switch", value, kept, name=f"{scope}/Switch") + port for value in values]
            given = function(f"^{at}", *switched)
            results.append(given if isinstance(given, tuple) else (given,))
        merged = [self.add("Merge", *pair, name=f"{scope}/Merge") for pair in zip(*results)]
        return merged if len(merged) > 1 else merged[0]

    def function(self, name, arguments, results):
        """A function of the library: a graph to which nodes are added, and whose `results` are set when they are known."""
        function = self.message.library.function.add()
        function.signature.name = name
        for argument in arguments:
            function.signature.input_arg.add(name=argument)
        for result in results:
            function.signature.output_arg.add(name=result)
        body = Graph(function.node_def)
        body.ret = function.ret
        return body

    def bytes(self):
        return numpy.frombuffer(self.message.SerializeToString(deterministic=True), dtype=numpy.uint8)
