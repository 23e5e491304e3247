"""Loops, branches and functions of TensorFlow: /usr/bin/python3 tests/import/make_flow_graphs.py."""

from graph_cases import F32, Cases, floats  # isort: skip
import numpy as np
import torch
from graph_file import Function, Graph, Shape, Type


def loops():
    cases = Cases()
    x = floats(2, 3)

    def below(graph, limit):
        return lambda i, *rest: graph.add("Less", i, graph.constant(limit))

    graph = Graph()
    data = graph.input("x", x)
    results = graph.loop("while", [graph.constant(0), data], below(graph, 5), lambda i, v: (
        graph.add("Add", i, graph.constant(1)), graph.add("AddV2", graph.add("Mul", v, graph.constant(2.0)), graph.constant(1.0))))
    graph.add("Neg", results[1], name="result")
    wanted = x
    for _ in range(5):
        wanted = wanted * 2 + 1
    cases.add("counted", graph, -wanted)

    # That of docs/importing.md.
    graph, kernel = Graph(), floats(3, 3)
    data = graph.input("x", x)
    weight = graph.invariant("while", graph.constant(kernel, name="kernel"))
    results = graph.loop("while", [graph.constant(0), data], below(graph, 4), lambda i, v: (
        graph.add("Add", i, graph.constant(1)), graph.add("Tanh", graph.add("MatMul", v, weight))))
    graph.add("Identity", results[1], name="result")
    wanted = x
    for _ in range(4):
        wanted = np.tanh(wanted @ kernel)
    cases.add("example", graph, wanted)

    graph = Graph()
    data = graph.input("x", np.abs(x) + 0.5)
    results = graph.loop("while", [data], lambda v: graph.add("Less", graph.add("Sum", v, graph.constant([0, 1])), graph.constant(100.0)),
                         lambda v: (graph.add("Mul", v, graph.constant(2.0)),))
    graph.add("Identity", results[0], name="result")
    wanted = np.abs(x) + np.float32(0.5)
    while wanted.sum() < 100:
        wanted = wanted * 2
    cases.add("by_data", graph, wanted)

    # An invariant, a state that is swapped with another one, and a condition with several nodes.
    weight, offset = floats(3, 3), floats(3)
    graph = Graph()
    data = graph.input("x", x)
    kept = graph.invariant("rnn", graph.constant(weight, name="cell/kernel"))
    bias = graph.invariant("rnn", graph.constant(offset, name="cell/bias"))
    results = graph.loop("rnn", [graph.constant(0), data, data],
                         lambda i, a, b: graph.add("LogicalAnd", graph.add("Less", i, graph.constant(4)),
                                                   graph.add("Greater", graph.constant(9), i)),
                         lambda i, a, b: (graph.add("Add", i, graph.constant(1)), b,
                                          graph.add("Tanh", graph.add("BiasAdd", graph.add("MatMul", a, kept), bias))))
    graph.add("Sub", results[1], results[2], name="result")
    a = b = x
    for _ in range(4):
        a, b = b, np.tanh(a @ weight + offset)
    cases.add("invariants", graph, a - b)

    graph = Graph()
    data = graph.input("x", x)

    def inner(i, total):
        graph.scope = "outer/"
        outside = graph.invariant("inner", i)
        count, found = graph.loop("inner", [graph.constant(0), total],
                                  lambda j, t: graph.add("LessEqual", j, outside),
                                  lambda j, t: (graph.add("Add", j, graph.constant(1)), graph.add(
                                      "Add", t, graph.add("Mul", graph.invariant("inner", rows), graph.add(
                                          "Cast", j, DstT=Type("float32"))))))
        graph.scope = ""
        return graph.add("Add", i, graph.constant(1)), found

    rows = graph.invariant("outer", data)
    results = graph.loop("outer", [graph.constant(0), data], below(graph, 3), inner)
    graph.add("Identity", results[1], name="result")
    wanted = x.copy()
    for i in range(3):
        for j in range(i + 1):
            wanted = wanted + x * j
    cases.add("nested", graph, wanted)

    # Neither the number of steps nor the batch is known: a recurrence as `tf.nn.dynamic_rnn` writes it.
    def dynamic_rnn(graph, data, states, step, frame="rnn/while", shape=None):
        time = graph.add("StridedSlice", graph.add("Shape", data), graph.constant([0]), graph.constant([1]),
                         graph.constant([1]), shrink_axis_mask=1)
        arrays = [graph.add("TensorArrayV3", time, name=f"rnn/{name}", dtype=Type("float32"), element_shape=shape)
                  for name in ("read", "written")]
        positions = graph.add("Range", graph.constant(0), time, graph.constant(1))
        filled = graph.add("TensorArrayScatterV3", arrays[0], positions, data, f"{arrays[0]}:1", T=F32)
        source, flow, target = (graph.invariant(frame, value) for value in (arrays[0], filled, arrays[1]))
        limit = graph.invariant(frame, time)

        def body(i, written, *kept):
            row = graph.add("TensorArrayReadV3", source, i, flow, dtype=F32)
            result, *after = step(row, *kept)
            return (graph.add("Add", i, graph.constant(1)),
                    graph.add("TensorArrayWriteV3", target, i, result, written, T=F32), *after)

        exits = graph.loop(frame, [graph.constant(0), f"{arrays[1]}:1", *states],
                           lambda i, *rest: graph.add("Less", i, limit), body)
        size = graph.add("TensorArraySizeV3", arrays[1], exits[1])
        all_of = graph.add("Range", graph.constant(0), size, graph.constant(1))
        return graph.add("TensorArrayGatherV3", arrays[1], all_of, exits[1], dtype=F32), exits[2:]

    sequence, width = floats(5, 2, 3), 4
    for name, extents in (("", sequence.shape), ("_open", (-1, -1, 3))):
        torch.manual_seed(1)
        cell = torch.nn.LSTM(3, width)
        wanted, (h, c) = cell(torch.from_numpy(sequence))
        # TensorFlow's kernel has rows of inputs and states, and columns of the gates i, j, f, o.
        gates = [0, 2, 1, 3]
        kernel = torch.cat([cell.weight_ih_l0, cell.weight_hh_l0], 1).view(4, width, -1)[gates].reshape(4 * width, -1).T
        bias = (cell.bias_ih_l0 + cell.bias_hh_l0).view(4, width)[gates]
        bias[2] -= 1
        graph = Graph()
        data = graph.input("x", sequence, extents)
        frame = "rnn/while"
        graph.scope = ""
        weights = graph.invariant(frame, graph.constant(kernel.detach().numpy().copy(), name="rnn/lstm_cell/kernel"))
        offsets = graph.invariant(frame, graph.constant(bias.reshape(-1).detach().numpy().copy(), name="rnn/lstm_cell/bias"))
        if extents[0] == -1:
            batch = graph.add("StridedSlice", graph.add("Shape", data), graph.constant([1]), graph.constant([2]),
                              graph.constant([1]), shrink_axis_mask=1)
            zeros = graph.add("Fill", graph.add("Pack", batch, graph.constant(width), N=2), graph.constant(0.0))
        else:
            zeros = graph.constant(np.zeros((2, width), np.float32), name="rnn/zeros")

        def step(row, h, c):
            both = graph.add("ConcatV2", row, h, graph.constant(1), N=2)
            product = graph.add("BiasAdd", graph.add("MatMul", both, weights), offsets)
            i = graph.add("Split", graph.constant(1), product, num_split=4)
            j, f, o = f"{i}:1", f"{i}:2", f"{i}:3"
            kept = graph.add("Mul", c, graph.add("Sigmoid", graph.add("Add", f, graph.constant(1.0))))
            c = graph.add("Add", kept, graph.add("Mul", graph.add("Sigmoid", i), graph.add("Tanh", j)))
            h = graph.add("Mul", graph.add("Tanh", c), graph.add("Sigmoid", o))
            return h, h, c

        results, (last_h, last_c) = dynamic_rnn(graph, data, [zeros, zeros], step)
        graph.add("IdentityN", results, last_h, last_c, name="result", T=[F32, F32, F32])
        cases.add(f"lstm{name}", graph, wanted.detach().numpy(), h[0].detach().numpy(), c[0].detach().numpy())

    # An array of a known element shape, read in another order.
    graph = Graph()
    data = graph.input("x", x)
    array = graph.add("TensorArrayV3", graph.constant(2), dtype=F32, element_shape=Shape([3]))
    flow = graph.add("TensorArrayScatterV3", array, graph.constant([1, 0]), data, f"{array}:1", T=F32)
    flow = graph.add("TensorArrayWriteV3", array, graph.constant(0), graph.constant(np.ones(3, np.float32)), flow, T=F32)
    graph.add("TensorArrayGatherV3", array, graph.constant([1, 0, 1]), flow, name="result", dtype=F32)
    cases.add("array", graph, np.stack([x[0], np.ones(3, np.float32), x[0]]))

    # A state that grows has a type of unknown extents.
    graph = Graph()
    data = graph.input("x", x)
    results = graph.loop("while", [graph.constant(0), data], below(graph, 2), lambda i, v: (
        graph.add("Add", i, graph.constant(1)), graph.add("ConcatV2", v, v, graph.constant(0), N=2)))
    graph.add("Identity", results[1], name="result")
    cases.add("growing", graph, np.concatenate([x] * 4))
    cases.write("loops")


def branches():
    cases = Cases()
    x, weight = floats(2, 3), floats(3)

    def positive(graph, data):
        return graph.add("Greater", graph.add("Sum", data, graph.constant([0, 1])), graph.constant(0.0))

    for name, data in (("holds", np.abs(x)), ("fails", -np.abs(x))):
        total = data.sum()
        graph = Graph()
        value, outer = graph.input("x", data), graph.constant(weight, name="weight")
        graph.add("Neg", graph.branch("cond", positive(graph, value), [value, outer],
                                      lambda at, v, w: graph.add("Add", graph.add("Mul", v, graph.constant(2.0)), w),
                                      lambda at, v, w: graph.add("Sub", v, graph.add("Const", at, dtype=F32, value=np.float32(1)))),
                  name="result")
        cases.add(f"switch_{name}", graph, -(data * 2 + weight) if total > 0 else -(data - np.float32(1)))

        # A branch that is a constant, one inside of another one, and one after another one on the same condition.
        graph = Graph()
        value = graph.input("x", data)
        condition = positive(graph, value)
        first_one = graph.branch("cond", condition, [value],
                                 lambda at, v: graph.branch(
                                     "cond/again", graph.add("Less", graph.add("Max", v, graph.constant([0, 1])),
                                                             graph.constant(100.0)), [v],
                                     lambda at, u: graph.add("Square", u), lambda at, u: graph.add("Sqrt", u)),
                                 lambda at, v: graph.add("Const", at, dtype=F32, value=np.full((2, 3), 7, np.float32)))
        graph.add("Identity", graph.branch("later", condition, [first_one], lambda at, v: graph.add("Add", v, graph.constant(1.0)),
                                           lambda at, v: graph.add("Neg", v)), name="result")
        cases.add(f"nested_{name}", graph, data ** 2 + 1 if total > 0 else np.full((2, 3), -7, np.float32))

        # Two results of one condition, which share a node; a third one that needs the first is of a condition of its own.
        graph = Graph()
        value = graph.input("x", data)

        def both(at, v):
            root = graph.add("Sqrt", v)
            return graph.add("Add", root, graph.constant(1.0)), graph.add("Mul", root, graph.constant(2.0))

        holds = positive(graph, value)
        one, two = graph.branch("cond", holds, [value], both, lambda at, v: (graph.add("Neg", v), graph.add("Abs", v)))
        three = graph.branch("cond", holds, [graph.add("Add", one, two)], lambda at, v: graph.add("Neg", v),
                             lambda at, v: graph.add("Square", v))
        graph.add("Identity", three, name="result")
        root = np.sqrt(np.abs(data))
        cases.add(f"two_results_{name}", graph, -(root + 1 + root * 2) if total > 0 else (-data + np.abs(data)) ** 2)

        # A loop in a branch, and a branch in a loop.
        graph = Graph()
        value = graph.input("x", data)
        graph.add("Identity", graph.branch("cond", positive(graph, value), [value],
                                           lambda at, v: graph.loop("cond/while", [graph.constant(0), v],
                                                                    lambda i, u: graph.add("Less", i, graph.constant(3)),
                                                                    lambda i, u: (graph.add("Add", i, graph.constant(1)),
                                                                                  graph.add("Add", u, u)))[1],
                                           lambda at, v: graph.add("Abs", v)), name="result")
        cases.add(f"loop_in_a_branch_{name}", graph, data * 8 if total > 0 else np.abs(data))

    graph = Graph()
    value = graph.input("x", x)
    results = graph.loop("while", [graph.constant(0), value], lambda i, v: graph.add("Less", i, graph.constant(4)),
                         lambda i, v: (graph.add("Add", i, graph.constant(1)),
                                       graph.branch("while/cond", graph.add("Equal", graph.add("FloorMod", i, graph.constant(2)),
                                                                            graph.constant(0)), [v],
                                                    lambda at, u: graph.add("Mul", u, graph.constant(3.0)),
                                                    lambda at, u: graph.add("Sub", u, graph.constant(1.0)))))
    graph.add("Identity", results[1], name="result")
    cases.add("branch_in_a_loop", graph, ((x * 3 - 1) * 3) - 1)

    # A condition that is known, as that of training is in a frozen graph.
    graph = Graph()
    value = graph.input("x", x)
    training = graph.add("PlaceholderWithDefault", graph.add("Const", dtype=Type("bool"), value=np.array(False)), name="training")
    graph.add("Identity", graph.branch("dropout", training, [value], lambda at, v: graph.add("RandomUniform", graph.add("Shape", v)),
                                       lambda at, v: graph.add("Neg", v)), name="result")
    cases.add("known", graph, -x)
    cases.write("branches")


def functions():
    cases = Cases()
    x, weight = floats(2, 3), floats(3, 3)
    graph = Graph()
    body = graph.function("affine", ["a", "w"], ["r"])
    body.add("MatMul", "a", "w", name="product")
    body.add("Relu", "product:product:0", name="relu")
    body.ret["r"] = "relu:activations:0"
    kernel = graph.constant(weight, name="dense/kernel")
    once = graph.add("PartitionedCall", graph.input("x", x), kernel, Tout=[F32], f=Function("affine"))
    graph.add("StatefulPartitionedCall", once, kernel, name="result", Tout=[F32], f=Function("affine"))
    cases.add("call", graph, np.maximum(np.maximum(x @ weight, 0) @ weight, 0))

    for name, data in (("holds", np.abs(x)), ("fails", -np.abs(x))):
        graph = Graph()
        then, otherwise = (graph.function(part, ["a", "b"], ["r", "s"]) for part in ("then", "else"))
        then.add("Add", "a", "b", name="sum")
        then.ret["r"], then.ret["s"] = "sum:z:0", "a"
        otherwise.add("TopKV2", "a", otherwise.constant(3, name="k") + ":output:0", name="top")
        otherwise.ret["r"], otherwise.ret["s"] = "top:values:0", "b"
        value = graph.input("x", data)
        holds = graph.add("Greater", graph.add("Sum", value, graph.constant([0, 1])), graph.constant(0.0))
        both = graph.add("StatelessIf" if name == "holds" else "If", holds, value, graph.constant(np.ones((2, 3), np.float32)), Tout=[F32, F32],
                         then_branch=Function("then"), else_branch=Function("else"))
        graph.add("Sub", both, f"{both}:1", name="result")
        cases.add(f"if_{name}", graph, data + 1 - data if data.sum() > 0 else -np.sort(-data, -1) - 1)

    # A loop of TensorFlow 2 over lists.
    rows = floats(4, 2)
    for name, extents in (("", rows.shape), ("_open", (-1, 2))):
        graph = Graph()
        states = ["i", "n", "source", "target", "sum"]
        condition, body = graph.function("cond", states, ["r"]), graph.function("body", states, [f"{s}_after" for s in states])
        condition.add("Less", "i", "n", name="less")
        condition.ret["r"] = "less:z:0"
        shape = body.constant([2], name="shape") + ":output:0"
        body.add("TensorListGetItem", "source", "i", shape, name="row", element_dtype=F32)
        body.add("AddV2", "sum", "row:item:0", name="total")
        body.add("TensorListSetItem", "target", "i", "total:z:0", name="set", element_dtype=F32)
        body.add("AddV2", "i", body.constant(1, name="one") + ":output:0", name="next")
        for state, value in zip(states, ("next:z:0", "n", "source", "set:output_handle:0", "total:z:0")):
            body.ret[f"{state}_after"] = value
        data = graph.input("x", rows, extents)
        count = graph.add("StridedSlice", graph.add("Shape", data), graph.constant([0]), graph.constant([1]),
                          graph.constant([1]), shrink_axis_mask=1)
        shape = graph.constant([2])
        source = graph.add("TensorListFromTensor", data, shape, element_dtype=F32)
        target = graph.add("TensorListReserve", shape, count, element_dtype=F32)
        length = graph.add("TensorListLength", source)
        loop = graph.add("StatelessWhile" if name else "While", graph.constant(0), length, source, target, graph.constant(np.zeros(2, np.float32)),
                         T=[Type("int32"), Type("int32"), F32, F32, F32], cond=Function("cond"), body=Function("body"))
        graph.add("TensorListStack", f"{loop}:3", shape, name="result", element_dtype=F32)
        cases.add(f"while{name}", graph, np.cumsum(rows, 0))
    cases.write("functions")


for family in (loops, branches, functions):
    family()
