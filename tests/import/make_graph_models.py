"""Whole models as frozen graphs of TensorFlow, small, with inputs and PyTorch's results: /usr/bin/python3 tests/import/make_graph_models.py."""

import pathlib
import sys

# PyTorch brings a protobuf of its own, which must not be the first one.
from graph_file import Graph, Type  # isort: skip
import numpy as np
import torch
from torch.nn import functional

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent.parent / "bench/models"))
from safetensors_file import write_safetensors  # noqa: E402

FOLDER = pathlib.Path(__file__).parent / "models"
F32 = Type("float32")


def weights(*shape, scale=0.5):
    return (torch.randn(shape) * scale).requires_grad_(False)


def write(name, graph, result):
    (FOLDER / f"{name}.pb").write_bytes(graph.bytes().tobytes())
    write_safetensors(str(FOLDER / f"{name}.safetensors"),
                      {key: torch.from_numpy(array) for key, array in graph.inputs.items()} | {"y": result.contiguous()})


def mobilenet():
    """The stem, three blocks of a depthwise and a pointwise convolution with their norms, and the classifier of MobileNet v1."""
    graph = Graph()
    image = torch.randn(1, 3, 14, 14)
    node = graph.input("input", image.permute(0, 2, 3, 1).contiguous().numpy(), (-1, 14, 14, 3))
    x = image

    def block(node, x, scope, weight, stride, depthwise):
        graph.scope = f"MobilenetV1/{scope}/"
        total = max(0, (-(-x.shape[2] // stride) - 1) * stride + weight.shape[2] - x.shape[2])
        x = functional.conv2d(functional.pad(x, (total // 2, total - total // 2) * 2), weight, stride=stride,
                              groups=x.shape[1] if depthwise else 1)
        kernel = weight.permute(2, 3, 0, 1) if depthwise else weight.permute(2, 3, 1, 0)
        name = "depthwise_weights" if depthwise else "weights"
        op, layer = ("DepthwiseConv2dNative", "depthwise") if depthwise else ("Conv2D", "Conv2D")
        kernel = graph.add("Identity", graph.constant(kernel.contiguous().numpy(), name=name), name=f"{name}/read")
        node = graph.add(op, node, kernel, name=layer, strides=[1, stride, stride, 1], padding="SAME", data_format="NHWC", T=F32)
        width = x.shape[1]
        gamma, beta, mean, variance = weights(width) + 1, weights(width), weights(width), weights(width).abs() + 0.5
        x = functional.batch_norm(x, mean, variance, gamma, beta, eps=1e-3).clamp(0, 6)
        norm = [graph.add("Identity", graph.constant(value.numpy(), name=f"BatchNorm/{key}"), name=f"BatchNorm/{key}/read")
                for key, value in (("gamma", gamma), ("beta", beta), ("moving_mean", mean), ("moving_variance", variance))]
        node = graph.add("FusedBatchNormV3", node, *norm, name="BatchNorm/FusedBatchNormV3", epsilon=1e-3, is_training=False, T=F32)
        return graph.add("Relu6", node, name="Relu6", T=F32), x

    node, x = block(node, x, "Conv2d_0", weights(8, 3, 3, 3), 2, False)
    for k, (width, stride) in enumerate(((8, 1), (8, 1), (12, 2)), 1):
        node, x = block(node, x, f"Conv2d_{k}_depthwise", weights(x.shape[1], 1, 3, 3), stride, True)
        node, x = block(node, x, f"Conv2d_{k}_pointwise", weights(width, x.shape[1], 1, 1), 1, False)
    graph.scope = "MobilenetV1/Logits/"
    extent = x.shape[2]
    node = graph.add("AvgPool", node, name="AvgPool_1a/AvgPool", ksize=[1, extent, extent, 1], strides=[1, 1, 1, 1], padding="VALID")
    x = x.mean((2, 3))
    weight, bias = weights(5, 12), weights(5)
    kernel = graph.constant(weight.T[None, None].contiguous().numpy(), name="Conv2d_1c_1x1/weights")
    node = graph.add("Conv2D", node, kernel, name="Conv2d_1c_1x1/Conv2D", strides=[1, 1, 1, 1], padding="SAME")
    node = graph.add("BiasAdd", node, graph.constant(bias.numpy(), name="Conv2d_1c_1x1/biases"), name="Conv2d_1c_1x1/BiasAdd")
    node = graph.add("Squeeze", node, name="SpatialSqueeze", squeeze_dims=[1, 2])
    graph.scope = "MobilenetV1/Predictions/"
    graph.add("Softmax", node, name="Softmax")
    write("mobilenet", graph, torch.softmax(x @ weight.T + bias, -1))


def bert():
    """Two layers of BERT as its own code writes them: heads by reshaping, layer norms and GELU as arithmetic, a mask."""
    graph, width, heads, inner, length = Graph(), 16, 2, 32, 6
    tokens = torch.randint(0, 20, (2, length), dtype=torch.int32)
    mask = torch.ones(2, length, dtype=torch.int32)
    mask[1, 4:] = 0
    graph.scope = ""
    ids = graph.input("input_ids", tokens.numpy(), (-1, length))
    kept = graph.input("input_mask", mask.numpy(), (-1, length))

    def constant(value, name):
        return graph.add("Identity", graph.constant(value.numpy(), name=name), name=f"{name}/read")

    def number(value, name):
        return graph.constant(value, name=name)

    def layer_norm(node, x):
        """`tf.contrib.layers.layer_norm`."""
        gamma, beta = weights(width) + 1, weights(width)
        outer, graph.scope = graph.scope, graph.scope + "LayerNorm/"
        read = constant(beta, "beta"), constant(gamma, "gamma")
        axes = number([len(x.shape) - 1], "moments/mean/reduction_indices")
        mean = graph.add("Mean", node, axes, name="moments/mean", keep_dims=True)
        same = graph.add("StopGradient", mean, name="moments/StopGradient")
        square = graph.add("SquaredDifference", node, same, name="moments/SquaredDifference")
        variance = graph.add("Mean", square, axes, name="moments/variance", keep_dims=True)
        scale = graph.add("Rsqrt", graph.add("Add", variance, number(1e-12, "batchnorm/add/y"), name="batchnorm/add"),
                          name="batchnorm/Rsqrt")
        scale = graph.add("Mul", scale, read[1], name="batchnorm/mul")
        shift = graph.add("Sub", read[0], graph.add("Mul", mean, scale, name="batchnorm/mul_2"), name="batchnorm/sub")
        node = graph.add("Add", graph.add("Mul", node, scale, name="batchnorm/mul_1"), shift, name="batchnorm/add_1")
        graph.scope = outer
        return node, functional.layer_norm(x, (width,), gamma, beta, 1e-12)

    def dense(node, x, scope, outputs):
        weight, bias = weights(outputs, x.shape[-1], scale=0.3), weights(outputs)
        node = graph.add("MatMul", node, constant(weight.T.contiguous(), f"{scope}/kernel"), name=f"{scope}/MatMul")
        return graph.add("BiasAdd", node, constant(bias, f"{scope}/bias"), name=f"{scope}/BiasAdd"), functional.linear(x, weight, bias)

    graph.scope = "bert/embeddings/"
    table = weights(20, width)
    node = graph.add("GatherV2", constant(table, "word_embeddings"), graph.add("Reshape", ids, number([-1], "Reshape/shape")),
                     number(0, "axis"))
    batch = graph.add("StridedSlice", graph.add("Shape", ids), number([0], "strided_slice/stack"), number([1], "strided_slice/stack_1"),
                      number([1], "strided_slice/stack_2"), name="strided_slice", shrink_axis_mask=1)
    node = graph.add("Reshape", node, graph.add("Pack", batch, number(length, "Reshape/1"), number(width, "Reshape/2"), N=3))
    x = table[tokens.long()]
    position = weights(8, width)
    rows = graph.add("Slice", constant(position, "position_embeddings"), number([0, 0], "Slice/begin"), number([length, -1], "Slice/size"))
    node = graph.add("Add", node, graph.add("Reshape", rows, number([1, length, width], "Reshape_1/shape")))
    x = x + position[:length]
    node, x = layer_norm(node, x)
    graph.scope = "bert/encoder/"
    added = graph.add("Cast", graph.add("Reshape", kept, number([-1, 1, 1, length], "mask/shape")), DstT=F32)
    added = graph.add("Mul", graph.add("Sub", number(1.0, "sub/x"), added, name="sub"), number(-10000.0, "mul/y"), name="mul")
    bias = (1 - mask[:, None, None].float()) * -10000
    node, x = graph.add("Reshape", node, number([-1, width], "Reshape/shape")), x.reshape(-1, width)
    for k in range(2):
        graph.scope = f"bert/encoder/layer_{k}/"
        entered, entered_x, parts = node, x, []
        for part in ("query", "key", "value"):
            own, own_x = dense(node, x, f"attention/self/{part}", width)
            own = graph.add("Reshape", own, number([-1, length, heads, width // heads], f"attention/self/{part}/shape"))
            own = graph.add("Transpose", own, number([0, 2, 1, 3], f"attention/self/{part}/perm"), name=f"attention/self/transpose")
            parts.append((own, own_x.view(-1, length, heads, width // heads).transpose(1, 2)))
        (q, q_x), (key, key_x), (v, v_x) = parts
        scores = graph.add("BatchMatMulV2", q, key, name="attention/self/MatMul", adj_y=True)
        scores = graph.add("Mul", scores, number((heads / width) ** 0.5, "attention/self/Mul/y"), name="attention/self/Mul")
        scores = graph.add("Softmax", graph.add("Add", scores, added, name="attention/self/add"), name="attention/self/Softmax")
        mixed = graph.add("Transpose", graph.add("BatchMatMulV2", scores, v, name="attention/self/MatMul_1"),
                          number([0, 2, 1, 3], "attention/self/perm"), name="attention/self/transpose_3")
        node = graph.add("Reshape", mixed, number([-1, width], "attention/self/Reshape/shape"), name="attention/self/Reshape")
        x = (torch.softmax(q_x @ key_x.transpose(-1, -2) * (heads / width) ** 0.5 + bias, -1) @ v_x).transpose(1, 2).reshape(-1, width)
        node, x = dense(node, x, "attention/output/dense", width)
        graph.scope = f"bert/encoder/layer_{k}/attention/output/"
        node, x = layer_norm(graph.add("Add", node, entered, name="add"), x + entered_x)
        graph.scope = f"bert/encoder/layer_{k}/"
        entered, entered_x = node, x
        node, x = dense(node, x, "intermediate/dense", inner)
        scaled = graph.add("RealDiv", node, number(2.0 ** 0.5, "intermediate/Sqrt"), name="intermediate/truediv")
        sum_of = graph.add("Add", number(1.0, "intermediate/add/x"), graph.add("Erf", scaled, name="intermediate/Erf"),
                           name="intermediate/add")
        half = graph.add("Mul", number(0.5, "intermediate/mul/x"), sum_of, name="intermediate/mul")
        node, x = graph.add("Mul", node, half, name="intermediate/mul_1"), functional.gelu(x)
        node, x = dense(node, x, "output/dense", width)
        graph.scope = f"bert/encoder/layer_{k}/output/"
        node, x = layer_norm(graph.add("Add", node, entered, name="add"), x + entered_x)
    graph.scope = "bert/pooler/"
    node = graph.add("Reshape", node, number([-1, length, width], "Reshape/shape"))
    node = graph.add("StridedSlice", node, number([0, 0, 0], "strided_slice/stack"), number([0, 1, 0], "strided_slice/stack_1"),
                     number([1, 1, 1], "strided_slice/stack_2"), name="strided_slice", begin_mask=5, end_mask=5, shrink_axis_mask=2)
    node, x = dense(node, x.view(-1, length, width)[:, 0], "dense", width)
    graph.add("Tanh", node, name="dense/Tanh")
    write("bert", graph, torch.tanh(x))


def main():
    torch.manual_seed(0)
    mobilenet()
    bert()


main()
