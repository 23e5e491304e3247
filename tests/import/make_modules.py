"""Modules of Relay as `tvm.ir.save_json` writes them, with inputs and PyTorch's results: /usr/bin/python3 tests/import/make_modules.py.

There is no TVM here: nodes are made by hand, members in the form of src/node/serialization.cc (TVM 0.8 to 0.18).
"""

import base64
import json
import pathlib
import struct
import sys

import torch
from torch.nn import functional

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent.parent / "bench/models"))
from safetensors_file import write_safetensors  # noqa: E402

FOLDER = pathlib.Path(__file__).parent / "modules"
CODES = {torch.float32: (2, 32), torch.int32: (0, 32), torch.int64: (0, 64), torch.bool: (6, 8)}


def ndarray(tensor):
    """include/tvm/runtime/ndarray.h, SaveDLTensor."""
    data = tensor.contiguous().numpy().tobytes()
    code, bits = CODES[tensor.dtype]
    return struct.pack(f"<QQiiiBBH{tensor.dim()}qq", 0xDD5E40F096B4A13F, 0, 1, 0, tensor.dim(), code, bits, 1, *tensor.shape,
                       len(data)) + data


def write_params(path, tensors):
    """src/runtime/file_utils.cc, SaveParams."""
    names = b"".join(struct.pack("<Q", len(name)) + name.encode() for name in tensors)
    head = struct.pack("<QQQ", 0xF7E58D4F05049CB7, 0, len(tensors)) + names + struct.pack("<Q", len(tensors))
    path.write_bytes(head + b"".join(ndarray(tensor) for tensor in tensors.values()))


class Graph:
    """Nodes by their numbers; members that are objects are numbers in text, as all others are text."""

    def __init__(self):
        self.nodes, self.arrays, self.known = [{"type_key": ""}], [], {}

    def add(self, kind, /, **members):
        members = {name: str(int(value)) if isinstance(value, bool) else str(value) for name, value in members.items()}
        self.nodes.append({"type_key": kind, "attrs": members} if members else {"type_key": kind})
        return len(self.nodes) - 1

    def expression(self, kind, /, **members):
        return self.add(kind, _checked_type_=0, span=0, virtual_device_=0, **members)

    def once(self, key, make):
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    def text(self, value, kind="runtime.String"):
        def make():
            self.nodes.append({"type_key": kind, **({"repr_str": value} if value else {})})
            return len(self.nodes) - 1
        return self.once((kind, value), make)

    def array(self, *items):
        self.nodes.append({"type_key": "Array", **({"data": list(items)} if items else {})})
        return len(self.nodes) - 1

    def integer(self, value):
        return self.add("IntImm", dtype="int32", span=0, value=value)

    def integers(self, *values):
        return self.array(*map(self.integer, values))

    def map(self, *pairs):
        self.nodes.append({"type_key": "Map", "data": [item for pair in pairs for item in pair]})
        return len(self.nodes) - 1

    # --- types

    def tensor(self, *shape, dtype="float32"):
        dims = [self.integer(d) if isinstance(d, int) else self.dim(d) for d in shape]
        return self.add("relay.TensorType", dtype=dtype, shape=self.array(*dims), span=0)

    def dim(self, name):
        if name == "?":
            return self.add("tir.Any", dtype="int32", span=0)
        return self.once(("dim", name), lambda: self.add("tir.SizeVar", dtype="int32", name=self.text(name), span=0,
                                                         type_annotation=0))

    def tuple_type(self, *fields):
        return self.add("TupleType", fields=self.array(*fields), span=0)

    def type_variable(self, name):
        return self.add("TypeVar", kind=0, name_hint=self.text(name), span=0)

    def header(self, name):
        return self.once(("type", name), lambda: self.add("GlobalTypeVar", kind=5, name_hint=self.text(name), span=0))

    def type_call(self, name, *arguments):
        return self.add("TypeCall", args=self.array(*arguments), func=self.header(name), span=0)

    def constructor(self, name, owner, *fields):
        return self.once(("constructor", name), lambda: self.expression(
            "relay.Constructor", belong_to=self.header(owner), inputs=self.array(*fields), name_hint=self.text(name), tag=0))

    # --- expressions

    def var(self, name, annotation=0, inferred=0):
        identity = self.add("relay.Id", name_hint=self.text(name))
        return self.add("relay.Var", _checked_type_=inferred, span=0, type_annotation=annotation, vid=identity, virtual_device_=0)

    def constant(self, value):
        self.arrays.append(base64.b64encode(ndarray(torch.as_tensor(value))).decode())
        return self.expression("relay.Constant", data=len(self.arrays) - 1)

    def call(self, callee, *arguments, attrs=0):
        if isinstance(callee, str):
            callee = self.text(callee, "Op")
        return self.expression("relay.Call", args=self.array(*arguments), attrs=attrs, op=callee, type_args=self.array())

    def attrs(self, kind, /, **members):
        return self.add(f"relay.attrs.{kind}Attrs", **members)

    def tuple(self, *fields):
        return self.expression("relay.Tuple", fields=self.array(*fields))

    def item(self, value, index):
        return self.expression("relay.TupleGetItem", index=index, tuple_value=value)

    def let(self, var, value, body):
        return self.expression("relay.Let", body=body, value=value, var=var)

    def choose(self, condition, yes, no):
        return self.expression("relay.If", cond=condition, false_branch=no, true_branch=yes)

    def function(self, params, body, result=0, variables=()):
        return self.expression("relay.Function", attrs=0, body=body, params=self.array(*params), ret_type=result,
                               type_params=self.array(*variables))

    def name(self, name):
        return self.once(("global", name), lambda: self.expression("GlobalVar", name_hint=self.text(name)))

    def match(self, data, *clauses):
        clauses = [self.add("relay.Clause", lhs=lhs, rhs=rhs, span=0) for lhs, rhs in clauses]
        return self.expression("relay.Match", clauses=self.array(*clauses), complete=True, data=data)

    def pattern(self, constructor, *parts):
        return self.add("relay.PatternConstructor", constructor=constructor, patterns=self.array(*parts), span=0)

    def pattern_var(self, var):
        return self.add("relay.PatternVar", span=0, var=var)

    def write(self, name, functions, types=()):
        functions = self.map(*((self.name(key), function) for key, function in functions.items()))
        root = self.add("IRModule", attrs=0, functions=functions, global_infos=0, global_type_var_map_=0, global_var_map_=0,
                        source_map=0, type_definitions=self.map(*types))
        document = {"root": root, "nodes": self.nodes, "b64ndarrays": self.arrays, "attrs": {"tvm_version": "0.14.0"}}
        (FOLDER / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")


def conv_net():
    """A network with parameters beside it and a weight in it; one of its parts is used twice."""
    torch.manual_seed(1)
    params = {"conv1.weight": torch.randn(4, 3, 3, 3), "conv1/bias:0": torch.randn(4), "0": torch.randn(5, 4)}
    inner = torch.randn(4, 4, 3, 3)
    g = Graph()
    names = {name: g.var(name, g.tensor(*tensor.shape)) for name, tensor in params.items()}
    image = g.var("data", g.tensor("n", 3, 6, 6))

    def convolution(x, weight, stride, channels):
        attrs = g.attrs("Conv2D", channels=g.integer(channels), data_layout="NCHW", dilation=g.integers(1, 1), groups=1,
                        kernel_layout="OIHW", kernel_size=g.integers(3, 3), out_dtype="", out_layout="",
                        padding=g.integers(1, 1, 1, 1), strides=g.integers(stride, stride))
        return g.call("nn.conv2d", x, weight, attrs=attrs)

    x = g.call("nn.bias_add", convolution(image, names["conv1.weight"], 2, 4), names["conv1/bias:0"], attrs=g.attrs("BiasAdd", axis=1))
    x = g.call("nn.relu", x)
    x = g.call("add", x, convolution(x, g.constant(inner), 1, 4))
    x = g.call("nn.global_avg_pool2d", x, attrs=g.attrs("GlobalPool2D", layout="NCHW", out_layout=""))
    x = g.call("nn.batch_flatten", x)
    dense = g.attrs("Dense", auto_scheduler_rewritten_layout=g.text(""), out_dtype="", units=g.integer(5))
    x = g.call("multiply", g.call("nn.dense", x, names["0"], attrs=dense), g.constant(0.5))
    x = g.call("take", x, g.constant(torch.tensor([4, 0, 2], dtype=torch.int32)),
               attrs=g.attrs("Take", axis=g.integer(1), batch_dims=g.integer(0), mode=g.text("clip")))
    g.write("conv_net", {"main": g.function([image, *names.values()], g.call("nn.softmax", x, attrs=g.attrs("Softmax", axis=-1)),
                                            g.tensor("n", 3))})
    write_params(FOLDER / "conv_net.params", params)
    data = torch.randn(1, 3, 6, 6)
    y = functional.relu(functional.conv2d(data, params["conv1.weight"], params["conv1/bias:0"], 2, 1))
    y = (y + functional.conv2d(y, inner, padding=1)).mean((2, 3))
    y = (0.5 * functional.linear(y, params["0"]))[:, [4, 0, 2]].softmax(-1)
    write_safetensors(str(FOLDER / "conv_net.safetensors"), {"data": data, "y": y})


def control():
    """A choice, a `let`, a function in it that calls itself, a data type with a match, references, a dim with a name."""
    g = Graph()
    number = g.tensor()
    circle, box, empty = (g.constructor("Circle", "Shape", number), g.constructor("Box", "Shape", number, number),
                          g.constructor("Empty", "Shape"))
    shape = g.add("relay.TypeData", constructors=g.array(circle, box, empty), header=g.header("Shape"), span=0,
                  type_vars=g.array())
    # @area(Shape)
    whole, radius, width = g.var("shape", g.type_call("Shape")), g.var("r"), g.var("w")
    squared = g.call("multiply", radius, radius)
    arms = [(g.pattern(circle, g.pattern_var(radius)), g.call("multiply", squared, g.constant(3.0))),
            (g.pattern(box, g.pattern_var(width), g.add("relay.PatternWildcard", span=0)), g.call("add", width, width)),
            (g.pattern(empty), g.constant(0.0))]
    area = g.function([whole], g.match(whole, *arms), number)
    # @swap[A, B]((A, B))
    a, b = g.type_variable("A"), g.type_variable("B")
    pair = g.var("pair", g.tuple_type(a, b))
    swap = g.function([pair], g.tuple(g.item(pair, 1), g.item(pair, 0)), g.tuple_type(b, a), [a, b])
    # @main(x, flag)
    x, flag = g.var("x", g.tensor("n", 2)), g.var("flag", inferred=g.tensor(dtype="bool"))
    scaled = g.call("multiply", x, g.constant(torch.tensor([2.0, 3.0])))
    shared = g.call("exp", scaled)
    y = g.var("x")  # another variable of the same name
    chosen = g.choose(flag, g.let(y, g.call("add", shared, scaled), g.call("subtract", y, shared)), g.call("negative", shared))
    step, count = g.var("step"), g.var("k", number)
    again = g.call(step, g.call("subtract", count, g.constant(1.0)))
    loop = g.function([count], g.choose(g.call("less", count, g.constant(1.0)), count, g.call("add", again, count)), number)
    cell = g.var("cell")
    created = g.expression("relay.RefCreate", value=g.call(g.name("area"), g.call(circle, g.constant(2.0))))
    read = g.expression("relay.RefRead", ref=cell)
    added = g.call("add", read, g.call(g.name("area"), g.call(box, g.constant(1.5), g.constant(4.0))))
    none = g.call(g.name("area"), g.call(empty))
    total = g.let(g.var("_"), g.expression("relay.RefWrite", ref=cell, value=g.call("add", added, none)),
                  g.expression("relay.RefRead", ref=cell))
    swapped = g.call(g.name("swap"), g.tuple(g.call(step, g.constant(3.0)), chosen))
    body = g.let(step, loop, g.let(cell, created, g.tuple(swapped, total, g.call("concatenate", g.tuple(x, scaled), attrs=g.attrs(
        "Concatenate", axis=0)))))
    g.write("control", {"main": g.function([x, flag], body), "area": area, "swap": swap}, [(g.header("Shape"), shape)])
    data = torch.tensor([[0.5, -1.0], [0.25, 2.0]])
    scaled = data * torch.tensor([2.0, 3.0])
    write_safetensors(str(FOLDER / "control.safetensors"), {
        "x": data, "true.0.0": scaled, "false.0.0": -scaled.exp(), "0.1": torch.tensor(6.0),
        "1": torch.tensor(15.0), "2": torch.cat([data, scaled])})


def main():
    FOLDER.mkdir(exist_ok=True)
    conv_net()
    control()


main()
