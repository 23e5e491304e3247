"""References of operators that take tensors apart and put them together, of reshape's codes, of slices that go down, and of
the kernels in C++ (stdlib/extern.relay), with NumPy."""

import numpy as np
import torch

from reference_groups import Draw, attributes, text


def parts(group):
    draw = Draw("split")
    for shape, sections, axis in [((6,), 3, 0), ((6,), [2, 5], 0), ((4, 6), 2, 1), ((4, 6), [1], -1), ((4, 6), [3, 3], 0), ((2, 0), 1, 1),
                                  ((5,), [0, 5], 0)]:
        a = draw.floats(shape)
        for k, piece in enumerate(np.split(a, sections, axis)):
            given = attributes(indices_or_sections=sections, **({"axis": axis} if axis else {}))
            group.case("split", f"split(%a{given}).{k}", [a], np.ascontiguousarray(piece))


def shapes(group):
    draw = Draw("reshape codes")
    for shape, new, result in [((2, 3, 4), [-2], (2, 3, 4)), ((2, 3, 4), [6, -2], None), ((2, 3, 4), [-3, 4], (6, 4)),
                               ((2, 3, 4), [0, -3], (2, 12)), ((2, 3, 4, 5), [-3, -3], (6, 20)), ((6, 4), [-4, 2, 3, 4], (2, 3, 4)),
                               ((6, 4), [-4, -1, 3, 0], (2, 3, 4)), ((6, 4), [-4, 2, -1, -2], (2, 3, 4)), ((2, 3, 4), [-4, 1, 2, -2], (1, 2, 3, 4)),
                               ((2, 3, 4), [0, 0, -4, -1, 2], (2, 3, 2, 2)), ((0, 3), [0, -1], (0, 3)), ((2, 0, 4), [0, 0, -1], (2, 0, 4)),
                               ((0, 4, 5), [0, -1], (0, 20)), ((2, 3, 4), [-3, -2], (6, 4)), ((2, 12), [0, -4, 3, -1, -2], (2, 3, 4)),
                               ((2, 3, 4), [4, -1], (4, 6)), ((2, 3), [0, 0, 1], (2, 3, 1))]:
        if result is None:
            continue
        a = draw.ints(shape)
        group.case("reshape", f"reshape(%a, newshape={text(new)})", [a], a.reshape(result))
    draw = Draw("squeeze all")
    for shape in [(1, 3), (3, 1, 2, 1), (1,), (2, 3), (1, 0)]:
        a = draw.floats(shape)
        group.case("squeeze", "squeeze(%a)", [a], np.squeeze(a))
        group.case("squeeze", "squeeze(%a, axis=None)", [a], np.squeeze(a))
    draw = Draw("take flat")
    for shape, places in [((3, 4), (5,)), ((2, 3, 4), (2, 2)), ((), (3,)), ((7,), ())]:
        a, size = draw.floats(shape), int(np.prod(shape, dtype=int))
        for mode, low, high in (("clip", -2, 2), ("wrap", -2 * size, 2 * size), ("fast", 0, -1)):
            i = draw.ints(places, low, size + high)
            at = np.mod(i, size) if mode == "wrap" else np.clip(i, 0, size - 1)
            given = attributes(mode=mode) if mode != "clip" else ""
            group.case("take", f"take(%a, %b{given})", [a, i], a.reshape(-1)[at])
    draw = Draw("slices down")
    for shape, given, cut in [((7,), dict(begin=[6], end=[0], strides=[-1]), np.s_[6:0:-1]),
                              ((7,), dict(begin=[-1], end=[-8], strides=[-2]), np.s_[::-2]),
                              ((7,), dict(begin=[2], end=[5], strides=[-1]), np.s_[2:5:-1]),
                              ((4, 5), dict(begin=[3, 0], end=[-5, 5], strides=[-1, 2]), np.s_[3::-1, 0:5:2]),
                              ((4, 5), dict(begin=[3], end=[0], strides=[-2], axes=[1]), np.s_[:, 3:0:-2]),
                              ((4, 5), dict(begin=[1, 1], end=[2, 3], slice_mode="size"), np.s_[1:3, 1:4]),
                              ((4, 5), dict(begin=[1, 2], end=[-1, 2], slice_mode="size"), np.s_[1:, 2:4]),
                              ((4, 5), dict(begin=[0], end=[9], slice_mode="size"), np.s_[0:9]),
                              ((0, 3), dict(begin=[0], end=[-9], strides=[-1]), np.s_[0:0:-1])]:
        a = draw.floats(shape)
        group.case("strided_slice", f"strided_slice(%a{attributes(**given)})", [a], np.ascontiguousarray(a[cut]))
    draw = Draw("slices written")
    for shape, written, cut in [((7,), "%a[::-1]", np.s_[::-1]), ((7,), "%a[5:1:-2]", np.s_[5:1:-2]), ((7,), "%a[-2::-3]", np.s_[-2::-3]),
                                ((4, 5), "%a[::-1, 1:]", np.s_[::-1, 1:]), ((4, 5), "%a[-1]", np.s_[-1]), ((4, 5), "%a[:, -2]", np.s_[:, -2]),
                                ((4, 5), "%a[9:, :]", np.s_[9:, :]), ((7,), "%a[:-9:-1]", np.s_[:-9:-1])]:
        a = draw.floats(shape)
        group.case("strided_slice", written, [a], np.ascontiguousarray(a[cut]))
    draw = Draw("clip integers")
    for kind, low, high in (("int32", -3, 4), ("int8", -300.5, 2.9), ("int64", -5, 1e18), ("uint8", 3, 200)):
        a = draw.ints((17,), 0 if kind == "uint8" else -9, 9, kind)
        group.case("clip", f"clip(%a, a_min={float(low)!r}, a_max={float(high)!r})", [a],
                   np.clip(a.astype("int64"), int(np.trunc(low)), int(np.trunc(high))).astype(kind))


def order(group):
    draw = Draw("sort")
    rows = [((7,), -1), ((3, 4), 0), ((3, 4), 1), ((2, 3, 5), 1), ((0, 3), 1), ((1,), 0)]
    for shape, axis in rows:
        for a in (draw.floats(shape), draw.ints(shape, -3, 3), draw.ints(shape, 0, 4, "uint8")):
            for up in (True, False):
                positions = np.argsort(a if up else -a.astype("float64"), axis=axis, kind="stable")
                values = np.take_along_axis(a, positions, axis)
                given = attributes(**({"axis": axis} if axis != -1 else {}), **({} if up else {"is_ascend": False}))
                group.case("sort", f"sort(%a{given})", [a], values)
                group.case("argsort", f"argsort(%a{given})", [a], positions.astype("int32"))
                if a.shape[axis] == 0:
                    continue
                for k in (1, 2, 0, 9):
                    count = min(k or a.shape[axis], a.shape[axis])
                    cut = [slice(None)] * a.ndim
                    cut[axis] = slice(0, count)
                    given = attributes(k=k, axis=axis, is_ascend=up)
                    group.case("topk", f"topk(%a{given}).0", [a], np.ascontiguousarray(values[tuple(cut)]))
                    group.case("topk", f'topk(%a{given}, ret_type="indices", dtype="int64")', [a],
                               np.ascontiguousarray(positions[tuple(cut)].astype("int64")))
    draw = Draw("unique")
    for size in (0, 1, 9, 30):
        for a in (draw.ints((size,), -3, 3), draw.ints((size,), 0, 3, "uint8"), draw.ints((size,), -2, 2).astype("float32")):
            for in_order in (True, False):
                distinct(group, a, in_order)
    draw = Draw("argwhere")
    for shape in [(5,), (3, 4), (2, 2, 3), (0, 2)]:
        for a in (draw.bools(shape), draw.ints(shape, -1, 1), draw.bools(shape, 0)):
            group.case("argwhere", "argwhere(%a)", [a], np.argwhere(a).astype("int32"))
    draw = Draw("reinterpret")
    for shape in [(), (5,), (2, 3), (0, 2)]:
        for a, dtype in ((draw.floats(shape), "uint32"), (draw.ints(shape, -9, 9), "float32"), (draw.ints(shape, 0, 255, "uint8"), "int8"),
                         (draw.floats(shape).astype("float64"), "int64"), (draw.ints(shape, 0, 31743, "uint16"), "float16")):
            group.case("reinterpret", f"reinterpret(%a{attributes(dtype=dtype)})", [a], np.asarray(a).view(dtype))


def distinct(group, a, in_order, axis=None):
    """The cases of `unique`: NumPy's results, made as long as the operand."""
    values, first, inverse, counts = np.unique(a, return_index=True, return_inverse=True, return_counts=True, axis=axis)
    if not in_order:
        by = np.argsort(first, kind="stable")
        rank = np.argsort(by, kind="stable")
        values, first, counts, inverse = np.take(values, by, axis or 0), first[by], counts[by], rank[inverse]
    size = len(inverse)
    pad = lambda v, k=0: np.concatenate([v, np.zeros(v.shape[:k] + (size - v.shape[k],) + v.shape[k + 1:], v.dtype)], k)
    results = [pad(values, axis or 0), pad(first), inverse, np.array([values.shape[axis or 0]]), pad(counts)]
    for k, result in enumerate(results):
        given = attributes(**({} if in_order else {"sorted": False}), return_counts=True, **({} if axis is None else {"axis": axis}))
        group.case("unique", f"unique(%a{given}).{k}", [a], np.asarray(result).astype(a.dtype if k == 0 else "int32"))


def slices(group):
    draw = Draw("unique slices")
    for shape, axis in [((6, 2), 0), ((2, 9), 1), ((3, 4, 2), 1), ((12, 2, 2), 0), ((2, 2, 8), -1), ((0, 3), 0), ((3, 4), None), ((2, 3, 2), None)]:
        at = axis if axis is None else axis % len(shape)
        for a in (draw.ints(shape, 0, 1), draw.ints(shape, -1, 0, "int8"), draw.ints(shape, -1, 0).astype("float32")):
            for in_order in (True, False):
                distinct(group, a, in_order, at)


def overlap(a, b):
    def side(k):
        (a0, a1), (b0, b1) = sorted((a[k], a[k + 2])), sorted((b[k], b[k + 2]))
        return max(0.0, min(a1, b1) - max(a0, b0)), a1 - a0, b1 - b0
    (i0, a0, b0), (i1, a1, b1) = side(0), side(1)
    union = a0 * a1 + b0 * b1 - i0 * i1
    return i0 * i1 / union if union > 0 else 0.0


def boxes(group):
    draw = Draw("boxes")
    for batches, count in [(1, 6), (2, 9), (1, 0), (3, 1)]:
        data = np.concatenate([draw.ints((batches, count, 1), -1, 2).astype("float32"), draw.floats((batches, count, 1), 0, 1),
                               draw.ints((batches, count, 4), 0, 12).astype("float32") / 4], axis=2)
        least = np.array(0.3, "float32")
        counts, kept, places = [], np.full_like(data, -1), np.full((batches, count), -1, "int32")
        for n in range(batches):
            at = [i for i in range(count) if data[n, i, 1] > least and data[n, i, 0] >= 0]
            counts.append(len(at))
            kept[n, :len(at)], places[n, :len(at)] = data[n, at], at
        counts = np.array(counts, "int32")
        for k, result in enumerate((counts, kept, places)):
            group.case("vision.get_valid_counts", f"vision.get_valid_counts(%a, %b).{k}", [data, least], result)
        for given in (dict(), dict(force_suppress=True), dict(top_k=3), dict(invalid_to_bottom=True, id_index=-1)):
            for most in (-1, 2):
                stay_data, stay, number = np.full_like(kept, -1), np.full((batches, count), -1, "int32"), []
                for n in range(batches):
                    ranked = sorted(range(counts[n]), key=lambda i: -kept[n, i, 1])
                    ranked = ranked[:given["top_k"]] if "top_k" in given else ranked
                    chosen = []
                    for rank, i in enumerate(ranked):
                        if 0 <= most == len(chosen):
                            break
                        same = lambda j: given.get("force_suppress") or given.get("id_index", 0) < 0 or kept[n, i, 0] == kept[n, j, 0]
                        if any(same(j) and overlap(kept[n, i, 2:], kept[n, j, 2:]) >= 0.5 for _, j in chosen):
                            continue
                        chosen.append((rank, i))
                    number.append([len(chosen)])
                    for place, (rank, i) in enumerate(chosen):
                        stay_data[n, place if given.get("invalid_to_bottom") else rank] = kept[n, i]
                        stay[n, place] = places[n, i]
                operands = [kept, counts, places, np.array(most, "int32"), np.array(0.5, "float32")]
                call = f"vision.non_max_suppression(%a, %b, %c, %d, %e{attributes(**given)}"
                group.case("vision.non_max_suppression", f"{call}, return_indices=False)", operands, stay_data)
                group.case("vision.non_max_suppression", f"{call}).0", operands, stay)
                group.case("vision.non_max_suppression", f"{call}).1", operands, np.array(number, "int32"))


def suppressed(boxes, scores, most, overlap_above, least):
    """ONNX's NonMaxSuppression of one batch: the (class, box) that stay."""
    stay = []
    for c, row in enumerate(scores):
        chosen = []
        for i in np.argsort(-row, kind="stable"):
            if row[i] > least and len(chosen) < most and all(np.float32(overlap(boxes[i], boxes[j])) <= overlap_above for j in chosen):
                chosen.append(i)
        stay += [(c, int(i)) for i in chosen]
    return stay


def classes(group):
    """Boxes have corners of quarters, so that some overlaps equal the threshold."""
    name, draw = "vision.all_class_non_max_suppression", Draw("classes of boxes")
    for batches, kinds, count in [(1, 1, 6), (2, 3, 9), (1, 2, 0), (3, 1, 1), (1, 2, 30)]:
        corners = draw.ints((batches, count, 4), 0, 12).astype("float32") / 4
        low, high = np.minimum(corners[..., :2], corners[..., 2:]), np.maximum(corners[..., :2], corners[..., 2:])
        centers = np.concatenate([((low + high) / 2)[..., ::-1], (high - low)[..., ::-1]], axis=2)
        scores = draw.ints((batches, kinds, count), 0, 20).astype("float32") / 20
        for most, above, least in [(2, 0.5, 0.0), (50, 0.25, 0.3), (0, 0.5, 0.0), (3, 1.0, -np.inf), (50, 0.1, 0.5), (50, 0.0, 0.0)]:
            above, least = np.array(above, "float32"), np.array(least, "float32")
            stay = [suppressed(corners[n], scores[n], most, above, least) for n in range(batches)]
            rows = [(n, *row) for n in range(batches) for row in stay[n]]
            kept = np.zeros((batches * kinds * count, 3), "int64")
            kept[:len(rows)] = np.array(rows, "int64").reshape(-1, 3)
            operands = [corners, scores, np.array(most, "int64"), above, least]
            number = np.array([len(rows)], "int64")
            for given, boxes in (("", corners), (", center_point_box=True", centers)):
                group.case(name, f"{name}(%a, %b, %c, %d, %e{given}).0", [boxes, *operands[1:]], kept)
                group.case(name, f"{name}(%a, %b, %c, %d, %e{given}).1", [boxes, *operands[1:]], number)
            kept = np.zeros((batches, kinds * count, 2), "int64")
            kept_scores, numbers = np.zeros((batches, kinds * count), "float32"), np.array([len(rows) for rows in stay], "int64")
            for n, rows in enumerate(stay):
                kept[n, :len(rows)] = np.array(rows, "int64").reshape(-1, 2)
                kept_scores[n, :len(rows)] = [scores[n][row] for row in rows]
            for k, result in enumerate((kept, kept_scores, numbers)):
                group.case(name, f'{name}(%a, %b, %c, %d, %e, output_format="tensorflow").{k}', operands, result)
    # A threshold that float32 rounds down: the overlap, rounded the same, does not exceed it. A negative number is all.
    boxes = np.array([[[0, 0, 10, 10], [0, 0, 10, 7], [0, 0, 7, 0], [1, 1, 1, 1]]], "float32")
    scores = np.array([[[0.5, 0.25, 0.75, np.nan]]], "float32")
    operands = [boxes, scores, np.array(-1, "int32"), np.array(0.7, "float32"), np.array(0.0, "float32")]
    group.case(name, f"{name}(%a, %b, %c, %d, %e).0", operands, np.array([[0, 0, 2], [0, 0, 0], [0, 0, 1], [0, 0, 0]], "int64"))


EINSUMS = [("ij,jk->ik", [(3, 4), (4, 5)]), ("bij,bkj->bik", [(2, 3, 4), (2, 2, 4)]), ("ii->i", [(4, 4)]),
           ("ij->", [(3, 5)]), ("ij", [(3, 2)]), ("ba", [(3, 2)]), ("ii", [(3, 3)]), ("i,j,k->kji", [(2,), (3,), (4,)]),
           ("bhqd,bhkd->bhqk", [(1, 2, 3, 4), (1, 2, 5, 4)]), ("ij,kj,ij->i", [(3, 0), (2, 0), (3, 0)]),
           ("nchw,ochw->no", [(2, 3, 2, 2), (4, 3, 2, 2)])]


def einsums(group):
    draw = Draw("einsum")
    for equation, shapes in EINSUMS:
        inputs = [draw.floats(s) for s in shapes]
        names = ", ".join(f"%{chr(97 + k)}" for k in range(len(inputs)))
        result = torch.einsum(equation, *[torch.from_numpy(a).double() for a in inputs])
        group.case("einsum", f'einsum(({names},), equation="{equation}")', inputs,
                   np.asarray(result.numpy()).astype("float32"), 12)
