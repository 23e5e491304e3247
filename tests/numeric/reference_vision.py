"""References of the operators that sample images and of those of detectors (stdlib/image.relay, stdlib/vision.relay), and their
gradients. Interpolation along one axis is a matrix: a row says how much each element of the data counts."""

import numpy as np
import torch
import torch.nn.functional as F

from reference_groups import Draw, attributes, exact, rounded
from reference_images import axis_matrix, channels_last

# Calls of floats: the operator, its operands, the call's text, its function, and how many of the operands have a gradient.
CALLS = []


def call(name, inputs, expression, function, of=None, terms=32):
    CALLS.append((name, inputs, expression, function, of, terms))


def resampled(x, axes, matrices):
    for axis, matrix in zip(axes, matrices):
        x = torch.movedim(torch.tensordot(torch.from_numpy(matrix), x, ([1], [axis])), 0, axis)
    return x


def resizes():
    modes = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn")
    for name, shape, size, last in [("image.resize1d", (2, 3, 5), [8], "NWC"), ("image.resize1d", (1, 2, 7), [3], "NWC"),
                                    ("image.resize3d", (1, 2, 3, 2, 4), [2, 5, 6], "NDHWC")]:
        x = Draw(f"{name} {shape}").floats(shape)
        axes = list(range(2, len(shape)))
        for mode in modes:
            for method in ("linear", "nearest_neighbor", "cubic"):
                matrices = [axis_matrix(shape[k], s, method, mode) for k, s in zip(axes, size)]
                given = attributes(size=size, method=method, coordinate_transformation_mode=mode)
                call(name, [x], f"{name}(%a{given})", lambda v, a=axes, m=matrices: resampled(v, a, m))
                if mode == "half_pixel":
                    call(name, [channels_last(x)], f"{name}(%a{given}, layout=\"{last}\")",
                         lambda v, a=axes, m=matrices: torch.movedim(resampled(torch.movedim(v, -1, 1), a, m), 1, -1))
    x = Draw("resample").floats((3, 4, 2))
    for axes, size in [([0], [5]), ([1, -1], [2, 3]), ([2, 0], [3, 2]), ([0, 1, 2], [4, 4, 4])]:
        for given in (dict(), dict(method="cubic", cubic_alpha=-0.75, cubic_exclude=1), dict(method="nearest_neighbor", rounding_method="ceil")):
            matrices = [axis_matrix(x.shape[k], s, given.get("method", "linear"), "half_pixel", given.get("rounding_method", ""),
                                    given.get("cubic_alpha", -0.5), given.get("cubic_exclude", 0)) for k, s in zip(axes, size)]
            call("image.resample", [x], f"image.resample(%a{attributes(size=size, axes=axes, **given)})", lambda v, a=axes, m=matrices: resampled(v, a, m))
    # Scales by which the extents are not whole.
    modes += ("half_pixel_symmetric",)
    for axes, size, scales in [([0], [1], [[3, 5]]), ([1], [5], [[4, 3]]), ([1, 0], [2, 4], [[3, 5], [7, 5]])]:
        for mode in modes:
            for given in (dict(), dict(method="cubic"), dict(method="nearest_neighbor", rounding_method="round_prefer_floor")):
                given = dict(coordinate_transformation_mode=mode, **given)
                matrices = [axis_matrix(x.shape[k], s, given.get("method", "linear"), mode, given.get("rounding_method", ""), scale=p / q)
                            for k, s, (p, q) in zip(axes, size, scales)]
                call("image.resample", [x], f"image.resample(%a{attributes(size=size, axes=axes, **given, scales=scales)})",
                     lambda v, a=axes, m=matrices: resampled(v, a, m))


def grids():
    for shape, out in [((2, 3, 4, 5), (3, 6)), ((1, 1, 1, 3), (2, 2)), ((2, 2, 3, 4, 2), (2, 3, 2))]:
        d = len(out)
        draw = Draw(f"grid_sample {shape}")
        x, grid = draw.floats(shape), draw.floats((shape[0], d) + out, -2.5, 2.5)
        places = [0, *range(2, d + 2), 1]
        layout = "NCDHW" if d == 3 else "NCHW"
        for method in ("bilinear", "nearest") if d == 3 else ("bilinear", "nearest", "bicubic"):
            for padding in ("zeros", "border", "reflection"):
                for align in (True, False):
                    given = attributes(method=method, layout=layout, padding_mode=padding, align_corners=align)
                    call("image.grid_sample", [x, grid], f"image.grid_sample(%a, %b{given})",
                         lambda v, g, m=method, p=padding, a=align, at=places: F.grid_sample(v, g.permute(at), m, p, a), 1 if method == "nearest" else None)
    # Between two elements, where halves are rounded to the even one.
    x, middle = Draw("halves").floats((1, 1, 1, 5)), np.zeros((1, 2, 1, 4), "float32")
    middle[0, 0, 0] = [-0.75, -0.25, 0.25, 0.75]
    call("image.grid_sample", [x, middle], 'image.grid_sample(%a, %b, method="nearest")',
         lambda v, g: F.grid_sample(v, g.permute(0, 2, 3, 1), "nearest", "zeros", True), 1)
    for target in ([3, 4], [1, 2], [2, 3, 4]):
        d = len(target)
        theta = Draw("affine_grid").floats((2, d, d + 1))
        for align in (True, False):
            call("image.affine_grid", [theta], f"image.affine_grid(%a{attributes(target_shape=target, align_corners=align)})",
                 lambda v, s=target, a=align: torch.movedim(F.affine_grid(v, [2, 1, *s], a), -1, 1), None, 4)


def weights(places, extent, inside):
    """The matrix of linear interpolation at places, which are zeros where they are not inside."""
    rows = np.zeros((len(places), extent))
    for row, x, ok in zip(rows, places, inside):
        if ok:
            low = int(np.floor(x))
            row[low] += 1 - (x - low)
            row[min(low + 1, extent - 1)] += x - low
    return rows


def cropped(data, boxes, indices, size, nearest, value):
    results = []
    for box, image in zip(boxes, indices):
        matrices, outside = [], []
        for k in range(2):
            extent = data.shape[2 + k]
            first, last = (float(box[k + j]) * (extent - 1) for j in (0, 2))
            at = np.array([(first + last) / 2]) if size[k] == 1 else first + np.arange(size[k]) * ((last - first) / (size[k] - 1))
            inside = (at >= 0) & (at <= extent - 1)
            matrices.append(torch.from_numpy(weights(np.floor(at + 0.5) if nearest else at, extent, inside)))
            outside.append(~inside)
        part = torch.einsum("yh,xw,chw->cyx", *matrices, data[image])
        results.append(torch.where(torch.from_numpy(outside[0][:, None] | outside[1][None, :]), torch.tensor(value, dtype=data.dtype), part))
    return torch.stack(results)


def aligned(data, rois, size, scale, ratio, largest, middle):
    results = []
    for roi in rois:
        matrices, counts = [], []
        for k in range(2):
            extent = data.shape[2 + k]
            first, last = (float(roi[corner - k]) * scale - (0.5 if middle else 0.0) for corner in (2, 4))
            part = (last - first if middle else max(last - first, 1.0)) / size[k]
            count = ratio if ratio > 0 else max(int(np.ceil(part)), 0)
            at = np.array([first + (p + (r + 0.5) / count) * part for p in range(size[k]) for r in range(count)])
            matrices.append(torch.from_numpy(weights(np.clip(at, 0, extent - 1), extent, (at >= -1) & (at <= extent))))
            counts.append(count)
        if 0 in counts:
            results.append(data[0].sum() * 0 + torch.zeros((data.shape[1], *size), dtype=data.dtype))
            continue
        samples = torch.einsum("yh,xw,chw->cyx", *matrices, data[int(roi[0])])
        samples = samples.reshape(-1, size[0], counts[0], size[1], counts[1])
        results.append(samples.amax((2, 4)) if largest else samples.mean((2, 4)))
    return torch.stack(results)


def boxes():
    draw = Draw("boxes")
    x = draw.floats((2, 3, 5, 6))
    corners = draw.floats((4, 4), -0.3, 1.3)
    corners[0] = [0.1, 0.2, 0.8, 0.93]
    indices = draw.ints((4,), 0, 1)
    for size in ([3, 4], [1, 2], [7, 1]):
        for method in ("bilinear", "nearest_neighbor"):
            given = attributes(crop_size=size, method=method, extrapolation_value=-1.5)
            function = lambda v, b, i, s=size, m=method: cropped(v, b, i, s, m != "bilinear", -1.5)
            call("image.crop_and_resize", [x, corners, indices], f"image.crop_and_resize(%a, %b, %c{given})", function, 1)
            call("image.crop_and_resize", [channels_last(x), corners, indices], f'image.crop_and_resize(%a, %b, %c{given}, layout="NHWC")',
                 lambda v, b, i, f=function: torch.movedim(f(torch.movedim(v, -1, 1), b, i), 1, -1), 1)
    rois = np.concatenate([draw.ints((4, 1), 0, 1), draw.floats((4, 2), -3.0, 6.0), draw.floats((4, 2), 2.0, 14.0)], 1).astype("float32")
    for size, scale, ratio, mode, middle in [([2, 3], 0.5, 2, "avg", False), ([3], 1.0, 1, "avg", False), ([2, 2], 0.75, 3, "max", False),
                                             ([2, 1], 0.5, -1, "avg", False), ([3, 3], 1.0, 0, "avg", False), ([2, 3], 0.5, 2, "avg", True),
                                             ([2], 1.0, 2, "max", True), ([3, 2], 0.75, 0, "avg", True)]:
        given = attributes(pooled_size=size, spatial_scale=scale, sample_ratio=ratio, mode=mode, **({"aligned": True} if middle else {}))
        function = lambda v, r, s=size * (2 // len(size)), f=scale, k=ratio, m=mode, h=middle: aligned(v, r, s, f, k, m == "max", h)
        call("vision.roi_align", [x, rois], f"vision.roi_align(%a, %b{given})", function, 1)
        call("vision.roi_align", [channels_last(x), rois], f'vision.roi_align(%a, %b{given}, layout="NHWC")',
             lambda v, r, f=function: torch.movedim(f(torch.movedim(v, -1, 1), r), 1, -1), 1)


def dilations():
    for shape, kernel, given in [((1, 2, 5, 4), (2, 3), {}), ((2, 1, 6, 6), (3, 2), dict(strides=[2, 1], dilations=[1, 2])),
                                 ((1, 3, 4, 5), (2, 2), dict(padding=[1])), ((1, 2, 4, 4), (2, 2), dict(padding=[0, 1, 2, 1], strides=[2, 2]))]:
        draw = Draw(f"dilation2d {shape}")
        count = int(np.prod(shape))
        x = draw.rng.permutation(np.linspace(-2, 2, count)).reshape(shape).astype("float32")
        w = draw.floats((shape[1],) + kernel)

        def dilated(v, k, g=given):
            pad = (g.get("padding", [0]) * 4)[:4]
            padded = F.pad(v, (pad[1], pad[3], pad[0], pad[2]))
            strides, dilation = g.get("strides", [1, 1]), g.get("dilations", [1, 1])
            extents = [(padded.shape[2 + j] - (k.shape[1 + j] - 1) * dilation[j] - 1) // strides[j] + 1 for j in range(2)]
            columns = F.unfold(padded, k.shape[1:], dilation, 0, strides).reshape(v.shape[0], v.shape[1], -1, *extents)
            return (columns + k.reshape(1, k.shape[0], -1, 1, 1)).amax(2)

        call("image.dilation2d", [x, w], f"image.dilation2d(%a, %b{attributes(**given)})", dilated)
        call("image.dilation2d", [channels_last(x), np.ascontiguousarray(np.moveaxis(w, 0, -1))],
             f'image.dilation2d(%a, %b{attributes(**given)}, data_layout="NHWC", kernel_layout="HWI")',
             lambda v, k, f=dilated: torch.movedim(f(torch.movedim(v, -1, 1), torch.movedim(k, -1, 0)), 1, -1))


for maker in (resizes, grids, boxes, dilations):
    maker()


def calls(group):
    for name, inputs, expression, function, _, terms in CALLS:
        group.case(name, expression, inputs, np.ascontiguousarray(rounded(function(*map(exact, inputs)))), terms)


def priors(group):
    for shape, given in [((1, 2, 2, 3), {}), ((2, 1, 3, 2), dict(sizes=[0.5, 0.75], ratios=[1.0, 2.0, 0.5])),
                         ((1, 1, 2, 2), dict(sizes=[0.9], ratios=[7.0, 3.0], steps=[0.25, 0.5], offsets=[0.0, 1.0], clip=True))]:
        _, _, h, w = shape
        sizes, ratios = given.get("sizes", [1.0]), given.get("ratios", [1.0])
        steps = [s if s > 0 else 1 / e for s, e in zip(given.get("steps", [-1.0, -1.0]), (h, w))]
        offsets = given.get("offsets", [0.5, 0.5])
        kinds = [(s, 1.0) for s in sizes] + [(sizes[0], r) for r in ratios[1:]]
        rows = []
        for y in range(h):
            for x in range(w):
                for size, ratio in kinds:
                    cy, cx = (y + offsets[0]) * steps[0], (x + offsets[1]) * steps[1]
                    dy, dx = size / np.sqrt(ratio) / 2, size * h / w * np.sqrt(ratio) / 2
                    rows.append([cx - dx, cy - dy, cx + dx, cy + dy])
        wanted = np.array(rows)[None]
        wanted = np.clip(wanted, 0, 1) if given.get("clip") else wanted
        group.case("vision.multibox_prior", f"vision.multibox_prior(%a{attributes(**given)})", [np.zeros(shape, "float32")], wanted.astype("float32"), 4)


def detections(group):
    for n, k, m, given in [(2, 4, 6, dict(threshold=0.4)), (1, 2, 5, dict(threshold=0.6, clip=False)), (1, 3, 4, dict(variances=[0.5, 1.0, 0.25, 0.75]))]:
        draw = Draw(f"detections {n} {k} {m}")
        probability, places = draw.floats((n, k, m), 0.0, 1.0), draw.floats((n, 4 * m), -1.0, 1.0)
        anchors = np.sort(draw.floats((1, m, 2, 2), 0.0, 1.0), 2).reshape(1, m, 4)
        v = given.get("variances", [0.1, 0.1, 0.2, 0.2])
        rows, counts = np.full((n, m, 6), -1.0), np.zeros(n, "int32")
        for b in range(n):
            for i in range(m):
                scores = probability[b, 1:, i].astype("float64")
                if scores.max() < np.float32(given.get("threshold", 0.01)):
                    continue
                left, top, right, bottom = anchors[0, i].astype("float64")
                x, y, width, height = places[b, 4 * i:4 * i + 4].astype("float64")
                cx, cy = x * v[0] * (right - left) + (left + right) / 2, y * v[1] * (bottom - top) + (top + bottom) / 2
                dx, dy = np.exp(width * v[2]) * (right - left) / 2, np.exp(height * v[3]) * (bottom - top) / 2
                box = np.array([cx - dx, cy - dy, cx + dx, cy + dy])
                rows[b, counts[b]] = [scores.argmax(), scores.max(), *(np.clip(box, 0, 1) if given.get("clip", True) else box)]
                counts[b] += 1
        expression = f"vision.multibox_transform_loc(%a, %b, %c{attributes(**given)})"
        group.case("vision.multibox_transform_loc", expression + ".0", [probability, places, anchors], rows.astype("float32"), 8)
        group.case("vision.multibox_transform_loc", expression + ".1", [probability, places, anchors], counts)


def gradients(group):
    for name, inputs, expression, function, of, _ in CALLS:
        # The other transformations of positions are other matrices.
        if any(mode in expression for mode in ("asymmetric", "pytorch_half_pixel", "half_pixel_symmetric", "tf_half_pixel")):
            continue
        group.gradient(name, expression, inputs, function, 64, of)


MAKERS = [calls, priors, detections]
