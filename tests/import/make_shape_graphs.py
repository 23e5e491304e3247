"""Shapes, places, products and images of TensorFlow: /usr/bin/python3 tests/import/make_shape_graphs.py."""

from graph_cases import Cases, Known, channels_first, floats  # isort: skip
import numpy as np
import torch
from graph_file import Graph, Type


def shapes():
    cases = Cases()
    x = floats(2, 3, 4)
    cases.of("Reshape", "Reshape", [x, Known([-1, 6])], x.reshape(-1, 6))
    one = floats(1, 1)
    cases.of("Reshape_scalar", "Reshape", [one, Known(np.zeros(0, np.int32))], one[0, 0])
    cases.of("Squeeze", "Squeeze", [x[:1, :, :1]], x[0, :, 0], squeeze_dims=[])
    cases.of("Squeeze_axes", "Squeeze", [x[:1, :, :1]], x[0, :, :1], squeeze_dims=[0])
    cases.of("ExpandDims", "ExpandDims", [x, Known(-1)], x[..., None])
    cases.of("Transpose", "Transpose", [x, Known([2, 0, 1])], x.transpose(2, 0, 1))
    cases.of("ConcatV2", "ConcatV2", [x, x * 2, Known(-1)], np.concatenate([x, x * 2], -1), N=2)
    cases.of("Concat", "Concat", [Known(1), x, x * 2], np.concatenate([x, x * 2], 1), N=2)
    cases.of("Split", "Split", [Known(2), x], *np.split(x, 2, 2), num_split=2)
    cases.of("SplitV", "SplitV", [x, Known([1, -1]), Known(2)], x[..., :1], x[..., 1:], num_split=2)
    cases.of("Pack", "Pack", [x, x * 2], np.stack([x, x * 2]), axis=0, N=2)
    cases.of("Pack_last", "Pack", [x, x * 2], np.stack([x, x * 2], -1), axis=-1, N=2)
    cases.of("Pack_one", "Pack", [x], x[:, None], axis=1, N=1)
    cases.of("Unpack", "Unpack", [x], *x.transpose(1, 0, 2), axis=1, num=3)
    cases.of("Tile", "Tile", [x, Known([1, 2, 1])], np.tile(x, (1, 2, 1)))
    cases.of("Fill", "Fill", [Known([2, 3]), one.reshape(())], np.full((2, 3), one[0, 0]))
    cases.of("Fill_number", "Fill", [Known([2, 3]), Known(7)], np.full((2, 3), 7, np.int32))
    cases.of("Range", "Range", [Known(2), Known(11), Known(3)], np.arange(2, 11, 3, dtype=np.int32))
    cases.of("Range_at_run_time", "Range", [np.array(5, np.int32), Known(1), Known(-2)], np.arange(5, 1, -2, dtype=np.int32))
    cases.of("LinSpace", "LinSpace", [Known(1.0), Known(3.0), Known(5)], np.linspace(1, 3, 5, dtype=np.float32))
    cases.of("BroadcastTo", "BroadcastTo", [x[:, :1], Known([5, 2, 3, 4])], np.broadcast_to(x[:, :1], (5, 2, 3, 4)))
    cases.of("Shape", "Shape", [x], np.int32(x.shape))
    cases.of("Shape_int64", "Shape", [x], np.int64(x.shape), out_type=Type("int64"))
    cases.of("ShapeN", "ShapeN", [x, x[0]], np.int32(x.shape), np.int32(x.shape[1:]), N=2)
    cases.of("Size", "Size", [x], np.int32(24))
    cases.of("Rank", "Rank", [x], np.int32(3))
    blocks = floats(2, 4, 6, 3)
    cases.of("SpaceToDepth", "SpaceToDepth", [blocks],
             blocks.reshape(2, 2, 2, 3, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(2, 2, 3, 12), block_size=2)
    deep = floats(2, 2, 3, 12)
    wanted = deep.reshape(2, 2, 3, 2, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(2, 4, 6, 3)
    cases.of("DepthToSpace", "DepthToSpace", [deep], wanted, block_size=2)
    cases.of("DepthToSpace_nchw", "DepthToSpace", [channels_first(deep)], channels_first(wanted), block_size=2, data_format="NCHW")
    padded_blocks = np.pad(blocks, ((0, 0), (0, 0), (2, 1), (0, 0)))
    batches = padded_blocks.reshape(2, 2, 2, 3, 3, 3).transpose(2, 4, 0, 1, 3, 5).reshape(12, 2, 3, 3)
    cases.of("SpaceToBatchND", "SpaceToBatchND", [blocks, Known([2, 3]), Known(np.int32([[0, 0], [2, 1]]))], batches)
    cases.of("BatchToSpaceND", "BatchToSpaceND", [batches, Known([2, 3]), Known(np.int32([[0, 0], [2, 1]]))], blocks)

    # What a model computes of shapes is not in its text.
    graph = Graph()
    data = graph.input("x", x, (-1, 3, 4))
    batch = graph.add("StridedSlice", graph.add("Shape", data), graph.constant([0]), graph.constant([1]), graph.constant([1]),
                      shrink_axis_mask=1)
    pair = graph.add("Pack", batch, graph.add("Mul", graph.constant(3), graph.constant(4)), axis=0, N=2)
    graph.add("Reshape", data, pair, name="result")
    cases.add("Reshape_by_shape", graph, x.reshape(2, 12))

    def sliced(name, begin, end, strides, index, **masks):
        cases.of(f"StridedSlice_{name}", "StridedSlice", [x, Known(begin), Known(end), Known(strides)], x[index], **masks)

    sliced("plain", [0, 1], [2, 3], [1, 1], np.s_[0:2, 1:3])
    sliced("negative", [0, -2, -1], [2, -1, -4], [1, 1, -2], np.s_[0:2, -2:-1, -1:-4:-2])
    sliced("begin_mask", [9, 1], [1, 3], [1, 1], np.s_[:1, 1:3], begin_mask=1)
    sliced("end_mask", [0, 1], [1, 0], [1, 1], np.s_[0:1, 1:], end_mask=2)
    sliced("reversed", [0, 0, 0], [0, 0, 0], [1, -1, 1], np.s_[:, ::-1, :], begin_mask=7, end_mask=7)
    sliced("shrink", [1, 0], [2, 3], [1, 1], np.s_[1, 0:3], shrink_axis_mask=1)
    sliced("shrink_last", [0, -1], [0, 0], [1, 1], np.s_[..., -1], ellipsis_mask=1, shrink_axis_mask=2)
    sliced("new_axis", [0, 0, 1], [0, 2, 3], [1, 1, 1], np.s_[None, 0:2, 1:3], new_axis_mask=1)
    sliced("ellipsis", [0, 0, 1], [1, 0, 3], [1, 1, 1], np.s_[0:1, ..., 1:3], ellipsis_mask=2)
    sliced("all_masks", [1, 0, 0, 1], [0, 0, 0, 3], [1, 1, 1, 1], np.s_[1, ..., None, 1:3], shrink_axis_mask=1, ellipsis_mask=2,
           new_axis_mask=4)
    sliced("beyond", [0, 1], [100, 100], [1, 2], np.s_[0:100, 1:100:2])
    graph = Graph()
    data, at = graph.input("x", x), graph.input("place", np.array(1, np.int32))
    begin = graph.add("Pack", at, axis=0, N=1)
    end = graph.add("Pack", graph.add("Add", at, graph.constant(1)), axis=0, N=1)
    graph.add("StridedSlice", data, begin, end, graph.constant([1]), name="result", shrink_axis_mask=1)
    cases.add("StridedSlice_at_run_time", graph, x[1])
    cases.of("Slice", "Slice", [x, Known([0, 1, 0]), Known([-1, 2, 3])], x[:, 1:3, :3])
    cases.of("Slice_at_run_time", "Slice", [x, np.int32([1, 0, 2]), Known([1, -1, 2])], x[1:2, :, 2:4])
    cases.of("Pad", "Pad", [x[0], Known(np.int32([[1, 0], [0, 2]]))], np.pad(x[0], ((1, 0), (0, 2))))
    cases.of("PadV2", "PadV2", [x[0], Known(np.int32([[1, 0], [0, 2]])), Known(3.0)],
             np.pad(x[0], ((1, 0), (0, 2)), constant_values=3))
    cases.of("MirrorPad_reflect", "MirrorPad", [x[0], Known(np.int32([[1, 2], [0, 2]]))],
             np.pad(x[0], ((1, 2), (0, 2)), mode="reflect"), mode="REFLECT")
    cases.of("MirrorPad_symmetric", "MirrorPad", [x[0], Known(np.int32([[1, 2], [0, 2]]))],
             np.pad(x[0], ((1, 2), (0, 2)), mode="symmetric"), mode="SYMMETRIC")
    cases.write("shapes")


def indices():
    cases = Cases()
    x, t = floats(3, 4, 5), torch.from_numpy
    at = np.int32([[2, 0], [1, 1]])
    cases.of("Gather", "Gather", [x, at], x[at])
    cases.of("GatherV2", "GatherV2", [x, at, Known(1)], x[:, at])
    cases.of("GatherV2_constant", "GatherV2", [x, Known([3, 0]), Known(1)], x[:, [3, 0]], batch_dims=0)
    cases.of("GatherV2_batch", "GatherV2", [x, np.int32([[3, 0], [1, 1], [2, 3]]), Known(1)],
             np.stack([x[k, row] for k, row in enumerate([[3, 0], [1, 1], [2, 3]])]), batch_dims=1)
    cases.of("GatherNd", "GatherNd", [x, np.int32([[2, 1], [0, 3]])], x[[2, 0], [1, 3]])
    places, rows = np.int32([[1], [3], [1]]), floats(3, 2)
    wanted = np.zeros((5, 2), np.float32)
    np.add.at(wanted, places[:, 0], rows)
    cases.of("ScatterNd", "ScatterNd", [places, rows, Known([5, 2])], wanted)
    start = floats(5, 2)
    written = start.copy()
    written[[3, 0]] = rows[:2]
    cases.of("TensorScatterUpdate", "TensorScatterUpdate", [start, np.int32([[3], [0]]), rows[:2].copy()], written)
    added = start.copy()
    np.add.at(added, places[:, 0], rows)
    cases.of("TensorScatterAdd", "TensorScatterAdd", [start, places, rows], added)
    labels = np.int32([[1, 3], [-1, 0]])
    hot = np.where(labels[..., None] == np.arange(3), np.float32(5), np.float32(-1))
    cases.of("OneHot", "OneHot", [labels, Known(3), Known(5.0), Known(-1.0)], hot)
    cases.of("OneHot_axis", "OneHot", [labels, Known(3), Known(5.0), Known(-1.0)], np.moveaxis(hot, -1, 0), axis=0)
    values, order = torch.topk(t(x), 2)
    cases.of("TopKV2", "TopKV2", [x, Known(2)], values.numpy(), order.numpy().astype(np.int32), sorted=True)
    cases.of("TopK", "TopK", [x], values.numpy(), order.numpy().astype(np.int32), k=2)
    cases.of("ArgMax", "ArgMax", [x, Known(-1)], x.argmax(-1))
    cases.of("ArgMax_int32", "ArgMax", [x, Known(1)], x.argmax(1).astype(np.int32), output_type=Type("int32"))
    cases.of("ArgMin", "ArgMin", [x, Known(0)], x.argmin(0))
    functions = {"Sum": np.sum, "Mean": np.mean, "Prod": np.prod, "Max": np.max, "Min": np.min}
    for op, function in functions.items():
        cases.of(op, op, [x, Known([0, -1])], function(x, (0, 2)))
        cases.of(f"{op}_keeps", op, [x, Known(1)], function(x, 1, keepdims=True), keep_dims=True)
    cases.of("Sum_of_none", "Sum", [x, Known(np.zeros(0, np.int32))], x)
    mask = x > 0
    cases.of("All", "All", [mask, Known([2])], mask.all(2))
    cases.of("Any", "Any", [mask, Known([2])], mask.any(2), keep_dims=False)
    cases.of("Cumsum", "Cumsum", [x, Known(1)], np.cumsum(x, 1))
    shifted = np.concatenate([np.zeros((3, 1, 5), np.float32), np.cumsum(x, 1)[:, :-1]], 1)
    cases.of("Cumsum_exclusive", "Cumsum", [x, Known(1)], shifted, exclusive=True)
    cases.of("Cumsum_reverse", "Cumsum", [x, Known(1)], np.cumsum(x[:, ::-1], 1)[:, ::-1], reverse=True)
    cases.of("Cumprod", "Cumprod", [x, Known(-1)], np.cumprod(x, -1))
    cases.of("ReverseV2", "ReverseV2", [x, Known([0, -1])], x[::-1, :, ::-1])
    lengths = np.int32([2, 4, 1])
    cases.of("ReverseSequence", "ReverseSequence", [x, lengths],
             np.stack([np.concatenate([row[:n][::-1], row[n:]]) for row, n in zip(x, lengths)]), seq_dim=1, batch_dim=0)
    cases.of("Where", "Where", [mask[0]], np.argwhere(mask[0]))
    cases.of("InvertPermutation", "InvertPermutation", [np.int32([2, 0, 3, 1])], np.int32([1, 3, 0, 2]))
    square = floats(2, 4, 4)
    band = np.triu(np.tril(square, 2), -1)
    cases.of("MatrixBandPart", "MatrixBandPart", [square, Known(1), Known(2)], band)
    cases.of("MatrixBandPart_lower", "MatrixBandPart", [square, Known(-1), Known(0)], np.tril(square))
    cases.write("indices")


def products():
    cases = Cases()
    a, b = floats(3, 4), floats(4, 5)
    for name, left, right, flags in (("plain", a, b, {}), ("first", a.T, b, {"transpose_a": True}),
                                     ("second", a, b.T, {"transpose_b": True}),
                                     ("both", a.T, b.T, {"transpose_a": True, "transpose_b": True})):
        cases.of(f"MatMul_{name}", "MatMul", [left.copy(), right.copy()], a @ b, **flags)
    a, b = floats(2, 3, 4), floats(2, 4, 5)
    turned = b.transpose(0, 2, 1).copy()
    cases.of("BatchMatMul", "BatchMatMul", [a, b], a @ b)
    cases.of("BatchMatMulV3", "BatchMatMulV3", [a, b], a @ b)
    cases.of("BatchMatMulV2_adj_y", "BatchMatMulV2", [a, turned], a @ b, adj_y=True)
    cases.of("BatchMatMulV2_adj_x", "BatchMatMulV2", [a.transpose(0, 2, 1).copy(), b], a @ b, adj_x=True)
    heads = floats(2, 2, 3, 4)
    cases.of("BatchMatMulV2_heads", "BatchMatMulV2", [heads, heads], heads @ heads.transpose(0, 1, 3, 2), adj_y=True)
    matrix = floats(4, 2)
    cases.of("BatchMatMulV2_broadcast", "BatchMatMulV2", [heads, matrix], heads @ matrix)
    cases.of("Einsum", "Einsum", [a, b], np.einsum("bij,bjk->bik", a, b), equation="bij,bjk->bik", N=2)
    cases.of("Einsum_ellipsis", "Einsum", [heads, heads], np.einsum("...ij,...kj->...ik", heads, heads),
             equation="...ij,...kj->...ik", N=2)
    cases.write("products")


def resized(x, size, position, nearest=None):
    """Along height and width: at `position(k, ratio, extents)`, by the neighbours or the one that `nearest` picks."""
    for axis in (1, 2):
        extent, new = x.shape[axis], size[axis - 1]
        at = np.array([position(k, extent, new) for k in range(new)])
        if nearest:
            x = np.take(x, np.clip(nearest(at), 0, extent - 1).astype(int), axis)
            continue
        low = np.floor(at)
        share = (at - low).astype(np.float32).reshape([-1 if k == axis else 1 for k in range(4)])
        take = lambda places: np.take(x, np.clip(places, 0, extent - 1).astype(int), axis)
        x = take(low) * (1 - share) + take(low + 1) * share
    return x


def images():
    cases = Cases()
    x = floats(1, 4, 5, 2)

    def corners(k, extent, new):
        return k * (extent - 1) / (new - 1)

    def middles(k, extent, new):
        return (k + 0.5) * extent / new - 0.5

    def edges(k, extent, new):
        return k * extent / new

    for size in ((7, 3), (8, 10)):
        name = f"{size[0]}_{size[1]}"
        for kind, position, flags in (("corners", corners, {"align_corners": True}), ("edges", edges, {}),
                                      ("middles", middles, {"half_pixel_centers": True})):
            # Before the first element is the first.
            wanted = resized(x, size, lambda *of: max(position(*of), 0))
            cases.of(f"ResizeBilinear_{kind}_{name}", "ResizeBilinear", [x, Known(list(size))], wanted, **flags)
            picks = {"corners": lambda at: np.floor(at + 0.5), "edges": np.floor, "middles": lambda at: np.floor(at + 0.5)}
            cases.of(f"ResizeNearest_{kind}_{name}", "ResizeNearestNeighbor", [x, Known(list(size))],
                     resized(x, size, position, picks[kind]), **flags)
    whole = np.arange(12, dtype=np.int32).reshape(1, 3, 4, 1)
    cases.of("ResizeBilinear_int", "ResizeBilinear", [whole, Known([6, 4])], resized(whole.astype(np.float32), (6, 4), edges))
    boxes = np.float32([[0.1, 0.2, 0.9, 0.7], [0, 0, 1, 1]])
    wanted = []
    for y1, x1, y2, x2 in boxes:
        rows = [y1 * 3 + k * (y2 - y1) * 3 / 2 for k in range(3)]
        columns = [x1 * 4 + k * (x2 - x1) * 4 for k in range(2)]
        crop = np.zeros((3, 2, 2), np.float32)
        for i, r in enumerate(rows):
            for j, c in enumerate(columns):
                low, left = int(np.floor(r)), int(np.floor(c))
                high, right = min(low + 1, 3), min(left + 1, 4)
                fr, fc = r - low, c - left
                crop[i, j] = ((x[0, low, left] * (1 - fc) + x[0, low, right] * fc) * (1 - fr)
                              + (x[0, high, left] * (1 - fc) + x[0, high, right] * fc) * fr)
        wanted.append(crop)
    cases.of("CropAndResize", "CropAndResize", [x, boxes, np.int32([0, 0]), Known([3, 2])], np.stack(wanted))
    cases.write("images")


for family in (shapes, indices, products, images):
    family()
