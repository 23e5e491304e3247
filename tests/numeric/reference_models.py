"""The references of the operators that models use beyond the first ones: convolutions in other layouts, pools, norms,
and what repeats, stacks and picks elements."""

import numpy as np
import torch
import torch.nn.functional as F

from reference_groups import Draw, attributes, exact, rounded, text


def nhwc(a):
    return np.ascontiguousarray(a.transpose(0, 2, 3, 1))


def convolutions(group):
    draw = Draw("layouts")
    orders = {"OIHW": (0, 1, 2, 3), "HWIO": (2, 3, 1, 0), "HWOI": (2, 3, 0, 1), "OHWI": (0, 2, 3, 1)}
    for layout, order in orders.items():
        for groups in (1, 2):
            a, w = draw.floats((2, 4, 5, 6)), draw.floats((6, 4 // groups, 3, 2))
            result = rounded(F.conv2d(exact(a), exact(w), stride=(2, 1), padding=(1, 1), groups=groups))
            for data in ("NCHW", "NHWC"):
                given = dict(strides=[2, 1], padding=[1, 1, 1, 1], groups=groups, channels=6, kernel_size=[3, 2],
                             data_layout=data, kernel_layout=layout)
                swap = nhwc if data == "NHWC" else (lambda x: x)
                group.case("nn.conv2d", f"nn.conv2d(%a, %b{attributes(**given)})",
                           [swap(a), np.ascontiguousarray(w.transpose(order))], swap(result), w[0].size)
    draw = Draw("conv2d_transpose")
    for shape, weight, given in [((1, 2, 3, 4), (2, 3, 2, 2), dict(strides=[2, 2])),
                                 ((2, 4, 3, 3), (4, 1, 3, 3), dict(strides=[2, 2], padding=[1, 1], output_padding=[1, 1], groups=2)),
                                 ((1, 1, 4, 3), (1, 2, 3, 2), dict(padding=[1, 0])), ((1, 3, 5, 5), (3, 2, 4, 4), dict(strides=[2, 2], padding=[1, 1, 1, 1])),
                                 ((1, 2, 3, 3), (2, 2, 2, 3), dict(dilation=[2, 1], strides=[1, 2]))]:
        a, w = draw.floats(shape), draw.floats(weight)
        pad = given.get("padding", [0, 0])[:2]
        result = F.conv_transpose2d(exact(a), exact(w), stride=given.get("strides", [1, 1]), padding=pad,
                                    output_padding=given.get("output_padding", [0, 0]), groups=given.get("groups", 1),
                                    dilation=given.get("dilation", [1, 1]))
        group.case("nn.conv2d_transpose", f"nn.conv2d_transpose(%a, %b{attributes(**given)})", [a, w], rounded(result), w[:, 0].size)
    draw = Draw("conv1d")
    for shape, weight, given in [((1, 2, 6), (3, 2, 3), dict(padding=[1])), ((2, 4, 9), (4, 2, 2), dict(strides=[2], groups=2)),
                                 ((1, 1, 5), (1, 1, 2), dict(dilation=[3], padding=[1, 1]))]:
        a, w = draw.floats(shape), draw.floats(weight)
        result = F.conv1d(exact(a), exact(w), stride=given.get("strides", [1])[0], padding=given.get("padding", [0])[0],
                          dilation=given.get("dilation", [1])[0], groups=given.get("groups", 1))
        group.case("nn.conv1d", f"nn.conv1d(%a, %b{attributes(**given)})", [a, w], rounded(result), w[0].size)


def products(group):
    draw = Draw("batch_matmul")
    for b, m, k, n in [(1, 2, 3, 4), (3, 1, 5, 2), (2, 4, 1, 1), (2, 3, 17, 5), (0, 2, 2, 2)]:
        x, y = draw.floats((b, m, k)), draw.floats((b, k, n))
        result = rounded(torch.matmul(exact(x), exact(y)))
        for ta in (False, True):
            for tb in (False, True):
                one = np.ascontiguousarray(x.transpose(0, 2, 1)) if ta else x
                two = np.ascontiguousarray(y.transpose(0, 2, 1)) if tb else y
                group.case("nn.batch_matmul", f"nn.batch_matmul(%a, %b{attributes(transpose_a=ta, transpose_b=tb)})", [one, two], result, k)
    draw = Draw("matmul")
    for m, k, n in [(2, 3, 4), (1, 5, 2), (17, 4, 1)]:
        x, y = draw.floats((m, k)), draw.floats((k, n))
        for ta in (False, True):
            for tb in (False, True):
                one, two = np.ascontiguousarray(x.T) if ta else x, np.ascontiguousarray(y.T) if tb else y
                group.case("nn.matmul", f"nn.matmul(%a, %b{attributes(transpose_a=ta, transpose_b=tb)})", [one, two], rounded(torch.matmul(exact(x), exact(y))), k)


def pools(group):
    draw = Draw("avg_pool2d")
    for shape, given in [((1, 2, 5, 6), dict(pool_size=[2, 2])), ((1, 2, 6, 7), dict(pool_size=[3, 3], strides=[2, 2], padding=[1, 1])),
                         ((2, 1, 6, 7), dict(pool_size=[3, 2], strides=[2, 1], padding=[1, 1], count_include_pad=True)),
                         ((1, 1, 7, 7), dict(pool_size=[2, 2], strides=[2, 2], ceil_mode=True))]:
        a = draw.floats(shape)
        result = F.avg_pool2d(exact(a), given["pool_size"], given.get("strides", [1, 1]), given.get("padding", [0, 0])[:2],
                              given.get("ceil_mode", False), given.get("count_include_pad", False))
        group.case("nn.avg_pool2d", f"nn.avg_pool2d(%a{attributes(**given)})", [a], rounded(result), 9)
        group.case("nn.avg_pool2d", f"nn.avg_pool2d(%a{attributes(**given, layout='NHWC')})", [nhwc(a)], nhwc(rounded(result)), 9)
        if "ceil_mode" not in given and "count_include_pad" not in given:
            result = F.max_pool2d(exact(a), given["pool_size"], given.get("strides", [1, 1]), given.get("padding", [0, 0])[:2])
            group.case("nn.max_pool2d", f"nn.max_pool2d(%a{attributes(**given, layout='NHWC')})", [nhwc(a)], nhwc(rounded(result)))
    draw = Draw("global_pool")
    for shape in [(1, 2, 3, 4), (2, 3, 7, 7), (1, 1, 1, 1)]:
        a = draw.floats(shape)
        mean, largest = rounded(exact(a).mean((2, 3), keepdim=True)), rounded(exact(a).amax((2, 3), keepdim=True))
        group.case("nn.global_avg_pool2d", "nn.global_avg_pool2d(%a)", [a], mean, shape[2] * shape[3])
        group.case("nn.global_avg_pool2d", 'nn.global_avg_pool2d(%a, layout="NHWC")', [nhwc(a)], nhwc(mean), shape[2] * shape[3])
        group.case("nn.global_max_pool2d", "nn.global_max_pool2d(%a)", [a], largest)
        group.case("nn.global_max_pool2d", 'nn.global_max_pool2d(%a, layout="NHWC")', [nhwc(a)], nhwc(largest))
    draw = Draw("adaptive_pool")
    for shape, size in [((1, 2, 6, 6), [3, 2]), ((1, 2, 7, 5), [3, 3]), ((2, 1, 5, 9), [1, 1]), ((1, 1, 3, 4), [5, 4])]:
        a = draw.floats(shape)
        group.case("nn.adaptive_avg_pool2d", f"nn.adaptive_avg_pool2d(%a, output_size={text(size)})", [a], rounded(F.adaptive_avg_pool2d(exact(a), size)), 16)
        group.case("nn.adaptive_max_pool2d", f"nn.adaptive_max_pool2d(%a, output_size={text(size)})", [a], rounded(F.adaptive_max_pool2d(exact(a), size)))


def norms(group):
    draw = Draw("batch_norm")
    for shape, axis, given in [((2, 3, 4, 5), 1, {}), ((2, 4, 5, 3), 3, {}), ((4, 3), 1, dict(epsilon=0.001)), ((2, 3, 4), 1, dict(scale=False)),
                               ((2, 3, 4), 1, dict(center=False))]:
        c = shape[axis]
        a, g, b, m, v = draw.floats(shape), draw.floats((c,)), draw.floats((c,)), draw.floats((c,)), draw.floats((c,), 0.1, 3.0)
        moved = exact(a).movedim(axis, 1)
        result = F.batch_norm(moved, exact(m), exact(v), exact(g) if given.get("scale", True) else None, exact(b) if given.get("center", True) else None,
                              eps=given.get("epsilon", 1e-5)).movedim(1, axis).contiguous()
        more = attributes(**({"axis": axis} if axis != 1 else {}), **given)
        group.case("nn.batch_norm", f"nn.batch_norm(%a, %b, %c, %d, %e{more}).0", [a, g, b, m, v], rounded(result))
    draw = Draw("layer_norm")
    for shape in [(2, 5), (2, 3, 8), (4, 1, 17)]:
        a, g, b = draw.floats(shape), draw.floats(shape[-1:]), draw.floats(shape[-1:])
        group.case("nn.layer_norm", "nn.layer_norm(%a, %b, %c, epsilon=0.001)", [a, g, b], rounded(F.layer_norm(exact(a), shape[-1:], exact(g), exact(b), 1e-3)), 17)
    draw = Draw("instance_norm")
    for shape in [(2, 3, 4, 5), (1, 2, 9)]:
        a, g, b = draw.floats(shape), draw.floats(shape[1:2]), draw.floats(shape[1:2])
        group.case("nn.instance_norm", "nn.instance_norm(%a, %b, %c)", [a, g, b], rounded(F.instance_norm(exact(a), weight=exact(g), bias=exact(b))), 20)
    draw = Draw("l2_normalize")
    for shape, axis in [((2, 5), [1]), ((2, 3, 4), [1, 2]), ((17,), [0])]:
        a = draw.floats(shape)
        group.case("nn.l2_normalize", f"nn.l2_normalize(%a, eps=1e-10{attributes(axis=axis)})", [a], rounded(exact(a) / exact(a).pow(2).sum(axis, keepdim=True).sqrt()), 17)
    draw = Draw("lrn")
    for shape, given in [((1, 7, 2, 3), {}), ((2, 3, 2, 2), dict(size=3, alpha=0.5, beta=0.6, bias=1.0))]:
        a = draw.floats(shape)
        result = F.local_response_norm(exact(a), given.get("size", 5), given.get("alpha", 1e-5), given.get("beta", 0.75), given.get("bias", 2.0))
        group.case("nn.lrn", f"nn.lrn(%a{attributes(**given)})", [a], rounded(result), 5)
    draw = Draw("variance")
    for shape, axis, unbiased in [((3, 5), [1], False), ((2, 3, 4), [0, 2], True), ((17,), [0], False)]:
        a = draw.floats(shape)
        m = rounded(exact(a).mean(axis, keepdim=True))
        given = attributes(axis=axis) + (attributes(unbiased=True) if unbiased else "")
        result = ((exact(a) - exact(m)) ** 2).sum(axis) / (np.prod([shape[k] for k in axis]) - unbiased)
        group.case("variance", f"variance(%a, %b{given})", [a, m], rounded(result), 17)


def others(group):
    draw = Draw("pad")
    for shape, width in [((2, 3), [[0, 1], [2, 0]]), ((1, 2, 3, 4), [[0, 0], [0, 0], [1, 2], [2, 1]]), ((4,), [[3, 3]]), ((), [])]:
        a = draw.floats(shape)
        flat = [n for pair in reversed(width) for n in pair]
        group.case("nn.pad", f"nn.pad(%a, 1.5, pad_width={text(width)})", [a], rounded(F.pad(exact(a), flat, value=1.5)) if width else a)
        for mode in ("edge", "reflect"):
            if mode == "edge" or all(max(p) < s for p, s in zip(width, shape)):
                group.case("nn.pad", f'nn.pad(%a, 0f, pad_width={text(width)}, pad_mode="{mode}")', [a], np.pad(a, width, mode) if width else a)
    draw = Draw("prelu")
    for shape, axis in [((2, 3, 4), 1), ((2, 3), -1), ((5,), 0)]:
        a, w = draw.floats(shape), draw.floats((shape[axis],))
        along = [-1 if k == axis % len(shape) else 1 for k in range(len(shape))]
        group.case("nn.prelu", f"nn.prelu(%a, %b, axis={axis})", [a, w], np.where(a > 0, a, w.reshape(along) * a))
    a = Draw("dropout").floats((3, 5))
    group.case("nn.dropout", "nn.dropout(%a, rate=0.3).0", [a], a)
    draw = Draw("upsampling")
    for shape, h, w in [((1, 2, 2, 3), 2, 2), ((2, 1, 3, 1), 1, 3)]:
        a = draw.floats(shape)
        result = rounded(F.interpolate(exact(a), scale_factor=(h, w), mode="nearest"))
        group.case("nn.upsampling", f"nn.upsampling(%a, scale_h={h}f, scale_w={w}f)", [a], result)
        group.case("nn.upsampling", f'nn.upsampling(%a, scale_h={h}, scale_w={w}, layout="NHWC")', [nhwc(a)], nhwc(result))
    draw = Draw("space_to_depth")
    for shape, block in [((1, 2, 4, 6), 2), ((2, 1, 3, 3), 3)]:
        n, c, h, w = shape
        a = draw.floats(shape)
        parts = a.reshape(n, c, h // block, block, w // block, block).transpose(0, 3, 5, 1, 2, 4)
        deep = np.ascontiguousarray(parts.reshape(n, c * block * block, h // block, w // block))
        group.case("nn.space_to_depth", f"nn.space_to_depth(%a, block_size={block})", [a], deep)
        group.case("nn.depth_to_space", f"nn.depth_to_space(%a, block_size={block})", [deep], a)


def indexing(group):
    draw = Draw("indexing")
    for shape in [(2, 3), (4,), (2, 0, 3)]:
        a = draw.floats(shape)
        group.case("full_like", "full_like(%a, 2.5)", [a], np.full(shape, 2.5, "float32"))
        group.case("copy", "copy(%a)", [a], a)
        group.case("cast_like", "cast_like(%a, 1)", [a], np.trunc(a).astype("int32"))
        group.case("repeat", "repeat(%a, repeats=3, axis=-1)", [a], np.repeat(a, 3, -1))
        group.case("reverse", "reverse(%a, axis=0)", [a], np.ascontiguousarray(a[::-1]))
        for reps in ([2], [2, 3], [2, 1, 3]):
            group.case("tile", f"tile(%a, reps={text(reps)})", [a], np.tile(a, reps))
        b = draw.floats(shape)
        for axis in range(-1, len(shape) + 1):
            group.case("stack", f"stack((%a, %b, %a), axis={axis})", [a, b], np.stack([a, b, a], axis))
    for start, stop, step in [(0, 5, 1), (2, 11, 3), (-4, 4, 2), (3, 3, 1)]:
        group.case("arange", f'arange({start}, {stop}, {step}, dtype="int32")', [], np.arange(start, stop, step, dtype="int32"))
        group.case("arange", f"arange({start}, {stop}, step={step})", [], np.arange(start, stop, step).astype("float32"))
    for shape, to in [((3,), (2, 3)), ((2, 1), (2, 4)), ((), (3,)), ((1, 1, 2), (3, 2, 2))]:
        a = draw.floats(shape)
        group.case("broadcast_to", f"broadcast_to(%a, shape={text(list(to))})", [a], np.ascontiguousarray(np.broadcast_to(a, to)))
    for shape, picked in [((4, 5), (2, 3)), ((4, 5, 2), (2, 3)), ((6,), (1, 2)), ((3, 4, 2), (1, 2, 2))]:
        a = draw.floats(shape)
        i = np.stack([draw.ints(picked[1:], 0, shape[k] - 1) for k in range(picked[0])])
        group.case("gather_nd", f"gather_nd(%a, %b, index_rank={picked[0]})", [a, i], np.ascontiguousarray(a[tuple(i)]))
    for shape, axis, count in [((3, 4), 1, 2), ((3, 4), 0, 5), ((2, 3, 2), -1, 3)]:
        a = draw.floats(shape)
        r = list(shape)
        r[axis] = count
        i = draw.ints(r, 0, shape[axis] - 1, "int64")
        group.case("gather", f"gather(%a, %b, axis={axis})", [a, i], np.take_along_axis(a, i, axis % len(shape)))
    for shape, axis in [((3,), -1), ((2, 3), 1), ((), 0)]:
        i = draw.ints(shape, 0, 3)
        hot = np.where(np.expand_dims(i, axis) == np.arange(4).reshape([4 if k == axis % (len(shape) + 1) else 1 for k in range(len(shape) + 1)]), 2.0, -1.0)
        group.case("one_hot", f"one_hot(%a, 2.0, -1.0, depth=4, axis={axis})", [i], hot.astype("float32"))
    a = np.array([np.nan, np.inf, -np.inf, 0.0, 1.5, -2.0], "float32")
    for name, function in {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}.items():
        group.case(name, f"{name}(%a)", [a], function(a))
    for shape in [(), (5,), (3, 4)]:
        a = draw.floats(shape, 0.1, 4.0)
        for name, function in {"log2": torch.log2, "log10": torch.log10}.items():
            group.case(name, f"{name}(%a)", [a], rounded(function(exact(a))))
        a = draw.floats(shape, -1.2, 1.2)
        group.case("tan", "tan(%a)", [a], rounded(torch.tan(exact(a))), 4)
    a, b = draw.ints((3, 5), -100, 100), draw.ints((5,), -100, 100)
    for name, function in {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}.items():
        group.case(name, f"{name}(%a, %b)", [a, b], function(a, b))
    a = draw.floats((2, 1, 3, 1))
    group.case("squeeze", "squeeze(%a)", [a], np.squeeze(a))


MAKERS = [convolutions, products, pools, norms, others, indexing]
