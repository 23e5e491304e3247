"""References of the elementary functions (stdlib/math.relay) and of integer functions of stdlib/elementwise.relay, and their
gradients."""

import numpy as np
import torch

from reference_groups import Draw, exact, rounded

# Functions of one number: where they are drawn, where they are defined, PyTorch's, and whether the quotient of result and
# number is compared too, which near 0 is that of the slopes.
ALL = (-np.inf, np.inf)
FUNCTIONS = [
    ("expm1", -6.0, 6.0, ALL, torch.expm1, True), ("log1p", -0.95, 6.0, (-1.0, np.inf), torch.log1p, True),
    ("sinh", -6.0, 6.0, ALL, torch.sinh, True), ("cosh", -6.0, 6.0, ALL, torch.cosh, False),
    ("asin", -1.0, 1.0, (-1.0, 1.0), torch.asin, True), ("acos", -1.0, 1.0, (-1.0, 1.0), torch.acos, False),
    ("atan", -6.0, 6.0, ALL, torch.atan, True), ("asinh", -6.0, 6.0, ALL, torch.asinh, True),
    ("acosh", 1.0, 6.0, (1.0, np.inf), torch.acosh, False), ("atanh", -0.99, 0.99, (-1.0, 1.0), torch.atanh, True),
    ("square", -6.0, 6.0, ALL, torch.square, False), ("reciprocal", 0.1, 6.0, ALL, torch.reciprocal, False),
    ("cbrt", 0.1, 6.0, (0.0, np.inf), lambda x: torch.pow(x, 1 / 3), False),
    ("lgamma", -5.3, 6.0, ALL, torch.lgamma, False), ("erfinv", -1.0, 1.0, (-1.0, 1.0), torch.erfinv, True),
]
SHAPES = [(), (0,), (17,), (3, 5), (2, 3, 1, 7)]
SMALL = np.array([1e-30, -1e-30, 1e-10, -1e-10, 1e-5, -1e-5, 1e-3, -1e-3, 0.03, -0.03, 0.5, -0.5], dtype="float32")
LARGE = np.array([-1e30, -1e8, -200.0, -20.0, -2.0, -1.0, 0.0, 1.0, 2.0, 20.0, 200.0, 1e8, 1e30, np.inf, -np.inf, np.nan], dtype="float32")
PAIRS = [((3, 5), (3, 5)), ((3, 5), (5,)), ((2, 1, 4), (3, 1)), ((), (7,)), ((0, 3), (1, 3)), ((17,), ())]
# Signs of zeros, and infinities.
CORNERS = np.array([0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf], dtype="float32")


def functions(group):
    for name, low, high, (least, most), function, near_zero in FUNCTIONS:
        draw = Draw("math " + name)
        rows = [draw.floats(s, low, high) for s in SHAPES]
        rows += [draw.floats((19,), low, high, "float64"), draw.floats((2, 9), low, high, "float16")]
        rows.append(LARGE[(LARGE >= least) & (LARGE <= most) | np.isnan(LARGE)])
        if name == "cbrt":
            rows = [np.asarray(np.abs(a)) for a in rows]
        for a in rows:
            group.case(name, f"{name}(%a)", [a], rounded(function(exact(a)), a.dtype))
        if near_zero:
            for a in (SMALL, SMALL.astype("float64")):
                group.case(name, f"{name}(%a) / %a", [a], rounded(function(exact(a)) / exact(a), a.dtype))
    a = Draw("math square").ints((3, 5))
    group.case("square", "square(%a)", [a], a * a)
    a = Draw("math cbrt").floats((9,), -4.0, 4.0)
    group.case("cbrt", "cbrt(%a)", [a], np.cbrt(a.astype("float64")).astype("float32"))


def pairs(group):
    for name, function in {"atan2": torch.atan2, "hypot": torch.hypot}.items():
        draw = Draw("math " + name)
        for s, r in PAIRS:
            a, b = draw.floats(s), draw.floats(r)
            group.case(name, f"{name}(%a, %b)", [a, b], rounded(function(exact(a), exact(b)), "float32"))
        a, b = draw.floats((9,), dtype="float64"), draw.floats((2, 9), dtype="float64")
        group.case(name, f"{name}(%a, %b)", [a, b], rounded(function(exact(a), exact(b)), "float64"))
        a, b = np.repeat(CORNERS, len(CORNERS)), np.tile(CORNERS, len(CORNERS))
        group.case(name, f"{name}(%a, %b)", [a, b], rounded(function(exact(a), exact(b)), "float32"))
    large = np.array([1e30, -3e25, 1e-30, 0.0], dtype="float32")
    group.case("hypot", "hypot(%a, %b) / 1e25", [large, large[::-1].copy()],
               rounded(torch.hypot(exact(large), exact(large[::-1])) / 1e25, "float32"))


def integers(group):
    trunc = lambda a, b: torch.div(a, b, rounding_mode="trunc")
    for name, function in {"trunc_divide": trunc, "trunc_mod": torch.fmod}.items():
        draw = Draw("math " + name)
        for s, r in PAIRS:
            a, b = draw.floats(s), draw.floats(r, 0.3, 3.0)
            group.case(name, f"{name}(%a, %b)", [a, b], rounded(function(exact(a), exact(b)), "float32"))
            a, b = draw.ints(s, -50, 50), draw.nonzero(r)
            group.case(name, f"{name}(%a, %b)", [a, b], rounded(function(exact(a), exact(b)), "int32"))
    shifts = {"left_shift": torch.bitwise_left_shift, "right_shift": torch.bitwise_right_shift}
    draw = Draw("math shifts")
    for dtype in ("int32", "int64", "int8", "uint8"):
        low = 0 if dtype == "uint8" else -100
        a, b = draw.ints((3, 5), low, 100, dtype), draw.ints((5,), 0, 7, dtype)
        for name, function in shifts.items():
            group.case(name, f"{name}(%a, %b)", [a, b], rounded(function(exact(a), exact(b)), dtype))
        group.case("bitwise_not", "bitwise_not(%a)", [a], rounded(torch.bitwise_not(exact(a)), dtype))
    a = draw.bools((7,))
    group.case("bitwise_not", "bitwise_not(%a)", [a], ~a)


def gradients(group):
    for name, low, high, (least, _), function, _ in FUNCTIONS:
        draw = Draw("gradients math " + name)
        a = draw.floats((2, 9), 0.9 * low if low < 0 else 1.1 * low, 0.9 * high)
        group.gradient(name, f"{name}(%a)", [a], function, 4)
        if least < 0 and name not in ("reciprocal", "lgamma"):
            group.gradient(name, f"{name}(%a)", [np.append(SMALL, np.float32(0))], function, 4)
    for name, function in {"atan2": torch.atan2, "hypot": torch.hypot}.items():
        draw = Draw("gradients math " + name)
        for s, r in PAIRS[:4]:
            group.gradient(name, f"{name}(%a, %b)", [draw.floats(s), draw.floats(r)], function, 16)
        on_axes = np.array([0.0, 1.0, 0.0, -2.0, 3.0], dtype="float32"), np.array([1.0, 0.0, 3.0, 0.0, 3.0], dtype="float32")
        group.gradient(name, f"{name}(%a, %b)", list(on_axes), function, 4)
    draw = Draw("gradients math trunc_mod")
    inputs = [draw.floats((3, 5)), draw.floats((5,), 0.3, 3.0)]
    group.gradient("trunc_mod", "trunc_mod(%a, %b)", inputs, torch.fmod, 16)
    group.gradient("trunc_divide", "trunc_divide(%a, %b)", inputs, lambda a, b: torch.div(a, b, rounding_mode="trunc"), 16)


MAKERS = [functions, pairs, integers]
