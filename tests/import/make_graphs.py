"""Small graphs of TensorFlow with inputs and results: /usr/bin/python3 tests/import/make_graphs.py.

A file of tests/import/graphs is a family of operators: of each case the graph (`NAME/graph`, bytes), its inputs
(`NAME/in/INPUT`) and what TensorFlow computes of them (`NAME/out/0`), here by NumPy and PyTorch after TensorFlow's documentation.
"""

import pathlib
import sys

# PyTorch brings a protobuf of its own, which must not be the first one.
from graph_file import Function, Graph, Shape, Type  # isort: skip
import numpy as np
import torch
from torch.nn import functional

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


# --- elementwise

def elementwise():
    cases = Cases()
    x = np.array([[-2.5, -1.5, -0.5, 0.0], [0.25, 0.5, 1.5, 2.5]], np.float32)
    inside, above = np.array([-0.9, -0.25, 0.0, 0.5], np.float32), np.array([1.0, 1.5, 2.0, 9.0], np.float32)
    positive = np.array([0.25, 0.5, 1.0, 3.0], np.float32)
    t = torch.from_numpy
    unary = {
        "Abs": (x, np.abs), "Acos": (inside, np.arccos), "Acosh": (above, np.arccosh), "Asin": (inside, np.arcsin),
        "Asinh": (x, np.arcsinh), "Atan": (x, np.arctan), "Atanh": (inside, np.arctanh), "Ceil": (x, np.ceil),
        "Cos": (x, np.cos), "Cosh": (x, np.cosh), "Erf": (x, lambda v: torch.erf(t(v)).numpy()),
        "Erfc": (x, lambda v: torch.erfc(t(v)).numpy()), "Exp": (x, np.exp), "Expm1": (x, np.expm1), "Floor": (x, np.floor),
        "Inv": (positive, lambda v: 1 / v), "Log": (positive, np.log), "Log1p": (positive, np.log1p), "Neg": (x, np.negative),
        "OnesLike": (x, np.ones_like), "Reciprocal": (positive, lambda v: 1 / v), "Relu": (x, lambda v: np.maximum(v, 0)),
        "Relu6": (x * 4, lambda v: np.clip(v, 0, 6)), "Rint": (x, np.rint), "Round": (x, np.round),
        "Rsqrt": (positive, lambda v: 1 / np.sqrt(v)), "Selu": (x, lambda v: functional.selu(t(v)).numpy()),
        "Elu": (x, lambda v: functional.elu(t(v)).numpy()), "Sigmoid": (x, lambda v: 1 / (1 + np.exp(-v))),
        "Sign": (x, np.sign), "Sin": (x, np.sin), "Sinh": (x, np.sinh), "Softplus": (x, lambda v: np.log1p(np.exp(v))),
        "Softsign": (x, lambda v: v / (1 + np.abs(v))), "Sqrt": (positive, np.sqrt), "Square": (x, np.square),
        "Tan": (x, np.tan), "Tanh": (x, np.tanh), "ZerosLike": (x, np.zeros_like), "StopGradient": (x, lambda v: v),
        "Softmax": (x, lambda v: torch.softmax(t(v), -1).numpy()),
        "LogSoftmax": (x, lambda v: torch.log_softmax(t(v), -1).numpy()), "L2Loss": (x, lambda v: (v * v).sum() / 2),
        "IsFinite": (np.array([1, np.inf, np.nan], np.float32), np.isfinite),
        "IsInf": (np.array([1, np.inf, np.nan], np.float32), np.isinf),
        "IsNan": (np.array([1, np.inf, np.nan], np.float32), np.isnan),
        "LogicalNot": (np.array([True, False]), np.logical_not),
    }
    for op, (data, function) in unary.items():
        cases.of(op, op, [data], function(data), T=Type(str(data.dtype)))
    cases.of("LeakyRelu", "LeakyRelu", [x], np.where(x > 0, x, x * 0.3), alpha=0.3)
    cases.of("LeakyRelu_default", "LeakyRelu", [x], np.where(x > 0, x, x * np.float32(0.2)))

    a, b = floats(2, 3), floats(3)
    i, j = np.array([[7, -7, 7, -7]], np.int32), np.array([3, 3, -3, -3], np.int32)
    u, v = np.array([[5.5, -5.5, 5.5, -5.5]], np.float32), np.array([2, 2, -2, -2], np.float32)
    p, q = np.array([[True, True], [False, False]]), np.array([True, False])
    binary = {
        "Add": (a, b, a + b), "AddV2": (a, b, a + b), "Sub": (a, b, a - b), "Mul": (a, b, a * b), "RealDiv": (a, b, a / b),
        "Div": (i, j, np.trunc(i / j).astype(np.int32)), "FloorDiv": (i, j, i // j), "FloorMod": (i, j, i % j),
        "Mod": (i, j, np.fmod(i, j)), "TruncateMod": (i, j, np.fmod(i, j)),
        "TruncateDiv": (i, j, np.trunc(i / j).astype(np.int32)), "FloorDiv_float": (u, v, np.floor(u / v)),
        "FloorMod_float": (u, v, np.mod(u, v)), "Pow": (np.abs(a), b, np.abs(a) ** b), "Maximum": (a, b, np.maximum(a, b)),
        "Minimum": (a, b, np.minimum(a, b)), "SquaredDifference": (a, b, (a - b) ** 2), "Atan2": (a, b, np.arctan2(a, b)),
        "Equal": (i, np.array([7, 7, -7, -7], np.int32), i == [7, 7, -7, -7]),
        "NotEqual": (i, np.array([7, 7, -7, -7], np.int32), i != [7, 7, -7, -7]), "Less": (a, b, a < b),
        "LessEqual": (i, i, i <= i), "Greater": (a, b, a > b), "GreaterEqual": (i, i, i >= i), "LogicalAnd": (p, q, p & q),
        "LogicalOr": (p, q, p | q), "LogicalXor": (p, q, p ^ q),
        "DivNoNan": (a, np.array([2, 0, 4], np.float32), a / np.array([2, np.inf, 4], np.float32)),
        "Xdivy": (np.array([0, 1], np.float32), np.array([0, 2], np.float32), np.array([0, 0.5], np.float32)),
        "Xlogy": (np.array([0, 2], np.float32), np.array([0, 3], np.float32), np.array([0, 2 * np.log(3)], np.float32)),
    }
    for name, (left, right, result) in binary.items():
        cases.of(name, name.split("_")[0], [left, right], result, T=Type(str(left.dtype)))
    cases.of("AddN", "AddN", [a, a * 2, a * 3], a * 6, N=3)
    cases.of("Select_rows", "Select", [np.array([True, False]), a, -a], np.stack([a[0], -a[1]]))
    cases.of("Select", "Select", [a > 0, a, -a], np.abs(a))
    cases.of("SelectV2", "SelectV2", [b > 0, a, np.float32(0) * a], np.where(b > 0, a, 0))
    cases.of("ClipByValue", "ClipByValue", [a, Known(-0.5), Known(0.5)], np.clip(a, -0.5, 0.5))
    cases.of("Cast_int", "Cast", [x], x.astype(np.int32), SrcT=F32, DstT=Type("int32"))
    cases.of("Cast_bool", "Cast", [x], x != 0, SrcT=F32, DstT=Type("bool"))
    for narrow in (False, True):
        low, high, first, last = -0.93, 2.1, float(narrow), 255.0
        step = np.float32(high - low) / np.float32(last - first)
        zero = np.clip(np.floor(first - low / step + 0.5), first, last)
        nudged = np.float32((first - zero) * step), np.float32((last - zero) * step)
        wanted = np.floor((np.clip(x, *nudged) - nudged[0]) / step + 0.5) * step + nudged[0]
        cases.of(f"FakeQuant_{'narrow' if narrow else 'wide'}", "FakeQuantWithMinMaxVars", [x, Known(low), Known(high)], wanted,
                 num_bits=8, narrow_range=narrow)
    cases.write("elementwise")


# --- layers: convolutions, pools, norms

def same_pads(extent, kernel, stride, dilation=1):
    """What `SAME` pads before and after: the odd element goes behind."""
    reach = (kernel - 1) * dilation + 1
    total = max(0, (-(-extent // stride) - 1) * stride + reach - extent)
    return total // 2, total - total // 2


def padded(x, kernel, stride, padding, dilation=(1, 1), value=0.0):
    """NHWC data with the padding around their height and width."""
    if padding == "VALID":
        return x
    pads = padding
    if padding == "SAME":
        pads = [same_pads(x.shape[k + 1], kernel[k], stride[k], dilation[k]) for k in range(len(kernel))]
    return np.pad(x, [(0, 0), *pads, (0, 0)], constant_values=value)


def conv(x, w, stride=(1, 1), padding="VALID", dilation=(1, 1), groups=1):
    x = padded(x, w.shape[:-2], stride, padding, dilation)
    n = w.ndim - 2
    first, last = [0, n + 1, *range(1, n + 1)], [0, *range(2, n + 2), 1]
    function = functional.conv2d if n == 2 else functional.conv3d
    y = function(torch.from_numpy(x.transpose(first).copy()),
                 torch.from_numpy(w.transpose(n + 1, n, *range(n)).copy()), stride=stride, dilation=dilation, groups=groups)
    return y.numpy().transpose(last)


def pool(x, size, stride, padding, function):
    """Over what of each window lies in the data."""
    mask = padded(np.ones_like(x), size, stride, padding)
    x = padded(x, size, stride, padding)
    extents = [(x.shape[k + 1] - size[k]) // stride[k] + 1 for k in range(2)]
    y = np.zeros((x.shape[0], *extents, x.shape[3]), np.float32)
    for i in range(extents[0]):
        for j in range(extents[1]):
            at = np.s_[:, i * stride[0]:i * stride[0] + size[0], j * stride[1]:j * stride[1] + size[1]]
            y[:, i, j] = function(x[at], mask[at])
    return y


def largest(x, mask):
    return np.where(mask > 0, x, -np.inf).max((1, 2))


def mean(x, mask):
    return x.sum((1, 2)) / mask.sum((1, 2))


def first(x):
    return x.transpose(0, x.ndim - 1, *range(1, x.ndim - 1)).copy()


def layers():
    cases = Cases()
    x, w = floats(2, 7, 6, 3), floats(3, 2, 3, 4)
    for name, stride, padding, dilation in (("valid", (1, 1), "VALID", (1, 1)), ("same", (1, 1), "SAME", (1, 1)),
                                            ("same_strides", (2, 3), "SAME", (1, 1)), ("dilated", (1, 1), "SAME", (2, 2)),
                                            ("strides", (2, 2), "VALID", (1, 1))):
        wanted = conv(x, w, stride, padding, dilation)
        cases.of(f"Conv2D_{name}", "Conv2D", [x, Known(w)], wanted, strides=[1, *stride, 1], padding=padding,
                 dilations=[1, *dilation, 1], data_format="NHWC")
        cases.of(f"Conv2D_{name}_nchw", "Conv2D", [first(x), Known(w)], first(wanted), strides=[1, 1, *stride],
                 padding=padding, dilations=[1, 1, *dilation], data_format="NCHW")
    cases.of("Conv2D_explicit", "Conv2D", [x, w], conv(x, w, (1, 2), [(1, 0), (2, 3)]), strides=[1, 1, 2, 1],
             padding="EXPLICIT", explicit_paddings=[0, 0, 1, 0, 2, 3, 0, 0])
    grouped = floats(2, 2, 2, 6)
    x4 = floats(1, 5, 5, 4)
    cases.of("Conv2D_groups", "Conv2D", [x4, grouped], conv(x4, grouped, groups=2), strides=[1, 1, 1, 1], padding="VALID")
    open_graph = Graph()
    open_graph.add("Conv2D", open_graph.input("x", x, (-1, -1, -1, 3)), open_graph.constant(w), name="result",
                   strides=[1, 1, 1, 1], padding="SAME")
    cases.add("Conv2D_open_extents", open_graph, conv(x, w, padding="SAME"))

    for name, multiplier in (("one", 1), ("two", 2)):
        depthwise = floats(3, 3, 3, multiplier)
        kernel = depthwise.reshape(3, 3, 1, 3 * multiplier)
        for kind, stride, padding in (("same", (2, 2), "SAME"), ("valid", (1, 1), "VALID")):
            cases.of(f"Depthwise_{name}_{kind}", "DepthwiseConv2dNative", [x, Known(depthwise)],
                     conv(x, kernel, stride, padding, groups=3), strides=[1, *stride, 1], padding=padding)

    volume, w3 = floats(1, 4, 5, 4, 2), floats(2, 3, 2, 2, 3)
    pads = [same_pads(volume.shape[k + 1], w3.shape[k], 2) for k in range(3)]
    for name, padding in (("same", "SAME"), ("valid", "VALID")):
        wanted = conv(volume, w3, (2, 2, 2), pads if name == "same" else "VALID", (1, 1, 1))
        cases.of(f"Conv3D_{name}", "Conv3D", [volume, w3], wanted, strides=[1, 2, 2, 2, 1], padding=padding)

    for name, extent, stride, padding in (("same", 6, 2, "SAME"), ("same_odd", 5, 2, "SAME"), ("valid", 7, 2, "VALID"),
                                          ("valid_more", 8, 2, "VALID"), ("dense", 5, 1, "SAME")):
        forward = torch.zeros(1, 3, extent, extent, requires_grad=True)
        kernel = floats(3, 3, 3, 2)
        before, after = same_pads(extent, 3, stride) if padding == "SAME" else (0, 0)
        y = functional.conv2d(functional.pad(forward, (before, after, before, after)),
                              torch.from_numpy(kernel.transpose(3, 2, 0, 1).copy()), stride=stride)
        cotangent = floats(*y.shape)
        y.backward(torch.from_numpy(cotangent))
        wanted = forward.grad.numpy().transpose(0, 2, 3, 1)
        cases.of(f"Conv2DBackpropInput_{name}", "Conv2DBackpropInput",
                 [Known([1, extent, extent, 3]), Known(kernel), cotangent.transpose(0, 2, 3, 1).copy()], wanted,
                 strides=[1, stride, stride, 1], padding=padding)

    for op, function in (("MaxPool", largest), ("AvgPool", mean)):
        for name, size, stride, padding in (("same", (3, 3), (2, 2), "SAME"), ("valid", (2, 3), (2, 1), "VALID"),
                                            ("dense", (2, 2), (1, 1), "SAME")):
            wanted = pool(x, size, stride, padding, function)
            cases.of(f"{op}_{name}", op, [x], wanted, ksize=[1, *size, 1], strides=[1, *stride, 1], padding=padding)
            cases.of(f"{op}_{name}_nchw", op, [first(x)], first(wanted), ksize=[1, 1, *size], strides=[1, 1, *stride],
                     padding=padding, data_format="NCHW")
    cases.of("MaxPoolV2", "MaxPoolV2", [x, Known([1, 2, 2, 1]), Known([1, 2, 2, 1])], pool(x, (2, 2), (2, 2), "SAME", largest),
             padding="SAME")
    v = torch.from_numpy(first(volume))
    cases.of("MaxPool3D", "MaxPool3D", [volume], functional.max_pool3d(v, 2, 2).numpy().transpose(0, 2, 3, 4, 1),
             ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="VALID")
    cases.of("AvgPool3D", "AvgPool3D", [volume], functional.avg_pool3d(v, 2, 2).numpy().transpose(0, 2, 3, 4, 1),
             ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="VALID")

    b = floats(3)
    cases.of("BiasAdd", "BiasAdd", [x, b], x + b)
    cases.of("BiasAdd_nchw", "BiasAdd", [first(x), b], first(x + b), data_format="NCHW")
    cases.of("BiasAdd_matrix", "BiasAdd", [x[0, 0], b], x[0, 0] + b)
    scale, offset, average, variance = floats(3), floats(3), floats(3), np.abs(floats(3)) + 0.5
    for version in ("", "V2", "V3"):
        for layout in ("NHWC", "NCHW"):
            wanted = (x - average) / np.sqrt(variance + np.float32(0.01)) * scale + offset
            cases.of(f"FusedBatchNorm{version}_{layout.lower()}", f"FusedBatchNorm{version}",
                     [x if layout == "NHWC" else first(x), Known(scale), Known(offset), Known(average), Known(variance)],
                     wanted if layout == "NHWC" else first(wanted), epsilon=0.01, is_training=False, data_format=layout)
    by_batch = (x - x.mean((0, 1, 2))) / np.sqrt(x.var((0, 1, 2)) + np.float32(1e-4)) * scale + offset
    cases.of("FusedBatchNorm_of_the_batch", "FusedBatchNormV3",
             [x, scale, offset, Known(np.zeros(0, np.float32)), Known(np.zeros(0, np.float32))], by_batch)
    wide = floats(1, 2, 2, 7)
    sums = np.stack([(wide[..., max(0, k - 2):k + 3] ** 2).sum(-1) for k in range(7)], -1)
    cases.of("LRN", "LRN", [wide], wide / (1.5 + 0.3 * sums) ** 0.6, depth_radius=2, bias=1.5, alpha=0.3, beta=0.6)
    cases.write("layers")


# --- shapes, slices, places, products, images

def shapes():
    cases = Cases()
    x = floats(2, 3, 4)
    cases.of("Reshape", "Reshape", [x, Known([-1, 6])], x.reshape(-1, 6))
    one = floats(1, 1)
    cases.of("Reshape_scalar", "Reshape", [one, Known(np.zeros(0, np.int32))], one[0, 0])
    cases.of("Squeeze", "Squeeze", [x[:1, :, :1]], x[0, :, 0], squeeze_dims=[])
    cases.of("Squeeze_axes", "Squeeze", [x[:1, :, :1]], x[0, :, :1], squeeze_dims=[0])
    cases.of("ExpandDims", "ExpandDims", [x, Known(-1)], x[..., None])
    cases.of("Transpose", "Transpose", [x, Known([2, 0, 1])], x.transpose(2, 0, 1))
    cases.of("ConcatV2", "ConcatV2", [x, x * 2, Known(-1)], np.concatenate([x, x * 2], -1), N=2)
    cases.of("Concat", "Concat", [Known(1), x, x * 2], np.concatenate([x, x * 2], 1), N=2)
    cases.of("Split", "Split", [Known(2), x], *np.split(x, 2, 2), num_split=2)
    cases.of("SplitV", "SplitV", [x, Known([1, -1]), Known(2)], x[..., :1], x[..., 1:], num_split=2)
    cases.of("Pack", "Pack", [x, x * 2], np.stack([x, x * 2]), axis=0, N=2)
    cases.of("Pack_last", "Pack", [x, x * 2], np.stack([x, x * 2], -1), axis=-1, N=2)
    cases.of("Pack_one", "Pack", [x], x[:, None], axis=1, N=1)
    cases.of("Unpack", "Unpack", [x], *x.transpose(1, 0, 2), axis=1, num=3)
    cases.of("Tile", "Tile", [x, Known([1, 2, 1])], np.tile(x, (1, 2, 1)))
    cases.of("Fill", "Fill", [Known([2, 3]), one.reshape(())], np.full((2, 3), one[0, 0]))
    cases.of("Fill_number", "Fill", [Known([2, 3]), Known(7)], np.full((2, 3), 7, np.int32))
    cases.of("Range", "Range", [Known(2), Known(11), Known(3)], np.arange(2, 11, 3, dtype=np.int32))
    cases.of("Range_at_run_time", "Range", [np.array(5, np.int32), Known(1), Known(-2)], np.arange(5, 1, -2, dtype=np.int32))
    cases.of("LinSpace", "LinSpace", [Known(1.0), Known(3.0), Known(5)], np.linspace(1, 3, 5, dtype=np.float32))
    cases.of("BroadcastTo", "BroadcastTo", [x[:, :1], Known([5, 2, 3, 4])], np.broadcast_to(x[:, :1], (5, 2, 3, 4)))
    cases.of("Shape", "Shape", [x], np.int32(x.shape))
    cases.of("Shape_int64", "Shape", [x], np.int64(x.shape), out_type=Type("int64"))
    cases.of("Size", "Size", [x], np.int32(24))
    cases.of("Rank", "Rank", [x], np.int32(3))
    blocks = floats(2, 4, 6, 3)
    cases.of("SpaceToDepth", "SpaceToDepth", [blocks],
             blocks.reshape(2, 2, 2, 3, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(2, 2, 3, 12), block_size=2)
    deep = floats(2, 2, 3, 12)
    wanted = deep.reshape(2, 2, 3, 2, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(2, 4, 6, 3)
    cases.of("DepthToSpace", "DepthToSpace", [deep], wanted, block_size=2)
    cases.of("DepthToSpace_nchw", "DepthToSpace", [first(deep)], first(wanted), block_size=2, data_format="NCHW")
    padded_blocks = np.pad(blocks, ((0, 0), (0, 0), (2, 1), (0, 0)))
    batches = padded_blocks.reshape(2, 2, 2, 3, 3, 3).transpose(2, 4, 0, 1, 3, 5).reshape(12, 2, 3, 3)
    cases.of("SpaceToBatchND", "SpaceToBatchND", [blocks, Known([2, 3]), Known(np.int32([[0, 0], [2, 1]]))], batches)
    cases.of("BatchToSpaceND", "BatchToSpaceND", [batches, Known([2, 3]), Known(np.int32([[0, 0], [2, 1]]))], blocks)

    # What a model computes of shapes is not in its text.
    graph = Graph()
    data = graph.input("x", x, (-1, 3, 4))
    batch = graph.add("StridedSlice", graph.add("Shape", data), graph.constant([0]), graph.constant([1]), graph.constant([1]),
                      shrink_axis_mask=1)
    pair = graph.add("Pack", batch, graph.add("Mul", graph.constant(3), graph.constant(4)), axis=0, N=2)
    graph.add("Reshape", data, pair, name="result")
    cases.add("Reshape_by_shape", graph, x.reshape(2, 12))

    def sliced(name, begin, end, strides, index, **masks):
        cases.of(f"StridedSlice_{name}", "StridedSlice", [x, Known(begin), Known(end), Known(strides)], x[index], **masks)

    sliced("plain", [0, 1], [2, 3], [1, 1], np.s_[0:2, 1:3])
    sliced("negative", [0, -2, -1], [2, -1, -4], [1, 1, -2], np.s_[0:2, -2:-1, -1:-4:-2])
    sliced("begin_mask", [9, 1], [1, 3], [1, 1], np.s_[:1, 1:3], begin_mask=1)
    sliced("end_mask", [0, 1], [1, 0], [1, 1], np.s_[0:1, 1:], end_mask=2)
    sliced("reversed", [0, 0, 0], [0, 0, 0], [1, -1, 1], np.s_[:, ::-1, :], begin_mask=7, end_mask=7)
    sliced("shrink", [1, 0], [2, 3], [1, 1], np.s_[1, 0:3], shrink_axis_mask=1)
    sliced("shrink_last", [0, -1], [0, 0], [1, 1], np.s_[..., -1], ellipsis_mask=1, shrink_axis_mask=2)
    sliced("new_axis", [0, 0, 1], [0, 2, 3], [1, 1, 1], np.s_[None, 0:2, 1:3], new_axis_mask=1)
    sliced("ellipsis", [0, 0, 1], [1, 0, 3], [1, 1, 1], np.s_[0:1, ..., 1:3], ellipsis_mask=2)
    sliced("all_masks", [1, 0, 0, 1], [0, 0, 0, 3], [1, 1, 1, 1], np.s_[1, ..., None, 1:3], shrink_axis_mask=1, ellipsis_mask=2,
           new_axis_mask=4)
    sliced("beyond", [0, 1], [100, 100], [1, 2], np.s_[0:100, 1:100:2])
    graph = Graph()
    data, at = graph.input("x", x), graph.input("place", np.array(1, np.int32))
    begin = graph.add("Pack", at, axis=0, N=1)
    end = graph.add("Pack", graph.add("Add", at, graph.constant(1)), axis=0, N=1)
    graph.add("StridedSlice", data, begin, end, graph.constant([1]), name="result", shrink_axis_mask=1)
    cases.add("StridedSlice_at_run_time", graph, x[1])
    cases.of("Slice", "Slice", [x, Known([0, 1, 0]), Known([-1, 2, 3])], x[:, 1:3, :3])
    cases.of("Slice_at_run_time", "Slice", [x, np.int32([1, 0, 2]), Known([1, -1, 2])], x[1:2, :, 2:4])
    cases.of("Pad", "Pad", [x[0], Known(np.int32([[1, 0], [0, 2]]))], np.pad(x[0], ((1, 0), (0, 2))))
    cases.of("PadV2", "PadV2", [x[0], Known(np.int32([[1, 0], [0, 2]])), Known(3.0)],
             np.pad(x[0], ((1, 0), (0, 2)), constant_values=3))
    cases.of("MirrorPad_reflect", "MirrorPad", [x[0], Known(np.int32([[1, 2], [0, 2]]))],
             np.pad(x[0], ((1, 2), (0, 2)), mode="reflect"), mode="REFLECT")
    cases.of("MirrorPad_symmetric", "MirrorPad", [x[0], Known(np.int32([[1, 2], [0, 2]]))],
             np.pad(x[0], ((1, 2), (0, 2)), mode="symmetric"), mode="SYMMETRIC")
    cases.write("shapes")


def indices():
    cases = Cases()
    x, t = floats(3, 4, 5), torch.from_numpy
    at = np.int32([[2, 0], [1, 1]])
    cases.of("Gather", "Gather", [x, at], x[at])
    cases.of("GatherV2", "GatherV2", [x, at, Known(1)], x[:, at])
    cases.of("GatherV2_constant", "GatherV2", [x, Known([3, 0]), Known(1)], x[:, [3, 0]], batch_dims=0)
    cases.of("GatherV2_batch", "GatherV2", [x, np.int32([[3, 0], [1, 1], [2, 3]]), Known(1)],
             np.stack([x[k, row] for k, row in enumerate([[3, 0], [1, 1], [2, 3]])]), batch_dims=1)
    cases.of("GatherNd", "GatherNd", [x, np.int32([[2, 1], [0, 3]])], x[[2, 0], [1, 3]])
    places, rows = np.int32([[1], [3], [1]]), floats(3, 2)
    wanted = np.zeros((5, 2), np.float32)
    np.add.at(wanted, places[:, 0], rows)
    cases.of("ScatterNd", "ScatterNd", [places, rows, Known([5, 2])], wanted)
    start = floats(5, 2)
    written = start.copy()
    written[[3, 0]] = rows[:2]
    cases.of("TensorScatterUpdate", "TensorScatterUpdate", [start, np.int32([[3], [0]]), rows[:2].copy()], written)
    added = start.copy()
    np.add.at(added, places[:, 0], rows)
    cases.of("TensorScatterAdd", "TensorScatterAdd", [start, places, rows], added)
    labels = np.int32([[1, 3], [-1, 0]])
    hot = np.where(labels[..., None] == np.arange(3), np.float32(5), np.float32(-1))
    cases.of("OneHot", "OneHot", [labels, Known(3), Known(5.0), Known(-1.0)], hot)
    cases.of("OneHot_axis", "OneHot", [labels, Known(3), Known(5.0), Known(-1.0)], np.moveaxis(hot, -1, 0), axis=0)
    values, order = torch.topk(t(x), 2)
    cases.of("TopKV2", "TopKV2", [x, Known(2)], values.numpy(), order.numpy().astype(np.int32), sorted=True)
    cases.of("ArgMax", "ArgMax", [x, Known(-1)], x.argmax(-1))
    cases.of("ArgMax_int32", "ArgMax", [x, Known(1)], x.argmax(1).astype(np.int32), output_type=Type("int32"))
    cases.of("ArgMin", "ArgMin", [x, Known(0)], x.argmin(0))
    functions = {"Sum": np.sum, "Mean": np.mean, "Prod": np.prod, "Max": np.max, "Min": np.min}
    for op, function in functions.items():
        cases.of(op, op, [x, Known([0, -1])], function(x, (0, 2)))
        cases.of(f"{op}_keeps", op, [x, Known(1)], function(x, 1, keepdims=True), keep_dims=True)
    cases.of("Sum_of_none", "Sum", [x, Known(np.zeros(0, np.int32))], x)
    mask = x > 0
    cases.of("All", "All", [mask, Known([2])], mask.all(2))
    cases.of("Any", "Any", [mask, Known([2])], mask.any(2), keep_dims=False)
    cases.of("Cumsum", "Cumsum", [x, Known(1)], np.cumsum(x, 1))
    shifted = np.concatenate([np.zeros((3, 1, 5), np.float32), np.cumsum(x, 1)[:, :-1]], 1)
    cases.of("Cumsum_exclusive", "Cumsum", [x, Known(1)], shifted, exclusive=True)
    cases.of("Cumsum_reverse", "Cumsum", [x, Known(1)], np.cumsum(x[:, ::-1], 1)[:, ::-1], reverse=True)
    cases.of("Cumprod", "Cumprod", [x, Known(-1)], np.cumprod(x, -1))
    cases.of("ReverseV2", "ReverseV2", [x, Known([0, -1])], x[::-1, :, ::-1])
    lengths = np.int32([2, 4, 1])
    cases.of("ReverseSequence", "ReverseSequence", [x, lengths],
             np.stack([np.concatenate([row[:n][::-1], row[n:]]) for row, n in zip(x, lengths)]), seq_dim=1, batch_dim=0)
    cases.of("Where", "Where", [mask[0]], np.argwhere(mask[0]))
    cases.of("InvertPermutation", "InvertPermutation", [np.int32([2, 0, 3, 1])], np.int32([1, 3, 0, 2]))
    square = floats(2, 4, 4)
    band = np.triu(np.tril(square, 2), -1)
    cases.of("MatrixBandPart", "MatrixBandPart", [square, Known(1), Known(2)], band)
    cases.of("MatrixBandPart_lower", "MatrixBandPart", [square, Known(-1), Known(0)], np.tril(square))
    cases.write("indices")


def products():
    cases = Cases()
    a, b = floats(3, 4), floats(4, 5)
    for name, left, right, flags in (("plain", a, b, {}), ("first", a.T, b, {"transpose_a": True}),
                                     ("second", a, b.T, {"transpose_b": True}),
                                     ("both", a.T, b.T, {"transpose_a": True, "transpose_b": True})):
        cases.of(f"MatMul_{name}", "MatMul", [left.copy(), right.copy()], a @ b, **flags)
    a, b = floats(2, 3, 4), floats(2, 4, 5)
    turned = b.transpose(0, 2, 1).copy()
    cases.of("BatchMatMul", "BatchMatMul", [a, b], a @ b)
    cases.of("BatchMatMulV2_adj_y", "BatchMatMulV2", [a, turned], a @ b, adj_y=True)
    cases.of("BatchMatMulV2_adj_x", "BatchMatMulV2", [a.transpose(0, 2, 1).copy(), b], a @ b, adj_x=True)
    heads = floats(2, 2, 3, 4)
    cases.of("BatchMatMulV2_heads", "BatchMatMulV2", [heads, heads], heads @ heads.transpose(0, 1, 3, 2), adj_y=True)
    matrix = floats(4, 2)
    cases.of("BatchMatMulV2_broadcast", "BatchMatMulV2", [heads, matrix], heads @ matrix)
    cases.of("Einsum", "Einsum", [a, b], np.einsum("bij,bjk->bik", a, b), equation="bij,bjk->bik", N=2)
    cases.of("Einsum_ellipsis", "Einsum", [heads, heads], np.einsum("...ij,...kj->...ik", heads, heads),
             equation="...ij,...kj->...ik", N=2)
    cases.write("products")


def resized(x, size, position, nearest=None):
    """Along height and width: at `position(k, ratio, extents)`, by the neighbours or the one that `nearest` picks."""
    for axis in (1, 2):
        extent, new = x.shape[axis], size[axis - 1]
        at = np.array([position(k, extent, new) for k in range(new)])
        if nearest:
            x = np.take(x, np.clip(nearest(at), 0, extent - 1).astype(int), axis)
            continue
        low = np.floor(at)
        share = (at - low).astype(np.float32).reshape([-1 if k == axis else 1 for k in range(4)])
        take = lambda places: np.take(x, np.clip(places, 0, extent - 1).astype(int), axis)
        x = take(low) * (1 - share) + take(low + 1) * share
    return x


def images():
    cases = Cases()
    x = floats(1, 4, 5, 2)

    def corners(k, extent, new):
        return k * (extent - 1) / (new - 1)

    def middles(k, extent, new):
        return (k + 0.5) * extent / new - 0.5

    def edges(k, extent, new):
        return k * extent / new

    for size in ((7, 3), (8, 10)):
        name = f"{size[0]}_{size[1]}"
        for kind, position, flags in (("corners", corners, {"align_corners": True}), ("edges", edges, {}),
                                      ("middles", middles, {"half_pixel_centers": True})):
            # Before the first element is the first.
            wanted = resized(x, size, lambda *of: max(position(*of), 0))
            cases.of(f"ResizeBilinear_{kind}_{name}", "ResizeBilinear", [x, Known(list(size))], wanted, **flags)
            picks = {"corners": lambda at: np.floor(at + 0.5), "edges": np.floor, "middles": lambda at: np.floor(at + 0.5)}
            cases.of(f"ResizeNearest_{kind}_{name}", "ResizeNearestNeighbor", [x, Known(list(size))],
                     resized(x, size, position, picks[kind]), **flags)
    whole = np.arange(12, dtype=np.int32).reshape(1, 3, 4, 1)
    cases.of("ResizeBilinear_int", "ResizeBilinear", [whole, Known([6, 4])], resized(whole.astype(np.float32), (6, 4), edges))
    boxes = np.float32([[0.1, 0.2, 0.9, 0.7], [0, 0, 1, 1]])
    wanted = []
    for y1, x1, y2, x2 in boxes:
        rows = [y1 * 3 + k * (y2 - y1) * 3 / 2 for k in range(3)]
        columns = [x1 * 4 + k * (x2 - x1) * 4 for k in range(2)]
        crop = np.zeros((3, 2, 2), np.float32)
        for i, r in enumerate(rows):
            for j, c in enumerate(columns):
                low, left = int(np.floor(r)), int(np.floor(c))
                high, right = min(low + 1, 3), min(left + 1, 4)
                fr, fc = r - low, c - left
                crop[i, j] = ((x[0, low, left] * (1 - fc) + x[0, low, right] * fc) * (1 - fr)
                              + (x[0, high, left] * (1 - fc) + x[0, high, right] * fc) * fr)
        wanted.append(crop)
    cases.of("CropAndResize", "CropAndResize", [x, boxes, np.int32([0, 0]), Known([3, 2])], np.stack(wanted))
    cases.write("images")


# --- control flow

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
        both = graph.add("StatelessIf", holds, value, graph.constant(np.ones((2, 3), np.float32)), Tout=[F32, F32],
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
        loop = graph.add("StatelessWhile", graph.constant(0), count, source, target, graph.constant(np.zeros(2, np.float32)),
                         T=[Type("int32"), Type("int32"), F32, F32, F32], cond=Function("cond"), body=Function("body"))
        graph.add("TensorListStack", f"{loop}:3", shape, name="result", element_dtype=F32)
        cases.add(f"while{name}", graph, np.cumsum(rows, 0))
    cases.write("functions")


def main():
    FOLDER.mkdir(exist_ok=True)
    for family in (elementwise, layers, shapes, indices, products, images, loops, branches, functions):
        family()


main()
