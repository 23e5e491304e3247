"""References of Fourier transforms and windows (stdlib/signal.relay): those of torch.fft, which NumPy's agree with."""

import numpy as np
import torch

from reference_groups import Draw, attributes, exact, rounded


def transformed(x, axis=1, inverse=False, onesided=False, length=None):
    axis = axis % x.ndim
    z = torch.complex(x[..., 0], x[..., 1] if x.shape[-1] == 2 else torch.zeros_like(x[..., 0]))
    y = (torch.fft.ifft if inverse else torch.fft.fft)(z, length, axis)
    return torch.view_as_real(y.narrow(axis, 0, y.shape[axis] // 2 + 1) if onesided else y)


def frames(x, window, frame_length, frame_step, onesided=True):
    cut = x.unfold(1, frame_length, frame_step).transpose(2, 3) * window.expand(frame_length)[:, None]
    return transformed(cut, 2, onesided=onesided)


# The operator, shapes of its operands, the call's text, its function and how many terms a result adds up.
CALLS = []


def call(name, shapes, expression, function, terms):
    CALLS.append((name, shapes, expression, function, terms))


for shape, given in [((1, 8, 1), {}), ((2, 5, 2), {}), ((7, 1), {"axis": 0}), ((6, 2), {"axis": -2}), ((2, 3, 4, 2), {"axis": 2}),
                     ((1, 1, 2), {}), ((3, 16, 1), {"onesided": True}), ((2, 9, 1), {"onesided": True}), ((1, 6, 2), {"onesided": True}),
                     ((2, 4, 2), {"inverse": True}), ((1, 9, 1), {"inverse": True}), ((4, 3, 2), {"axis": 0, "inverse": True, "length": 7}),
                     ((1, 5, 1), {"length": 8}), ((1, 8, 2), {"length": 5}), ((2, 6, 1), {"onesided": True, "length": 9}),
                     ((1, 10, 2), {"onesided": True, "inverse": True}), ((0, 4, 1), {})]:
    call("fft.dft", [shape], f"fft.dft(%a{attributes(**given)})", lambda x, g=given: transformed(x, **g), max(shape))
for shape, axis, length in [((8,), -1, None), ((9,), 0, None), ((1,), -1, None), ((2, 6), 0, None), ((2, 3, 5), 1, None), ((2, 6), -1, 4), ((5,), -1, 12)]:
    given = attributes(**({} if axis == -1 else {"axis": axis}), **({} if length is None else {"length": length}))
    call("fft.rfft", [shape], f"fft.rfft(%a{given})", lambda x, a=axis, n=length: torch.view_as_real(torch.fft.rfft(x, n, a)), 16)
    call("fft.irfft", [shape + (2,)], f"fft.irfft(%a{given or ', length=3'})",
         lambda x, a=axis, n=length, g=given: torch.fft.irfft(torch.complex(x[..., 0], x[..., 1]), n if g else 3, a), 16)
for shape in [(2,), (5,), (3, 4), (2, 9)]:
    call("fft.irfft", [shape + (2,)], "fft.irfft(%a)", lambda x: torch.fft.irfft(torch.complex(x[..., 0], x[..., 1])), 16)
for shape, window, given in [((1, 16, 1), (4,), dict(frame_length=4, frame_step=2)), ((2, 11, 1), (5,), dict(frame_length=5, frame_step=3)),
                             ((1, 9, 1), (), dict(frame_length=4, frame_step=1, onesided=False)), ((1, 6, 1), (6,), dict(frame_length=6, frame_step=8)),
                             ((2, 10, 2), (4,), dict(frame_length=4, frame_step=3, onesided=False)), ((1, 8, 2), (), dict(frame_length=5, frame_step=1))]:
    call("signal.stft", [shape, window], f"signal.stft(%a, %b{attributes(**given)})", lambda x, w, g=given: frames(x, w, **g), 8)


def calls(group):
    for name, shapes, expression, function, terms in CALLS:
        draw = Draw("signals " + expression)
        inputs = [draw.floats(s) for s in shapes]
        group.case(name, expression, inputs, np.ascontiguousarray(rounded(function(*map(exact, inputs)))), terms)
    for dtype in ("float64", "float16"):
        a = Draw("signals " + dtype).floats((1, 12, 2), dtype=dtype)
        group.case("fft.dft", "fft.dft(%a)", [a], rounded(transformed(exact(a)), dtype), 12)
    # Angles of long signals are as exact as those of short ones.
    a = Draw("long signals").floats((1021,), dtype="float64")
    group.case("fft.rfft", "fft.rfft(%a)", [a], torch.view_as_real(torch.fft.rfft(exact(a))).numpy(), 1021)


def factors(group):
    for size in (1, 2, 4, 12, 17, 1000):
        angle = 2 * np.pi * np.arange(size) / size
        wanted = np.stack([np.sin(angle), np.cos(angle), -np.sin(angle)], 1)
        for dtype in ("float32", "float64"):
            group.case("fft.twiddles", f'fft.twiddles({size}, dtype="{dtype}")', [], wanted.astype(dtype))
    for name, function in [("hann", torch.hann_window), ("hamming", torch.hamming_window), ("blackman", torch.blackman_window)]:
        for size in (0, 1, 2, 5, 16):
            for periodic in (True, False):
                for dtype in ("float32", "float64"):
                    wanted = function(size, periodic=periodic, dtype=torch.float64).numpy().astype(dtype)
                    group.case(f"signal.{name}_window", f'signal.{name}_window({size}, periodic={periodic}, dtype="{dtype}")', [], wanted)
    wanted = torch.hamming_window(10, True, 25 / 46, 21 / 46, dtype=torch.float64).numpy().astype("float32")
    group.case("signal.hamming_window", f"signal.hamming_window(10{attributes(alpha=25 / 46, beta=21 / 46)})", [], wanted)


def gradients(group):
    for name, shapes, expression, function, terms in CALLS:
        if 0 in shapes[0]:
            continue
        draw = Draw("gradients signals " + expression)
        group.gradient(name, expression, [draw.floats(s, -1.0, 1.0) for s in shapes], function, 4 * terms)


MAKERS = [calls, factors]
