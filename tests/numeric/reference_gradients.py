"""PyTorch's gradients of the operators: with respect to each float input, for a stored cotangent of the result, by
torch.autograd in float64. Inputs are away from ties and kinks."""

import numpy as np
import torch
import torch.nn.functional as F

from reference_groups import Draw, Group, attributes, text
from reference_parts import EINSUMS
from reference_images import TRANSPOSED, axis_matrix, transposed


class GradientGroup(Group):
    """Lines `name | terms | expression | %variable=entry… | cotangent | gradients`, a gradient `-` for an input that is no
    float or has none in PyTorch."""

    HEADER = "# name | terms | expression | inputs | cotangent | gradients"

    def gradient(self, operator, expression, inputs, function, terms=None, of=None):
        """`function` is the operator, of PyTorch's tensors; `terms` is how many products a gradient adds up, and `of` how
        many of the inputs, the first ones, have one (all of them)."""
        leaves = []
        for array in inputs:
            tensor = torch.from_numpy(np.array(array))
            tensor = tensor.double() if tensor.is_floating_point() else tensor
            leaves.append(tensor.requires_grad_(tensor.is_floating_point() and (of is None or len(leaves) < of)))
        result = function(*leaves)
        cotangent = Draw(expression).floats(tuple(result.shape), -1.0, 1.0)
        result.backward(torch.from_numpy(cotangent).double())
        exact = [leaf.grad if leaf.grad is not None else torch.zeros_like(leaf) for leaf in leaves]
        entries = lambda: [self.entry(e.numpy().astype("float32")) if leaf.requires_grad else "-" for e, leaf in zip(exact, leaves)]
        self.line(operator, terms or max(result.numel(), 1), expression, inputs,
                  lambda: f"{self.entry(cotangent)} | {' '.join(entries())}")


def moved(tensor, source, target=1):
    return torch.movedim(tensor, source, target)


def numbers(draw, shape):
    return draw.floats(shape, -1.0, 1.0)


def apart(draw, shape, low=-2.0, high=2.0):
    """Elements that are all different, and none of them near 0."""
    count = int(np.prod(shape, dtype=int))
    values = np.linspace(low, high, count + 1)[:count] + (high - low) / (3 * (count + 1))
    return draw.rng.permutation(values).reshape(shape).astype("float32")


def elementwise(group):
    positive = {"log": torch.log, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt, "log2": torch.log2, "log10": torch.log10}
    smooth = {"exp": torch.exp, "tanh": torch.tanh, "sigmoid": torch.sigmoid, "erf": torch.erf, "sin": torch.sin, "cos": torch.cos,
              "tan": torch.tan, "negative": torch.neg, "copy": torch.clone, "abs": torch.abs, "nn.relu": torch.relu,
              "nn.leaky_relu": lambda x: F.leaky_relu(x, 0.05)}
    flat = {"floor": torch.floor, "ceil": torch.ceil, "trunc": torch.trunc, "round": torch.round, "sign": torch.sign}
    draw = Draw("gradients elementwise")
    for name, function in {**positive, **smooth, **flat}.items():
        a = draw.floats((2, 5), 0.2, 3.0) if name in positive else apart(draw, (2, 5), -1.3, 1.3)
        alpha = ", alpha=0.05" if name == "nn.leaky_relu" else ""
        group.gradient(name, f"{name}(%a{alpha})", [a], function, 4)
    pairs = {"add": torch.add, "subtract": torch.subtract, "multiply": torch.multiply, "divide": torch.divide,
             "maximum": torch.maximum, "minimum": torch.minimum, "mod": torch.fmod, "floor_mod": torch.remainder}
    for name, function in pairs.items():
        for s, r in [((2, 3), (2, 3)), ((2, 1, 3), (4, 1)), ((), (3,))]:
            b = numbers(draw, r)
            group.gradient(name, f"{name}(%a, %b)", [numbers(draw, s), b + np.copysign(np.float32(0.3), b)], function, 16)
    for s, r in [((2, 3), (2, 3)), ((2, 1), (3,))]:
        a, b = draw.floats(s, 0.3, 2.0), draw.floats(r, -2.0, 2.0)
        group.gradient("power", "power(%a, %b)", [a, b], torch.pow, 8)
    group.gradient("clip", "clip(%a, a_min=-0.5, a_max=1.0)", [apart(draw, (9,))], lambda x: torch.clamp(x, -0.5, 1.0))
    group.gradient("cast", 'cast(cast(%a, dtype="float64"), dtype="float32")', [numbers(draw, (3,))], lambda x: x * 1)
    for c, s, r in [((2, 3), (2, 3), (2, 3)), ((3,), (2, 1), ()), ((2, 1), (1, 3), (2, 3))]:
        inputs = [draw.bools(c), numbers(draw, s), numbers(draw, r)]
        group.gradient("where", "where(%a, %b, %c)", inputs, torch.where)


def reductions(group):
    draw = Draw("gradients reductions")
    functions = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin}
    for name, function in functions.items():
        for shape, axes, given in [((2, 3, 4), (1,), dict(axis=[1])), ((2, 3, 4), (0, 2), dict(axis=[0, -1], keepdims=True)),
                                   ((2, 3), (0, 1), {}), ((2, 3, 4), (0, 2), dict(axis=[1], exclude=True))]:
            group.gradient(name, f"{name}(%a{attributes(**given)})", [apart(draw, shape)],
                           lambda x, f=function, axes=axes, keep=given.get("keepdims", False): f(x, axes, keepdim=keep))
    a = numbers(draw, (3, 4))
    a[1, 2] = 0  # one zero: the product of the others remains
    group.gradient("prod", "prod(%a, axis=[1])", [a], lambda x: torch.prod(x, 1))
    group.gradient("prod", "prod(%a, axis=[0], keepdims=True)", [numbers(draw, (3, 2))], lambda x: torch.prod(x, 0, keepdim=True))
    for unbiased in (False, True):
        group.gradient("variance", f"variance(%a, mean(%a, axis=[1], keepdims=True), axis=[1], unbiased={unbiased})", [numbers(draw, (3, 4))],
                       lambda x, u=unbiased: torch.var(x, 1, unbiased=u))
    for axis in (0, 1, -1):
        a = numbers(draw, (2, 3, 4))
        group.gradient("cumsum", f"cumsum(%a, axis={axis})", [a], lambda x, k=axis: torch.cumsum(x, k))
        group.gradient("cumsum", f"cumsum(%a, axis={axis}, exclusive=True)", [a], lambda x, k=axis: torch.cumsum(x, k) - x)
        group.gradient("cumsum", f"reverse(cumsum(reverse(%a, axis={axis}), axis={axis}), axis={axis})", [a],
                       lambda x, k=axis: torch.flip(torch.cumsum(torch.flip(x, [k]), k), [k]))
        group.gradient("cumprod", f"cumprod(%a, axis={axis})", [a], lambda x, k=axis: torch.cumprod(x, k))
        before = lambda x, k=axis: torch.cumprod(torch.cat([torch.ones_like(x.narrow(k, 0, 1)), x.narrow(k, 0, x.shape[k] - 1)], k), k)
        group.gradient("cumprod", f"cumprod(%a, axis={axis}, exclusive=True)", [a], before)
    group.gradient("cumsum", "cumsum(%a)", [numbers(draw, (2, 3))], lambda x: torch.cumsum(x.reshape(-1), 0))
    for name, function in {"nn.softmax": F.softmax, "nn.log_softmax": F.log_softmax}.items():
        for shape, axis in [((3, 5), -1), ((2, 3, 4), 1), ((4, 2), 0)]:
            group.gradient(name, f"{name}(%a, axis={axis})", [draw.floats(shape)], lambda x, f=function, k=axis: f(x, k))


def convolutions(group):
    draw = Draw("gradients conv2d")
    for shape, filters, kernel, given in [
            ((1, 2, 5, 4), 3, (3, 3), {}), ((2, 2, 5, 6), 2, (3, 2), dict(strides=[2, 1], padding=[1, 1])),
            ((1, 2, 7, 6), 2, (2, 3), dict(dilation=[2, 1], padding=[0, 1, 2, 1], strides=[1, 2])),
            ((1, 4, 4, 5), 6, (3, 3), dict(groups=2, padding=[1])), ((1, 3, 5, 5), 6, (2, 2), dict(groups=3, strides=[2, 2])),
            ((1, 3, 4, 4), 3, (3, 3), dict(groups=3, padding=[1, 1], strides=[2, 2], dilation=[1, 1])),
            ((1, 1, 9, 8), 1, (3, 3), dict(strides=[3, 2], dilation=[2, 3], padding=[2, 2])), ((1, 3, 3, 3), 2, (1, 1), dict(strides=[2, 2]))]:
        a, w = numbers(draw, shape), numbers(draw, (filters, shape[1] // given.get("groups", 1)) + kernel)
        top, left, bottom, right = {0: [0] * 4, 1: given.get("padding", [0]) * 4, 2: given.get("padding", [0]) * 2,
                                    4: given.get("padding", [0])}[len(given.get("padding", []))]

        def convolve(x, k, given=given, pad=(left, right, top, bottom)):
            return F.conv2d(F.pad(x, pad), k, stride=given.get("strides", [1, 1]), dilation=given.get("dilation", [1, 1]),
                            groups=given.get("groups", 1))

        group.gradient("nn.conv2d", f"nn.conv2d(%a, %b{attributes(**given)})", [a, w], convolve)
        more = attributes(**given, data_layout="NHWC", kernel_layout="HWIO")
        group.gradient("nn.conv2d", f"nn.conv2d(%a, %b{more})", [np.ascontiguousarray(a.transpose(0, 2, 3, 1)), np.ascontiguousarray(w.transpose(2, 3, 1, 0))],
                       lambda x, k, f=convolve: moved(f(moved(x, -1), k.permute(3, 2, 0, 1)), 1, -1))
    for shape, weight, given in [((1, 2, 3, 4), (2, 3, 2, 2), dict(strides=[2, 2])),
                                 ((1, 4, 3, 3), (4, 1, 3, 3), dict(strides=[2, 2], padding=[1, 1], output_padding=[1, 1], groups=2)),
                                 ((1, 2, 3, 3), (2, 2, 2, 3), dict(dilation=[2, 1], strides=[1, 3], padding=[1, 0]))]:
        group.gradient("nn.conv2d_transpose", f"nn.conv2d_transpose(%a, %b{attributes(**given)})", [numbers(draw, shape), numbers(draw, weight)],
                       lambda x, k, g=given: F.conv_transpose2d(x, k, None, g.get("strides", 1), g.get("padding", 0), g.get("output_padding", 0),
                                                                g.get("groups", 1), g.get("dilation", 1)))
    for name, shape, weight, given in TRANSPOSED:
        group.gradient(name, f"{name}(%a, %b{attributes(**given)})", [numbers(draw, shape), numbers(draw, weight)],
                       lambda x, k, g=given: transposed(x, k, g))
    for shape, weight, given in [((1, 2, 6), (3, 2, 3), dict(padding=[1])), ((2, 4, 7), (4, 2, 2), dict(strides=[2], groups=2, dilation=[2]))]:
        group.gradient("nn.conv1d", f"nn.conv1d(%a, %b{attributes(**given)})", [numbers(draw, shape), numbers(draw, weight)],
                       lambda x, k, g=given: F.conv1d(x, k, None, g.get("strides", 1), g.get("padding", 0), g.get("dilation", 1), g.get("groups", 1)))
    for shape, weight, given in [((1, 2, 3, 4, 3), (2, 2, 2, 2, 2), dict(padding=[1, 0, 1])),
                                 ((1, 2, 4, 3, 5), (2, 1, 2, 2, 2), dict(strides=[2, 1, 2], groups=2, dilation=[1, 2, 1]))]:
        convolve = lambda x, k, g=given: F.conv3d(x, k, None, g.get("strides", 1), g.get("padding", 0), g.get("dilation", 1), g.get("groups", 1))
        a, w = numbers(draw, shape), numbers(draw, weight)
        group.gradient("nn.conv3d", f"nn.conv3d(%a, %b{attributes(**given)})", [a, w], convolve)
        more = attributes(**given, data_layout="NDHWC")
        group.gradient("nn.conv3d", f"nn.conv3d(%a, %b{more})", [np.ascontiguousarray(np.moveaxis(a, 1, -1)), w],
                       lambda x, k, f=convolve: moved(f(moved(x, -1), k), 1, -1))


def products(group):
    draw = Draw("gradients products")
    for b in [(3,), (2, 2), ()]:
        group.gradient("nn.dense", "nn.dense(%a, %b)", [numbers(draw, b + (4,)), numbers(draw, (5, 4))], F.linear)
    for ta in (False, True):
        for tb in (False, True):
            turn = lambda x, t: x.transpose(-1, -2) if t else x
            shapes = lambda b: (b + ((4, 2) if ta else (2, 4)), b + ((3, 4) if tb else (4, 3)))
            for name, b in (("nn.matmul", ()), ("nn.batch_matmul", (2,))):
                group.gradient(name, f"{name}(%a, %b{attributes(transpose_a=ta, transpose_b=tb)})", [numbers(draw, s) for s in shapes(b)],
                               lambda x, y, ta=ta, tb=tb: torch.matmul(turn(x, ta), turn(y, tb)))
    for shape, axis in [((2, 3), 1), ((2, 3, 4), -1), ((2, 3, 2), 0)]:
        along = [-1 if k == axis % len(shape) else 1 for k in range(len(shape))]
        vector = numbers(draw, (shape[axis],))
        group.gradient("nn.bias_add", f"nn.bias_add(%a, %b, axis={axis})", [numbers(draw, shape), vector], lambda x, v, s=along: x + v.reshape(s))
        group.gradient("nn.prelu", f"nn.prelu(%a, %b, axis={axis})", [apart(draw, shape), vector],
                       lambda x, v, s=along: torch.where(x > 0, x, v.reshape(s) * x))


def pools(group):
    draw = Draw("gradients pools")
    for shape, given in [((1, 2, 4, 5), dict(pool_size=[2, 2])), ((1, 2, 5, 6), dict(pool_size=[3, 3], strides=[2, 2], padding=[1, 1])),
                         ((1, 1, 5, 7), dict(pool_size=[2, 2], strides=[2, 2], ceil_mode=True)),
                         ((1, 1, 4, 5), dict(pool_size=[3, 2], strides=[2, 1], padding=[1, 1], count_include_pad=True))]:
        a = apart(draw, shape)
        size, strides, pad, ceil = (given.get(k, d) for k, d in (("pool_size", 0), ("strides", [1, 1]), ("padding", [0, 0]), ("ceil_mode", False)))
        mean = lambda x, g=(size, strides, pad, ceil, given.get("count_include_pad", False)): F.avg_pool2d(x, *g)
        largest = lambda x, g=(size, strides, pad), ceil=ceil: F.max_pool2d(x, *g, ceil_mode=ceil)
        more = {k: v for k, v in given.items() if k != "count_include_pad"}
        for name, function, attrs in (("nn.avg_pool2d", mean, given), ("nn.max_pool2d", largest, more)):
            group.gradient(name, f"{name}(%a{attributes(**attrs)})", [a], function)
            group.gradient(name, f"{name}(%a{attributes(**attrs, layout='NHWC')})", [np.ascontiguousarray(a.transpose(0, 2, 3, 1))],
                           lambda x, f=function: moved(f(moved(x, -1)), 1, -1))
    a = apart(draw, (1, 1, 7, 6))
    group.gradient("nn.max_pool2d", "nn.max_pool2d(%a, pool_size=[2, 2], dilation=[3, 2])", [a], lambda x: F.max_pool2d(x, 2, 1, 0, (3, 2)))
    group.gradient("nn.global_avg_pool2d", "nn.global_avg_pool2d(%a)", [a], lambda x: x.mean((2, 3), keepdim=True))
    group.gradient("nn.global_max_pool2d", "nn.global_max_pool2d(%a)", [a], lambda x: x.amax((2, 3), keepdim=True))
    for shape, size in [((1, 2, 6, 4), [3, 2]), ((1, 1, 7, 5), [3, 3]), ((1, 1, 3, 4), [5, 4])]:
        a = apart(draw, shape)
        group.gradient("nn.adaptive_avg_pool2d", f"nn.adaptive_avg_pool2d(%a, output_size={text(size)})", [a], lambda x, s=size: F.adaptive_avg_pool2d(x, s))
        group.gradient("nn.adaptive_max_pool2d", f"nn.adaptive_max_pool2d(%a, output_size={text(size)})", [a], lambda x, s=size: F.adaptive_max_pool2d(x, s))
    a = apart(draw, (1, 2, 3, 4, 4))
    group.gradient("nn.max_pool3d", "nn.max_pool3d(%a, pool_size=[2, 2, 3], strides=[1, 2, 1], padding=[0, 1, 1])", [a],
                   lambda x: F.max_pool3d(x, (2, 2, 3), (1, 2, 1), (0, 1, 1)))
    group.gradient("nn.avg_pool3d", "nn.avg_pool3d(%a, pool_size=[2, 2, 3], strides=[1, 2, 1], padding=[0, 1, 1])", [a],
                   lambda x: F.avg_pool3d(x, (2, 2, 3), (1, 2, 1), (0, 1, 1), count_include_pad=False))


def norms(group):
    draw = Draw("gradients norms")
    for shape, axis, given in [((2, 3, 4), 1, {}), ((2, 2, 3), 2, dict(axis=2, epsilon=0.01)), ((2, 3), 1, dict(scale=False)), ((2, 3), 1, dict(center=False))]:
        c, along = (shape[axis],), [-1 if k == axis else 1 for k in range(len(shape))]

        def normal(x, g, b, m, v, s=along, given=given):
            y = (x - m.reshape(s)) / torch.sqrt(v.reshape(s) + given.get("epsilon", 1e-5))
            return y * (g.reshape(s) if given.get("scale", True) else 1) + (b.reshape(s) if given.get("center", True) else 0)

        inputs = [numbers(draw, shape), numbers(draw, c), numbers(draw, c), numbers(draw, c), draw.floats(c, 0.5, 2.0)]
        group.gradient("nn.batch_norm", f"nn.batch_norm(%a, %b, %c, %d, %e{attributes(**given)}).0", inputs, normal, 64)
    for shape in [(2, 5), (2, 2, 4)]:
        inputs = [numbers(draw, shape), numbers(draw, shape[-1:]), numbers(draw, shape[-1:])]
        group.gradient("nn.layer_norm", "nn.layer_norm(%a, %b, %c, epsilon=0.01)", inputs,
                       lambda x, g, b: F.layer_norm(x, g.shape, g, b, 0.01), 64)
    for shape in [(2, 3, 4), (1, 2, 3, 3)]:
        inputs = [numbers(draw, shape), numbers(draw, shape[1:2]), numbers(draw, shape[1:2])]
        group.gradient("nn.instance_norm", "nn.instance_norm(%a, %b, %c, epsilon=0.01)", inputs,
                       lambda x, g, b: F.instance_norm(x, weight=g, bias=b, eps=0.01), 64)
    for shape, axis in [((2, 5), [1]), ((2, 3, 2), [1, 2])]:
        group.gradient("nn.l2_normalize", f"nn.l2_normalize(%a, eps=1e-6, axis={text(axis)})", [numbers(draw, shape)],
                       lambda x, k=axis: x / torch.sqrt(x.pow(2).sum(k, keepdim=True)), 64)
    for shape, given in [((1, 7, 2), {}), ((2, 4, 2, 1), dict(size=3, alpha=0.5, beta=0.6, bias=1.0))]:
        group.gradient("nn.lrn", f"nn.lrn(%a{attributes(**given)})", [numbers(draw, shape)],
                       lambda x, g=given: F.local_response_norm(x, g.get("size", 5), g.get("alpha", 1e-5), g.get("beta", 0.75), g.get("bias", 2.0)), 64)


def moving(group):
    draw = Draw("gradients moving")
    for shape, bounds, function in [
            ((7,), dict(begin=[6], end=[0], strides=[-1]), lambda x: x.flip(0)[:6]),
            ((7,), dict(begin=[-1], end=[-8], strides=[-2]), lambda x: x.flip(0)[::2]),
            ((4, 5), dict(begin=[3, 0], end=[-5, 5], strides=[-1, 2]), lambda x: x.flip(0)[:, ::2]),
            ((5, 6), dict(begin=[1, 5], end=[4, 0], strides=[2, -3]), lambda x: x.flip(1)[1:4:2, 0:5:3]),
            ((5, 6), dict(begin=[1], end=[99], strides=[2], axes=[1]), lambda x: x[:, 1::2]),
            ((4, 5), dict(begin=[1, 1], end=[2, 3], slice_mode="size"), lambda x: x[1:3, 1:4])]:
        group.gradient("strided_slice", f"strided_slice(%a{attributes(**bounds)})", [numbers(draw, shape)], function)
    for shape, new in [((3, 4), [2, 6]), ((2, 3, 4), [0, -1]), ((2, 3, 4), [-3, 4]), ((6, 2), [-4, 2, 3, 2])]:
        result = {"[0, -1]": (2, 12), "[-3, 4]": (6, 4), "[-4, 2, 3, 2]": (2, 3, 2)}.get(text(new), new)
        group.gradient("reshape", f"reshape(%a, newshape={text(new)})", [numbers(draw, shape)], lambda x, s=result: x.reshape(s))
    for shape, axes in [((3, 4), None), ((2, 3, 4), [1, 2, 0]), ((2, 3, 2, 2), [0, 3, 1, 2])]:
        given = attributes(axes=axes) if axes else ""
        group.gradient("transpose", f"transpose(%a{given})", [numbers(draw, shape)], lambda x, p=axes: x.permute(p or list(range(x.ndim))[::-1]))
    for shapes, axis in [([(2, 3), (1, 3)], 0), ([(2, 3), (2, 1), (2, 4)], -1)]:
        names = ", ".join("%" + n for n, _ in zip("abc", shapes))
        group.gradient("concatenate", f"concatenate(({names}), axis={axis})", [numbers(draw, s) for s in shapes], lambda *xs, k=axis: torch.cat(xs, k))
        group.gradient("stack", f"stack((%a, %b, %a), axis={axis})", [numbers(draw, (2, 3)) for _ in range(2)], lambda x, y, k=axis: torch.stack([x, y, x], k))
    for sections, part in [(3, 1), ([2, 5], 2), ([2, 5], 0)]:
        function = lambda x, s=sections, k=part: torch.tensor_split(x, s, 1)[k]
        group.gradient("split", f"split(%a, indices_or_sections={text(sections)}, axis=1).{part}", [numbers(draw, (2, 6))], function)
    a = numbers(draw, (2, 3))
    for name, call, function in [("tile", "tile(%a, reps=[2, 2])", lambda x: x.repeat(2, 2)),
                                 ("tile", "tile(%a, reps=[2, 1, 3])", lambda x: x.repeat(2, 1, 3)),
                                 ("repeat", "repeat(%a, repeats=3, axis=1)", lambda x: x.repeat_interleave(3, 1)),
                                 ("reverse", "reverse(%a, axis=1)", lambda x: x.flip(1)),
                                 ("broadcast_to", "broadcast_to(%a, shape=[4, 2, 3])", lambda x: x.expand(4, 2, 3)),
                                 ("expand_dims", "expand_dims(%a, axis=1)", lambda x: x[:, None]),
                                 ("squeeze", "squeeze(expand_dims(%a, axis=0), axis=[0])", lambda x: x * 1),
                                 ("nn.batch_flatten", "nn.batch_flatten(expand_dims(%a, axis=2))", lambda x: x * 1)]:
        group.gradient(name, call, [a], function)


def picking(group):
    draw = Draw("gradients picking")
    for shape, places, axis in [((5, 3), (4,), 0), ((3, 4), (2, 3), 1), ((2, 3, 2), (), -1), ((7,), (3,), None)]:
        for mode in ("clip", "wrap", "fast"):
            extent = shape[axis or 0]
            i = draw.ints(places, *((-3, extent + 3) if mode != "fast" else (0, extent - 1)))
            at = np.mod(i, extent) if mode == "wrap" else np.clip(i, 0, extent - 1)
            axis_at = (axis or 0) % len(shape)
            result = shape[:axis_at] + places + shape[axis_at + 1:]
            given = attributes(mode=mode) if axis is None else attributes(axis=axis, mode=mode)
            group.gradient("take", f"take(%a, %b{given})", [numbers(draw, shape), i],
                           lambda x, _, at=at, k=axis_at, r=result: x.index_select(k, torch.from_numpy(np.asarray(at, "int64").reshape(-1))).reshape(r))
    for shape, depth, places in [((4, 3), 2, (5,)), ((4, 3, 2), 2, (2, 2)), ((5,), 1, (3,))]:
        i = np.stack([draw.ints(places, 0, shape[k] - 1) for k in range(depth)])
        group.gradient("gather_nd", f"gather_nd(%a, %b, index_rank={depth})", [numbers(draw, shape), i], lambda x, i: x[tuple(i.long())])
    for shape, part, axis in [((3, 4), (3, 2), 1), ((3, 4), (5, 4), 0), ((2, 3, 2), (2, 4, 2), -2)]:
        i = draw.ints(part, 0, shape[axis] - 1, "int64")
        group.gradient("gather", f"gather(%a, %b, axis={axis})", [numbers(draw, shape), i], lambda x, i, k=axis: torch.gather(x, k, i))
    for shape, part, axis in [((5,), (3,), 0), ((3, 4), (2, 4), 0), ((3, 5), (3, 3), 1)]:
        once = np.argsort(draw.rng.rand(*[shape[k] if k == axis else part[k] for k in range(len(part))]), axis).take(range(part[axis]), axis)
        inputs = lambda i: [numbers(draw, shape), i, numbers(draw, part)]
        group.gradient("scatter_elements", f"scatter_elements(%a, %b, %c, axis={axis})", inputs(once), lambda x, i, u, k=axis: x.scatter(k, i, u))
        i = draw.ints(part, 0, shape[axis] - 1, "int64")
        group.gradient("scatter_elements", f'scatter_elements(%a, %b, %c, axis={axis}, reduction="add")', inputs(i),
                       lambda x, i, u, k=axis: x.scatter_add(k, i, u))
    for shape, depth, count in [((5,), 1, 3), ((3, 4), 2, 5), ((4, 3, 2), 2, 6), ((4, 3), 1, 2)]:
        whole = draw.rng.permutation(int(np.prod(shape[:depth])))[:count]
        once = np.stack(np.unravel_index(whole, shape[:depth])).astype("int32")
        i = np.stack([draw.ints((count,), 0, shape[k] - 1) for k in range(depth)])
        inputs = lambda i: [numbers(draw, shape), i, numbers(draw, (count,) + shape[depth:])]
        put = lambda x, i, u, add: x.index_put(tuple(i.long()), u, accumulate=add)
        group.gradient("scatter_nd", "scatter_nd(%a, %b, %c)", inputs(once), lambda x, i, u: put(x, i, u, False))
        group.gradient("scatter_nd", 'scatter_nd(%a, %b, %c, mode="add")', inputs(i), lambda x, i, u: put(x, i, u, True))


def images(group):
    draw = Draw("gradients images")
    for width, modes in [([[1, 2], [2, 0]], ("constant", "edge", "reflect")), ([[0, 0], [3, 1]], ("constant", "edge", "reflect"))]:
        a, value = numbers(draw, (3, 4)), numbers(draw, ())
        for mode in modes:
            places = np.arange(12).reshape(3, 4)
            at = torch.from_numpy(np.pad(places, width, mode, **({"constant_values": 12} if mode == "constant" else {})))
            group.gradient("nn.pad", f'nn.pad(%a, %b, pad_width={text(width)}, pad_mode="{mode}")', [a, value],
                           lambda x, v, at=at: torch.cat([x.reshape(-1), v.reshape(1)])[at])
    for shape, h, w in [((1, 2, 2, 3), 2, 2), ((1, 1, 3, 1), 1, 3)]:
        group.gradient("nn.upsampling", f"nn.upsampling(%a, scale_h={h}f, scale_w={w}f)", [numbers(draw, shape)],
                       lambda x, f=(h, w): F.interpolate(x, scale_factor=f, mode="nearest"))
    shuffled = lambda x: x.reshape(1, 2, 2, 2, 2, 3).permute(0, 3, 4, 1, 5, 2).reshape(1, 2, 4, 6)
    a = numbers(draw, (1, 8, 2, 3))
    group.gradient("nn.depth_to_space", "nn.depth_to_space(%a, block_size=2)", [a], shuffled)
    group.gradient("nn.depth_to_space", 'nn.depth_to_space(%a, block_size=2, mode="CRD")', [a], lambda x: F.pixel_shuffle(x, 2))
    group.gradient("nn.depth_to_space", 'nn.depth_to_space(%a, block_size=2, mode="CRD", layout="NHWC")', [numbers(draw, (1, 2, 3, 8))],
                   lambda x: moved(F.pixel_shuffle(moved(x, -1), 2), 1, -1))
    blocks = lambda x: x.reshape(1, 2, 2, 2, 3, 2).permute(0, 3, 5, 1, 2, 4).reshape(1, 8, 2, 3)
    group.gradient("nn.space_to_depth", "nn.space_to_depth(%a, block_size=2)", [numbers(draw, (1, 2, 4, 6))], blocks)
    for shape, groups in [((2, 6, 2), 2), ((1, 6, 1, 2), 3)]:
        group.gradient("nn.channel_shuffle", f"nn.channel_shuffle(%a, groups={groups})", [numbers(draw, shape)],
                       lambda x, g=groups: x.reshape((x.shape[0], g, -1) + tuple(x.shape[2:])).transpose(1, 2).reshape(x.shape))
    for shape, size in [((1, 2, 3, 4), [6, 8]), ((1, 1, 5, 3), [3, 7]), ((1, 1, 6, 9), [2, 3])]:
        a = numbers(draw, shape)
        for method, mode, more in [("linear", "half_pixel", {}), ("linear", "align_corners", {}), ("linear", "asymmetric", {}),
                                   ("nearest_neighbor", "asymmetric", {}), ("nearest_neighbor", "half_pixel", dict(rounding_method="round_prefer_ceil")),
                                   ("cubic", "half_pixel", dict(cubic_alpha=-0.75)), ("cubic", "align_corners", dict(cubic_exclude=1))]:
            given = dict(rounding=more.get("rounding_method", ""), alpha=more.get("cubic_alpha", -0.5), exclude=more.get("cubic_exclude", 0))
            down, across = (torch.from_numpy(axis_matrix(shape[2 + k], size[k], method, mode, **given)) for k in range(2))
            call = attributes(size=size, method=method, coordinate_transformation_mode=mode, **more)
            group.gradient("image.resize2d", f"image.resize2d(%a{call})", [a],
                           lambda x, d=down, c=across: torch.einsum("yh,xw,nchw->ncyx", d, c, x))


def sums_of_products(group):
    draw = Draw("gradients einsum")
    for equation, shapes in EINSUMS:
        inputs = [numbers(draw, s) for s in shapes]
        names = ", ".join(f"%{chr(97 + k)}" for k in range(len(inputs)))
        group.gradient("einsum", f'einsum(({names},), equation="{equation}")', inputs,
                       lambda *x, e=equation: torch.einsum(e, *x), 12)
    a, updates = apart(draw, (4, 3)), apart(draw, (6, 3), -3.0, 1.5)
    places = draw.ints((6, 3), 0, 3, "int64")
    for reduction, name in [("mul", "prod"), ("max", "amax"), ("min", "amin")]:
        group.gradient("scatter_elements", f'scatter_elements(%a, %b, %c, axis=0, reduction="{reduction}")',
                       [a, places, updates],
                       lambda x, i, u, n=name: torch.scatter_reduce(x, 0, i, u, reduce=n, include_self=True), 12)


MAKERS = [elementwise, reductions, convolutions, products, pools, norms, moving, picking, images, sums_of_products]
