"""References of quantised arithmetic (stdlib/qnn.relay, stdlib/qnn_products.relay): Relay's formulas in exact integers, or in the
floating-point dtype that they name."""

import math
from fractions import Fraction

import numpy as np
import torch
import torch.nn.functional as F

from reference_groups import Draw, attributes


def bounds(dtype):
    info = np.iinfo(dtype)
    return info.min, info.max


def saturated(x, dtype):
    low, high = bounds(dtype)
    return np.array([min(max(int(v), low), high) for v in np.asarray(x).reshape(-1)], dtype).reshape(np.shape(x))


def half_away(x):
    return np.where(x < 0, -np.floor(0.5 - x), np.floor(x + 0.5))


FLOAT_ROUNDINGS = {"TONEAREST": half_away, "TOEVEN": np.rint, "UPWARD": lambda x: np.floor(x + x.dtype.type(0.5))}


def exact_rounding(x, rounding):
    """A Fraction as an integer."""
    if rounding == "TOEVEN":
        return round(x)
    if rounding == "TONEAREST" and x < 0:
        return -math.floor(-x + Fraction(1, 2))
    return math.floor(x + Fraction(1, 2))


def along(parameter, shape, axis):
    """A scale or zero point in the shape in which it broadcasts against data."""
    parameter = np.asarray(parameter)
    if parameter.size == 1:
        return parameter.reshape(())
    axes = [1] * len(shape)
    axes[axis] = -1
    return parameter.reshape(axes)


def quantized(x, scale, zero, dtype, rounding="TONEAREST", axis=-1):
    x = np.asarray(x)
    q = FLOAT_ROUNDINGS[rounding](x / along(scale, x.shape, axis).astype(x.dtype))
    q = q + along(zero, x.shape, axis).astype(x.dtype)
    low, high = bounds(dtype)
    return saturated(np.clip(q.astype("float64"), low, high), dtype)


def dequantized(q, scale, zero, axis=-1):
    q = np.asarray(q)
    return ((q.astype("int64") - along(zero, q.shape, axis).astype("int64")).astype("float32")
            * along(scale, q.shape, axis).astype("float32"))


def fixed_point(factor):
    """The 31 bits of a factor, and the exponent of two that goes with them."""
    if factor == 0:
        return 0, -31
    fraction, exponent = math.frexp(factor)
    exponent = max(exponent, -31)
    multiplier = int(math.floor(factor * 2.0 ** (31 - exponent) + 0.5))
    return (2 ** 30, exponent + 1) if multiplier == 2 ** 31 else (multiplier, exponent)


def scaled(x, factor, rounding="UPWARD"):
    multiplier, shift = fixed_point(float(factor))
    return exact_rounding(int(x) * multiplier * Fraction(2) ** (shift - 31), rounding)


def requantized(x, scale, zero, out_scale, out_zero, dtype="int8", axis=-1, rounding="UPWARD", compute="int64"):
    x = np.asarray(x)
    factors = np.broadcast_to(along(np.asarray(scale, "float32").astype("float64") / float(np.float32(out_scale)), x.shape, axis), x.shape)
    distance = x.astype("int64") - along(zero, x.shape, axis).astype("int64")
    if compute == "int64":
        flat = [scaled(d, f, rounding) + int(out_zero) for d, f in zip(distance.reshape(-1), factors.reshape(-1))]
        return saturated(np.array(flat, object).reshape(x.shape), dtype)
    y, zero = distance.astype(compute) * factors.astype(compute), np.dtype(compute).type(out_zero)
    y = np.rint(y) + zero if rounding == "TOEVEN" else FLOAT_ROUNDINGS[rounding](y + zero)
    return saturated(y, dtype)


BYTES = ("int8", "uint8")


def drawn(draw, shape, dtype):
    return draw.ints(shape, *(bounds(dtype) if dtype in BYTES else (-30000, 30000)), dtype)


# Shapes, an axis, and whether scales and zero points are along it.
PLACES = [((), -1, False), ((17,), -1, True), ((3, 5), 1, True), ((2, 3, 4), 1, True), ((2, 3, 4), -3, True), ((4, 5), 0, False),
          ((0, 3), -1, True)]


def parameters(draw, shape, axis, each, least=0.01, most=0.2, low=-5, high=20):
    extent = (shape[axis],) if each else ()
    return draw.floats(extent, least, most), draw.ints(extent, low, high)


def conversions(group):
    for shape, axis, each in PLACES:
        draw = Draw(f"quantize {shape}")
        scale, zero = parameters(draw, shape, axis, each)
        x = draw.floats(shape)
        for dtype in ("int8", "uint8", "int32"):
            for rounding in FLOAT_ROUNDINGS:
                group.case("qnn.quantize", f"qnn.quantize(%a, %b, %c{attributes(axis=axis, out_dtype=dtype, rounding=rounding)})",
                           [x, scale, zero], quantized(x, scale, zero, dtype, rounding, axis))
        for dtype in ("int8", "uint8", "int32"):
            q = drawn(draw, shape, dtype)
            group.case("qnn.dequantize", f"qnn.dequantize(%a, %b, %c{attributes(axis=axis)})", [q, scale, zero],
                       dequantized(q, scale, zero, axis))
        for code, dtype in ((1, "int8"), (2, "uint8"), (3, "int32")):
            q = quantized(x, scale, zero, dtype, axis=axis)
            group.case("qnn.simulated_quantize", f"qnn.simulated_quantize(%a, {code}, %b, %c{attributes(axis=axis)})",
                       [x, scale, zero], q.astype("float32"))
            group.case("qnn.simulated_dequantize", f"qnn.simulated_dequantize(%a, {code}, %b, %c{attributes(axis=axis)})",
                       [q.astype("float32"), scale, zero], dequantized(q, scale, zero, axis))
        for operator in ("quantize", "dequantize"):
            group.case(f"qnn.simulated_{operator}", f"qnn.simulated_{operator}(%a, 0, %b, %c{attributes(axis=axis)})", [x, scale, zero], x)
    ties = np.array([-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 127.5, 300.0, -300.0, 1e30, np.inf, -np.inf], "float32") * np.float32(0.25)
    for rounding in FLOAT_ROUNDINGS:
        for zero in (0, 3):
            group.case("qnn.quantize", f"qnn.quantize(%a, 0.25, {zero}{attributes(rounding=rounding)})", [ties],
                       quantized(ties, np.float32(0.25), zero, "int8", rounding))
            wide = ties.astype("float64")
            group.case("qnn.quantize", f"qnn.quantize(%a, 0.25, {zero}{attributes(rounding=rounding)})", [wide],
                       quantized(wide, np.float32(0.25), zero, "int8", rounding))


def dynamic(group):
    for shape, low, high in [((5,), -1.0, 2.0), ((3, 4), 0.5, 2.0), ((2, 3), -3.0, -1.0), ((17,), -100.0, 1.0), ((4,), 0.0, 0.0)]:
        x = Draw(f"dynamic {shape}").floats(shape, low, high)
        least, most = min(x.min(), np.float32(0)), max(x.max(), np.float32(0))
        scale = np.float32(1) if most == least else (most - least) / np.float32(255)
        zero = quantized(-least, scale, 0, "uint8", "TOEVEN")
        for part, wanted in enumerate([quantized(x, scale, zero, "uint8", "TOEVEN"), np.array(scale), np.array(zero)]):
            group.case("qnn.dynamic_quantize", f"qnn.dynamic_quantize(%a).{part}", [x], wanted)


def fixed_points(group):
    draw = Draw("fixed point")
    factors = np.concatenate([draw.floats((20,), 1e-4, 2.0), [1.0, 0.5, 2.0, 0.0, 2.0 ** -31, 2.0 ** 30, 1e-12, 1 - 2.0 ** -40]])
    for dtype in ("float32", "float64"):
        given = factors.astype(dtype)
        pairs = np.array([fixed_point(float(f)) for f in given], "int32")
        for part in (0, 1):
            group.case("qnn.fixed_point", f"qnn.fixed_point(%a).{part}", [given], pairs[:, part])
    for shape in [(), (13,), (2, 5)]:
        x = draw.ints(shape, -10000, 10000)
        for multiplier, shift in [(2 ** 30, 1), (2 ** 30, 0), (1388638022, -3), (1073741825, 7), (2 ** 31 - 1, -31), (5, 31), (2 ** 30, -12)]:
            wanted = np.array([exact_rounding(int(v) * multiplier * Fraction(2) ** (shift - 31), "UPWARD") for v in x.reshape(-1)])
            group.case("fixed_point_multiply", f"fixed_point_multiply(%a{attributes(multiplier=multiplier, shift=shift)})", [x],
                       wanted.astype("int64").astype("int32").reshape(shape))
    for shape, axes, left in [((3, 4), [1], True), ((3, 4), [0], False), ((2, 3, 2), [0, 2], True), ((5,), [], True)]:
        extents = tuple(shape[k] for k in axes)
        x, y = draw.ints(shape, -10000, 10000), draw.ints(extents, 2 ** 30, 2 ** 31 - 1)
        lefts, rights = draw.ints(extents, 0, 3), draw.ints(extents, 0, 9)
        wanted = np.zeros(shape, "int32")
        for i in np.ndindex(*shape):
            at = tuple(i[k] for k in axes)
            shift = (int(lefts[at]) if left else 0) - int(rights[at]) - 31
            wanted[i] = exact_rounding(int(x[i]) * int(y[at]) * Fraction(2) ** shift, "UPWARD")
        given = attributes(is_lshift_required=left)
        group.case("fixed_point_multiply_per_axis", f"fixed_point_multiply_per_axis(%a, %b, %c, %d{given}, is_rshift_required=True{attributes(axes=axes)})",
                   [x, y, lefts, rights], wanted)


def requantizing(group):
    for shape, axis, each in PLACES:
        draw = Draw(f"requantize {shape}")
        scale, zero = parameters(draw, shape, axis, each)
        for source in ("int8", "uint8", "int32"):
            x = drawn(draw, shape, source)
            for rounding in ("UPWARD", "TONEAREST", "TOEVEN"):
                for compute in ("int64", "float32", "float64"):
                    out_scale, out_zero, target = (37.5, 3, "uint8") if source == "int32" else (0.15, -4, "int8")
                    given = attributes(axis=axis, rounding=rounding, compute_dtype=compute, out_dtype=target)
                    group.case("qnn.requantize", f"qnn.requantize(%a, %b, %c, {out_scale}, {out_zero}{given})", [x, scale, zero],
                               requantized(x, scale, zero, out_scale, out_zero, target, axis, rounding, compute))
    ties = np.arange(-9, 10, dtype="int32")
    for rounding in ("UPWARD", "TONEAREST", "TOEVEN"):
        for compute in ("int64", "float32", "float64"):
            for zero in (0, 1):
                given = attributes(rounding=rounding, compute_dtype=compute)
                group.case("qnn.requantize", f"qnn.requantize(%a, 0.5, 0, 1.0, {zero}{given})", [ties],
                           requantized(ties, 0.5, 0, 1.0, zero, rounding=rounding, compute=compute))
    large = np.array([2 ** 31 - 1, -2 ** 31, 2 ** 30, -2 ** 30, 12345678], "int32")
    for factor in (0.75, 1.0, 1.5, 1e-9, 1e-12, 100.0):
        group.case("qnn.requantize", f'qnn.requantize(%a, {factor!r}, 0, 1.0, 0, out_dtype="int32")', [large],
                   requantized(large, factor, 0, 1.0, 0, "int32"))


def binary(group):
    for s, d, ls, rs in [((3, 4), (3, 4), None, None), ((2, 3, 4), (4,), None, None), ((2, 3, 4), (3, 1), 1, -2), ((3, 1), (1, 4), -2, None), ((), (5,), None, None)]:
        for dtype in BYTES:
            draw = Draw(f"binary {s} {d} {dtype}")
            x, y = drawn(draw, s, dtype), drawn(draw, d, dtype)
            a, za = parameters(draw, s, ls or 0, ls is not None)
            b, zb = parameters(draw, d, rs or 0, rs is not None)
            given = (attributes(lhs_axis=ls) if ls is not None else "") + (attributes(rhs_axis=rs) if rs is not None else "")
            left, right = ls if ls is not None else -1, rs if rs is not None else -1
            u, v = requantized(x, a, za, 0.15, 0, "int32", left), requantized(y, b, zb, 0.15, 0, "int32", right)
            for name, wanted in (("add", u + v), ("subtract", u - v)):
                group.case(f"qnn.{name}", f"qnn.{name}(%a, %b, %c, %d, %e, %f, 0.15, 7{given})", [x, y, a, za, b, zb],
                           saturated(wanted + 7, dtype))
            products = (x.astype("int32") - along(za, s, left)) * (y.astype("int32") - along(zb, d, right))
            rank = products.ndim
            scales = a * b
            axis = left % len(s) + rank - len(s) if ls is not None else right % len(d) + rank - len(d)
            group.case("qnn.mul", f"qnn.mul(%a, %b, %c, %d, %e, %f, 2.5, 7{given})", [x, y, a, za, b, zb],
                       requantized(products, scales, 0, 2.5, 7, dtype, axis))


def joined(group):
    for shapes, axis in [([(3,), (2,)], 0), ([(2, 3), (2, 1), (2, 4)], -1), ([(2, 3)], 0)]:
        draw = Draw(f"concatenate {shapes}")
        parts = [drawn(draw, s, "uint8") for s in shapes]
        scales, zeros = [0.5, 0.25, 0.125][:len(shapes)], [3, 0, 200][:len(shapes)]
        comma = "," if len(shapes) == 1 else ""
        names = [", ".join(items) + comma for items in (["%" + n for n, _ in zip("abc", shapes)], map(repr, scales), map(repr, zeros))]
        wanted = np.concatenate([requantized(x, a, z, 0.3, 9, "uint8") for x, a, z in zip(parts, scales, zeros)], axis)
        group.case("qnn.concatenate", f"qnn.concatenate(({names[0]}), ({names[1]}), ({names[2]}), 0.3, 9{attributes(axis=axis)})", parts, wanted)


def unary(group):
    table = {"tanh": np.tanh, "exp": np.exp, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x), "log": np.log, "abs": np.abs,
             "erf": lambda x: torch.erf(torch.from_numpy(x)).numpy(), "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
             "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6}
    for name, function in table.items():
        for dtype, zero in (("uint8", 100), ("int8", -20)):
            x = np.arange(*bounds(dtype)).astype(dtype)
            if name in ("sqrt", "rsqrt", "log"):
                x = x[x.astype(int) > zero]
            scale, out_scale, out_zero = np.float32(0.03), np.float32(0.011), 30
            y = function(dequantized(x, scale, zero).astype("float64")) / float(out_scale)
            x, y = x[abs(y - np.floor(y) - 0.5) > 1e-3], y[abs(y - np.floor(y) - 0.5) > 1e-3]  # no neighbour is as near
            group.case(f"qnn.{name}", f"qnn.{name}(%a, 0.03, {zero}, 0.011, {out_zero})", [x], saturated(np.rint(y) + out_zero, dtype))
    for dtype, zero in (("uint8", 100), ("int8", -20)):
        x = np.arange(*bounds(dtype)).astype(dtype)
        for alpha in (0.25, 0.01, 0.9):
            q = requantized(x, 0.03, zero, 0.05, 40, "int32")
            low = [scaled(v, alpha) + scaled(40, 1.0 - alpha) if v < 40 else v for v in q]
            group.case("qnn.leaky_relu", f"qnn.leaky_relu(%a, 0.03, {zero}, 0.05, 40, alpha={alpha})", [x], saturated(low, dtype))


def shiftmax(x, scale, zero, out_scale, out_zero, axis):
    """Li and Gu, I-ViT (2022), algorithm 1, as Relay has it."""
    q = x.astype("int64") - zero
    one = int(max(half_away(np.float32(1) / np.float32(scale)), 1))
    q = q - q.max(axis, keepdims=True)
    power = q + (q >> 1) - (q >> 4)
    whole = power // -one
    exps = np.floor((((power + whole * one) >> 1) + one) * 2.0 ** (8 - whole)).astype("int64")
    share = (2 ** 30 // exps.sum(axis, keepdims=True) * exps) >> 23
    return requantized(share, 2.0 ** -7, 0, out_scale, out_zero, x.dtype, 0)


def softmaxes(group):
    for shape, axis in [((3, 5), -1), ((3, 5), 0), ((2, 3, 4), 1), ((17,), 0)]:
        for dtype in BYTES:
            for scale in (0.02, 0.1, 3.0):
                x = drawn(Draw(f"softmax {shape} {dtype}"), shape, dtype)
                group.case("qnn.softmax", f"qnn.softmax(%a, {scale}, 3, 0.0078125, -10{attributes(axis=axis)})", [x],
                           shiftmax(x, scale, 3, 0.0078125, -10, axis))


def pools(group):
    for shape, pool, strides, padding, ceil, count in [((1, 2, 5, 6), (2, 2), (2, 2), (0, 0), False, False), ((2, 1, 5, 4), (3, 2), (1, 2), (1, 1), False, True),
                                                       ((2, 1, 5, 4), (3, 2), (1, 2), (1, 1), False, False), ((1, 1, 5, 5), (2, 2), (2, 2), (0, 0), True, False)]:
        for layout in ("NCHW", "NHWC"):
            draw = Draw(f"pool {shape} {pool}")
            x = drawn(draw, shape, "int8")
            q = requantized(x, 0.1, -3, 0.13, 5, "int32").astype("float64")
            total = F.avg_pool2d(torch.from_numpy(q - 5), pool, strides, padding, ceil, True, divisor_override=1).numpy()
            counted = F.avg_pool2d(torch.ones(shape, dtype=torch.float64), pool, strides, padding, ceil, True, divisor_override=1).numpy()
            counted = np.full_like(counted, np.prod(pool)) if count else counted
            wanted = saturated(np.trunc((np.rint(total) + 5 * counted) / counted), "int8")
            turned = (lambda t: np.ascontiguousarray(t.transpose(0, 2, 3, 1))) if layout == "NHWC" else (lambda t: t)
            given = attributes(pool_size=list(pool), strides=list(strides), padding=list(padding), dilation=[1, 1], ceil_mode=ceil, count_include_pad=count, layout=layout)
            group.case("qnn.avg_pool2d", f"qnn.avg_pool2d(%a, 0.1, -3, 0.13, 5{given})", [turned(x)], turned(wanted))


def kernel_zeros(draw, filters, each):
    return draw.ints((filters,) if each else (), -9, 9)


def products(group):
    for b, k, o, each in [((4,), 7, 3, False), ((4,), 8, 5, True), ((2, 3), 4, 2, False), ((1,), 65, 17, True)]:
        for s, t in [("uint8", "int8"), ("int8", "int8"), ("uint8", "uint8")]:
            draw = Draw(f"dense {b} {k} {s} {t}")
            x, w, z = drawn(draw, b + (k,), s), drawn(draw, (o, k), t), kernel_zeros(draw, o, each)
            wanted = (x.astype("int64") - 5) @ (w.astype("int64") - z.reshape(-1, 1)).T
            for zero, kernel, value in (("5", "%c", wanted), ("0", "0", x.astype("int64") @ w.astype("int64").T)):
                group.case("qnn.dense", f"qnn.dense(%a, %b, {zero}, {kernel}, 0.5, 0.25)", [x, w, z] if kernel == "%c" else [x, w], value.astype("int32"))
            if len(b) == 2:
                y = drawn(draw, (b[0], o, k), t)
                wanted = ((x.astype("int64") - 5) @ (y.astype("int64") + 3).transpose(0, 2, 1)).astype("int32")
                group.case("qnn.batch_matmul", "qnn.batch_matmul(%a, %b, 5, -3, 0.5, 0.25)", [x, y], wanted)
                turned = np.ascontiguousarray(y.transpose(0, 2, 1))
                group.case("qnn.batch_matmul", "qnn.batch_matmul(%a, %b, 5, -3, 0.5, 0.25, transpose_b=False)", [x, turned], wanted)


LAYOUTS = {"NCHW": (0, 1, 2, 3), "NHWC": (0, 2, 3, 1), "OIHW": (0, 1, 2, 3), "HWIO": (2, 3, 1, 0), "HWOI": (2, 3, 0, 1), "OHWI": (0, 2, 3, 1)}


def convolutions(group):
    for shape, filters, window, groups, more, each in [
            ((1, 3, 5, 5), 4, (3, 3), 1, {}, False), ((2, 4, 5, 6), 5, (3, 2), 1, dict(strides=[2, 1], padding=[1, 2]), True),
            ((1, 4, 6, 6), 4, (3, 3), 4, dict(padding=[1, 1]), True), ((1, 8, 4, 5), 3, (1, 1), 1, dict(kernel_size=[1, 1], padding=[1, 0, 0, 1]), False),
            ((1, 4, 7, 7), 6, (2, 2), 2, dict(dilation=[2, 2], strides=[2, 2]), False), ((1, 5, 6, 5), 17, (2, 3), 1, dict(dilation=[1, 2], padding=[0, 1, 2, 1]), True)]:
        for s, t in [("uint8", "int8"), ("int8", "int8"), ("int8", "uint8")]:
            for layout, kernel in (("NCHW", "OIHW"), ("NHWC", "HWIO"), ("NHWC", "OHWI")):
                draw = Draw(f"conv2d {shape} {window} {s} {t}")
                x, w = drawn(draw, shape, s), drawn(draw, (filters, shape[1] // groups) + window, t)
                z, zero = kernel_zeros(draw, filters, each), draw.ints((), 0, 20)
                exact = lambda a: torch.from_numpy(np.asarray(a, "float64"))
                top, left, bottom, right = (list(more.get("padding", [0, 0])) * 2)[:4]
                wanted = F.conv2d(F.pad(exact(x) - float(zero), (left, right, top, bottom)), exact(w) - exact(z).reshape(-1, 1, 1, 1),
                                  None, more.get("strides", 1), 0, more.get("dilation", 1), groups).numpy().astype("int32")
                turned = lambda a, l: np.ascontiguousarray(a.transpose(LAYOUTS[l]))
                given = attributes(**more, **(dict(groups=groups) if groups > 1 else {}), data_layout=layout, kernel_layout=kernel)
                group.case("qnn.conv2d", f"qnn.conv2d(%a, %b, %c, %d, 0.5, 0.25{given})", [turned(x, layout), turned(w, kernel), zero, z], turned(wanted, layout))
    for shape, filters, window, groups, more in [((1, 2, 3, 4), 3, (3, 3), 1, {}), ((2, 4, 3, 3), 2, (2, 3), 2, dict(strides=[2, 2], padding=[1, 0])),
                                                 ((1, 3, 3, 3), 2, (2, 2), 1, dict(strides=[2, 3], output_padding=[1, 2]))]:
        draw = Draw(f"transpose {shape} {window}")
        x, w = drawn(draw, shape, "uint8"), drawn(draw, (shape[1], filters) + window, "int8")
        wanted = F.conv_transpose2d(torch.from_numpy(x.astype("float64") - 9), torch.from_numpy(w.astype("float64") + 2), None, more.get("strides", 1),
                                    more.get("padding", 0), more.get("output_padding", 0), groups).numpy().astype("int32")
        given = attributes(**more, **(dict(groups=groups) if groups > 1 else {}))
        group.case("qnn.conv2d_transpose", f"qnn.conv2d_transpose(%a, %b, 9, -2, 0.5, 0.25{given})", [x, w], wanted)


MAKERS = [conversions, dynamic, fixed_points, requantizing, binary, joined, unary, softmaxes, pools, products, convolutions]
