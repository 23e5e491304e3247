"""References of the norms of groups (stdlib/norm.relay), of the pools along one axis and the adaptive ones
(stdlib/pool.relay), and of what spreads elements in space (stdlib/space.relay), and their gradients."""

import numpy as np
import torch
import torch.nn.functional as F

from reference_groups import Draw, attributes, exact, text


def moved(tensor):
    return torch.movedim(tensor, -1, 1)


def rms_norm(x, g, axis, epsilon):
    shape = [-1 if k == axis % x.ndim else 1 for k in range(x.ndim)]
    return x / torch.sqrt(x.pow(2).mean(axis, keepdim=True) + epsilon) * g.reshape(shape)


def group_norm(x, g, b, groups, epsilon=1e-5, scale=True, center=True):
    channels = [1, -1] + [1] * (x.ndim - 2)
    normal = F.group_norm(x, groups, eps=epsilon)
    normal = normal * g.reshape(channels) if scale else normal
    return normal + b.reshape(channels) if center else normal


def average(x, pool_size, strides=(1,), padding=(0,), ceil_mode=False, count_include_pad=False):
    return F.avg_pool1d(x, pool_size[0], strides[0], padding[0], ceil_mode, count_include_pad)


def largest(x, pool_size, strides=(1,), padding=(0,), dilation=(1,), ceil_mode=False):
    return F.max_pool1d(x, pool_size[0], strides[0], padding[0], dilation[0], ceil_mode)


def picked(x, places, value=0.0):
    """The elements of x at places in row-major order, the value where that is -1."""
    flat = torch.cat([x.reshape(-1), torch.full((1,), value, dtype=x.dtype)])
    return flat[torch.from_numpy(np.ascontiguousarray(places))]


def places_of(shape):
    return np.arange(int(np.prod(shape))).reshape(shape)


def to_batch(places, block, paddings):
    m = len(block)
    places = np.pad(places, [[0, 0]] + paddings + [[0, 0]] * (places.ndim - 1 - m), constant_values=-1)
    n, rest = places.shape[0], places.shape[1 + m:]
    split = [d for k in range(m) for d in (places.shape[1 + k] // block[k], block[k])]
    order = [2 + 2 * k for k in range(m)] + [0] + [1 + 2 * k for k in range(m)] + [1 + 2 * m + k for k in range(len(rest))]
    return places.reshape([n] + split + list(rest)).transpose(order).reshape([n * int(np.prod(block))] + split[::2] + list(rest))


def to_space(places, block, crops):
    m = len(block)
    n, rest = places.shape[0] // int(np.prod(block)), places.shape[1 + m:]
    order = [m] + [d for k in range(m) for d in (m + 1 + k, k)] + [2 * m + 1 + k for k in range(len(rest))]
    whole = places.reshape(list(block) + [n] + list(places.shape[1:])).transpose(order)
    whole = whole.reshape([n] + [places.shape[1 + k] * block[k] for k in range(m)] + list(rest))
    return whole[(slice(None),) + tuple(slice(a, whole.shape[1 + k] - b) for k, (a, b) in enumerate(crops))]


def dilated(places, strides):
    whole = np.full([(e - 1) * s + 1 for e, s in zip(places.shape, strides)], -1)
    whole[tuple(slice(None, None, s) for s in strides)] = places
    return whole


def largest_places(x, pool_size, strides, dilation, padding, ceil_mode):
    """Of each window the place of its largest element, the first of equal ones; -1 where a window has none."""
    d = x.ndim - 2
    behind = [strides[j] - 1 if ceil_mode else 0 for j in range(d)]
    around = [(0, 0), (0, 0)] + [(padding[j], padding[j + d] + behind[j]) for j in range(d)]
    places = np.pad(places_of(x.shape), around, constant_values=-1)
    counts = [(places.shape[j + 2] - (pool_size[j] - 1) * dilation[j] - 1) // strides[j] + 1 for j in range(d)]
    found = np.full(x.shape[:2] + tuple(counts), -1, "int64")
    for at in np.ndindex(found.shape):
        for r in np.ndindex(*pool_size):
            place = places[at[:2] + tuple(at[j + 2] * strides[j] + r[j] * dilation[j] for j in range(d))]
            if place >= 0 and (found[at] < 0 or x.flat[place] > x.flat[found[at]]):
                found[at] = place
    return found


def indices(group):
    for shape, size, strides, dilation, padding, ceil_mode in [
            ((2, 2, 7), [2], [2], [1], [0, 0], False), ((1, 3, 8), [3], [2], [2], [1, 2], True), ((1, 2, 5, 6), [2, 3], [1, 2], [1, 1], [0, 1, 1, 0], False),
            ((2, 2, 6, 5), [2, 2], [2, 3], [2, 1], [1, 1, 1, 1], True), ((1, 2, 3, 4, 3), [2, 2, 2], [1, 2, 2], [1, 1, 1], [0] * 6, False),
            ((1, 1, 3, 3, 4), [2, 1, 3], [2, 1, 1], [1, 1, 1], [1, 0, 1, 1, 1, 1], True), ((1, 1, 3), [1], [1], [1], [2, 1], False), ((0, 2, 4), [2], [1], [1], [0, 0], False)]:
        given = attributes(pool_size=size, strides=strides, dilation=dilation, padding=padding, ceil_mode=ceil_mode)
        draw = Draw("indices" + given)
        for a in (draw.floats(shape), draw.ints(shape, 0, 2), draw.ints(shape, -128, -126, "int8"), np.full(shape, -np.inf, "float32")):
            group.case("nn.max_pool_indices", f"nn.max_pool_indices(%a{given})", [a], largest_places(a, size, strides, dilation, padding, ceil_mode))


# Calls: the operator, shapes of its operands, the call's text, its function and how many terms a result adds up.
CALLS = []
for shape, groups, given in [((2, 4, 5), 2, {}), ((2, 6, 2, 3), 3, dict(epsilon=0.01)), ((1, 3, 4), 3, dict(scale=False)),
                             ((2, 4, 3), 1, dict(center=False)), ((3, 4), 2, dict(epsilon=0.1))]:
    CALLS.append(("nn.group_norm", [shape, shape[1:2], shape[1:2]], f"nn.group_norm(%a, %b, %c{attributes(num_groups=groups, **given)})",
                  lambda x, g, b, n=groups, o=given: group_norm(x, g, b, n, **o), 64))
for shape, axis in [((3, 5), -1), ((2, 3, 8), 2), ((2, 3, 4), 1)]:
    CALLS.append(("nn.rms_norm", [shape, (shape[axis],)], f"nn.rms_norm(%a, %b, axis={axis}, epsilon=0.001)",
                  lambda x, g, k=axis: rms_norm(x, g, k, 1e-3), 64))
for shape, given in [((1, 2, 7), dict(pool_size=[2])), ((2, 3, 9), dict(pool_size=[3], strides=[2], padding=[1])),
                     ((1, 1, 8), dict(pool_size=[3], strides=[2], ceil_mode=True)), ((1, 2, 9), dict(pool_size=[2], dilation=[3])),
                     ((1, 2, 6), dict(pool_size=[2], strides=[2], padding=[1], count_include_pad=True))]:
    for name, function, other in (("nn.avg_pool1d", average, "dilation"), ("nn.max_pool1d", largest, "count_include_pad")):
        if other not in given:
            CALLS.append((name, [shape], f"{name}(%a{attributes(**given)})", lambda x, f=function, o=given: f(x, **o), 3))
            back = (shape[0], shape[2], shape[1])
            CALLS.append((name, [back], f"{name}(%a{attributes(**given, layout='NWC')})",
                          lambda x, f=function, o=given: torch.movedim(f(moved(x), **o), 1, -1), 3))
for shape, size in [((1, 2, 6), [3]), ((2, 1, 7), [3]), ((1, 1, 3), [5]), ((1, 2, 9), [1])]:
    for name, function in (("nn.adaptive_avg_pool1d", F.adaptive_avg_pool1d), ("nn.adaptive_max_pool1d", F.adaptive_max_pool1d)):
        CALLS.append((name, [shape], f"{name}(%a, output_size={text(size)})", lambda x, f=function, s=size: f(x, s[0]), 9))
for shape, size in [((1, 2, 4, 2, 6), [2, 2, 3]), ((1, 1, 5, 3, 4), [3, 2, 3]), ((2, 1, 2, 3, 2), [1, 1, 1])]:
    for name, function in (("nn.adaptive_avg_pool3d", F.adaptive_avg_pool3d), ("nn.adaptive_max_pool3d", F.adaptive_max_pool3d)):
        CALLS.append((name, [shape], f"{name}(%a, output_size={text(size)})", lambda x, f=function, s=size: f(x, s), 16))
for shape, scale in [((1, 2, 2, 3, 2), (1, 2, 3)), ((2, 1, 1, 2, 3), (3, 1, 2))]:
    given = attributes(**{name: float(s) for name, s in zip(("scale_d", "scale_h", "scale_w"), scale)})
    nearest = lambda x, s=scale: F.interpolate(x, scale_factor=tuple(map(float, s)), mode="nearest")
    CALLS.append(("nn.upsampling3d", [shape], f"nn.upsampling3d(%a{given})", nearest, 8))
    CALLS.append(("nn.upsampling3d", [(shape[0],) + shape[2:] + shape[1:2]], f'nn.upsampling3d(%a{given}, layout="NDHWC")',
                  lambda x, f=nearest: torch.movedim(f(moved(x)), 1, -1), 8))
    for mode, aligned in (("half_pixel", False), ("align_corners", True)):
        CALLS.append(("nn.upsampling3d", [shape], f'nn.upsampling3d(%a{given}, method="trilinear", coordinate_transformation_mode="{mode}")',
                      lambda x, s=scale, a=aligned: F.interpolate(x, scale_factor=tuple(map(float, s)), mode="trilinear", align_corners=a), 8))
for shape, width in [((4,), [[2, 3]]), ((3, 4), [[1, 2], [2, 0]]), ((2, 1, 5), [[0, 1], [0, 0], [4, 1]])]:
    for mode in ("SYMMETRIC", "REFLECT"):
        places = np.pad(places_of(shape), width, mode.lower())
        CALLS.append(("nn.mirror_pad", [shape], f'nn.mirror_pad(%a, pad_width={text(width)}, mode="{mode}")', lambda x, p=places: picked(x, p), 8))
for shape, block, paddings, value in [((2, 4, 6), [2, 3], [[0, 0], [0, 0]], 0.0), ((1, 3, 4, 2), [2, 2], [[1, 0], [0, 2]], 1.5),
                                      ((3, 5), [3], [[2, 2]], 0.0), ((2, 2, 3), [1, 1], [[0, 0], [1, 0]], 0.0)]:
    places = to_batch(places_of(shape), block, paddings)
    given = attributes(block_shape=block, paddings=paddings, **(dict(pad_value=value) if value else {}))
    CALLS.append(("nn.space_to_batch_nd", [shape], f"nn.space_to_batch_nd(%a{given})", lambda x, p=places, v=value: picked(x, p, v), 4))
for shape, block, crops in [((12, 2, 2), [2, 3], [[0, 0], [0, 0]]), ((4, 3, 2, 3), [2, 2], [[1, 0], [0, 2]]), ((6, 2), [3], [[2, 1]])]:
    places = to_space(places_of(shape), block, crops)
    given = attributes(block_shape=block, crops=crops)
    CALLS.append(("nn.batch_to_space_nd", [shape], f"nn.batch_to_space_nd(%a{given})", lambda x, p=places: picked(x, p), 4))
for shape, strides, value in [((3,), [2], 0.0), ((2, 3), [3, 1], 0.0), ((2, 1, 3), [1, 2, 4], 0.5)]:
    given = attributes(strides=strides, **(dict(dilation_value=value) if value else {}))
    places = dilated(places_of(shape), strides)
    CALLS.append(("nn.dilate", [shape], f"nn.dilate(%a{given})", lambda x, p=places, v=value: picked(x, p, v), 4))


def apart(draw, shape):
    """Elements that are all different."""
    count = int(np.prod(shape))
    return draw.rng.permutation(np.linspace(-2, 2, count + 1)[:count]).reshape(shape).astype("float32")


def references(group):
    for name, shapes, call, function, terms in CALLS:
        draw = Draw("spaces " + call)
        inputs = [draw.floats(s) for s in shapes]
        group.case(name, call, inputs, np.ascontiguousarray(function(*map(exact, inputs)).numpy().astype("float32")), terms)


def gradients(group):
    for name, shapes, call, function, terms in CALLS:
        draw = Draw("gradients spaces " + call)
        inputs = [apart(draw, shapes[0])] + [draw.floats(s, -1.0, 1.0) for s in shapes[1:]]
        group.gradient(name, call, inputs, function, max(terms, 64))


MAKERS = [references, indices]
