#!/usr/bin/env python3
"""Writes models of real size as Relay text in the way TVM prints modules: version header, graph variables, attributes
that differ from their defaults, `/* ty=… */` comments, constants in metadata. Deterministic; needs Python alone.

Every type is computed here, by the rules of Relay's type relations, and written: as the declared result type (which is
checked) and as comments. Shapes print as TVM prints them: `Tensor[(64), float32]` for one dimension.
"""

import base64
import json
import os
import struct

FOLDER = os.path.dirname(os.path.abspath(__file__))
CODES = {"float32": (2, 32, "f"), "int32": (0, 32, "i"), "int64": (0, 64, "q"), "bool": (1, 1, "B")}


def tensor(shape, dtype="float32"):
    if not shape:
        return dtype
    return f"Tensor[({', '.join(map(str, shape))}), {dtype}]"


def type_text(t):
    return f"({', '.join(type_text(x) for x in t)})" if isinstance(t, list) else tensor(t.shape, t.dtype)


def value_text(v):
    if isinstance(v, bool):
        return str(v)
    if isinstance(v, float):
        return f"{v:g}f"
    if isinstance(v, str):
        return f'"{v}"'
    if isinstance(v, (list, tuple)):
        return "[" + ", ".join(value_text(x) for x in v) + "]"
    return str(v)


class Value:
    def __init__(self, text, shape, dtype="float32"):
        self.text, self.shape, self.dtype = text, list(shape), dtype


def ndarray(shape, dtype, elements):
    """TVM's binary form of an NDArray, in base64."""
    code, bits, form = CODES[dtype]
    data = struct.pack(f"<{len(elements)}{form}", *elements)
    head = struct.pack("<QQiiiBBH", 0xDD5E40F096B4A13F, 0, 1, 0, len(shape), code, bits, 1)
    head += struct.pack(f"<{len(shape)}q", *shape) + struct.pack("<q", len(data))
    return base64.b64encode(head + data).decode()


class Module:
    """One `def @main`."""

    def __init__(self, name, slashes=False, attributes=None):
        self.name, self.slashes, self.attributes = name, slashes, attributes or {}
        self.params, self.lines, self.count, self.constants = [], [], 0, []

    # --- values
    def param(self, name, shape, dtype="float32"):
        if not self.slashes:
            name = name.replace("/", "_")
        v = Value("%" + name, shape, dtype)
        self.params.append(v)
        return v

    def constant(self, shape, elements, dtype="float32"):
        self.constants.append(ndarray(shape, dtype, elements))
        text = f"meta[relay.Constant][{len(self.constants) - 1}] /* ty={tensor(shape, dtype)} */"
        return Value(text, shape, dtype)

    def scalar(self, x, dtype="float32"):
        suffix = {"float32": "f", "int32": "", "int64": "i64"}[dtype]
        return Value(f"{x:g}{suffix} /* ty={dtype} */", [], dtype)

    def bind(self, text, t):
        self.lines.append((f"%{self.count}", text, t))
        self.count += 1
        return f"%{self.count - 1}"

    def call(self, op, args, shape, dtype=None, /, **attributes):
        texts = [a if isinstance(a, str) else a.text for a in args]
        texts += [f"{k}={value_text(v)}" for k, v in attributes.items() if v is not None]
        dtype = dtype or next(a.dtype for a in args if isinstance(a, Value))
        v = Value("", shape, dtype)
        v.text = self.bind(f"{op}({', '.join(texts)})", v)
        return v

    def tuple(self, values):
        return self.bind("(" + ", ".join(v.text for v in values) + ")", list(values))

    def field(self, op, args, types, index, **attributes):
        texts = [a.text for a in args] + [f"{k}={value_text(v)}" for k, v in attributes.items()]
        whole = self.bind(f"{op}({', '.join(texts)})", types)
        v = Value("", types[index].shape, types[index].dtype)
        v.text = self.bind(f"{whole}.{index}", v)
        return v

    # --- layers
    def elementwise(self, op, *args, **attributes):
        rank = max(len(a.shape) for a in args)
        shape = []
        for k in range(rank):
            extents = {a.shape[k - rank + len(a.shape)] for a in args if k - rank + len(a.shape) >= 0} - {1}
            assert len(extents) <= 1, (op, [a.shape for a in args])
            shape.append(extents.pop() if extents else 1)
        return self.call(op, args, shape, **attributes)

    def conv(self, x, name, channels, kernel, stride=1, pad=None, groups=1, bias=False, dilation=1, layout="NCHW"):
        kh, kw = kernel if isinstance(kernel, (list, tuple)) else (kernel, kernel)
        if pad is None:
            pad = (kh - 1) // 2 * dilation, (kw - 1) // 2 * dilation
        ph, pw = pad if isinstance(pad, (list, tuple)) else (pad, pad)
        nhwc = layout == "NHWC"
        n, h, w, c = x.shape if nhwc else [x.shape[k] for k in (0, 2, 3, 1)]
        depthwise = nhwc and groups > 1
        weight = [channels, c // groups, kh, kw]
        if nhwc:
            weight = [kh, kw, channels, c // groups] if depthwise else [kh, kw, c // groups, channels]
        w_ = self.param(name + ("/kernel" if nhwc else "_weight"), weight)
        oh = (h + 2 * ph - (kh - 1) * dilation - 1) // stride + 1
        ow = (w + 2 * pw - (kw - 1) * dilation - 1) // stride + 1
        shape = [n, oh, ow, channels] if nhwc else [n, channels, oh, ow]
        y = self.call("nn.conv2d", [x, w_], shape, strides=[stride, stride] if stride > 1 else None,
                      padding=[ph, pw, ph, pw], dilation=[dilation, dilation] if dilation > 1 else None,
                      groups=groups if groups > 1 else None, channels=channels, kernel_size=[kh, kw],
                      data_layout="NHWC" if nhwc else None, kernel_layout=("HWOI" if depthwise else "HWIO") if nhwc else None)
        if bias:
            b = self.param(name + "_bias", [channels])
            y = self.call("nn.bias_add", [y, b], shape, axis=3 if nhwc else None)
        return y

    def batch_norm(self, x, name, axis=1, epsilon=None, **attributes):
        c = x.shape[axis]
        args = [x] + [self.param(f"{name}_{part}", [c]) for part in ("gamma", "beta", "moving_mean", "moving_var")]
        vector = Value("", [c])
        more = dict(attributes)
        if axis != 1:
            more["axis"] = axis
        if epsilon:
            more["epsilon"] = epsilon
        return self.field("nn.batch_norm", args, [x, vector, vector], 0, **more)

    def relu(self, x):
        return self.elementwise("nn.relu", x)

    def pool(self, op, x, size, stride=None, pad=0, ceil=False, **attributes):
        stride = stride or size
        n, c, h, w = x.shape
        extent = lambda e: (e + 2 * pad - size + (stride - 1 if ceil else 0)) // stride + 1
        more = {"ceil_mode": True} if ceil else {}
        return self.call(op, [x], [n, c, extent(h), extent(w)], pool_size=[size, size], strides=[stride, stride],
                         padding=[pad] * 4, **more, **attributes)

    def global_pool(self, x, layout="NCHW"):
        if layout == "NHWC":
            return self.call("nn.global_avg_pool2d", [x], [x.shape[0], 1, 1, x.shape[3]], layout="NHWC")
        return self.call("nn.global_avg_pool2d", [x], x.shape[:2] + [1, 1])

    def flatten(self, x):
        count = 1
        for e in x.shape[1:]:
            count *= e
        return self.call("nn.batch_flatten", [x], [x.shape[0], count])

    def dense(self, x, name, units, bias=True, units_attribute=True):
        w = self.param(name + "_weight", [units, x.shape[-1]])
        y = self.call("nn.dense", [x, w], x.shape[:-1] + [units], units=units if units_attribute else None)
        if bias:
            y = self.call("nn.bias_add" if len(y.shape) == 2 else "add", [y, self.param(name + "_bias", [units])], y.shape,
                          **({"axis": -1} if len(y.shape) == 2 else {}))
        return y

    def concatenate(self, values, axis):
        whole = self.tuple(values)
        shape = list(values[0].shape)
        shape[axis] = sum(v.shape[axis] for v in values)
        return self.call("concatenate", [whole], shape, values[0].dtype, axis=axis)

    def reshape(self, x, shape, written=None):
        return self.call("reshape", [x], shape, newshape=written or shape)

    def transpose(self, x, axes):
        return self.call("transpose", [x], [x.shape[a] for a in axes], axes=axes)

    def softmax(self, x, axis=None):
        return self.call("nn.softmax", [x], x.shape, axis=axis)

    def layer_norm(self, x, name):
        g, b = self.param(name + "_gamma", x.shape[-1:]), self.param(name + "_beta", x.shape[-1:])
        return self.call("nn.layer_norm", [x, g, b], x.shape, epsilon=1e-12)

    def batch_matmul(self, a, b, transpose_b=True):
        n = b.shape[1] if transpose_b else b.shape[2]
        return self.call("nn.batch_matmul", [a, b], a.shape[:2] + [n], transpose_b=transpose_b or None)

    # --- the text
    def text(self, results):
        results = results if isinstance(results, list) else [results]
        types = results if len(results) > 1 else results[0]
        last = "(" + ", ".join(v.text for v in results) + ")"
        if len(results) == 1 and self.lines and self.lines[-1][0] == results[0].text:
            last = self.lines.pop()[1]
        params = [f"{p.text}: {tensor(p.shape, p.dtype)} /* ty={tensor(p.shape, p.dtype)} */" for p in self.params]
        params += [f"{k}={value_text(v)}" for k, v in self.attributes.items()]
        out = ['#[version = "0.0.5"]', f"def @main({', '.join(params)}) -> {type_text(types)} {{"]
        for name, text, t in self.lines:
            out.append(f"  {name} = {text} /* ty={type_text(t)} */;" if not text.startswith("(") else f"  {name} = {text};")
        out.append(f"  {last} /* ty={type_text(types)} */")
        out += ["}", ""]
        if self.constants:
            n = len(self.constants)
            nodes = [{"type_key": ""}, {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
                     {"type_key": "Array", "data": list(range(3, 3 + n))}]
            nodes += [{"type_key": "relay.Constant", "attrs": {"_checked_type_": "0", "data": str(i), "span": "0",
                                                               "virtual_device_": "0"}} for i in range(n)]
            graph = {"root": 1, "nodes": nodes, "b64ndarrays": self.constants, "attrs": {"tvm_version": "0.14.0"}}
            out += ["#[metadata]", json.dumps(graph, indent=2), ""]
        return "\n".join(out)

    def write(self, results):
        with open(os.path.join(FOLDER, self.name + ".relay"), "w") as f:
            f.write(self.text(results))


# --- convolutional networks --------------------------------------------------------------------------------------------


def resnet(name, blocks, bottleneck):
    m = Module(name)
    x = m.param("data", [1, 3, 224, 224])
    x = m.batch_norm(x, "bn_data", epsilon=2e-05, scale=False)
    x = m.pool("nn.max_pool2d", m.relu(m.batch_norm(m.conv(x, "conv0", 64, 7, 2), "bn0", epsilon=2e-05)), 3, 2, 1)
    for stage, count in enumerate(blocks):
        width = 64 << stage
        out = width * 4 if bottleneck else width
        for unit in range(count):
            at, stride = f"stage{stage + 1}_unit{unit + 1}", 2 if unit == 0 and stage > 0 else 1
            pre = m.relu(m.batch_norm(x, at + "_bn1", epsilon=2e-05))
            if bottleneck:
                y = m.relu(m.batch_norm(m.conv(pre, at + "_conv1", width, 1), at + "_bn2", epsilon=2e-05))
                y = m.relu(m.batch_norm(m.conv(y, at + "_conv2", width, 3, stride), at + "_bn3", epsilon=2e-05))
                y = m.conv(y, at + "_conv3", out, 1)
            else:
                y = m.relu(m.batch_norm(m.conv(pre, at + "_conv1", out, 3, stride), at + "_bn2", epsilon=2e-05))
                y = m.conv(y, at + "_conv2", out, 3)
            if unit == 0:
                x = m.conv(pre, at + "_sc", out, 1, stride)
            x = m.elementwise("add", y, x)
    x = m.flatten(m.global_pool(m.relu(m.batch_norm(x, "bn1", epsilon=2e-05))))
    m.write(m.softmax(m.dense(x, "fc1", 1000)))


def mobilenet_v1():
    m = Module("mobilenet_v1", slashes=True)
    x = m.param("input", [1, 224, 224, 3])

    def block(x, name, channels, kernel, stride, groups=1):
        y = m.conv(x, f"MobilenetV1/{name}", channels, kernel, stride, groups=groups, layout="NHWC")
        y = m.batch_norm(y, f"MobilenetV1/{name}/BatchNorm", axis=3, epsilon=0.001)
        return m.elementwise("clip", y, a_min=0.0, a_max=6.0)

    x = block(x, "Conv2d_0", 32, 3, 2)
    for i, (channels, stride) in enumerate([(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 +
                                           [(1024, 2), (1024, 1)]):
        x = block(x, f"Conv2d_{i + 1}_depthwise", x.shape[3], 3, stride, x.shape[3])
        x = block(x, f"Conv2d_{i + 1}_pointwise", channels, 1, 1)
    x = m.conv(m.global_pool(x, "NHWC"), "MobilenetV1/Logits/Conv2d_1c_1x1", 1001, 1, bias=True, layout="NHWC")
    x = m.call("squeeze", [x], [1, 1001], axis=[1, 2])
    m.write(m.softmax(x))


def relu6(m, x):
    return m.elementwise("clip", x, a_min=0.0, a_max=6.0)


def mobilenet_v2():
    m = Module("mobilenet_v2")
    x = relu6(m, m.batch_norm(m.conv(m.param("data", [1, 3, 224, 224]), "features_conv0", 32, 3, 2), "features_bn0"))
    index = 0
    for expand, channels, count, first in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for k in range(count):
            at, stride, c = f"features_linearbottleneck{index}", first if k == 0 else 1, x.shape[1]
            y = x
            if expand > 1:
                y = relu6(m, m.batch_norm(m.conv(y, at + "_conv0", c * expand, 1), at + "_bn0"))
            y = relu6(m, m.batch_norm(m.conv(y, at + "_conv1", c * expand, 3, stride, groups=c * expand), at + "_bn1"))
            y = m.batch_norm(m.conv(y, at + "_conv2", channels, 1), at + "_bn2")
            x = m.elementwise("add", x, y) if stride == 1 and c == channels else y
            index += 1
    x = m.global_pool(relu6(m, m.batch_norm(m.conv(x, "features_conv1", 1280, 1), "features_bn1")))
    m.write(m.flatten(m.conv(x, "output_pred", 1000, 1)))


def vgg(name, counts, norm):
    m = Module(name)
    x = m.param("data", [1, 3, 224, 224])
    for stage, count in enumerate(counts):
        for k in range(count):
            at = f"conv{stage + 1}_{k + 1}"
            x = m.conv(x, at, min(64 << stage, 512), 3, bias=True)
            if norm:
                x = m.batch_norm(x, at.replace("conv", "bn"))
            x = m.relu(x)
        x = m.pool("nn.max_pool2d", x, 2)
    x = m.flatten(x)
    for k in (6, 7):
        x = m.relu(m.dense(x, f"fc{k}", 4096))
        x = m.field("nn.dropout", [x], [x, x], 0, rate=0.5)
    m.write(m.softmax(m.dense(x, "fc8", 1000)))


def squeezenet(name, version):
    m = Module(name)
    x = m.param("data", [1, 3, 224, 224])
    x = m.relu(m.conv(x, "conv1", 96 if version == "1.0" else 64, 7 if version == "1.0" else 3, 2, pad=0, bias=True))
    pools = (2, 6) if version == "1.0" else (2, 4)
    x = m.pool("nn.max_pool2d", x, 3, 2)
    for k, squeeze in enumerate([16, 16, 32, 32, 48, 48, 64, 64]):
        at = f"fire{k + 2}"
        y = m.relu(m.conv(x, at + "_squeeze1x1", squeeze, 1, bias=True))
        left = m.relu(m.conv(y, at + "_expand1x1", squeeze * 4, 1, bias=True))
        x = m.concatenate([left, m.relu(m.conv(y, at + "_expand3x3", squeeze * 4, 3, bias=True))], 1)
        if k in pools:
            x = m.pool("nn.max_pool2d", x, 3, 2, ceil=version == "1.0")
    x = m.field("nn.dropout", [x], [x, x], 0)
    m.write(m.softmax(m.flatten(m.global_pool(m.relu(m.conv(x, "conv10", 1000, 1, bias=True))))))


def densenet(name, layers, growth=32):
    m = Module(name)
    x = m.conv(m.param("data", [1, 3, 224, 224]), "conv0", 2 * growth, 7, 2)
    x = m.pool("nn.max_pool2d", m.relu(m.batch_norm(x, "norm0")), 3, 2, 1)
    for b, count in enumerate(layers):
        for k in range(count):
            at = f"dense{b + 1}_layer{k + 1}"
            y = m.conv(m.relu(m.batch_norm(x, at + "_norm1")), at + "_conv1", 4 * growth, 1)
            y = m.conv(m.relu(m.batch_norm(y, at + "_norm2")), at + "_conv2", growth, 3)
            x = m.concatenate([x, y], 1)
        if b + 1 < len(layers):
            y = m.relu(m.batch_norm(x, f"transition{b + 1}_norm"))
            x = m.pool("nn.avg_pool2d", m.conv(y, f"transition{b + 1}_conv", x.shape[1] // 2, 1), 2)
    x = m.flatten(m.global_pool(m.relu(m.batch_norm(x, "norm5"))))
    m.write(m.dense(x, "classifier", 1000))


def inception_v3():
    m = Module("inception_v3")

    def conv(x, name, channels, kernel, stride=1, pad=None):
        return m.relu(m.batch_norm(m.conv(x, name + "_conv", channels, kernel, stride, pad), name + "_bn", epsilon=0.001))

    def chain(x, at, steps):
        for k, step in enumerate(steps):
            x = conv(x, f"{at}_{k}", *step)
        return x

    x = m.param("data", [1, 3, 299, 299])
    x = chain(x, "stem", [(32, 3, 2, 0), (32, 3, 1, 0), (64, 3)])
    x = chain(m.pool("nn.max_pool2d", x, 3, 2), "stem2", [(80, 1), (192, 3, 1, 0)])
    x = m.pool("nn.max_pool2d", x, 3, 2)
    for k, width in enumerate([32, 64, 64]):
        at = f"mixed5{k}"
        average = m.pool("nn.avg_pool2d", x, 3, 1, 1, count_include_pad=True)
        x = m.concatenate([chain(x, at + "a", [(64, 1)]), chain(x, at + "b", [(48, 1), (64, 5)]),
                           chain(x, at + "c", [(64, 1), (96, 3), (96, 3)]), chain(average, at + "d", [(width, 1)])], 1)
    x = m.concatenate([chain(x, "mixed6a_a", [(384, 3, 2, 0)]), chain(x, "mixed6a_b", [(64, 1), (96, 3), (96, 3, 2, 0)]),
                       m.pool("nn.max_pool2d", x, 3, 2)], 1)
    for k, c in enumerate([128, 160, 160, 192]):
        at = f"mixed6{k}"
        average = m.pool("nn.avg_pool2d", x, 3, 1, 1, count_include_pad=True)
        x = m.concatenate([chain(x, at + "a", [(192, 1)]), chain(x, at + "b", [(c, 1), (c, (1, 7)), (192, (7, 1))]),
                           chain(x, at + "c", [(c, 1), (c, (7, 1)), (c, (1, 7)), (c, (7, 1)), (192, (1, 7))]),
                           chain(average, at + "d", [(192, 1)])], 1)
    x = m.concatenate([chain(x, "mixed7a_a", [(192, 1), (320, 3, 2, 0)]),
                       chain(x, "mixed7a_b", [(192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, 2, 0)]), m.pool("nn.max_pool2d", x, 3, 2)], 1)
    for k in range(2):
        at = f"mixed7{k}"
        average = m.pool("nn.avg_pool2d", x, 3, 1, 1, count_include_pad=True)
        b, c = chain(x, at + "b", [(384, 1)]), chain(x, at + "c", [(448, 1), (384, 3)])
        x = m.concatenate([chain(x, at + "a", [(320, 1)]), chain(b, at + "b1", [(384, (1, 3))]), chain(b, at + "b2", [(384, (3, 1))]),
                           chain(c, at + "c1", [(384, (1, 3))]), chain(c, at + "c2", [(384, (3, 1))]), chain(average, at + "d", [(192, 1)])], 1)
    x = m.pool("nn.avg_pool2d", x, 8, 1)
    m.write(m.softmax(m.dense(m.flatten(x), "fc1", 1000)))


def unet():
    m = Module("unet")

    def double(x, at, channels):
        for k in (1, 2):
            x = m.relu(m.batch_norm(m.conv(x, f"{at}_conv{k}", channels, 3), f"{at}_bn{k}"))
        return x

    x = m.param("data", [1, 3, 256, 256])
    skips = []
    for k in range(4):
        x = double(x, f"down{k}", 64 << k)
        skips.append(x)
        x = m.pool("nn.max_pool2d", x, 2)
    x = double(x, "middle", 1024)
    for k in reversed(range(4)):
        n, c, h, w = x.shape
        weight, bias = m.param(f"up{k}_weight", [c, c // 2, 2, 2]), m.param(f"up{k}_bias", [c // 2])
        y = m.call("nn.conv2d_transpose", [x, weight], [n, c // 2, 2 * h, 2 * w], channels=c // 2, kernel_size=[2, 2], strides=[2, 2],
                   padding=[0, 0, 0, 0])
        x = double(m.concatenate([skips[k], m.call("nn.bias_add", [y, bias], y.shape)], 1), f"up{k}", c // 2)
    m.write(m.elementwise("sigmoid", m.conv(x, "out", 1, 1, bias=True)))


def dcgan():
    m = Module("dcgan")
    x = m.dense(m.param("data", [1, 100]), "g1", 1024 * 4 * 4, bias=False)
    x = m.relu(m.reshape(x, [1, 1024, 4, 4], [-1, 1024, 4, 4]))
    for k, channels in enumerate([512, 256, 128, 3]):
        n, c, h, w = x.shape
        weight = m.param(f"g{k + 2}_weight", [c, channels, 4, 4])
        x = m.call("nn.conv2d_transpose", [x, weight], [n, channels, 2 * h, 2 * w], channels=channels, kernel_size=[4, 4], strides=[2, 2],
                   padding=[1, 1, 1, 1])
        x = m.elementwise("tanh", x) if channels == 3 else m.relu(m.batch_norm(x, f"g{k + 2}_bn", epsilon=1e-05 * 1.001, scale=False))
    m.write(x)


def alexnet():
    m = Module("alexnet")
    x = m.relu(m.conv(m.param("data", [1, 3, 224, 224]), "conv1", 96, 11, 4, pad=2, bias=True))
    x = m.pool("nn.max_pool2d", m.elementwise("nn.lrn", x, size=5, alpha=0.0001, beta=0.75, bias=2.0), 3, 2)
    x = m.relu(m.conv(x, "conv2", 256, 5, groups=2, bias=True))
    x = m.pool("nn.max_pool2d", m.elementwise("nn.lrn", x, size=5, alpha=0.0001), 3, 2)
    x = m.relu(m.conv(x, "conv3", 384, 3, bias=True))
    for k, channels in ((4, 384), (5, 256)):
        x = m.relu(m.conv(x, f"conv{k}", channels, 3, groups=2, bias=True))
    x = m.pool("nn.max_pool2d", x, 3, 2)
    x = m.flatten(m.call("nn.adaptive_avg_pool2d", [x], x.shape[:2] + [6, 6], output_size=[6, 6]))
    for k in (6, 7):
        x = m.relu(m.dense(x, f"fc{k}", 4096))
    m.write(m.softmax(m.dense(x, "fc8", 1000)))


def lenet():
    m = Module("lenet", attributes={"hash": "0f3a1c", "Compiler": "dnnl"})
    x = m.param("data", [1, 1, 28, 28])
    x = m.elementwise("divide", m.elementwise("subtract", x, m.scalar(0.1307)), m.scalar(0.3081))
    x = m.pool("nn.max_pool2d", m.elementwise("tanh", m.conv(x, "conv1", 6, 5, pad=2, bias=True)), 2)
    x = m.pool("nn.avg_pool2d", m.elementwise("tanh", m.conv(x, "conv2", 16, 5, pad=0, bias=True)), 2)
    x = m.flatten(x)
    for k, units in enumerate((120, 84)):
        x = m.elementwise("tanh", m.dense(x, f"fc{k + 1}", units))
    m.write(m.call("nn.log_softmax", [m.dense(x, "fc3", 10)], [1, 10]))


def efficientnet_b0():
    m = Module("efficientnet_b0")

    def swish(x):
        return m.elementwise("multiply", x, m.elementwise("sigmoid", x))

    x = swish(m.batch_norm(m.conv(m.param("data", [1, 3, 224, 224]), "stem_conv", 32, 3, 2), "stem_bn", epsilon=0.001))
    index = 0
    for expand, channels, count, first, kernel in [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5),
                                                   (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)]:
        for k in range(count):
            at, stride, c = f"blocks_{index}", first if k == 0 else 1, x.shape[1]
            y = x
            if expand > 1:
                y = swish(m.batch_norm(m.conv(y, at + "_expand", c * expand, 1), at + "_bn0", epsilon=0.001))
            y = swish(m.batch_norm(m.conv(y, at + "_depthwise", c * expand, kernel, stride, groups=c * expand), at + "_bn1", epsilon=0.001))
            s = swish(m.conv(m.global_pool(y), at + "_se_reduce", max(1, c // 4), 1, bias=True))
            y = m.elementwise("multiply", m.elementwise("sigmoid", m.conv(s, at + "_se_expand", c * expand, 1, bias=True)), y)
            y = m.batch_norm(m.conv(y, at + "_project", channels, 1), at + "_bn2", epsilon=0.001)
            x = m.elementwise("add", y, x) if stride == 1 and c == channels else y
            index += 1
    x = m.global_pool(swish(m.batch_norm(m.conv(x, "head_conv", 1280, 1), "head_bn", epsilon=0.001)))
    m.write(m.dense(m.flatten(x), "head_fc", 1000))


def ssd():
    """SSD's backbone and heads; what follows in TVM's model (multibox, non-maximum suppression) is left out."""
    m = Module("ssd300_vgg16")
    x = m.param("data", [1, 3, 300, 300])
    maps = []
    for stage, count in enumerate([2, 2, 3, 3, 3]):
        for k in range(count):
            x = m.relu(m.conv(x, f"conv{stage + 1}_{k + 1}", min(64 << stage, 512), 3, bias=True))
        if stage == 3:
            scale = m.constant([1, 512, 1, 1], [20.0] * 512)
            maps.append(m.elementwise("multiply", scale, m.call("nn.l2_normalize", [x], x.shape, eps=1e-10, axis=[1])))
        x = m.pool("nn.max_pool2d", x, 3, 1, 1) if stage == 4 else m.pool("nn.max_pool2d", x, 2, ceil=True)
    x = m.relu(m.conv(x, "fc6", 1024, 3, pad=6, dilation=6, bias=True))
    x = m.relu(m.conv(x, "fc7", 1024, 1, bias=True))
    maps.append(x)
    for k, (c, stride, pad) in enumerate([(512, 2, 1), (256, 2, 1), (256, 1, 0), (256, 1, 0)]):
        x = m.relu(m.conv(m.relu(m.conv(x, f"extra{k}_1", c // 2, 1, bias=True)), f"extra{k}_2", c, 3, stride, pad=pad, bias=True))
        maps.append(x)
    classes, boxes = [], []
    for k, (feature, anchors) in enumerate(zip(maps, [4, 6, 6, 6, 4, 4])):
        for out, width, kind in ((classes, 21, "class"), (boxes, 4, "box")):
            y = m.conv(feature, f"{kind}_predictor{k}", anchors * width, 3, bias=True)
            out.append(m.flatten(m.transpose(y, [0, 2, 3, 1])))
    scores = m.concatenate(classes, 1)
    count = scores.shape[1] // 21
    scores = m.softmax(m.reshape(scores, [1, count, 21], [0, -1, 21]), axis=2)
    m.write([m.transpose(scores, [0, 2, 1]), m.concatenate(boxes, 1)])


# --- recurrent networks and transformers -----------------------------------------------------------------------------------


def part(m, x, index, width):
    return m.call("strided_slice", [x], [x.shape[0], width], begin=[0, index * width], end=[x.shape[0], (index + 1) * width], strides=[1, 1])


def lstm(name, steps, layers, hidden=128, inputs=64):
    m = Module(name)
    data = m.param("data", [1, steps, inputs])
    xs = [m.reshape(m.call("strided_slice", [data], [1, 1, inputs], begin=[0, t, 0], end=[1, t + 1, inputs], strides=[1, 1, 1]), [1, inputs],
                    [-1, inputs]) for t in range(steps)]
    for layer in range(layers):
        wi, bi = m.param(f"lstm{layer}_i2h_weight", [4 * hidden, xs[0].shape[1]]), m.param(f"lstm{layer}_i2h_bias", [4 * hidden])
        wh, bh = m.param(f"lstm{layer}_h2h_weight", [4 * hidden, hidden]), m.param(f"lstm{layer}_h2h_bias", [4 * hidden])
        h = m.call("zeros", [], [1, hidden], "float32", shape=[1, hidden], dtype="float32")
        c = m.constant([1, hidden], [0.0] * hidden)
        ys = []
        for x in xs:
            gates = m.elementwise("add", m.call("nn.bias_add", [m.call("nn.dense", [x, wi], [1, 4 * hidden], units=4 * hidden), bi], [1, 4 * hidden]),
                                  m.call("nn.bias_add", [m.call("nn.dense", [h, wh], [1, 4 * hidden], units=4 * hidden), bh], [1, 4 * hidden]))
            i, f, g, o = (part(m, gates, k, hidden) for k in range(4))
            c = m.elementwise("add", m.elementwise("multiply", m.elementwise("sigmoid", f), c),
                              m.elementwise("multiply", m.elementwise("sigmoid", i), m.elementwise("tanh", g)))
            h = m.elementwise("multiply", m.elementwise("sigmoid", o), m.elementwise("tanh", c))
            ys.append(h)
        xs = ys
    whole = m.tuple(xs)
    m.write([m.call("stack", [whole], [1, steps, hidden], "float32", axis=1), h, c])


def gru():
    m = Module("gru")
    hidden, h = 256, m.param("hidden", [1, 256])
    table, data = m.param("embedding", [5000, 256]), m.param("data", [20], "int32")
    for t in range(20):
        token = m.call("strided_slice", [data], [1], begin=[t], end=[t + 1], strides=[1])
        x = m.call("take", [table, token], [1, 256], "float32", axis=0)
        i = m.dense(x, f"i{t}", 3 * hidden)
        g = m.dense(h, f"h{t}", 3 * hidden)
        r = m.elementwise("sigmoid", m.elementwise("add", part(m, i, 0, hidden), part(m, g, 0, hidden)))
        z = m.elementwise("sigmoid", m.elementwise("add", part(m, i, 1, hidden), part(m, g, 1, hidden)))
        n = m.elementwise("tanh", m.elementwise("add", part(m, i, 2, hidden), m.elementwise("multiply", r, part(m, g, 2, hidden))))
        h = m.elementwise("add", m.elementwise("multiply", m.elementwise("subtract", m.scalar(1), z), n), m.elementwise("multiply", z, h))
    m.write(m.softmax(m.dense(h, "out", 5000), axis=-1))


def gelu(m, x):
    y = m.elementwise("erf", m.elementwise("divide", x, m.scalar(1.41421)))
    return m.elementwise("multiply", m.elementwise("multiply", x, m.scalar(0.5)), m.elementwise("add", y, m.scalar(1)))


def linear(m, x, name, units):
    """A dense layer on the last of three axes, as importers write it."""
    n, s, c = x.shape
    y = m.dense(m.reshape(x, [n * s, c], [-1, c]), name, units)
    return m.reshape(y, [n, s, units])


def attention(m, x, memory, at, heads, mask=None):
    n, s, c = x.shape
    r, d = memory.shape[1], c // heads

    def split(y, length):
        y = m.transpose(m.reshape(y, [n, length, heads, d], [0, 0, heads, d]), [0, 2, 1, 3])
        return m.reshape(y, [n * heads, length, d], [-1, length, d])

    q, k, v = split(linear(m, x, at + "_query", c), s), split(linear(m, memory, at + "_key", c), r), split(linear(m, memory, at + "_value", c), r)
    scores = m.elementwise("divide", m.batch_matmul(q, k), m.scalar(d ** 0.5))
    scores = m.reshape(scores, [n, heads, s, r])
    if mask is not None:
        scores = m.elementwise("add", scores, mask)
    weights = m.reshape(m.softmax(scores, axis=-1), [n * heads, s, r], [-1, s, r])
    y = m.batch_matmul(weights, m.transpose(v, [0, 2, 1]))
    y = m.transpose(m.reshape(y, [n, heads, s, d]), [0, 2, 1, 3])
    return linear(m, m.reshape(y, [n, s, c], [n, s, -1]), at + "_output", c)


def embed(m, ids, vocabulary, width, positions):
    n, s = ids.shape
    words = m.call("take", [m.param("word_embeddings", [vocabulary, width]), ids], [n, s, width], "float32", axis=0)
    where = m.constant([1, s], list(range(s)), "int32")
    return m.elementwise("add", words, m.call("take", [m.param("position_embeddings", [positions, width]), where], [1, s, width], "float32", axis=0))


def bert(name, layers, width, heads, sequence):
    m = Module(name, attributes={"hash": "b3c5"})
    ids, segments = m.param("input_ids", [1, sequence], "int32"), m.param("token_type_ids", [1, sequence], "int32")
    mask = m.param("attention_mask", [1, sequence], "int32")
    x = embed(m, ids, 30522, width, 512)
    kinds = m.call("take", [m.param("token_type_embeddings", [2, width]), segments], [1, sequence, width], "float32", axis=0)
    x = m.layer_norm(m.elementwise("add", x, kinds), "embeddings_norm")
    wide = m.call("expand_dims", [m.call("expand_dims", [mask], [1, 1, sequence], axis=1)], [1, 1, 1, sequence], axis=2)
    bias = m.elementwise("multiply", m.elementwise("subtract", m.scalar(1), m.call("cast", [wide], wide.shape, "float32", dtype="float32")), m.scalar(-10000))
    for k in range(layers):
        at = f"layer{k}"
        x = m.layer_norm(m.elementwise("add", attention(m, x, x, at + "_attention", heads, bias), x), at + "_norm1")
        y = linear(m, gelu(m, linear(m, x, at + "_intermediate", 4 * width)), at + "_dense", width)
        x = m.layer_norm(m.elementwise("add", y, x), at + "_norm2")
    first = m.call("take", [x, m.scalar(0, "int32")], [1, width], "float32", axis=1)
    m.write([x, m.elementwise("tanh", m.dense(first, "pooler", width))])


def gpt2(layers=12, width=768, heads=12, sequence=64):
    m = Module("gpt2")
    x = embed(m, m.param("input_ids", [1, sequence], "int64"), 50257, width, 1024)
    causal = m.constant([1, 1, sequence, sequence], [int(c <= r) for r in range(sequence) for c in range(sequence)], "bool")
    zero, low = m.scalar(0), m.scalar(-10000)
    bias = m.call("where", [causal, zero, low], [1, 1, sequence, sequence], "float32")

    def norm(x, name):
        mean = m.call("mean", [x], x.shape[:-1] + [1], axis=[-1], keepdims=True)
        spread = m.call("variance", [x, mean], x.shape[:-1] + [1], axis=[-1], keepdims=True)
        y = m.elementwise("multiply", m.elementwise("subtract", x, mean), m.elementwise("rsqrt", m.elementwise("add", spread, m.scalar(1e-05))))
        return m.elementwise("add", m.elementwise("multiply", y, m.param(name + "_weight", [width])), m.param(name + "_bias", [width]))

    for k in range(layers):
        x = m.elementwise("add", x, attention(m, norm(x, f"h{k}_ln1"), x, f"h{k}_attn", heads, bias))
        y = linear(m, norm(x, f"h{k}_ln2"), f"h{k}_fc", 4 * width)
        cube = m.elementwise("power", y, m.scalar(3))
        inner = m.elementwise("multiply", m.elementwise("add", y, m.elementwise("multiply", cube, m.scalar(0.044715))), m.scalar(0.797885))
        y = m.elementwise("multiply", m.elementwise("multiply", y, m.scalar(0.5)), m.elementwise("add", m.elementwise("tanh", inner), m.scalar(1)))
        x = m.elementwise("add", x, linear(m, y, f"h{k}_proj", width))
    x = m.reshape(norm(x, "ln_f"), [sequence, width], [-1, width])
    m.write(m.dense(x, "lm_head", 50257, bias=False))


def decoder():
    m = Module("transformer_decoder")
    width, heads = 512, 8
    x, memory = m.param("target", [2, 20, width]), m.param("memory", [2, 30, width])
    mask = m.constant([1, 1, 20, 20], [0.0 if c <= r else -1e9 for r in range(20) for c in range(20)])
    for k in range(6):
        at = f"layer{k}"
        x = m.layer_norm(m.elementwise("add", x, attention(m, x, x, at + "_self", heads, mask)), at + "_norm1")
        x = m.layer_norm(m.elementwise("add", x, attention(m, x, memory, at + "_cross", heads)), at + "_norm2")
        y = linear(m, m.relu(linear(m, x, at + "_ff1", 2048)), at + "_ff2", width)
        x = m.layer_norm(m.elementwise("add", x, y), at + "_norm3")
    m.write(m.call("argmax", [linear(m, x, "out", 1000)], [2, 20], "int32", axis=[-1]))


def main():
    for name, blocks, bottleneck in [("resnet18", [2, 2, 2, 2], False), ("resnet34", [3, 4, 6, 3], False), ("resnet50", [3, 4, 6, 3], True),
                                     ("resnet101", [3, 4, 23, 3], True), ("resnet152", [3, 8, 36, 3], True)]:
        resnet(name, blocks, bottleneck)
    mobilenet_v1()
    mobilenet_v2()
    vgg("vgg11_bn", [1, 1, 2, 2, 2], True)
    vgg("vgg16", [2, 2, 3, 3, 3], False)
    squeezenet("squeezenet1_0", "1.0")
    squeezenet("squeezenet1_1", "1.1")
    densenet("densenet121", [6, 12, 24, 16])
    inception_v3()
    unet()
    dcgan()
    alexnet()
    lenet()
    efficientnet_b0()
    ssd()
    lstm("lstm", 16, 2)
    gru()
    bert("bert_tiny", 2, 128, 2, 32)
    bert("bert_base", 12, 768, 12, 128)
    gpt2()
    decoder()


main()
