"""References of the operators whose sizes are tensors (stdlib/dyn.relay, stdlib/dyn_images.relay): PyTorch's and NumPy's."""

import numpy as np
import torch
import torch.nn.functional as F

from reference_groups import Draw, attributes, exact, rounded


def sizes(values, dtype="int64"):
    return np.array(values, dtype)


def shapes(group):
    for shape in [(2, 3), (4,), (2, 0, 3), (1, 2, 2, 2)]:
        for name, function in [("zeros", np.zeros), ("ones", np.ones)]:
            group.case(f"dyn.{name}", f"dyn.{name}(%a)", [sizes(shape)], function(shape, "float32"))
            group.case(f"dyn.{name}", f'dyn.{name}(%a, dtype="int32")', [sizes(shape, "int32")], function(shape, "int32"))
        group.case("dyn.full", "dyn.full(%a, %b)", [np.array(np.float32(2.5)), sizes(shape)], np.full(shape, np.float32(2.5)))
        group.case("dyn.full", 'dyn.full(%a, %b, dtype="int32")', [np.array(np.float32(2.5)), sizes(shape)], np.full(shape, 2, "int32"))
    for shape, wanted in [((2, 1), (2, 3)), ((3,), (2, 3)), ((), (2, 2)), ((1, 2, 1), (4, 3, 2, 5))]:
        x = Draw(f"dyn broadcast {shape}").floats(shape)
        group.case("dyn.broadcast_to", "dyn.broadcast_to(%a, %b)", [x, sizes(wanted)], np.broadcast_to(x, wanted))
    for shape, new, wanted in [((2, 3, 4), [6, 4], (6, 4)), ((2, 3, 4), [-1], (24,)), ((2, 3, 4), [0, -1], (2, 12)), ((2, 3, 4), [4, 0, -1], (4, 3, 2)),
                               ((2, 3, 4), [-3, 4], (6, 4)), ((2, 3, 4, 5), [-3, -3], (6, 20)), ((2, 3, 4), [0, -3], (2, 12)),
                               ((2, 3, 4), [6, 1, -1], (6, 1, 4)), ((2, 3, 4), [-3, -1, 2], (6, 2, 2)), ((0, 3), [3, 0], (3, 0))]:
        x = Draw(f"dyn reshape {shape}").floats(shape)
        given = ", allowzero=True" if shape[0] == 0 else ""
        group.case("dyn.reshape", f"dyn.reshape(%a, %b{given})", [x, sizes(new)], x.reshape(wanted))
        group.case("vm.reshape_tensor", "vm.reshape_tensor(%a, %b)", [x, sizes(wanted)], x.reshape(wanted))
    for shape, axes in [((1, 2, 1), [0]), ((1, 2, 1), [0, 2]), ((1, 2, 1), [-1]), ((3, 1, 4), [1])]:
        x = Draw(f"dyn squeeze {shape}").floats(shape)
        group.case("dyn.squeeze", "dyn.squeeze(%a, %b)", [x, sizes(axes)], np.squeeze(x, tuple(axes)))
    for shape, axis in [((2, 3), 0), ((2, 3), 2), ((2, 3), -1), ((2, 3), -3), ((), 0)]:
        x = Draw(f"dyn expand {shape}").floats(shape)
        group.case("dyn.expand_dims", "dyn.expand_dims(%a, %b)", [x, np.array(axis, "int32")], np.expand_dims(x, axis))
    for shape, times in [((2, 3), [2, 2]), ((2, 3), [3]), ((3,), [2, 1, 2]), ((2, 2), [0, 2])]:
        x = Draw(f"dyn tile {shape}").floats(shape)
        group.case("dyn.tile", "dyn.tile(%a, %b)", [x, sizes(times)], np.tile(x, times))


def parts(group):
    for shape, begin, end, strides in [((5, 6), [1, 2], [4, 6], [1, 2]), ((5, 6), [-2], [9], [1]), ((5, 6), [4, -1], [0, -7], [-1, -2]),
                                       ((7,), [-20], [20], [3]), ((4, 2, 3), [0, 1], [0, 2], [1, 1]), ((6,), [5], [-20], [-2])]:
        x = Draw(f"dyn slice {shape}").floats(shape)
        wanted = x[tuple(slice(b, e, s) for b, e, s in zip(begin, end, strides))]
        group.case("dyn.strided_slice", "dyn.strided_slice(%a, %b, %c, %d)", [x, sizes(begin), sizes(end), sizes(strides)], wanted)
        if min(begin) >= 0 and min(end) >= 0 and min(strides) > 0:
            count = [max(0, -(-(min(e, n) - b) // s)) for b, e, s, n in zip(begin, end, strides, shape)]
            group.case("dyn.sliced", "dyn.sliced(%a, %b, %c, %d)", [x, sizes(begin), sizes(strides), sizes(count)], wanted)
    x = Draw("dyn slice by size").floats((5, 6))
    group.case("dyn.strided_slice", 'dyn.strided_slice(%a, %b, %c, %d, slice_mode="size")', [x, sizes([1, 2]), sizes([3, -1]), sizes([1, 1])], x[1:4, 2:])
    for shape, depth, axis in [((3,), 4, -1), ((2, 3), 3, 0), ((2, 3), 2, 1)]:
        at = Draw(f"dyn one hot {shape}").ints(shape, 0, depth - 1, "int64")
        wanted = np.moveaxis(F.one_hot(torch.from_numpy(at), depth).numpy(), -1, axis).astype("float32")
        group.case("dyn.one_hot", f"dyn.one_hot(%a, 1f, 0f, %b{attributes(axis=axis)})", [at, np.array(depth, "int32")], wanted)
    for shape, k, axis, ascend in [((7,), 3, -1, False), ((4, 5), 2, 0, False), ((4, 5), 4, 1, True), ((3,), 3, 0, True)]:
        x = Draw(f"dyn topk {shape}").floats(shape)
        values, at = torch.topk(torch.from_numpy(x), k, axis, largest=not ascend)
        given = attributes(axis=axis, is_ascend=ascend)
        group.case("dyn.topk", f"dyn.topk(%a, %b{given}).0", [x, np.array(k, "int64")], values.numpy())
        group.case("dyn.topk", f"dyn.topk(%a, %b{given}).1", [x, np.array(k, "int64")], at.numpy().astype("int32"))
        group.case("dyn.topk", f'dyn.topk(%a, %b, ret_type="values"{given})', [x, np.array(k, "int32")], values.numpy())
    for shape in [(4, 3), (2, 3, 2)]:
        draw = Draw(f"dyn sparse {shape}")
        places = np.stack(np.unravel_index(draw.rng.choice(int(np.prod(shape)), 4, False), shape), 1).astype("int32")
        values = draw.floats((4,))
        wanted = torch.sparse_coo_tensor(places.T.astype("int64"), values, shape).to_dense().numpy()
        group.case("dyn.sparse_to_dense", "dyn.sparse_to_dense(%a, %b, 0f, %c)", [places, values, sizes(shape)], wanted)


def images(group):
    for shape, width, mode in [((2, 3), [[1, 0], [0, 2]], "constant"), ((3, 4), [[2, 1], [1, 3]], "reflect"), ((3, 4), [[2, 1], [1, 3]], "edge"), ((0, 2), [[1, 1], [0, 0]], "constant")]:
        x = Draw(f"dyn pad {shape}").floats(shape)
        wanted = np.pad(x, width, mode, **({"constant_values": 2.5} if mode == "constant" else {}))
        group.case("dyn.nn.pad", f'dyn.nn.pad(%a, %b, %c{attributes(pad_mode=mode)})', [x, sizes(width), np.array(np.float32(2.5))], wanted)
    for size in [(3, 8), (7, 2), (4, 6)]:
        x = Draw(f"dyn resize {size}").floats((1, 2, 4, 5))
        for method, mode, torchs in [("linear", "half_pixel", dict(mode="bilinear", align_corners=False)), ("linear", "align_corners", dict(mode="bilinear", align_corners=True)),
                                     ("nearest_neighbor", "asymmetric", dict(mode="nearest"))]:
            wanted = rounded(F.interpolate(exact(x), size, **torchs))
            group.case("dyn.image.resize2d", f"dyn.image.resize2d(%a, %b, %c{attributes(method=method, coordinate_transformation_mode=mode)})",
                       [x, sizes(size), np.zeros((1,), "float32")], wanted, 4)
    for scale in [(2.0, 3.0), (0.5, 1.5), (1.0, 2.0)]:
        x = Draw(f"dyn upsampling {scale}").floats((1, 2, 4, 6))
        size = [round(n * s) for n, s in zip(x.shape[2:], scale)]
        given = [x, np.array(np.float32(scale[0])), np.array(np.float32(scale[1]))]
        for method, corners, torchs in [("nearest_neighbor", False, dict(mode="nearest")), ("bilinear", False, dict(mode="bilinear", align_corners=False)),
                                        ("bilinear", True, dict(mode="bilinear", align_corners=True))]:
            wanted = rounded(F.interpolate(exact(x), size, **torchs))
            more = attributes(method=method, align_corners=corners)
            group.case("dyn.nn.upsampling", f"dyn.nn.upsampling(%a, %b, %c{more})", given, wanted, 4)
            group.case("dyn.nn.upsampling", f'dyn.nn.upsampling(%a, %b, %c, layout="NHWC"{more})', [np.ascontiguousarray(x.transpose(0, 2, 3, 1))] + given[1:],
                       np.ascontiguousarray(wanted.transpose(0, 2, 3, 1)), 4)
        x = Draw(f"dyn upsampling3d {scale}").floats((1, 1, 2, 4, 2))
        size = [round(n * s) for n, s in zip(x.shape[2:], (2.0,) + scale)]
        for method, mode, torchs in [("nearest_neighbor", "half_pixel", dict(mode="nearest")), ("trilinear", "half_pixel", dict(mode="trilinear", align_corners=False)),
                                     ("trilinear", "align_corners", dict(mode="trilinear", align_corners=True))]:
            group.case("dyn.nn.upsampling3d", f"dyn.nn.upsampling3d(%a, 2.0, %b, %c{attributes(method=method, coordinate_transformation_mode=mode)})",
                       [x] + given[1:], rounded(F.interpolate(exact(x), size, **torchs)), 8)


MAKERS = [shapes, parts, images]
