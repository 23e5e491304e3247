"""The references of operators on images and volumes: convolutions and pools in three dimensions, shuffles of channels and
pixels, and image.resize2d, whose positions are those of TVM's `topi/image/resize.py` in float64."""

import numpy as np
import torch
import torch.nn.functional as F

from reference_groups import Draw, attributes, exact, rounded


def channels_last(a):
    return np.ascontiguousarray(np.moveaxis(a, 1, -1))


def padded(tensor, padding, value=0.0):
    """`padding` of 1, 3 or 6 entries: front, top, left, back, bottom, right."""
    front, top, left, back, bottom, right = {1: padding * 6, 3: padding * 2, 6: padding}[len(padding)]
    return F.pad(tensor, (left, right, top, bottom, front, back), value=value)


def triple(v):
    return v if len(v) == 3 else v * 3


TRANSPOSED = [("nn.conv1d_transpose", (1, 2, 4), (2, 3, 3), dict(strides=[2], padding=[1], output_padding=[1])),
              ("nn.conv1d_transpose", (2, 4, 3), (4, 1, 2), dict(groups=2, dilation=[2], strides=[3])),
              ("nn.conv3d_transpose", (1, 2, 2, 3, 2), (2, 2, 2, 2, 3), dict(strides=[2, 1, 2], padding=[1, 0, 1], output_padding=[1, 0, 1])),
              ("nn.conv3d_transpose", (1, 2, 2, 2, 3), (2, 1, 3, 2, 2), dict(groups=2, channels=2, dilation=[1, 2, 1], strides=[1, 1, 2]))]


def transposed(x, w, given):
    function = F.conv_transpose1d if x.ndim == 3 else F.conv_transpose3d
    return function(x, w, None, given.get("strides", 1), given.get("padding", 0), given.get("output_padding", 0),
                    given.get("groups", 1), given.get("dilation", 1))


def volumes(group):
    draw = Draw("conv3d")
    for shape, filters, kernel, given in [
            ((1, 1, 3, 4, 3), 1, (2, 2, 2), {}), ((2, 2, 3, 4, 5), 3, (2, 3, 1), dict(padding=[1])),
            ((1, 2, 4, 3, 4), 2, (3, 2, 2), dict(padding=[1, 0, 2], strides=[2, 1, 2])),
            ((1, 2, 3, 3, 4), 2, (2, 2, 3), dict(padding=[0, 1, 1, 2, 0, 1], strides=[1, 2, 1])),
            ((1, 4, 3, 3, 3), 6, (2, 2, 2), dict(groups=2, channels=6, kernel_size=[2, 2, 2])),
            ((1, 3, 4, 5, 4), 3, (2, 2, 2), dict(groups=3, dilation=[2, 3, 1])), ((0, 2, 3, 3, 3), 2, (2, 2, 2), {})]:
        a, w = draw.floats(shape), draw.floats((filters, shape[1] // given.get("groups", 1)) + kernel)
        data = padded(exact(a), given.get("padding", [0]))
        result = rounded(F.conv3d(data, exact(w), stride=given.get("strides", [1, 1, 1]), dilation=given.get("dilation", [1, 1, 1]),
                              groups=given.get("groups", 1)))
        group.case("nn.conv3d", f"nn.conv3d(%a, %b{attributes(**given)})", [a, w], result, w[0].size)
        for layout, order in (("DHWIO", (2, 3, 4, 1, 0)), ("ODHWI", (0, 2, 3, 4, 1)), ("DHWOI", (2, 3, 4, 0, 1))):
            more = attributes(**given, data_layout="NDHWC", kernel_layout=layout)
            group.case("nn.conv3d", f"nn.conv3d(%a, %b{more})", [channels_last(a), np.ascontiguousarray(w.transpose(order))],
                       channels_last(result), w[0].size)
    a, w = draw.ints((1, 2, 3, 3, 3), -100, 100, "int8"), draw.ints((2, 2, 2, 2, 2), -100, 100, "int8")
    group.case("nn.conv3d", 'nn.conv3d(%a, %b, out_dtype="int32")', [a, w], rounded(F.conv3d(exact(a).double(), exact(w).double()), "int32"), 16)
    draw = Draw("transposed")
    for name, shape, weight, given in TRANSPOSED:
        a, w = draw.floats(shape), draw.floats(weight)
        group.case(name, f"{name}(%a, %b{attributes(**given)})", [a, w], rounded(transposed(exact(a), exact(w), given)), w[:, 0].size)
    draw = Draw("pool3d")
    for shape, given in [((1, 2, 4, 4, 4), dict(pool_size=[2, 2, 2], strides=[2, 2, 2])), ((2, 1, 3, 5, 4), dict(pool_size=[2, 3, 1])),
                         ((1, 2, 4, 5, 3), dict(pool_size=[3, 3, 2], strides=[2, 1, 2], padding=[1, 1, 1])),
                         ((1, 1, 5, 4, 5), dict(pool_size=[2], strides=[2], ceil_mode=True)),
                         ((1, 1, 3, 5, 4), dict(pool_size=[2, 2, 2], strides=[2, 2, 1], padding=[0, 1, 0], count_include_pad=True))]:
        a = draw.floats(shape)
        size, strides, pad = (triple(given.get(key, default)) for key, default in (("pool_size", [1]), ("strides", [1]), ("padding", [0])))
        mean = rounded(F.avg_pool3d(exact(a), size, strides, pad, given.get("ceil_mode", False), given.get("count_include_pad", False)))
        more = {key: value for key, value in given.items() if key != "count_include_pad"}
        largest = rounded(F.max_pool3d(exact(a), size, strides, pad, ceil_mode=given.get("ceil_mode", False)))
        for name, result, attrs in (("nn.avg_pool3d", mean, given), ("nn.max_pool3d", largest, more)):
            group.case(name, f"{name}(%a{attributes(**attrs)})", [a], result, 18)
            group.case(name, f"{name}(%a{attributes(**attrs, layout='NDHWC')})", [channels_last(a)], channels_last(result), 18)


def shuffles(group):
    draw = Draw("channel_shuffle")
    for shape, groups in [((1, 6, 2, 3), 2), ((2, 6, 1, 2), 3), ((1, 4, 2), 4), ((2, 5, 2, 2), 1), ((3, 8), 2), ((1, 4, 0, 2), 2)]:
        a = draw.floats(shape)
        parts = a.reshape((shape[0], groups, shape[1] // groups) + shape[2:]).swapaxes(1, 2)
        result = np.ascontiguousarray(parts).reshape(shape)
        if len(shape) == 4 and a.size:
            assert np.array_equal(result, F.channel_shuffle(torch.from_numpy(a), groups).numpy())
        group.case("nn.channel_shuffle", f"nn.channel_shuffle(%a, groups={groups})", [a], result)
    draw = Draw("pixel_shuffle")
    for shape, block in [((1, 8, 2, 3), 2), ((2, 9, 1, 2), 3)]:
        a = draw.floats(shape)
        shuffled = rounded(F.pixel_shuffle(exact(a), block))
        given = attributes(block_size=block, mode="CRD")
        group.case("nn.depth_to_space", f"nn.depth_to_space(%a{given})", [a], shuffled)
        group.case("nn.depth_to_space", f'nn.depth_to_space(%a{given}, layout="NHWC")', [channels_last(a)], channels_last(shuffled))
        n, c, h, w = shape
        blocks = a.reshape(n, block, block, c // block ** 2, h, w).transpose(0, 3, 4, 1, 5, 2)
        spread = np.ascontiguousarray(blocks).reshape(n, c // block ** 2, h * block, w * block)
        nhwc = attributes(block_size=block, layout="NHWC")
        group.case("nn.depth_to_space", f"nn.depth_to_space(%a{nhwc})", [channels_last(a)], channels_last(spread))
        group.case("nn.space_to_depth", f"nn.space_to_depth(%a{nhwc})", [channels_last(spread)], channels_last(a))


def positions(extent, size, mode, scale=None):
    i = np.arange(size, dtype="float64")
    if mode == "pytorch_half_pixel" and size == 1:
        return i * 0
    if scale:
        # ONNX's formulas (Resize, coordinate_transformation_mode), whose extents are not rounded.
        wanted = extent * scale
        centred = extent / 2 * (1 - size / wanted) if mode == "half_pixel_symmetric" else 0
        return {"align_corners": i * (extent - 1) / (wanted - 1), "asymmetric": i / scale,
                "tf_half_pixel_for_nn": (i + 0.5) / scale}.get(mode, centred + (i + 0.5) / scale - 0.5)
    if mode == "align_corners":
        return i * (extent - 1) / (size - 1) if size > 1 else i * 0
    return {"half_pixel": (i + 0.5) * extent / size - 0.5, "pytorch_half_pixel": (i + 0.5) * extent / size - 0.5,
            "asymmetric": i * extent / size, "tf_half_pixel_for_nn": (i + 0.5) * extent / size}[mode]


ROUNDINGS = {"round": lambda x: np.trunc(x + np.copysign(0.5, x)), "round_prefer_floor": lambda x: np.ceil(x - 0.5),
             "round_prefer_ceil": lambda x: np.floor(x + 0.5), "floor": lambda x: np.floor(x + 1e-9),
             "ceil": lambda x: np.ceil(x - 1e-9)}


def axis_matrix(extent, size, method, mode, rounding="", alpha=-0.5, exclude=0, scale=None):
    """Row i: how much each element of the data counts in element i of the result."""
    rows = np.zeros((size, extent))
    for i, x in enumerate(positions(extent, size, mode, scale)):
        if method == "nearest_neighbor":
            weights = {int(ROUNDINGS[rounding or ("round" if mode == "align_corners" else "floor")](x)): 1.0}
        else:
            first, f = int(np.floor(x + 1e-9)), x - np.floor(x + 1e-9)
            t2, t3 = f * f, f * f * f
            weights = {first: 1 - f, first + 1: f} if method == "linear" else {
                first - 1: alpha * (t3 - 2 * t2 + f), first: (alpha + 2) * t3 - (3 + alpha) * t2 + 1,
                first + 1: -(alpha + 2) * t3 + (3 + 2 * alpha) * t2 - alpha * f, first + 2: -alpha * t3 + alpha * t2}
            if exclude:
                weights = {k: w for k, w in weights.items() if 0 <= k < extent}
                weights = {k: w / sum(weights.values()) for k, w in weights.items()}
        for k, w in weights.items():
            rows[i, min(max(k, 0), extent - 1)] += w
    return rows


def resized(a, size, method, mode, **more):
    down, across = (axis_matrix(a.shape[2 + k], size[k], method, mode, **more) for k in range(2))
    return np.einsum("yh,xw,nchw->ncyx", down, across, a.astype("float64"))


def resizing(group):
    draw = Draw("resize2d")
    modes = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn")
    for shape, size in [((1, 2, 3, 4), [6, 8]), ((2, 1, 5, 3), [3, 7]), ((1, 1, 4, 4), [1, 3]), ((1, 1, 1, 2), [3, 4]), ((1, 2, 6, 9), [2, 3])]:
        a = draw.floats(shape)

        def case(result, **given):
            given = {"size": size, **given}
            group.case("image.resize2d", f"image.resize2d(%a{attributes(**given)})", [a], result.astype("float32"), 16)
            group.case("image.resize2d", f"image.resize2d(%a{attributes(**given, layout='NHWC')})", [channels_last(a)],
                       channels_last(result.astype("float32")), 16)

        case(resized(a, size, "linear", "half_pixel"))
        for mode in modes:
            linear = resized(a, size, "linear", mode)
            if mode == "align_corners" or (mode == "half_pixel" and min(size) > 1):
                np.testing.assert_allclose(linear, F.interpolate(exact(a), size, mode="bilinear", align_corners=mode == "align_corners").numpy(), atol=1e-9)
            case(linear, method="linear", coordinate_transformation_mode=mode)
            case(resized(a, size, "nearest_neighbor", mode), method="nearest_neighbor", coordinate_transformation_mode=mode)
            for rounding in ROUNDINGS:
                case(resized(a, size, "nearest_neighbor", mode, rounding=rounding), method="nearest_neighbor",
                     coordinate_transformation_mode=mode, rounding_method=rounding)
        np.testing.assert_array_equal(resized(a, size, "nearest_neighbor", "asymmetric"), F.interpolate(exact(a), size, mode="nearest").numpy())
        for mode in ("half_pixel", "align_corners"):
            cubic = resized(a, size, "cubic", mode, alpha=-0.75)
            np.testing.assert_allclose(cubic, F.interpolate(exact(a), size, mode="bicubic", align_corners=mode == "align_corners").numpy(), atol=1e-9)
            case(cubic, method="cubic", coordinate_transformation_mode=mode, cubic_alpha=-0.75)
            case(resized(a, size, "cubic", mode, exclude=1), method="cubic", coordinate_transformation_mode=mode, cubic_exclude=1)
    a = draw.ints((1, 1, 3, 3), 0, 255, "uint8")
    group.case("image.resize2d", 'image.resize2d(%a, size=[5], roi=[0f, 0f, 0f, 0f], out_dtype="float32")', [a],
               resized(a, [5, 5], "linear", "half_pixel").astype("float32"), 4)
    a = draw.floats((1, 1, 3, 3), dtype="float64")
    group.case("image.resize2d", "image.resize2d(%a, size=[4, 2])", [a], resized(a, [4, 2], "linear", "half_pixel"), 4)


MAKERS = [volumes, shuffles, resizing]
