"""Elementwise operators and layers of TensorFlow: /usr/bin/python3 tests/import/make_graphs.py."""

from graph_cases import F32, Cases, Known, channels_first, floats  # isort: skip
import numpy as np
import torch
from graph_file import Graph, Type
from torch.nn import functional


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
    for op in ("CheckNumerics", "EnsureShape", "Identity", "PreventGradient", "Snapshot", "PlaceholderWithDefault"):
        cases.of(op, op, [x], x)
    cases.of("IdentityN", "IdentityN", [x, b], x, b, T=[F32, F32])
    bits = np.array([12, 10], np.int32), np.array([10, 6], np.int32)
    for op, function in (("BitwiseAnd", np.bitwise_and), ("BitwiseOr", np.bitwise_or), ("BitwiseXor", np.bitwise_xor)):
        cases.of(op, op, bits, function(*bits))
    step = np.float32(12) / np.float32(15)
    zero = np.round(np.float32(6) / step)
    low, high = -zero * step, (15 - zero) * step
    cases.of("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxArgs", [x * 3],
             np.floor((np.clip(x * 3, low, high) - low) / step + 0.5) * step + low, num_bits=4)
    # What only waits for others is not in the text.
    graph = Graph()
    data = graph.input("x", x)
    checks = graph.add("Assert", graph.add("IsFinite", data), data)
    graph.add("Neg", data, f"^{graph.add('NoOp', f'^{checks}')}", name="result")
    cases.add("Assert", graph, -x)
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


def layers():
    cases = Cases()
    x, w = floats(2, 7, 6, 3), floats(3, 2, 3, 4)
    for name, stride, padding, dilation in (("valid", (1, 1), "VALID", (1, 1)), ("same", (1, 1), "SAME", (1, 1)),
                                            ("same_strides", (2, 3), "SAME", (1, 1)), ("dilated", (1, 1), "SAME", (2, 2)),
                                            ("strides", (2, 2), "VALID", (1, 1))):
        wanted = conv(x, w, stride, padding, dilation)
        cases.of(f"Conv2D_{name}", "Conv2D", [x, Known(w)], wanted, strides=[1, *stride, 1], padding=padding,
                 dilations=[1, *dilation, 1], data_format="NHWC")
        cases.of(f"Conv2D_{name}_nchw", "Conv2D", [channels_first(x), Known(w)], channels_first(wanted), strides=[1, 1, *stride],
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
            cases.of(f"{op}_{name}_nchw", op, [channels_first(x)], channels_first(wanted), ksize=[1, 1, *size], strides=[1, 1, *stride],
                     padding=padding, data_format="NCHW")
    cases.of("MaxPoolV2", "MaxPoolV2", [x, Known([1, 2, 2, 1]), Known([1, 2, 2, 1])], pool(x, (2, 2), (2, 2), "SAME", largest),
             padding="SAME")
    v = torch.from_numpy(channels_first(volume))
    cases.of("MaxPool3D", "MaxPool3D", [volume], functional.max_pool3d(v, 2, 2).numpy().transpose(0, 2, 3, 4, 1),
             ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="VALID")
    cases.of("AvgPool3D", "AvgPool3D", [volume], functional.avg_pool3d(v, 2, 2).numpy().transpose(0, 2, 3, 4, 1),
             ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="VALID")

    b = floats(3)
    cases.of("BiasAdd", "BiasAdd", [x, b], x + b)
    cases.of("BiasAdd_nchw", "BiasAdd", [channels_first(x), b], channels_first(x + b), data_format="NCHW")
    cases.of("BiasAddV1", "BiasAddV1", [x, b], x + b)
    cases.of("BiasAdd_matrix", "BiasAdd", [x[0, 0], b], x[0, 0] + b)
    scale, offset, average, variance = floats(3), floats(3), floats(3), np.abs(floats(3)) + 0.5
    for version in ("", "V2", "V3"):
        for layout in ("NHWC", "NCHW"):
            wanted = (x - average) / np.sqrt(variance + np.float32(0.01)) * scale + offset
            cases.of(f"FusedBatchNorm{version}_{layout.lower()}", f"FusedBatchNorm{version}",
                     [x if layout == "NHWC" else channels_first(x), Known(scale), Known(offset), Known(average), Known(variance)],
                     wanted if layout == "NHWC" else channels_first(wanted), epsilon=0.01, is_training=False, data_format=layout)
    by_batch = (x - x.mean((0, 1, 2))) / np.sqrt(x.var((0, 1, 2)) + np.float32(1e-4)) * scale + offset
    cases.of("FusedBatchNorm_of_the_batch", "FusedBatchNormV3",
             [x, scale, offset, Known(np.zeros(0, np.float32)), Known(np.zeros(0, np.float32))], by_batch)
    wide = floats(1, 2, 2, 7)
    sums = np.stack([(wide[..., max(0, k - 2):k + 3] ** 2).sum(-1) for k in range(7)], -1)
    cases.of("LRN", "LRN", [wide], wide / (1.5 + 0.3 * sums) ** 0.6, depth_radius=2, bias=1.5, alpha=0.3, beta=0.6)
    cases.write("layers")


elementwise()
layers()
