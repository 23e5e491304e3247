"""References of the operators in stdlib/scan.relay: running results and scatters, in plain loops over NumPy arrays."""

import numpy as np

from reference_groups import Draw, attributes


def running(group):
    for name, function in (("cumsum", np.cumsum), ("cumprod", np.cumprod)):
        draw = Draw(name)
        for shape, axis in [((5,), 0), ((5,), None), ((3, 4), 1), ((3, 4), 0), ((3, 4), None), ((2, 3, 17), -1),
                            ((2, 3, 17), 1), ((0, 3), 0), ((0, 3), 1), ((), None), ((1, 1), -1)]:
            for a, dtype in ((draw.floats(shape), None), (draw.ints(shape, -2, 2), None), (draw.ints(shape, -3, 3, "int8"), "int64")):
                exact = a.astype("float64") if a.dtype.kind == "f" else a.astype(dtype or a.dtype)
                result = np.asarray(function(exact, axis=axis, dtype=exact.dtype))
                start = 0 if name == "cumsum" else 1
                along = 0 if axis is None else axis
                moved = np.moveaxis(result, along, 0)
                before = np.concatenate([np.full_like(moved[:1], start), moved[:-1]]) if len(moved) else moved
                given = {} if axis is None else {"axis": axis}
                if dtype:
                    given["dtype"] = dtype
                terms = result.shape[along]
                for exclusive, value in ((False, result), (True, np.moveaxis(before, 0, along))):
                    more = dict(given, exclusive=True) if exclusive else given
                    group.case(name, f"{name}(%a{attributes(**more)})", [a], value.astype(dtype or a.dtype), max(terms, 1))


STEPS = {"update": lambda old, new: new, "add": lambda old, new: old + new, "mul": lambda old, new: old * new,
         "max": max, "min": min}


def scatters(group):
    draw = Draw("scatter_elements")
    for shape, part, axis in [((5,), (3,), 0), ((3, 4), (2, 4), 0), ((3, 4), (3, 7), 1), ((2, 3, 4), (1, 5, 2), -2), ((4,), (0,), 0)]:
        for reduction, step in STEPS.items():
            data, updates = draw.ints(shape), draw.ints(part)
            extent = shape[axis]
            indices = draw.ints(part, -extent, extent - 1, "int64")
            result = data.copy()
            for at in np.ndindex(*part):
                to = list(at)
                to[axis] = indices[at] % extent
                result[tuple(to)] = step(result[tuple(to)], updates[at])
            given = attributes(axis=axis) if axis else ""
            given += attributes(reduction=reduction) if reduction != "update" else ""
            group.case("scatter_elements", f"scatter_elements(%a, %b, %c{given})", [data, indices, updates], result)
    draw = Draw("scatter_nd")
    for shape, places, depth in [((5,), (3,), 1), ((3, 4), (2,), 2), ((3, 4), (4,), 1), ((2, 3, 4), (2, 2), 2), ((2, 2), (), 1), ((3,), (0,), 1)]:
        for mode, step in STEPS.items():
            data, updates = draw.ints(shape), draw.ints(places + shape[depth:])
            indices = np.stack([draw.ints(places, 0, shape[k] - 1) for k in range(depth)])
            result = data.copy()
            for at in np.ndindex(*updates.shape):
                to = tuple(indices[(slice(None),) + at[:len(places)]]) + at[len(places):]
                result[to] = step(result[to], updates[at])
            given = attributes(mode=mode) if mode != "update" else ""
            group.case("scatter_nd", f"scatter_nd(%a, %b, %c{given})", [data, indices, updates], result)


def reversed_sums(group):
    draw = Draw("reversed cumsum")
    for shape, axis in [((5,), 0), ((3, 4), 1), ((2, 3, 17), -1), ((0, 3), 1)]:
        a = draw.floats(shape)
        flip = lambda v: np.flip(v, axis)
        for exclusive in (False, True):
            result = flip(np.cumsum(flip(a.astype("float64")), axis=axis))
            if exclusive:
                result = result - a
            more = ", exclusive=True" if exclusive else ""
            group.case("cumsum", f"reverse(cumsum(reverse(%a, axis={axis}), axis={axis}{more}), axis={axis})", [a],
                       np.ascontiguousarray(result).astype("float32"), max(shape[axis], 1))
