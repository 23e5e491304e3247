"""References of blocked layouts, displaced convolutions (stdlib/layout.relay) and sparse matrices (stdlib/sparse.relay)."""

import numpy as np
import torch
import torch.nn.functional as F

from reference_groups import Draw, attributes, exact, rounded


def blocked(x, axis, size):
    """An axis in blocks, whose positions become the last axis; the last block is filled up with 0."""
    x = np.pad(x, [(0, -x.shape[k] % size if k == axis else 0) for k in range(x.ndim)])
    return np.moveaxis(x.reshape(x.shape[:axis] + (-1, size) + x.shape[axis + 1:]), axis + 1, -1)


def layouts(group):
    draw = Draw("layout_transform")
    x = draw.floats((2, 5, 3, 4))
    whole = draw.floats((2, 8, 3, 4))
    weight = draw.floats((8, 6, 2, 3))
    odd = blocked(blocked(blocked(weight, 1, 4), 0, 3), 4, 2)  # O/3 I/4 H W 4i 3o, 4i as 2i and 2i behind 3o
    cases = [(x, "NCHW", "NHWC", x.transpose(0, 2, 3, 1)), (x, "NCHW", "NCHW4c", blocked(x, 1, 4)), (x, "NCHW", "CNWH", x.transpose(1, 0, 3, 2)),
             (x, "NHWC", "NCHW3c", blocked(x.transpose(0, 3, 1, 2), 1, 3)), (blocked(whole, 1, 4), "NCHW4c", "NCHW", whole),
             (blocked(whole, 1, 4), "NCHW4c", "NHWC8c", blocked(whole.transpose(0, 2, 3, 1), 3, 8)), (blocked(whole, 1, 8), "NCHW8c", "NCHW2c", blocked(whole, 1, 2)),
             (weight, "OIHW", "OIHW4i3o", blocked(blocked(weight, 1, 4), 0, 3)), (weight, "OIHW", "OIHW2i3o2i", odd),
             (draw.ints((3, 7), dtype="int8"), "AB", "B4bA", None)]
    for data, source, target, wanted in cases:
        wanted = blocked(data.T, 0, 4).transpose(0, 2, 1) if wanted is None else wanted
        group.case("layout_transform", f"layout_transform(%a{attributes(src_layout=source, dst_layout=target)})", [np.ascontiguousarray(data)],
                   np.ascontiguousarray(wanted))


def blocked_convolutions(group):
    for n, c, o, window, groups, cb, ob, more in [(1, 8, 12, (3, 3), 1, 4, 6, {}), (2, 4, 8, (1, 2), 1, 2, 4, dict(strides=[2, 1], padding=[1, 0])),
                                                  (1, 8, 4, (3, 2), 2, 4, 2, dict(padding=[1, 1])), (1, 4, 4, (2, 2), 1, 4, 1, dict(dilation=[2, 2]))]:
        draw = Draw(f"blocked {c} {o} {window}")
        x, w = draw.floats((n, c, 6, 7)), draw.floats((o, c // groups) + window)
        y = F.conv2d(exact(x), exact(w), None, more.get("strides", 1), more.get("padding", 0), more.get("dilation", 1), groups)
        given = attributes(**more, **(dict(groups=groups) if groups > 1 else {}), data_layout=f"NCHW{cb}c", kernel_layout=f"OIHW{cb}i{ob}o")
        inputs = [blocked(x, 1, cb), blocked(blocked(w, 1, cb), 0, ob)]
        group.case("nn.contrib_conv2d_NCHWc", f"nn.contrib_conv2d_NCHWc(%a, %b{given})", inputs,
                   np.ascontiguousarray(blocked(rounded(y), 1, ob)), c // groups * window[0] * window[1])
    for c, window, cb, more in [(8, (3, 3), 4, dict(padding=[1, 1])), (6, (2, 3), 2, dict(strides=[2, 2])), (3, (1, 1), 3, {})]:
        draw = Draw(f"depthwise {c} {window}")
        x, w = draw.floats((2, c, 5, 6)), draw.floats((c, 1) + window)
        y = F.conv2d(exact(x), exact(w), None, more.get("strides", 1), more.get("padding", 0), 1, c)
        given = attributes(**more, groups=c, data_layout=f"NCHW{cb}c", kernel_layout=f"OIHW1i{cb}o")
        group.case("nn.contrib_depthwise_conv2d_NCHWc", f"nn.contrib_depthwise_conv2d_NCHWc(%a, %b{given})",
                   [blocked(x, 1, cb), blocked(blocked(w, 1, 1), 0, cb)], np.ascontiguousarray(blocked(rounded(y), 1, cb)), window[0] * window[1])


def between(image, v, u):
    """Bilinear, the last row and column beyond themselves; 0 outside."""
    h, w = image.shape
    if not (0 <= v < h and 0 <= u < w):
        return 0.0
    i, j = int(np.floor(v)), int(np.floor(u))
    below, right = min(i + 1, h - 1), min(j + 1, w - 1)
    a, b = v - i, u - j
    return ((1 - a) * ((1 - b) * image[i, j] + b * image[i, right]) + a * ((1 - b) * image[below, j] + b * image[below, right]))


def deformed(x, offset, w, stride, pad, dilation, fields, groups):
    n, c = x.shape[:2]
    o, ci, kh, kw = w.shape
    oh, ow = offset.shape[2:]
    out = np.zeros((n, o, oh, ow))
    for b, q, y, z, d, r, s in np.ndindex(n, o, oh, ow, ci, kh, kw):
        channel = q // (o // groups) * ci + d
        at = (channel // (c // fields) * kh * kw + r * kw + s) * 2
        out[b, q, y, z] += w[q, d, r, s] * between(x[b, channel], y * stride - pad + r * dilation + offset[b, at, y, z],
                                                    z * stride - pad + s * dilation + offset[b, at + 1, y, z])
    return out


def correlated(x, y, size, most, stride1, stride2, pad, multiplies):
    x, y = (np.pad(t, [(0, 0), (0, 0), (pad, pad), (pad, pad)]) for t in (x, y))
    n, c, h, w = x.shape
    border, radius = most + (size - 1) // 2, most // stride2
    side = 2 * radius + 1
    oh, ow = -(-(h - 2 * border) // stride1), -(-(w - 2 * border) // stride1)
    out = np.zeros((n, side * side, oh, ow))
    for b, q, i, j in np.ndindex(*out.shape):
        v, u = i * stride1 + most, j * stride1 + most
        v2, u2 = v + (q // side - radius) * stride2, u + (q % side - radius) * stride2
        first, second = x[b, :, v:v + size, u:u + size], y[b, :, v2:v2 + size, u2:u2 + size]
        out[b, q, i, j] = (first * second if multiplies else abs(first - second)).sum() / (size * size * c)
    return out


def displaced(group):
    for c, o, window, fields, groups, stride, pad, dilation in [(2, 3, (3, 3), 1, 1, 1, 1, 1), (4, 2, (2, 2), 2, 1, 2, 0, 1), (4, 4, (2, 3), 2, 2, 1, 1, 2)]:
        draw = Draw(f"deformable {c} {window}")
        size = [(5 + 2 * pad - (k - 1) * dilation - 1) // stride + 1 for k in window]
        x, w = draw.floats((2, c, 5, 5)), draw.floats((o, c // groups) + window)
        offset = draw.floats((2, fields * window[0] * window[1] * 2, size[0], size[1]), -2.5, 2.5)
        wanted = deformed(*(a.astype("float64") for a in (x, offset, w)), stride, pad, dilation, fields, groups)
        given = attributes(strides=[stride] * 2, padding=[pad] * 2, dilation=[dilation] * 2, deformable_groups=fields, groups=groups)
        group.case("nn.deformable_conv2d", f"nn.deformable_conv2d(%a, %b, %c{given})", [x, offset, w], wanted.astype("float32"),
                   8 * c // groups * window[0] * window[1])
    for shape, size, most, stride1, stride2, pad, multiplies in [((1, 3, 4, 5), 1, 1, 1, 1, 1, True), ((2, 2, 7, 6), 3, 2, 2, 1, 3, True),
                                                                 ((1, 2, 6, 6), 1, 4, 1, 2, 4, False), ((1, 1, 5, 5), 3, 0, 2, 1, 0, False)]:
        draw = Draw(f"correlation {shape} {size}")
        x, y = draw.floats(shape), draw.floats(shape)
        wanted = correlated(x.astype("float64"), y.astype("float64"), size, most, stride1, stride2, pad, multiplies)
        given = attributes(kernel_size=size, max_displacement=most, stride1=stride1, stride2=stride2, padding=[pad] * 2, is_multiply=multiplies)
        group.case("nn.correlation", f"nn.correlation(%a, %b{given})", [x, y], wanted.astype("float32"), size * size * shape[1])


def compressed(dense, rows=1, columns=1):
    """The blocks of a matrix that are not 0, their columns, and where the rows of blocks begin."""
    data, indices, begins = [], [], [0]
    for i in range(dense.shape[0] // rows):
        for j in range(dense.shape[1] // columns):
            block = dense[i * rows:(i + 1) * rows, j * columns:(j + 1) * columns]
            if block.any():
                data.append(block)
                indices.append(j)
        begins.append(len(indices))
    return np.array(data, dense.dtype), np.array(indices, "int32"), np.array(begins, "int32")


def sparse(group):
    for m, n, k, rows, columns in [(3, 4, 5, 1, 1), (2, 6, 8, 2, 4), (1, 3, 3, 1, 1), (4, 4, 6, 2, 3)]:
        draw = Draw(f"sparse {m} {n} {k}")
        mask = np.kron(draw.bools((n // rows, k // columns), 0.4), np.ones((rows, columns)))
        x, w = draw.floats((m, k)), (draw.floats((n, k)) * mask).astype("float32")
        data, indices, begins = compressed(w, rows, columns)
        data = data.reshape(-1) if rows * columns == 1 else data
        wanted = rounded(exact(x) @ exact(w).T)
        group.case("nn.sparse_dense", "nn.sparse_dense(%a, %b, %c, %d)", [x, data, indices, begins], wanted, k)
        group.case("nn.sparse_dense", "nn.sparse_dense(%a, %b, %c, %d, sparse_lhs=True)", [x, data, indices, begins], np.ascontiguousarray(wanted.T), k)
    for n in (1, 4, 9):
        draw = Draw(f"sparse transpose {n}")
        w = (draw.floats((n, n)) * draw.bools((n, n), 0.5)).astype("float32")
        data, indices, begins = compressed(w)
        for part, wanted in enumerate(compressed(np.ascontiguousarray(w.T))):
            group.case("nn.sparse_transpose", f"nn.sparse_transpose(%a, %b, %c).{part}", [data.reshape(-1), indices, begins],
                       wanted.reshape(-1))
    for shape, count in [((5,), 3), ((3, 4), 5), ((2, 3, 2), 4), ((4,), 0)]:
        draw = Draw(f"sparse to dense {shape}")
        places = np.stack([draw.ints((count,), 0, extent - 1) for extent in shape], 1).astype("int32")
        for values in (draw.floats((count,)), np.array(np.float32(2.5))):
            wanted = np.full(shape, np.float32(-1))
            for m in range(count):
                wanted[tuple(places[m])] = values[m] if values.ndim else values
            group.case("sparse_to_dense", f"sparse_to_dense(%a, %b, -1.0{attributes(output_shape=list(shape))})", [places, values], wanted)
            if len(shape) == 1:
                group.case("sparse_to_dense", f"sparse_to_dense(%a, %b, -1.0{attributes(output_shape=list(shape))})", [places[:, 0], values], wanted)
    group.case("sparse_to_dense", "sparse_to_dense(%a, 7, 0, output_shape=[4])", [np.array(2, "int64")], np.array([0, 0, 7, 0], "int32"))


MAKERS = [layouts, blocked_convolutions, displaced, sparse]
