#!/usr/bin/python3
"""Makes the stored references of the library's operators: references/GROUP.txt and references/GROUP.safetensors.

Needs Debian's python3-numpy and python3-torch; the tests read only what it wrote. Deterministic: each operator's
cases draw from a generator seeded by the operator's name.

Results are PyTorch's, computed in float64 from the stored inputs and rounded once to the result's dtype. Where the
semantics of Relay (TVM 0.18) are others, they are Relay's: integer division truncates, a remainder has the dividend's
sign, `round` takes ties away from zero, ties of argmax and argmin go to the lowest position, and the windows of
`ceil_mode` may start in the padding.
"""

import numpy as np
import torch
import torch.nn.functional as F

import reference_activations
import reference_arrays
import reference_dyn
import reference_gradients
import reference_images
import reference_layouts
import reference_linalg
import reference_losses
import reference_math
import reference_models
import reference_packed
import reference_parts
import reference_quantised
import reference_recurrent
import reference_scan
import reference_signals
import reference_spaces
import reference_vision
from reference_groups import Draw, Group, attributes, exact, rounded, text


# --- elementwise ------------------------------------------------------------------------------------------------------

SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-40, -1e-40, 1e-30, 88.0, -88.0, 89.0, -104.0,
                    200.0, -200.0, 3e38, -3e38, 0.5, -0.5], dtype="float32")
TIES = np.array([-3.5, -2.5, -1.5, -0.5, -0.4, 0.0, 0.4, 0.5, 1.5, 2.5, 3.5, 4.5, 8388609.0, 1e20, np.inf, np.nan],
                dtype="float32")
UNARY_SHAPES = [(), (1,), (0,), (17,), (3, 5), (2, 0, 3), (2, 3, 1, 7)]


def half_away(a):
    return torch.sign(a) * torch.floor(torch.abs(a) + 0.5)


def unary(group):
    everywhere = {"tanh": torch.tanh, "sigmoid": torch.sigmoid, "exp": torch.exp, "erf": torch.erf, "sin": torch.sin,
                  "cos": torch.cos, "floor": torch.floor, "ceil": torch.ceil, "trunc": torch.trunc,
                  "round": half_away, "negative": torch.neg, "abs": torch.abs, "sign": torch.sign}
    positive = {"log": torch.log, "sqrt": torch.sqrt, "rsqrt": torch.rsqrt}
    for name, function in {**everywhere, **positive}.items():
        draw = Draw("unary")  # one set of inputs for all of them
        rows = [draw.floats(s, -6.0, 6.0) for s in UNARY_SHAPES]
        rows += [draw.floats((19,), -6.0, 6.0, "float64"), draw.floats((2, 9), -6.0, 6.0, "float16"), SPECIAL]
        if name in positive:
            rows = [np.asarray(np.abs(a)) for a in rows[:-1]] + rows[-1:]
        if name in ("floor", "ceil", "trunc", "round"):
            rows.append(TIES)
        if name in ("sin", "cos"):
            rows[-1] = SPECIAL[np.abs(SPECIAL) < 300]
        if name in ("negative", "abs", "sign"):
            rows += [draw.ints((3, 5)), draw.ints((21,), -128, 127, "int8"), draw.ints((4,), dtype="int64")]
        for a in rows:
            group.case(name, f"{name}(%a)", [a], rounded(function(exact(a)), a.dtype))


PAIRS = [((3, 5), (3, 5)), ((3, 5), (5,)), ((2, 1, 4), (3, 1)), ((), (7,)), ((0, 3), (1, 3)), ((1,), (1,)), ((17,), (17,)),
         ((4, 1), (1, 33)), ((2, 3, 2, 5), (2, 1)), ((), ()), ((2, 0), ())]


def arithmetic(group):
    trunc = lambda a, b: torch.div(a, b, rounding_mode="trunc")
    floor = lambda a, b: torch.div(a, b, rounding_mode="floor")
    operators = {"add": torch.add, "subtract": torch.subtract, "multiply": torch.multiply, "maximum": torch.maximum,
                 "minimum": torch.minimum, "mod": torch.fmod, "floor_mod": torch.remainder, "floor_divide": floor,
                 "divide": lambda a, b: torch.divide(a, b) if a.is_floating_point() else trunc(a, b)}
    infix = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "mod": "%"}
    for name, function in operators.items():
        draw = Draw("arithmetic")
        rows = [(draw.floats(s), draw.floats(r)) for s, r in PAIRS]
        rows += [(draw.floats((3, 3), dtype=d), draw.floats((3,), dtype=d)) for d in ("float64", "float16")]
        rows += [(draw.ints(s, -50, 50), draw.nonzero(r)) for s, r in (((3, 5), (5,)), ((0,), (1,)), ((23,), (23,)))]
        rows += [(draw.ints((4, 5), -128, 127, "int8"), draw.nonzero((5,), 100, "int8")),
                 (draw.ints((17,), 0, 255, "uint8"), draw.ints((17,), 1, 255, "uint8")),
                 (draw.ints((5,), -2**40, 2**40, "int64"), draw.nonzero((5,), 2**20, "int64")),
                 (draw.ints((5,), -2**30, 2**30), draw.nonzero((5,), 2**30))]
        if name in ("maximum", "minimum"):
            rows.append((SPECIAL, SPECIAL[::-1].copy()))
        for k, (a, b) in enumerate(rows):
            form = f"%a {infix[name]} %b" if name in infix and k % 3 == 1 else f"{name}(%a, %b)"
            group.case(name, form, [a, b], rounded(function(exact(a), exact(b)), a.dtype))
    draw = Draw("power")
    for s, r in PAIRS:
        a, b = draw.floats(s, 0.1, 4.0), draw.floats(r)
        group.case("power", "power(%a, %b)", [a, b], rounded(torch.pow(exact(a), exact(b)), "float32"))
    a, b = draw.ints((13,), -5, 5), draw.ints((13,), 0, 4)
    group.case("power", "power(%a, %b)", [a, b], rounded(torch.pow(exact(a), exact(b)), "int32"))


def comparison(group):
    operators = {"less": torch.lt, "less_equal": torch.le, "greater": torch.gt, "greater_equal": torch.ge,
                 "equal": torch.eq, "not_equal": torch.ne}
    for name, function in operators.items():
        draw = Draw("comparison")
        rows = [(draw.ints(s, -1, 1).astype("float32"), draw.ints(r, -1, 1).astype("float32")) for s, r in PAIRS]
        rows += [(draw.ints((3, 5), -1, 1), draw.ints((5,), -1, 1)), (SPECIAL, SPECIAL[::-1].copy()),
                 (draw.ints((17,), 0, 255, "uint8"), draw.ints((17,), 0, 255, "uint8")),
                 (draw.ints((19,), -1, 1).astype("float16"), draw.ints((19,), -1, 1).astype("float16"))]
        for a, b in rows:
            group.case(name, f"{name}(%a, %b)", [a, b], rounded(function(exact(a), exact(b)), "bool"))
    for name, function in {"logical_and": torch.logical_and, "logical_or": torch.logical_or,
                           "logical_xor": torch.logical_xor}.items():
        draw = Draw("logical")
        for s, r in PAIRS:
            a, b = draw.bools(s), draw.bools(r)
            group.case(name, f"{name}(%a, %b)", [a, b], rounded(function(exact(a), exact(b)), "bool"))
    draw = Draw("logical_not")
    for s in UNARY_SHAPES:
        a = draw.bools(s)
        group.case("logical_not", "logical_not(%a)", [a], ~a if a.ndim else np.asarray(not a))


def selection(group):
    draw = Draw("where")
    for c, s, r in [((3, 5),) * 3, ((5,), (3, 5), (3, 1)), ((), (4,), (1,)), ((2, 1), (), (1, 19)), ((0, 1), (3,), ()),
                    ((17,), (17,), (17,))]:
        condition, x, y = draw.bools(c), draw.floats(s), draw.floats(r)
        group.case("where", "where(%a, %b, %c)", [condition, x, y], rounded(torch.where(exact(condition), exact(x), exact(y)), "float32"))
    condition, x, y = draw.bools((2, 9)), draw.ints((9,)), draw.ints((2, 1))
    group.case("where", "where(%a, %b, %c)", [condition, x, y], rounded(torch.where(exact(condition), exact(x), exact(y)), "int32"))
    draw = Draw("clip")
    for s, low, high in [((), -1.0, 1.0), ((17,), -0.5, 2.25), ((3, 5), 0.0, 6.0), ((2, 0), -1.0, 1.0),
                         ((2, 3, 4), -np.inf, 0.0), ((5,), 2.0, 1.0)]:
        a = draw.floats(s)
        group.case("clip", "clip(%a" + attributes(a_min=float(low), a_max=float(high)) + ")", [a],
                   rounded(torch.clamp(exact(a), low, high) if low <= high else torch.full(s, low), "float32"))
    a = np.append(SPECIAL, np.float32(0.25))
    group.case("clip", "clip(%a, a_min=-1.0, a_max=1.0)", [a], rounded(torch.clamp(exact(a), -1.0, 1.0), "float32"))
    draw = Draw("cast")
    names = ["bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64"]
    for k, source in enumerate(names):
        for target in names:
            shape = [(17,), (3, 5), (2, 1, 3), (0,), ()][k % 5]
            if source == "bool":
                a = draw.bools(shape)
            elif source.startswith("float"):
                a = draw.floats(shape, 0.0 if target == "uint8" else -100.0, 100.0, source)
            else:
                a = draw.ints(shape, 0 if source == "uint8" else -100, 100, source)
            tensor = torch.from_numpy(np.array(a))
            group.case("cast", f'cast(%a, dtype="{target}")', [a], tensor.to(getattr(torch, target)).numpy())


# --- reductions -------------------------------------------------------------------------------------------------------

REDUCTIONS = [((), None), ((1,), None), ((17,), [0]), ((3, 5), [0]), ((3, 5), [1]), ((3, 5), [-1]), ((3, 5), None),
              ((33, 2), [0]), ((2, 35), [-1]), ((2, 3, 4), [0, 2]), ((2, 3, 4), [-1, 0]), ((2, 3, 2, 5), [1, 3]),
              ((2, 3, 2, 5), [1, 2, 3]), ((1, 1, 7), [1]), ((2, 3, 17), [1])]
EMPTY = [((0, 3), [0]), ((3, 0), [0]), ((0,), None)]


def reduced_axes(rank, axis, exclude):
    listed = list(range(rank)) if axis is None else sorted(a % rank for a in axis)
    return [k for k in range(rank) if k not in listed] if exclude else listed


def rows_last(a, axes, keepdims):
    """The reduced elements in one last axis (row-major among them), and the shape of the result."""
    kept = [k for k in range(a.ndim) if k not in axes]
    shape = [1 if k in axes else a.shape[k] for k in range(a.ndim)] if keepdims else [a.shape[k] for k in kept]
    count = int(np.prod([a.shape[k] for k in axes], dtype=int))
    rows = np.transpose(a, kept + axes).reshape([a.shape[k] for k in kept] + [count])
    return rows, shape, count


def reduction(group):
    mean = lambda t: torch.mean(t, -1) if t.is_floating_point() else torch.div(torch.sum(t, -1), t.shape[-1],
                                                                               rounding_mode="trunc")
    operators = {"sum": lambda t: torch.sum(t, -1), "prod": lambda t: torch.prod(t, -1), "mean": mean,
                 "max": lambda t: torch.amax(t, -1), "min": lambda t: torch.amin(t, -1),
                 "argmax": lambda t: torch.from_numpy(np.asarray(np.argmax(t.numpy(), -1))),
                 "argmin": lambda t: torch.from_numpy(np.asarray(np.argmin(t.numpy(), -1))),
                 "any": lambda t: torch.any(t, -1), "all": lambda t: torch.all(t, -1)}
    for name, function in operators.items():
        draw = Draw("bools" if name in ("any", "all") else "reduction")
        cases = [(shape, axis, k % 3 == 1, False, "float32") for k, (shape, axis) in enumerate(REDUCTIONS)]
        cases += [((2, 3, 4), [1], True, True, "float32"), ((2, 3, 4), [-1, 0], False, True, "float32"),
                  ((3, 0), [1], False, True, "float32")]
        if name not in ("argmax", "argmin", "max", "min"):
            cases += [(shape, axis, k == 1, False, "float32") for k, (shape, axis) in enumerate(EMPTY)]
            if name == "mean":
                cases = cases[:-3] + cases[-2:-1]  # 0 / 0 is NaN here and there, and its sign is nobody's business
        if name not in ("any", "all"):
            cases += [((5, 7), [1], False, False, d) for d in ("int32", "float64", "float16", "int64")]
            cases += [((3, 6), [0], True, False, "uint8"), ((3, 6), [1], False, False, "int8")]
        for shape, axis, keepdims, exclude, dtype in cases:
            if name in ("any", "all"):
                a, dtype = draw.bools(shape, 0.3 if name == "any" else 0.7), "bool"
            elif dtype.startswith("float"):
                a = draw.floats(shape, dtype=dtype)
                if name.startswith("arg"):
                    a = np.asarray(np.round(a))  # ties
            else:
                a = draw.ints(shape, 0 if dtype == "uint8" else -9, 9, dtype)
            axes = reduced_axes(a.ndim, axis, exclude)
            if len(axes) == 0 and a.ndim and name == "mean":
                continue
            rows, result, count = rows_last(a, axes, keepdims)
            given = attributes(axis=axis) if axis is not None else ""
            given += attributes(keepdims=True) if keepdims else ""
            given += attributes(exclude=True) if exclude else ""
            values = function(exact(rows)).reshape(result)
            group.case(name, f"{name}(%a{given})", [a], rounded(values, "int32" if name.startswith("arg") else dtype), max(count, 1))
    a = np.concatenate([SPECIAL, SPECIAL[::-1]]).reshape(8, 5)
    for name, function in (("max", torch.amax), ("min", torch.amin)):
        group.case(name, f"{name}(%a, axis=[1])", [a], rounded(function(exact(a), 1), "float32"))


# --- neural networks --------------------------------------------------------------------------------------------------


def activations(group):
    draw = Draw("relu")
    for s in UNARY_SHAPES:
        a = draw.floats(s)
        group.case("nn.relu", "nn.relu(%a)", [a], rounded(torch.relu(exact(a)), "float32"))
        group.case("nn.leaky_relu", "nn.leaky_relu(%a, alpha=0.05)", [a], rounded(F.leaky_relu(exact(a), 0.05), "float32"))
    a = draw.floats((19,))
    group.case("nn.leaky_relu", "nn.leaky_relu(%a, alpha=0.3)", [a], rounded(F.leaky_relu(exact(a), 0.3), "float32"))
    a = draw.ints((2, 9), -99, 99, "int8")
    group.case("nn.relu", "nn.relu(%a)", [a], rounded(torch.relu(exact(a)), "int8"))
    for name, function in {"nn.softmax": F.softmax, "nn.log_softmax": F.log_softmax}.items():
        draw = Draw("softmax")
        for s, axis in [((7,), None), ((3, 5), None), ((3, 5), 0), ((2, 3, 4), 1), ((2, 3, 4), -3), ((2, 33), -1),
                        ((1, 1), 1), ((0, 4), 1), ((2, 3, 2, 17), 3)]:
            a = draw.floats(s, -10.0, 10.0)
            given = attributes(axis=axis) if axis is not None else ""
            terms = s[-1 if axis is None else axis]
            group.case(name, f"{name}(%a{given})", [a], rounded(function(exact(a), -1 if axis is None else axis), "float32"), terms)
        large = np.array([[1000.0, 999.0, -1000.0], [88.0, -88.0, 0.0]], dtype="float32")
        for a in (large, draw.floats((3, 9), dtype="float64"), draw.floats((3, 9), dtype="float16")):
            group.case(name, f"{name}(%a)", [a], rounded(function(exact(a), -1), a.dtype), a.shape[-1])


def dense(group):
    draw = Draw("dense")
    for b, k, o in [((3,), 5, 4), ((1,), 1, 1), ((2, 3), 17, 3), ((), 6, 5), ((2, 1, 2), 3, 19), ((0,), 4, 2), ((3,), 0, 2),
                    ((5,), 33, 18), ((16,), 16, 16)]:
        a, w = draw.floats(b + (k,)), draw.floats((o, k))
        given = attributes(units=o) if o % 2 else ""
        group.case("nn.dense", f"nn.dense(%a, %b{given})", [a, w], rounded(F.linear(exact(a), exact(w)), "float32"), max(k, 1))
    a, w = draw.ints((3, 7), -100, 100, "int8"), draw.ints((5, 7), -100, 100, "int8")
    group.case("nn.dense", 'nn.dense(%a, %b, out_dtype="int32")', [a, w],
               rounded(torch.from_numpy(a.astype("int32") @ w.T.astype("int32")), "int32"))
    for dtype in ("float64", "float16", "int32"):
        a, w = [draw.floats(s, dtype=dtype) if dtype[0] == "f" else draw.ints(s) for s in ((3, 7), (5, 7))]
        group.case("nn.dense", "nn.dense(%a, %b)", [a, w], rounded(exact(a) @ exact(w).T, dtype), 7)
    draw = Draw("bias_add")
    for s, axis in [((3, 5), None), ((2, 3, 4, 5), None), ((2, 3, 4), -1), ((2, 3, 4), 0), ((17,), 0), ((2, 17), -1), ((0, 3), 1)]:
        at = 1 if axis is None else axis % len(s)
        a, b = draw.floats(s), draw.floats((s[at],))
        shape = [s[at] if k == at else 1 for k in range(len(s))]
        given = attributes(axis=axis) if axis is not None else ""
        group.case("nn.bias_add", f"nn.bias_add(%a, %b{given})", [a, b], rounded(exact(a) + exact(b).reshape(shape), "float32"))


def pads(padding):
    """top, left, bottom, right"""
    return {1: padding * 4, 2: padding * 2, 4: padding}[len(padding)]


def conv2d(group):
    draw = Draw("conv2d")
    cases = [  # data, filters, kernel, attributes
        ((1, 1, 5, 5), 1, (3, 3), {}),
        ((2, 3, 6, 7), 4, (3, 2), {}),
        ((1, 2, 7, 8), 3, (3, 3), dict(padding=[1])),
        ((1, 2, 7, 8), 3, (3, 3), dict(padding=[2, 1], strides=[2, 1])),
        ((1, 2, 7, 8), 2, (2, 3), dict(padding=[0, 1, 2, 3], strides=[1, 2])),
        ((2, 3, 9, 9), 2, (3, 3), dict(dilation=[2, 3], padding=[1, 1])),
        ((1, 4, 5, 6), 6, (3, 3), dict(groups=2, padding=[1, 1])),
        ((1, 3, 5, 5), 6, (2, 2), dict(groups=3, channels=6, kernel_size=[2, 2])),
        ((1, 4, 6, 19), 4, (3, 3), dict(groups=4, strides=[2], padding=[1], dilation=[1])),
        ((1, 5, 3, 17), 2, (1, 1), dict(channels=2)),
        ((1, 1, 2, 2), 1, (2, 2), dict(strides=[3, 3])),
        ((0, 2, 4, 4), 2, (3, 3), {}),
        ((1, 2, 5, 5), 18, (5, 5), dict(data_layout="NCHW", kernel_layout="OIHW")),
        ((1, 3, 8, 33), 2, (3, 3), dict(padding=[1, 1, 1, 1], strides=[1, 1])),
        ((2, 1, 3, 3), 2, (3, 3), dict(padding=[3], dilation=[2])),
    ]
    for shape, filters, kernel, given in cases:
        groups = given.get("groups", 1)
        a, w = draw.floats(shape), draw.floats((filters, shape[1] // groups) + kernel)
        group.case("nn.conv2d", f"nn.conv2d(%a, %b{attributes(**given)})", [a, w], convolved(a, w, given, "float32"),
                   w[0].size)
    a, w = draw.ints((1, 2, 5, 6), -100, 100, "int8"), draw.ints((3, 2, 3, 3), -100, 100, "int8")
    group.case("nn.conv2d", 'nn.conv2d(%a, %b, padding=[1], out_dtype="int32")', [a, w],
               convolved(a, w, dict(padding=[1]), "int32"))
    for dtype in ("float64", "float16"):
        a, w = draw.floats((1, 2, 5, 6), dtype=dtype), draw.floats((3, 2, 3, 3), dtype=dtype)
        group.case("nn.conv2d", "nn.conv2d(%a, %b)", [a, w], convolved(a, w, {}, dtype), 18)


def convolved(a, w, given, dtype):
    top, left, bottom, right = pads(given.get("padding", [0, 0]))
    data = F.pad(exact(a).double(), (left, right, top, bottom))
    pair = lambda v: v if len(v) == 2 else v * 2
    result = F.conv2d(data, exact(w).double(), stride=pair(given.get("strides", [1, 1])),
                      dilation=pair(given.get("dilation", [1, 1])), groups=given.get("groups", 1))
    return rounded(result, dtype)


def max_pool2d(group):
    draw = Draw("max_pool2d")
    cases = [
        ((1, 1, 4, 4), dict(pool_size=[2, 2], strides=[2, 2])),
        ((2, 3, 5, 7), dict(pool_size=[3, 2])),
        ((1, 2, 6, 7), dict(pool_size=[3, 3], strides=[2, 2], padding=[1])),
        ((1, 2, 6, 7), dict(pool_size=[3], strides=[2], padding=[1, 0])),
        ((1, 2, 6, 7), dict(pool_size=[2, 3], strides=[2, 1], padding=[0, 1, 1, 2])),
        ((1, 2, 6, 7), dict(pool_size=[2, 2], strides=[2, 2], ceil_mode=True)),
        ((1, 2, 6, 8), dict(pool_size=[3, 3], strides=[2, 2], padding=[1, 1], ceil_mode=True)),
        ((1, 2, 9, 9), dict(pool_size=[3, 3], dilation=[2, 2])),
        ((1, 1, 9, 19), dict(pool_size=[2, 2], dilation=[3, 1], strides=[2, 2], padding=[1, 1], layout="NCHW")),
        ((1, 3, 4, 17), dict(pool_size=[1, 1])),
        ((0, 2, 4, 4), dict(pool_size=[2, 2], strides=[2, 2])),
    ]
    for shape, given in cases:
        a = draw.floats(shape)
        group.case("nn.max_pool2d", f"nn.max_pool2d(%a{attributes(**given)})", [a], pooled(a, given))
    a = draw.ints((1, 2, 5, 5), -9, -1)
    given = dict(pool_size=[2, 2], strides=[2, 2], padding=[1, 1])
    group.case("nn.max_pool2d", f"nn.max_pool2d(%a{attributes(**given)})", [a], pooled(a, given))


def pooled(a, given):
    pair = lambda v: v if len(v) == 2 else v * 2
    size, strides = pair(given["pool_size"]), pair(given.get("strides", [1, 1]))
    dilation = pair(given.get("dilation", [1, 1]))
    top, left, bottom, right = pads(given.get("padding", [0, 0]))
    if given.get("ceil_mode"):  # Relay's rule: windows that begin in the padding count
        bottom, right = bottom + strides[0] - 1, right + strides[1] - 1
    data = F.pad(exact(a).double(), (left, right, top, bottom), value=-np.inf)
    if 0 in a.shape:
        extent = [(data.shape[2 + k] - (size[k] - 1) * dilation[k] - 1) // strides[k] + 1 for k in range(2)]
        return np.zeros(a.shape[:2] + tuple(extent), a.dtype)
    return rounded(F.max_pool2d(data, size, strides, 0, dilation), a.dtype)


# --- making and moving ------------------------------------------------------------------------------------------------


def making(group):
    for s in [(), (3,), (2, 0), (2, 3, 1), (17, 2)]:
        for name, value in (("zeros", 0), ("ones", 1)):
            group.case(name, f"{name}(shape={text(s)})", [], np.full(s, value, "float32"))
            group.case(name, f'{name}({text(s)}, dtype="int8")', [], np.full(s, value, "int8"))
        group.case("full", f"full(%a, shape={text(s)})", [np.array(2.5, "float32")], np.full(s, 2.5, "float32"))
        group.case("full", f'full(%a, {text(s)}, dtype="float64")', [np.array(-3, "int32")], np.full(s, -3.0, "float64"))
        draw = Draw("like")
        for a in (draw.floats(s), draw.bools(s), draw.ints(s, dtype="int64")):
            group.case("zeros_like", "zeros_like(%a)", [a], np.zeros(s, a.dtype))
            group.case("ones_like", "ones_like(%a)", [a], np.ones(s, a.dtype))


def reshaping(group):
    draw = Draw("reshape")
    for s, new, result in [((3, 4), (12,), (12,)), ((3, 4), (2, -1), (2, 6)), ((3, 4), (-1,), (12,)), ((2, 3, 4), (0, -1), (2, 12)),
                           ((2, 3, 4), (0, 0, 2, 2), (2, 3, 2, 2)), ((2, 3, 4), (-1, 0, 0), (2, 3, 4)), ((1,), (), ()),
                           ((), (1, 1), (1, 1)), ((0, 3), (3, -1), (3, 0)), ((17,), (1, 17, 1), (1, 17, 1)),
                           ((4, 6), (3, 0, -1), None)]:
        a = draw.ints(s)
        if result is None:
            new, result = (8, -1), (8, 3)
        form = "reshape(%a, newshape={})" if len(new) > 1 else "reshape(%a, {})"
        group.case("reshape", form.format(text(list(new) if len(s) == 3 else new)), [a], rounded(exact(a).reshape(result), "int32"))
    for s, axis, count in [((3, 4), 0, 1), ((3, 4), 2, 2), ((3, 4), -1, 1), ((), 0, 3), ((2, 0), 1, 1), ((17,), 0, 1)]:
        a = draw.floats(s)
        at = axis % (len(s) + 1)
        given = attributes(axis=axis) + (attributes(num_newaxis=count) if count > 1 else "")
        group.case("expand_dims", f"expand_dims(%a{given})", [a], a.reshape(s[:at] + (1,) * count + s[at:]))
    for s, axes in [((1, 3), [0]), ((3, 1), [-1]), ((1, 2, 1, 1), [0, 3]), ((1,), [0]), ((1, 0), [0]), ((2, 1, 17), [1])]:
        a = draw.floats(s)
        group.case("squeeze", f"squeeze(%a, axis={text(axes)})", [a], np.squeeze(a, tuple(axes)))
    for s in [(3, 4), (2, 3, 4), (5,), (2, 0, 3), (1, 2, 1, 3), (0, 3)]:
        a = draw.floats(s)
        group.case("nn.batch_flatten", "nn.batch_flatten(%a)", [a], a.reshape(s[0], int(np.prod(s[1:], dtype=int))))
    for s, axes in [((3, 5), None), ((2, 3, 4), None), ((2, 3, 4), [1, 2, 0]), ((2, 3, 4), [-1, 0, -2]), ((17,), None),
                    ((), None), ((2, 3, 2, 5), [0, 2, 3, 1]), ((0, 3), [1, 0]), ((33, 2), [1, 0]), ((2, 3, 4), [0, 1, 2])]:
        a = draw.floats(s)
        given = attributes(axes=axes) if axes is not None else ""
        order = axes if axes is not None else list(range(len(s)))[::-1]
        group.case("transpose", f"transpose(%a{given})", [a], rounded(exact(a).permute(order), "float32"))


def moving(group):
    draw = Draw("concatenate")
    for shapes, axis in [([(3, 4), (2, 4)], None), ([(3, 4), (3, 1)], 1), ([(3,), (4,), (0,), (17,)], 0), ([(2, 3, 4)], 2),
                         ([(2, 3, 4), (2, 1, 4), (2, 2, 4)], -2), ([(0, 3), (0, 3)], 0), ([(2, 1), (2, 1)], -1)]:
        parts = [draw.floats(s) for s in shapes]
        names = ", ".join("%" + n for n, _ in zip("abcdef", parts)) + ("," if len(parts) == 1 else "")
        given = attributes(axis=axis) if axis is not None else ""
        group.case("concatenate", f"concatenate(({names}){given})", parts, rounded(torch.cat([exact(p) for p in parts], axis or 0), "float32"))
    draw = Draw("take")
    for s, r, axis in [((7,), (4,), None), ((7,), (), None), ((5, 3), (4,), 0), ((5, 3), (2, 2), 1), ((5, 3), (), -1),
                       ((2, 3, 4), (5,), 1), ((2, 3, 17), (2, 1), 0), ((5, 3), (0,), 0), ((3, 0), (2,), 0), ((19,), (2, 3, 2), 0)]:
        at = 0 if axis is None else axis % len(s)
        given = attributes(axis=axis) if axis is not None else ""
        for mode, low, high in ((None, -2, 2), ("clip", -2, 2), ("wrap", -2 * s[at], 2 * s[at]), ("fast", 0, -1)):
            a, i = draw.floats(s), draw.ints(r, low, s[at] + high, "int64" if mode == "fast" else "int32")
            where = np.mod(i, s[at]) if mode == "wrap" else np.clip(i, 0, s[at] - 1)
            rows = torch.index_select(exact(a), at, torch.from_numpy(np.asarray(where, "int64").reshape(-1)))
            result = rows.reshape(s[:at] + r + s[at + 1:])
            more = attributes(mode=mode) if mode else ""
            group.case("take", f"take(%a, %b{given}{more})", [a, i], rounded(result, "float32"))
    draw = Draw("strided_slice")
    for s, given in [((7,), dict(begin=[1], end=[5])), ((7,), dict(begin=[-5], end=[-1])), ((7,), dict(begin=[0], end=[7], strides=[3])),
                     ((5, 6), dict(begin=[1, 2], end=[4, 6])), ((5, 6), dict(begin=[1], end=[4])), ((5, 6), dict(begin=[3], end=[1])),
                     ((5, 6), dict(begin=[1], end=[99], strides=[2], axes=[1])), ((5, 6), dict(begin=[-99, 0], end=[99, -1])),
                     ((2, 3, 17), dict(begin=[0, 3], end=[2, 16], strides=[1, 4], axes=[0, -1])),
                     ((0, 4), dict(begin=[0, 1], end=[5, 3])), ((4, 1), dict(begin=[2, 0], end=[3, 1], strides=[1])),
                     ((2, 2, 3, 5), dict(begin=[0, 1, 0, 1], end=[2, 2, 3, 5], strides=[1, 1, 2, 3]))]:
        a = draw.floats(s)
        axes = given.get("axes", range(len(given["begin"])))
        bounds = [slice(None)] * len(s)
        for k, axis in enumerate(axes):
            strides = given.get("strides", [])
            bounds[axis] = slice(given["begin"][k], given["end"][k], strides[k] if k < len(strides) else 1)
        group.case("strided_slice", f"strided_slice(%a{attributes(**given)})", [a], rounded(exact(a)[tuple(bounds)], "float32"))


def main():
    for name, makers in {"elementwise": [unary, arithmetic, comparison, selection], "reduction": [reduction],
                         "nn": [activations, dense, conv2d, max_pool2d], "transform": [making, reshaping, moving],
                         "models": reference_models.MAKERS, "scan": [reference_scan.running, reference_scan.scatters,
                                                              reference_scan.reversed_sums],
                         "parts": [reference_parts.parts, reference_parts.shapes, reference_parts.einsums],
                         "order": [reference_parts.order, reference_parts.boxes, reference_parts.classes, reference_parts.slices],
                         "images": reference_images.MAKERS, "losses": reference_losses.MAKERS,
                         "activations": reference_activations.MAKERS, "math": reference_math.MAKERS,
                         "spaces": reference_spaces.MAKERS, "arrays": reference_arrays.MAKERS,
                         "recurrent": reference_recurrent.MAKERS,
                         "vision": reference_vision.MAKERS,
                         "quantised": reference_quantised.MAKERS,
                         "layouts": reference_layouts.MAKERS, "signals": reference_signals.MAKERS,
                         "linalg": reference_linalg.MAKERS,
                         "dyn": reference_dyn.MAKERS, "packed": reference_packed.MAKERS}.items():
        group = Group(name)
        for maker in makers:
            maker(group)
        group.write()
    gradients = reference_gradients.GradientGroup("gradients")
    for maker in reference_gradients.MAKERS + [reference_losses.gradients, reference_activations.gradients, reference_math.gradients,
                                               reference_spaces.gradients, reference_arrays.gradients,
                                               reference_recurrent.gradients, reference_vision.gradients,
                                               reference_signals.gradients, reference_linalg.gradients]:
        maker(gradients)
    gradients.write()


main()
