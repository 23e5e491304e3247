"""References of the operators that carry what TVM's passes have made of others (stdlib/packed.relay, stdlib/winograd.relay,
stdlib/backward.relay), of sparse tensors and boxes: PyTorch's, and what NumPy makes of their definitions."""

import numpy as np
import torch
import torch.nn.functional as F

from reference_groups import Draw, attributes, exact, rounded
from reference_layouts import blocked, compressed


def bits(group):
    """numpy.packbits packs the first element into the highest bit, as TVM."""
    for shape, axis, place, count in [((3, 16), 1, 2, 2), ((8, 2), 0, 0, 1), ((2, 8, 3), 1, 1, 3)]:
        x = Draw(f"bitpack {shape}").ints(shape, 0, 7)
        wanted = np.stack([np.packbits((x >> b & 1).astype("uint8"), axis) for b in range(count)], place)
        given = attributes(bits=count, pack_axis=axis, bit_axis=place, pack_type="uint8")
        group.case("nn.bitpack", f"nn.bitpack(%a{given})", [x], wanted)
    for unipolar in (True, False):
        draw = Draw(f"bitserial {unipolar}")
        x, w = draw.ints((1, 8, 5, 6), 0, 3, "uint8"), draw.ints((4, 8, 3, 3), 0, 3, "uint8")
        wide = 2 * w.astype("int64") - 3 if unipolar else w.astype("int64")
        wanted = F.conv2d(torch.from_numpy(x.astype("float64")), torch.from_numpy(wide.astype("float64")), None, 1, 1).numpy().astype("int16")
        packed = np.stack([np.packbits(w >> b & 1, 1) for b in range(2)], 4)
        given = attributes(channels=4, kernel_size=[3, 3], padding=[1, 1], activation_bits=2, weight_bits=2, pack_dtype="uint8", unipolar=unipolar)
        for weight in (w, packed):
            group.case("nn.bitserial_conv2d", f"nn.bitserial_conv2d(%a, %b{given})", [x, weight], wanted)
        last = [np.ascontiguousarray(a) for a in (x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), wanted.transpose(0, 2, 3, 1))]
        group.case("nn.bitserial_conv2d", f'nn.bitserial_conv2d(%a, %b, data_layout="NHWC", kernel_layout="HWIO"{given})', last[:2], last[2])
        x, w = draw.ints((3, 16), 0, 3, "uint8"), draw.ints((5, 16), 0, 3, "uint8")
        wanted = (x.astype("int64") @ (2 * w.astype("int64") - 3 if unipolar else w).T).astype("int16")
        packed = np.stack([np.packbits(w >> b & 1, 1) for b in range(2)], 1)
        for weight in (w, packed):
            group.case("nn.bitserial_dense", f"nn.bitserial_dense(%a, %b{attributes(units=5, data_bits=2, weight_bits=2, pack_dtype='uint8', unipolar=unipolar)})",
                       [x, weight], wanted)


def blocks(group):
    draw = Draw("dense pack")
    x, w = draw.floats((3, 8)), draw.floats((16, 8))
    group.case("nn.contrib_dense_pack", 'nn.contrib_dense_pack(%a, %b, weight_layout="NC8n")', [x, blocked(w, 0, 8)], rounded(exact(x) @ exact(w).T), 8)
    group.case("nn.contrib_dense_pack", "nn.contrib_dense_pack(%a, %b, units=16)", [x, w], rounded(exact(x) @ exact(w).T), 8)
    q, v = draw.ints((2, 8), 0, 9, "uint8"), draw.ints((16, 8), -9, 9, "int8")
    wanted = ((q.astype("int64") - 3) @ (v.astype("int64") - 2).T).astype("int32")
    group.case("qnn.contrib_dense_pack", 'qnn.contrib_dense_pack(%a, %b, 3, 2, 0.5, 0.25, weight_layout="NC8n4c")', [q, blocked(blocked(v, 0, 8), 1, 4)], wanted)
    y = draw.floats((4, 6))
    split = y.reshape(2, 2, 2, 3)  # the first axis as 2 and 2, the second as 2 and 3
    group.case("auto_scheduler_layout_transform", 'auto_scheduler_layout_transform(%a, src_layout="4no6ci", dst_layout="2ci2no3ci2no")', [y],
               np.ascontiguousarray(split.transpose(2, 0, 3, 1)))
    group.case("auto_scheduler_layout_transform", 'auto_scheduler_layout_transform(%a, src_layout="2a2a6b", dst_layout="6b4a")', [y.reshape(2, 2, 6)],
               np.ascontiguousarray(y.T))


def cook_toom(tile, kernel):
    """The matrix G of F(tile, kernel), by the values of the kernel's polynomial at the points (Lavin and Gray 2015)."""
    points = [0, -1, 1, 1 / 2, -2, -1 / 2] if tile + kernel < 9 else [0, -1, 1, 1 / 2, -1 / 2, 2, -2, -1 / 4, 4]
    points = points[:tile + kernel - 2]
    apart = [np.prod([p - q for q in points if q != p]) for p in points]
    apart[0] = abs(apart[0])
    rows = [[p**j / f for j in range(kernel)] for p, f in zip(points, apart)]
    return np.array(rows + [[0] * (kernel - 1) + [1]])


def winograd(group):
    for tile, kernel in [(2, 3), (4, 3), (6, 3), (4, 5), (2, 2), (3, 1)]:
        g = cook_toom(tile, kernel)
        group.case("nn.winograd_kernel", f"nn.winograd_kernel({tile}, {kernel})", [], g.astype("float32"), 8)
        group.case("nn.winograd_inverse", f"nn.winograd_inverse({tile}, {kernel})", [], np.linalg.inv(g[:kernel]).astype("float32"), 64)
    for tile, (h, w), pad in [(2, (3, 3), 0), (4, (3, 3), 1), (3, (3, 5), 1), (6, (3, 3), 2)]:
        draw = Draw(f"winograd {tile} {h} {w}")
        x, k = draw.floats((1, 3, 7, 8)), draw.floats((2, 3, h, w))
        made = np.einsum("ar,ocrs,bs->aboc", cook_toom(tile, h), k.astype("float64"), cook_toom(tile, w))
        group.case("nn.contrib_conv2d_winograd_weight_transform", f"nn.contrib_conv2d_winograd_weight_transform(%a, tile_size={tile})", [k], made.astype("float32"), 9)
        group.case("nn.contrib_conv2d_winograd_without_weight_transform",
                   f"nn.contrib_conv2d_winograd_without_weight_transform(%a, %b{attributes(tile_size=tile, padding=[pad, pad], channels=2, kernel_size=[h, w])})",
                   [x, np.ascontiguousarray(made.astype("float32").swapaxes(2, 3))], rounded(F.conv2d(exact(x), exact(k), None, 1, pad)), 400)
    for tile, depth in [(2, 3), (4, 1), (2, 2)]:
        draw = Draw(f"winograd3d {tile} {depth}")
        x, k = draw.floats((1, 2, 4, 5, 6)), draw.floats((3, 2, depth, 3, 3))
        g = cook_toom(tile, 3)
        made = np.einsum("ar,bs,oczrs->abzoc", g, g, k.astype("float64"))
        if depth == 3:
            made = np.einsum("fz,abzoc->faboc", g, made)
        group.case("nn.contrib_conv3d_winograd_weight_transform", f"nn.contrib_conv3d_winograd_weight_transform(%a, tile_size={tile})", [k], made.astype("float32"), 27)
        group.case("nn.contrib_conv3d_winograd_without_weight_transform",
                   f"nn.contrib_conv3d_winograd_without_weight_transform(%a, %b{attributes(tile_size=tile, channels=3, kernel_size=[depth, 3, 3])})",
                   [x, np.ascontiguousarray(made.astype("float32").swapaxes(3, 4))], rounded(F.conv3d(exact(x), exact(k))), 1000)


def backward(group):
    for shape, pool, stride, pad, ceil in [((1, 2, 6, 5), (2, 3), 2, (0, 1), False), ((2, 1, 5, 5), (3, 3), 1, (1, 1), False), ((1, 1, 5, 6), (2, 2), 2, (0, 0), True)]:
        draw = Draw(f"pool grad {shape}")
        x = draw.floats(shape)
        for name, function, more in [("max", F.max_pool2d, {}), ("avg", F.avg_pool2d, {"count_include_pad": True}), ("avg", F.avg_pool2d, {"count_include_pad": False})]:
            t = exact(x).requires_grad_()
            y = function(t, pool, stride, pad, ceil_mode=ceil, **more)
            g = draw.floats(tuple(y.shape))
            y.backward(exact(g))
            given = attributes(pool_size=list(pool), strides=[stride, stride], padding=list(pad), ceil_mode=ceil, **more)
            group.case(f"nn.{name}_pool2d_grad", f"nn.{name}_pool2d_grad(%a, %b{given})", [g, x], rounded(t.grad), 9)
    for channels, out, window, stride, pad, dilation, groups in [(2, 4, (3, 2), 1, (0, 0), 1, 1), (4, 4, (3, 3), 2, (1, 1), 1, 2), (2, 2, (2, 2), 1, (0, 1), 2, 1)]:
        draw = Draw(f"backward weight {window}")
        x, w = draw.floats((2, channels, 6, 7)), exact(np.zeros((out, channels // groups) + window, "float32")).requires_grad_()
        y = F.conv2d(exact(x), w, None, stride, pad, dilation, groups)
        g = draw.floats(tuple(y.shape))
        y.backward(exact(g))
        given = attributes(kernel_size=list(window), strides=[stride, stride], padding=list(pad), dilation=[dilation, dilation], groups=groups)
        group.case("nn.conv2d_backward_weight", f"nn.conv2d_backward_weight(%a, %b{given})", [g, x], rounded(w.grad), 84)


def sparse(group):
    for m, n in [(3, 4), (2, 6)]:
        draw = Draw(f"sparse add {m} {n}")
        x, w = draw.floats((m, n)), (draw.floats((m, n)) * draw.bools((m, n), 0.4)).astype("float32")
        data, indices, begins = compressed(w)
        group.case("nn.sparse_add", "nn.sparse_add(%a, %b, %c, %d)", [x, data.reshape(-1), indices, begins], x + w)
        group.case("nn.internal.sparse_dense_padded", "nn.internal.sparse_dense_padded(%a, %b, %c, %d)", [x, data.reshape(-1), indices, begins],
                   rounded(exact(x) @ exact(w).T), n)
    for kernel in (1, 3):
        draw = Draw(f"sparse conv2d {kernel}")
        x, w = draw.floats((1, 4, 5, 6)), draw.floats((6, kernel, kernel, 4))
        w = (w.reshape(6, -1) * np.kron(draw.bools((2, kernel * kernel * 2), 0.5), np.ones((3, 2)))).astype("float32")
        data, indices, begins = compressed(w, 3, 2)
        wanted = rounded(F.conv2d(exact(x), exact(w).reshape(6, kernel, kernel, 4).permute(0, 3, 1, 2), None, 1, kernel // 2))
        given = f", kernel_size=[{kernel}, {kernel}]"
        group.case("nn.sparse_conv2d", f'nn.sparse_conv2d(%a, %b, %c, %d, layout="NCHW"{given})', [x, data, indices, begins], wanted, 36)
        group.case("nn.sparse_conv2d", f"nn.sparse_conv2d(%a, %b, %c, %d{given})", [np.ascontiguousarray(x.transpose(0, 2, 3, 1)), data, indices, begins],
                   np.ascontiguousarray(wanted.transpose(0, 2, 3, 1)), 36)
    for shape, new in [((2, 3, 4), [6, 4]), ((4, 6), [2, -1, 3]), ((12,), [3, 4])]:
        at = Draw(f"sparse reshape {shape}").rng.choice(int(np.prod(shape)), 5, False)
        places = np.stack(np.unravel_index(at, shape), 1).astype("int64")
        whole = np.zeros(shape).reshape(new).shape
        for part, wanted in enumerate([np.stack(np.unravel_index(at, whole), 1).astype("int64"), np.array(whole, "int64")]):
            group.case("sparse_reshape", f"sparse_reshape(%a, %b, %c).{part}", [places, np.array(shape, "int64"), np.array(new, "int64")], wanted)
    for rows, filled in [(5, [0, 0, 3]), (3, [0, 1, 2]), (4, []), (2, [1, 1])]:
        values = Draw(f"fill rows {rows}").floats((len(filled),))
        places = np.array([[r, k] for k, r in enumerate(filled)], "int64").reshape(-1, 2)
        every = [([*p], v) for p, v in zip(places, values)] + [([r, 0], np.float32(-1)) for r in range(rows) if r not in filled]
        every.sort(key=lambda e: e[0][0])
        wanted = [np.array([p for p, _ in every], "int64").reshape(-1, 2), np.array([v for _, v in every], "float32"), np.array([r not in filled for r in range(rows)])]
        for part in range(3):
            group.case("sparse_fill_empty_rows", f"sparse_fill_empty_rows(%a, %b, %c, -1f).{part}", [places, values, np.array([rows, 4], "int64")], wanted[part])


def iou(a, b):
    inside = max(0, min(a[2], b[2]) - max(a[0], b[0])) * max(0, min(a[3], b[3]) - max(a[1], b[1]))
    return inside / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inside)


def kept(boxes, order, threshold, most):
    """The places of what greedy suppression keeps, in the given order."""
    stay = []
    for i in order:
        if len(stay) < most and all(iou(boxes[i], boxes[j]) <= threshold for j in stay):
            stay.append(i)
    return stay


def boxes(group):
    draw = Draw("roi_pool")
    x, rois = draw.floats((2, 3, 6, 7)), np.array([[0, 0, 0, 6, 5], [1, 2, 1, 4, 3], [0, 4, 4, 9, 9], [1, 1, 1, 1, 1]], "float32")
    for pooled, scale in [((2, 3), 1.0), ((3, 2), 0.5)]:
        wanted = np.zeros((len(rois), 3) + pooled, "float32")
        for r, roi in enumerate(rois):
            x1, y1, x2, y2 = [int(np.floor(v * scale + 0.5)) for v in roi[1:]]
            part = [max(y2 - y1 + 1, 1) / pooled[0], max(x2 - x1 + 1, 1) / pooled[1]]
            for i, j in np.ndindex(*pooled):
                v = [np.clip(int(f(i_ * s) + o), 0, n) for f, i_, s, o, n in [(np.floor, i, part[0], y1, 6), (np.ceil, i + 1, part[0], y1, 6),
                                                                              (np.floor, j, part[1], x1, 7), (np.ceil, j + 1, part[1], x1, 7)]]
                cut = x[int(roi[0]), :, v[0]:v[1], v[2]:v[3]]
                wanted[r, :, i, j] = cut.max((1, 2)) if cut.size else 0
        group.case("vision.roi_pool", f"vision.roi_pool(%a, %b{attributes(pooled_size=list(pooled), spatial_scale=scale)})", [x, rois], wanted)
    for stride, shape in [(2, (2, 4, 4, 6)), (1, (1, 2, 2, 2)), (2, (1, 8, 2, 4)), (3, (1, 9, 3, 6))]:
        x = draw.floats(shape)
        n, c, h, w = shape
        # Darknet's: the data are seen as c / stride^2 channels of images stride times as large.
        large = x.reshape(n, c // stride**2, h, stride, w, stride).transpose(0, 3, 5, 1, 2, 4)
        group.case("vision.yolo_reorg", f"vision.yolo_reorg(%a, stride={stride})", [x], large.reshape(n, c * stride**2, h // stride, w // stride))
    for count, per_class, most in [(8, 3, 5), (5, 9, 9), (1, 1, 2)]:
        low = draw.ints((2, count, 2), 0, 6).astype("float32")
        corners = np.concatenate([low, low + draw.ints((2, count, 2), 1, 6)], 2).astype("float32")
        scores = draw.floats((2, count, 3), 0, 1)
        wanted = [np.zeros((2, most, 4), "float32"), np.zeros((2, most), "float32"), np.zeros((2, most), "float32"), np.zeros(2, "int32")]
        for b in range(2):
            found = []
            for c in range(2):
                s = scores[b, :, c + 1]
                order = [i for i in np.argsort(-s, kind="stable") if s[i] >= 0.2]
                found += [(s[i], c, corners[b, i]) for i in kept(corners[b], order, 0.4, per_class)]
            found = sorted(found, key=lambda f: -f[0])[:most]
            for k, (s, c, box) in enumerate(found):
                wanted[0][b, k], wanted[1][b, k], wanted[2][b, k] = box, c, s
            wanted[3][b] = len(found)
        given = attributes(max_detections_per_class=per_class, max_detections=most, num_classes=2, iou_threshold=0.4, score_threshold=0.2)
        for part in range(4):
            group.case("vision.regular_non_max_suppression", f"vision.regular_non_max_suppression(%a, %b{given}).{part}", [corners, scores], wanted[part])
    for h, w, first, size, distances in [(2, 3, 8, 4, False), (2, 2, -1, 16, False), (3, 2, 6, 8, True)]:
        scales, ratios, stride, last = [1.0, 2.0], [0.5, 1.0], 16, 5
        score, delta = draw.floats((1, 8, h, w), 0, 1), draw.floats((1, 16, h, w), -0.5, 0.5)
        image, found = np.array([[16 * h - 6, 16 * w, 1.0]], "float32"), []
        for y, x, k in np.ndindex(h, w, 4):
            side = np.floor(np.sqrt(np.floor(stride * stride / ratios[k // 2])) + 0.5)
            extent = np.array([side, np.floor(side * ratios[k // 2] + 0.5)]) * scales[k % 2]
            centre, d = np.array([x, y]) * stride + 0.5 * (stride - 1), delta[0, 4 * k:4 * k + 4, y, x].astype("float64")
            if distances:
                box = np.concatenate([centre - 0.5 * (extent - 1), centre + 0.5 * (extent - 1)]) + d
            else:
                centre, extent = centre + d[:2] * extent, extent * np.exp(d[2:])
                box = np.concatenate([centre - 0.5 * (extent - 1), centre + 0.5 * (extent - 1)])
            box = np.clip(box, 0, np.array([image[0, 1], image[0, 0]] * 2) - 1)
            s = score[0, 4 + k, y, x] if y < int(image[0, 0] / stride) and x < int(image[0, 1] / stride) else -1
            if min(box[2:] - box[:2]) + 1 < size:
                box, s = box + np.array([-size / 2] * 2 + [size / 2] * 2), -1
            found.append((s, box))
        found.sort(key=lambda f: -f[0])
        best = np.array([f[1] for f in found[:first if first > 0 else None]])
        stay = kept(best + [0, 0, 1, 1], range(len(best)), 0.5, len(best))
        wanted = np.array([[0, *best[stay[i % len(stay)]]] for i in range(last)], "float32")
        given = attributes(scales=scales, ratios=ratios, feature_stride=stride, threshold=0.5, rpn_pre_nms_top_n=first, rpn_post_nms_top_n=last, rpn_min_size=size, iou_loss=distances)
        group.case("vision.proposal", f"vision.proposal(%a, %b, %c{given})", [score, delta, image], wanted, 32)


def others(group):
    draw = Draw("transforms")
    for shape, n, hop, window, normalized, onesided in [((20,), 8, 4, 8, False, True), ((2, 15), 6, 2, 6, True, False), ((12,), 5, 3, 3, False, True)]:
        x, w = draw.floats(shape), draw.floats((window,))
        z = torch.stft(exact(x), n, hop, window, exact(w), center=False, normalized=normalized, onesided=onesided, return_complex=True)
        given = attributes(n_fft=n, hop_length=hop, win_length=window, normalized=normalized, onesided=onesided)
        group.case("stft", f"stft(%a, %b{given})", [x, w], rounded(torch.view_as_real(z)), 4 * n)
    for shape in [(8,), (2, 5)]:
        re, im = draw.floats(shape), draw.floats(shape)
        for inverse, function in [(False, np.fft.fft), (True, np.fft.ifft)]:
            z = function(re.astype("float64") + 1j * im)
            for part, wanted in enumerate([z.real, z.imag]):
                group.case("dft", f"dft(%a, %b, inverse={inverse}).{part}", [re, im], wanted.astype("float32"), 16)
    x, at, new = draw.floats((4, 3)), draw.ints((2, 3), 0, 3, "int64"), draw.floats((2, 3))
    for name, method in [("scatter", "scatter"), ("scatter_add", "scatter_add")]:
        at[1] = (at[0] + 1) % 4
        group.case(name, f"{name}(%a, %b, %c, axis=0)", [x, at, new], getattr(torch.from_numpy(x), method)(0, torch.from_numpy(at), torch.from_numpy(new)).numpy())
    data, buffer = draw.floats((2, 3)), draw.floats((5, 3))
    group.case("nn.fifo_buffer", "nn.fifo_buffer(%a, %b, axis=0)", [data, buffer], np.concatenate([buffer, data])[-5:])
    group.case("nn.fifo_buffer", "nn.fifo_buffer(%a, %b, axis=-1)", [data.T.copy(), buffer.T.copy()], np.concatenate([buffer, data])[-5:].T.copy())
    x = draw.floats((2, 3, 4))
    for entries, shape in [([-1, 0], (6, 4)), ([4, -1, 3], (4, 2, 3)), ([-1, 0, 0], (2, 3, 4)), ([0, 0], None)]:
        if shape:
            group.case("contrib_reverse_reshape", f"contrib_reverse_reshape(%a, newshape={entries})", [x], x.reshape(shape))
    for name, function in [("fast_exp", torch.exp), ("fast_erf", torch.erf), ("fast_tanh", torch.tanh)]:
        group.case(name, f"{name}(%a)", [x], rounded(function(exact(x))), 2)
    group.case("nn.fast_softmax", "nn.fast_softmax(%a, axis=1)", [x], rounded(torch.softmax(exact(x), 1)), 4)
    group.case("vm.shape_of", "vm.shape_of(%a)", [x], np.array(x.shape, "int64"))
    for name, given in [("debug", ""), ("annotation.stop_fusion", ""), ("annotation.cast_hint", ', dtype="int8"'), ("annotation.bitpack_start", ""),
                        ("annotation.bitpack_end", ""), ("annotation.checkpoint", ""), ("annotation.compiler_begin", ', compiler="dnnl"'),
                        ("annotation.compiler_end", ', compiler="dnnl"')]:
        group.case(name, f"{name}(%a{given})", [x], x)
    scale, low, high = [np.array(np.float32(v)) for v in (0.25, -4.0, 4.0)]
    wanted = np.clip(x.astype("float64") / 0.25, -4, 4)
    wanted = np.sign(wanted) * np.floor(np.abs(wanted) + 0.5) * 0.25
    name = "relay.op.annotation.simulated_quantize"
    group.case(name, f"{name}(%a, %b, %c, %d, kind=2)", [x, scale, low, high], wanted.astype("float32"))
    group.case(name, f"{name}(%a, %b, %c, %d, kind=0)", [x, scale, low, high], x)


MAKERS = [bits, blocks, winograd, backward, sparse, boxes, others]
