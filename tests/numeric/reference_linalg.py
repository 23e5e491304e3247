"""References of linear algebra (stdlib/linalg.relay), and their gradients."""

import numpy as np
import torch

from reference_groups import Draw, attributes, exact, rounded

SHAPES = [(1,), (3,), (2, 4), (2, 3, 2), (7,), (0,), (0, 2)]


def matrices(shape, kind):
    """Batches of square matrices: any (of a condition that is not bad), symmetric and positive definite, or triangular."""
    n = shape[-1]
    a = Draw(f"linalg {kind} {shape}").floats(shape + (n,), -1.0, 1.0)
    if kind == "definite":
        return (a @ np.swapaxes(a, -1, -2) + np.eye(n)).astype("float32")
    if kind == "triangular":
        return (a + np.eye(n) * np.where(a > 0, 2, -2)).astype("float32")
    return (a + np.eye(n)[::-1] * 1.5).astype("float32")


CALLS = []


def call(name, inputs, expression, function):
    CALLS.append((name, inputs, expression, function))


def order(a):
    p = torch.lu_unpack(*torch.linalg.lu_factor(a))[0]
    return p.argmax(-2).to(torch.int32)


for shape in SHAPES:
    a, n = matrices(shape, "any"), shape[-1]
    call("linalg.inverse", [a], "linalg.inverse(%a)", torch.linalg.inv)
    call("linalg.det", [a], "linalg.det(%a)", torch.linalg.det)
    call("linalg.lu", [a], "linalg.lu(%a).0", lambda x: torch.linalg.lu_factor(x)[0])
    d = matrices(shape, "definite")
    call("linalg.cholesky", [d], "linalg.cholesky(%a)", torch.linalg.cholesky)
    for m in (1, 3):
        b = Draw(f"linalg right {shape} {m}").floats(shape + (m,))
        call("linalg.solve", [a, b], "linalg.solve(%a, %b)", torch.linalg.solve)
        t = matrices(shape, "triangular")
        for lower in (True, False):
            for turned in (False, True):
                for unit in (False, True):
                    def solved(x, y, l=lower, s=turned, u=unit):
                        x = torch.tril(x) if l else torch.triu(x)
                        x = x.transpose(-1, -2) if s else x
                        return torch.linalg.solve_triangular(x, y, upper=l == s, unitriangular=u)
                    given = attributes(lower=lower, transpose_a=turned, unit_diagonal=unit)
                    call("linalg.triangular_solve", [t, b], f"linalg.triangular_solve(%a, %b{given})", solved)


def calls(group):
    for name, inputs, expression, function in CALLS:
        group.case(name, expression, inputs, np.array(rounded(function(*map(exact, inputs))), order="C"), 256)
    for shape in SHAPES:
        a = matrices(shape, "any")
        rows = order(exact(a)).numpy() if a.size else np.zeros(shape, "int32")
        group.case("linalg.lu", "linalg.lu(%a).1", [a], rows)
    for n in (3, 5):
        a = np.where(np.arange(n)[:, None] < np.arange(n), Draw("upper").floats((n, n)), matrices((n,), "definite")).astype("float32")
        lower = exact(np.tril(a))
        full = lower + torch.tril(lower, -1).T
        group.case("linalg.cholesky", "linalg.cholesky(%a)", [a], rounded(torch.linalg.cholesky(full)), 64)


def gradients(group):
    for name, inputs, expression, function in CALLS:
        if inputs[0].size and (name != "linalg.triangular_solve" or inputs[1].shape[-1] > 1 and inputs[1].shape[-2] < 4):
            group.gradient(name, expression, inputs, function, 1024)


MAKERS = [calls]
