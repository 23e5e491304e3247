"""References of the operators on matrices (stdlib/matrix.relay) and arrays (stdlib/array.relay), and their gradients."""

import numpy as np
import torch

from reference_groups import Draw, attributes, exact, text


def diagonal_places(n, m, low, high, above, below):
    """Row-major places of a matrix after `matrix_set_diag`: those of the diagonals come behind the matrix's own."""
    length = lambda k: min(n + min(k, 0), m - max(k, 0))
    longest = max(length(k) for k in range(low, high + 1))
    places = np.arange(n * m).reshape(n, m)
    for k in range(low, high + 1):
        shift = longest - length(k) if (above if k >= 0 else below) else 0
        for j in range(length(k)):
            places[j + max(-k, 0), j + max(k, 0)] = n * m + (high - k) * longest + j + shift
    return places, longest


# Calls of floats: the operator, shapes of its operands, the call's text, its function and how many terms a result adds up.
CALLS = []


def call(name, shapes, expression, function, terms=1):
    CALLS.append((name, shapes, expression, function, terms))


for shape in [(3, 4), (4, 2), (2, 3, 3), (0, 3)]:
    for k in (0, 1, -1, 5):
        call("tril", [shape], f"tril(%a, k={k})", lambda x, k=k: torch.tril(x, k))
        call("triu", [shape], f"triu(%a, k={k})", lambda x, k=k: torch.triu(x, k))
        call("trilu", [shape], f"trilu(%a, {k})", lambda x, k=k: torch.triu(x, k))
        call("trilu", [shape], f"trilu(%a, {k}, upper=False)", lambda x, k=k: torch.tril(x, k))
for shape in [(3,), (1,), (3, 4), (4, 2), (3, 3)]:
    for k in (0, 1, -2):
        if len(shape) == 1 or -shape[0] <= k <= shape[1]:
            call("diag", [shape], f"diag(%a, k={k})", lambda x, k=k: torch.diag(x, k))
for shape in [(3, 3), (2, 4), (2, 3, 2)]:
    for k in (0, 1, -1):
        call("trace", [shape], f"trace(%a, k={k})", lambda x, k=k: torch.diagonal(x, k, -2, -1).sum(-1), 3)
call("outer", [(3,), (4,)], "outer(%a, %b)", torch.outer)
call("outer", [(1,), (17,)], "outer(%a, %b)", torch.outer)
for shape, axis in [((3,), -1), ((2, 3), 1), ((3, 4), 0), ((2, 3, 2), -2)]:
    call("cross", [shape, shape], f"cross(%a, %b, axis={axis})", lambda x, y, k=axis: torch.cross(x, y, k), 2)
for s, r in [((2,), (3,)), ((2, 3), (2, 2)), ((1, 2, 2), (3, 1, 2))]:
    call("kron", [s, r], "kron(%a, %b)", torch.kron)
for (n, m), low, high, above, below in [((3, 4), 0, 0, True, False), ((4, 3), -1, -1, True, False), ((3, 3), -1, 1, True, False),
                                        ((4, 5), -2, 1, False, True), ((3, 5), 1, 3, False, False), ((5, 3), -4, -2, True, True)]:
    places, longest = diagonal_places(n, m, low, high, above, below)
    diagonal = (longest,) if low == high else (high - low + 1, longest)
    given = attributes(k1=low, k2=high, super_diag_right_align=above, sub_diag_right_align=below)
    for batch in ((), (2,)):
        def placed(x, d, p=torch.from_numpy(places), b=batch):
            return torch.cat([x.reshape(b + (-1,)), d.reshape(b + (-1,))], -1)[..., p]
        call("matrix_set_diag", [batch + (n, m), batch + diagonal], f"matrix_set_diag(%a, %b{given})", placed)
for shape, axes in [((4,), None), ((2, 3), None), ((2, 3), [1]), ((2, 3, 4), [0, -1]), ((2, 0), [1])]:
    given = attributes(axis=axes) if axes else ""
    call("flip", [shape], f"flip(%a{given})", lambda x, a=axes: torch.flip(x, a or list(range(x.ndim))))
for shape, shift, axes in [((5,), [2], None), ((2, 3), [-1], None), ((2, 3), [1, -5], [0, 1]), ((2, 3, 4), [7], [-1]), ((3, 2), [1, 1], [0, 0])]:
    given = attributes(axis=axes) if axes else ""
    call("roll", [shape], f"roll(%a, shift={text(shift)}{given})",
         lambda x, s=shift, a=axes: torch.roll(x, s, a) if a else torch.roll(x, s[0]))
for shapes in [[(3,)], [(2,), (3,)], [(2,), (1,), (4,)]]:
    names = ", ".join("%" + n for n, _ in zip("abc", shapes)) + ","
    for indexing in ("ij", "xy"):
        for part in range(len(shapes)):
            call("meshgrid", shapes, f'meshgrid(({names}), indexing="{indexing}").{part}',
                 lambda *x, i=indexing, p=part: torch.meshgrid(*x, indexing=i)[p])
call("reshape_like", [(2, 6), (3, 4)], "reshape_like(%a, %b)", lambda x, y: x.reshape(y.shape) + 0 * y)
call("reshape_like", [(2, 6), (5, 3, 2)], "reshape_like(%a, %b, lhs_begin=1, rhs_begin=1)", lambda x, y: x.reshape(2, 3, 2) + 0 * y.sum())
call("reshape_like", [(2, 3, 4), (1, 6, 1)], "reshape_like(%a, %b, lhs_end=2, rhs_begin=1, rhs_end=2)", lambda x, y: x.reshape(6, 4) + 0 * y.sum())
call("slice_like", [(3, 4), (2, 3)], "slice_like(%a, %b)", lambda x, y: x[:2, :3] + 0 * y)
call("slice_like", [(3, 4), (9, 1)], "slice_like(%a, %b, axes=[-1])", lambda x, y: x[:, :1] + 0 * y.sum())
for shape, axis, window, strides in [((7,), 0, [3], [2]), ((2, 5, 4), 1, [2, 3], [1, 1]), ((4, 5), -1, [2], [3])]:
    def windows(x, a=axis, w=window, s=strides):
        a = a % x.ndim
        for k in range(len(w)):
            x = x.unfold(a + k, w[k], s[k])
        return x
    call("sliding_window", [shape], f"sliding_window(%a, axis={axis}{attributes(window_shape=window, strides=strides)})", windows)
for shape, axes in [((5,), None), ((3, 4), [1]), ((2, 3, 4), [0, -1]), ((2, 3), None)]:
    over = axes or list(range(len(shape)))
    for keep in (False, True):
        given = (attributes(axis=axes) if axes else "") + (attributes(keepdims=True) if keep else "")
        call("logsumexp", [shape], f"logsumexp(%a{given})", lambda x, a=over, k=keep: torch.logsumexp(x, a, k), 12)
        for unbiased in (False, True):
            call("std", [shape], f"std(%a{given}{attributes(unbiased=unbiased)})", lambda x, a=over, k=keep, u=unbiased: torch.std(x, a, unbiased=u, keepdim=k), 24)
        for p in (2.0, 1.0, 3.0, 0.5, np.inf, -np.inf):
            call("norm", [shape], f"norm(%a{given}{attributes(p=p)})", lambda x, a=over, k=keep, p=p: torch.linalg.vector_norm(x, p, a, k), 24)
for shape, axis in [((5,), 0), ((4, 3), 0), ((3, 6), -1), ((2, 3, 5), 1), ((7,), None), ((2, 4), None)]:
    given = attributes(axis=axis) if axis is not None else ""
    call("median", [shape], f"median(%a{given})", lambda x, k=axis: torch.median(x) if k is None else torch.median(x, k)[0])
call("median", [(4, 3)], "median(%a, axis=0, keepdims=True)", lambda x: torch.median(x, 0, keepdim=True)[0])
for s, r in [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3,)), ((3,), (5, 3, 2)), ((5, 2, 3), (3, 4)),
             ((2, 3), (5, 3, 4)), ((5, 2, 3), (5, 3, 1)), ((4, 1, 2, 3), (5, 3, 2)), ((1, 5, 1, 3), (4, 1, 3, 2)), ((2, 0), (0, 3)), ((0, 2, 3), (3, 2))]:
    call("matmul", [s, r], "matmul(%a, %b)", torch.matmul, s[-1])

for shape, q, axis in [((5,), (), None), ((3, 4), (3,), 0), ((3, 4), (2,), -1), ((2, 3, 5), (), 1), ((2, 4), (2,), None), ((1,), (3,), 0)]:
    levels = np.linspace(0.1, 0.95, max(int(np.prod(q)), 1)).reshape(q).astype("float32")
    for interpolation in ("linear", "lower", "higher", "nearest", "midpoint"):
        for keep in (False, True):
            given = (attributes(axis=axis) if axis is not None else "") + attributes(keepdims=keep, interpolation=interpolation)
            given = f"quantile(%a, cast({levels.tolist()}, dtype=\"float32\"){given})"
            call("quantile", [shape], given, lambda x, v=levels, a=axis, k=keep, i=interpolation:
                 torch.quantile(x, exact(v), dim=a, keepdim=k, interpolation=i))
for extent in (2, 4, 6):  # between two elements
    call("quantile", [(extent,)], 'quantile(%a, 0.5, interpolation="nearest")', lambda x: torch.quantile(x, 0.5, interpolation="nearest"))
for shape, to in [((2, 3), (1, 3)), ((2, 3), (3,)), ((2, 3), ()), ((4, 2, 3), (2, 1)), ((2, 3), (2, 3)), ((2, 1, 3), (1, 1, 1))]:
    call("collapse_sum_to", [shape], f"collapse_sum_to(%a, shape={list(to)})", lambda x, r=to: x.sum_to_size(r), 12)
    call("collapse_sum_like", [shape, to], "collapse_sum_like(%a, %b)", lambda x, y: x.sum_to_size(y.shape) + 0 * y, 12)
    call("broadcast_to_like", [to, shape], "broadcast_to_like(%a, %b)", lambda x, y: x.expand(y.shape) + 0 * y)
for source, target, shape, moved in [("NCHW", "NHWC", (1, 2, 3, 2), lambda x: x.permute(0, 2, 3, 1)), ("HWIO", "OIHW", (2, 3, 1, 2), lambda x: x.permute(3, 2, 0, 1)),
                                     ("NCHW", "NCHW4c", (2, 8, 1, 3), lambda x: x.reshape(2, 2, 4, 1, 3).permute(0, 1, 3, 4, 2)),
                                     ("NCHW4c", "NHWC", (2, 2, 1, 3, 4), lambda x: x.permute(0, 2, 3, 1, 4).reshape(2, 1, 3, 8)),
                                     ("NC6c", "NC4c", (2, 2, 6), lambda x: x.reshape(2, 3, 4)),
                                     ("OIHW", "OIHW2i3o", (3, 4, 1, 2), lambda x: x.reshape(1, 3, 2, 2, 1, 2).permute(0, 2, 4, 5, 3, 1))]:
    call("layout_transform", [shape], f"layout_transform(%a{attributes(src_layout=source, dst_layout=target)})", moved)


def calls(group):
    for name, shapes, expression, function, terms in CALLS:
        draw = Draw("arrays " + expression)
        inputs = [draw.floats(s) for s in shapes]
        group.case(name, expression, inputs, np.array(function(*map(exact, inputs)).numpy(), "float32", order="C"), terms)
    large = np.array([[1000.0, 999.0, -1000.0], [-1000.0, -1001.0, -np.inf], [-np.inf] * 3, [np.inf, 0.0, 1.0]], dtype="float32")
    group.case("logsumexp", "logsumexp(%a, axis=[1])", [large], torch.logsumexp(exact(large), 1).numpy().astype("float32"), 3)
    zeros = np.array([[0.0, 0.0], [0.0, 2.0], [1.0, -1.0]], dtype="float32")
    for p in (0.0, 2.0, 3.0, 1.0):
        group.case("norm", f"norm(%a, axis=[1], p={p})", [zeros], torch.linalg.vector_norm(exact(zeros), p, 1).numpy().astype("float32"), 2)
    a = Draw("arrays median").ints((3, 8))
    group.case("median", "median(%a, axis=1)", [a], torch.median(exact(a), 1)[0].numpy())


def making(group):
    for n, m, k in [(3, 3, 0), (2, 4, 1), (4, 2, -1), (3, 3, 5), (0, 2, 0), (1, 1, 0)]:
        group.case("eye", f"eye({n}, {m}, k={k})", [], np.eye(n, m, k, "float32"))
    group.case("eye", 'eye(3, dtype="int64")', [], torch.eye(3, dtype=torch.int64).numpy())
    for start, stop, num in [(0.0, 1.0, 5), (-2.5, 3.0, 8), (1.0, -1.0, 2), (4.0, 9.0, 1), (0.0, 1.0, 0), (0.1, 0.7, 33)]:
        for dtype in ("float32", "float64"):
            values = torch.linspace(start, stop, num, dtype=torch.float64).numpy()
            group.case("linspace", f'linspace({start}, {stop}, num={num}, dtype="{dtype}")', [], values.astype(dtype), 4)
            values = np.linspace(start, stop, num, endpoint=False)
            group.case("linspace", f'linspace({start}, {stop}, num={num}, endpoint=False, dtype="{dtype}")', [], values.astype(dtype), 4)


def sequences(group):
    draw = Draw("sequences")
    for shape, extents in [((7,), (2, 3, 4)), ((2, 3), (5,)), ((), (3, 2)), ((0,), (2, 2))]:
        i = draw.ints(shape, 0, int(np.prod(extents)) - 1)
        wanted = np.stack([np.asarray(c) for c in np.unravel_index(i, extents)]).astype("int32")
        group.case("unravel_index", "unravel_index(%a, %b)", [i, np.array(extents, "int32")], wanted)
    for count in (0, 1, 9):
        order = draw.rng.permutation(count).astype("int32")
        group.case("invert_permutation", "invert_permutation(%a)", [order], np.argsort(order).astype("int32"))
    for sequence, values in [((6,), (4,)), ((6,), (2, 3)), ((2, 5), (2, 4)), ((0,), (3,)), ((2, 3, 4), (2, 3, 2))]:
        a, v = np.sort(draw.ints(sequence, -4, 4), -1).astype("float32"), draw.ints(values, -5, 5).astype("float32")
        for right in (False, True):
            wanted = torch.searchsorted(exact(a), exact(v), right=right).numpy()
            group.case("searchsorted", f"searchsorted(%a, %b, right={right})", [a, v], wanted.astype("int32"))
    group.case("searchsorted", 'searchsorted(%a, %b, dtype="int64")', [a, v], torch.searchsorted(exact(a), exact(v)).numpy())
    for name, inputs, expression, function in SEQUENCES:
        group.case(name, expression, inputs, function(*map(exact, inputs)).numpy().astype("float32"))


def masked(x, lengths, axis, value):
    positions = torch.arange(x.shape[axis])
    inside = positions[:, None] < lengths[None, :] if axis == 0 else positions[None, :] < lengths[:, None]
    return torch.where(inside.reshape(inside.shape + (1,) * (x.ndim - 2)), x, torch.tensor(value, dtype=x.dtype))


def turned(x, lengths, along):
    rows = [torch.cat([row[:n].flip(0), row[n:]]) for row, n in zip(x.transpose(0, 1) if along == 0 else x, lengths.tolist())]
    return torch.stack(rows, 1 - along)


SEQUENCES = []
for number, (shape, axis, value) in enumerate([((4, 3), 0, 0.0), ((3, 4), 1, -1.0), ((2, 5, 3), 1, 0.0), ((5, 2, 2), 0, 2.5)]):
    drawn = Draw(f"sequences {number}")
    inputs = [drawn.floats(shape), drawn.ints((shape[1 - axis],), 0, shape[axis])]
    SEQUENCES.append(("sequence_mask", inputs, f"sequence_mask(%a, %b{attributes(axis=axis, mask_value=value)})", lambda x, n, k=axis, v=value: masked(x, n, k, v)))
    SEQUENCES.append(("reverse_sequence", inputs, f"reverse_sequence(%a, %b, seq_axis={axis}, batch_axis={1 - axis})", lambda x, n, k=axis: turned(x, n, k)))
for shape, cut, bounds in [((7,), np.s_[1:6:2], ([1], [6], [2])), ((7,), np.s_[-2:-7:-2], ([-2], [-7], [-2])), ((4, 5), np.s_[1:3], ([1], [3], [1])),
                           ((4, 5), np.s_[0:9, 1:4], ([0, 1], [9, 4], [1])), ((3, 4), np.s_[::-1, -1:0:-2], ([9, -1], [-9, 0], [-1, -2])), ((4,), np.s_[3:1], ([3], [1], [1]))]:
    drawn = Draw(f"strided_set {bounds}")
    a = drawn.floats(shape)
    v = drawn.floats(np.zeros(shape)[cut].shape)

    def written(x, y, *_, c=cut):
        places = torch.arange(x.numel()).reshape(x.shape).numpy()[c].reshape(-1).copy()
        return x.reshape(-1).index_put((torch.from_numpy(places),), y.reshape(-1)).reshape(x.shape)

    SEQUENCES.append(("strided_set", [a, v] + [np.array(b, "int32") for b in bounds], "strided_set(%a, %b, %c, %d, %e)", written))
for shape, places in [((5,), [(3,)]), ((4, 3), [(2,), (2,)]), ((4, 3), [(2, 2)]), ((3, 4, 2), [(2, 1), (3,)]), ((3, 4, 2), [(), (2,), (1,)])]:
    drawn = Draw(f"adv_index {shape} {places}")
    inputs = [drawn.floats(shape)] + [drawn.ints(s, 0, shape[k] - 1) for k, s in enumerate(places)]
    names = ", ".join("%" + n for n, _ in zip("abcdef", inputs))
    SEQUENCES.append(("adv_index", inputs, f"adv_index(({names}))", lambda x, *i: x[tuple(v.long() for v in i)]))


def counting(group):
    draw = Draw("counting")
    for shape, bins, bounds in [((20,), 5, None), ((4, 6), 7, (-2.0, 1.0)), ((9,), 3, (0.0, 3.0)), ((3,), 4, None)]:
        a = draw.floats(shape) if bins != 3 else draw.ints(shape, -1, 4).astype("float32")
        a = np.full(shape, 1.5, "float32") if bins == 4 else a
        counts, edges = np.histogram(a.astype("float64"), bins, bounds)
        given = attributes(bins=bins, **({"range": list(bounds)} if bounds else {}))
        group.case("histogram", f"histogram(%a{given}).0", [a], counts.astype("int32"))
        group.case("histogram", f"histogram(%a{given}).1", [a], edges.astype("float32"), 4)
    # Below an edge, where the quotient is rounded to it.
    below = np.nextafter(np.array([-0.5, 0.5, -1.5], "float32"), np.float32(-9))
    group.case("histogram", "histogram(%a, bins=6, range=[-2.0, 1.0]).0", [below], np.histogram(below.astype("float64"), 6, (-2.0, 1.0))[0].astype("int32"))
    for a, least in [(draw.ints((12,), 0, 6), 0), (draw.ints((3,), 0, 2), 9), (np.zeros(0, "int32"), 3), (draw.ints((5,), 0, 4, "int64"), 2)]:
        group.case("bincount", f"bincount(%a, minlength={least})", [a], np.bincount(a, minlength=least).astype("int32"))
    a = np.array([1.0, 1.0, 1.0, np.inf, np.inf, np.nan, 0.0, 1.0, 1e-9], "float32")
    b = np.array([1.0, 1.00001, 1.1, np.inf, -np.inf, np.nan, 1e-9, np.inf, 2e-8], "float32")
    for given in ({}, dict(equal_nan=True), dict(rtol=0.2), dict(rtol=0.0, atol=1e-8), dict(atol=1e-4, rtol=0.0)):
        group.case("isclose", f"isclose(%a, %b{attributes(**given)})", [a, b], np.isclose(a.astype("float64"), b.astype("float64"), **given))
        for x, y in [(a, b), (a[:2], b[:2]), (a[:4], b[0:1]), (a[5:6], b[5:6]), (a[7:8], b[7:8])]:
            group.case("allclose", f"allclose(%a, %b{attributes(**given)})", [x, y], np.array(np.allclose(x.astype("float64"), y.astype("float64"), **given)))
    for shape in [(7,), (3, 4), (2, 3, 2), (0, 3)]:
        a = draw.ints(shape, -1, 1)
        group.case("nonzero", "nonzero(%a)", [a], np.stack(np.nonzero(a)).astype("int32"))
        group.case("ndarray_size", "ndarray_size(%a)", [a], np.array(a.size, "int32"))
        group.case("shape_of", 'shape_of(%a, dtype="int64")', [a], np.array(shape, "int64"))


def occurrences(tokens, gram, skips):
    """How often a gram is in a list of tokens, from each place on at each distance; with one token there is one distance."""
    spans = [slice(at, at + (len(gram) - 1) * step + 1, step) for step in range(1, (skips if len(gram) > 1 else 0) + 2) for at in range(len(tokens))]
    return sum(tokens[span] == gram for span in spans if span.stop <= len(tokens))


def grams(group):
    draw = Draw("grams")
    for shape, count, length, skips in [((12,), 5, 2, 0), ((30,), 9, 2, 5), ((3, 15), 4, 3, 2), ((2, 8), 3, 1, 3), ((2, 2, 6), 2, 2, 1),
                                        ((4,), 3, 5, 0), ((6,), 2, 2, 40), ((0,), 2, 1, 0), ((0, 3), 2, 2, 1), ((5,), 0, 2, 0)]:
        for dtype in ("int32", "int64"):
            a, b = draw.ints(shape, 0, 2, dtype), draw.ints((count, length), 0, 2, dtype)
            wanted = [occurrences(row, gram, skips) for row in a.reshape(int(np.prod(shape[:-1])), shape[-1]).tolist() for gram in b.tolist()]
            group.case("text.ngram_counts", f"text.ngram_counts(%a, %b{attributes(max_skips=skips)})", [a, b],
                       np.array(wanted, "int32").reshape(shape[:-1] + (count,)))


def apart(draw, shape):
    """Elements that are all different, and none of them 0."""
    count = int(np.prod(shape))
    return draw.rng.permutation(np.linspace(-2, 2, 2 * count + 2)[1::2][:count]).reshape(shape).astype("float32")


def gradients(group):
    for name, shapes, expression, function, _ in CALLS:
        if 0 in shapes[0]:
            continue
        draw = Draw("gradients arrays " + expression)
        group.gradient(name, expression, [apart(draw, s) for s in shapes], function, 64)
    for name, inputs, expression, function in SEQUENCES:
        group.gradient(name, expression, inputs, function)
    # Where all are 0 the norm is given a slope of 0.
    zeros = np.array([[0.0, 0.0], [0.0, 2.0]], dtype="float32")
    group.gradient("norm", "norm(%a, axis=[1])", [zeros], lambda x: torch.linalg.vector_norm(x, 2.0, 1), 2)


MAKERS = [calls, making, sequences, counting, grams]
