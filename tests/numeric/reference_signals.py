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


def mel_filters(bins, length, rate, lower, upper):
    """By the equations of ONNX's MelWeightMatrix: a triangle over the frequencies between the points around each middle."""
    mel = [2595 * np.log10(1 + edge / 700) for edge in (lower, upper)]
    points = mel[0] + np.arange(bins + 2) * (mel[1] - mel[0]) / (bins + 2)
    points = np.floor((length + 1) * 700 * (10 ** (points / 2595) - 1) / rate).astype(int)
    wanted = np.zeros((max(length // 2, points.max()) + 1, bins))
    for k, (left, middle, right) in enumerate(zip(points, points[1:], points[2:])):
        wanted[left:middle, k] = np.arange(middle - left) / max(middle - left, 1)
        wanted[middle:right, k] = np.arange(right - middle, 0, -1) / max(right - middle, 1)
        wanted[middle, k] = 1
    return wanted[:length // 2 + 1]


def filters(group):
    for bins, length, rate, lower, upper in [(8, 16, 8192, 0.0, 4096.0), (5, 64, 16000, 125.0, 7600.0), (40, 100, 16000, 20.0, 8000.0),
                                             (4, 7, 8000, 300.5, 9000.0), (3, 32, 8000, 1000.0, 1000.0), (1, 20, 100, 0.0, 50.0), (0, 6, 10, 0.0, 5.0)]:
        for dtype in ("float32", "float64"):
            given = dict(num_mel_bins=bins, dft_length=length, sample_rate=rate, lower_edge_hertz=lower, upper_edge_hertz=upper)
            group.case("signal.mel_weights", f'signal.mel_weights({attributes(**given)[2:]}, dtype="{dtype}")', [],
                       mel_filters(bins, length, rate, lower, upper).astype(dtype))


def gradients(group):
    for name, shapes, expression, function, terms in CALLS:
        if 0 in shapes[0]:
            continue
        draw = Draw("gradients signals " + expression)
        group.gradient(name, expression, [draw.floats(s, -1.0, 1.0) for s in shapes], function, 4 * terms)


MAKERS = [calls, factors, filters]
