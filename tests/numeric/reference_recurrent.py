"""References of the recurrent layers (stdlib/recurrent.relay): PyTorch's, their gates brought into the order of ONNX."""

import numpy as np
import torch

from reference_groups import Draw, attributes, exact, rounded

ORDERS = {"lstm": ("iofc", "ifco"), "peephole_lstm": ("iofc", "iofc"), "gru": ("zrh", "rzh"), "rnn": ("h", "h")}


def ordered(tensor, named, wanted):
    """Axis 1, of gates in the order `named`, or of those of the data and those of the state, in the order `wanted`."""
    parts = torch.chunk(tensor, tensor.shape[1] // UNITS, 1)
    count = len(named)
    return torch.cat([parts[k // count * count + named.index(wanted[k % count])] for k in range(len(parts))], 1)


UNITS = 3
TURNS = {"forward": [1], "reverse": [-1], "bidirectional": [1, -1]}


def before_reset(x, w, r, b, h):
    """The GRU of Cho et al., whose candidate is of the state after the reset; gates in the order zrh."""
    rows = []
    for step in x:
        wz, wr, wh = torch.chunk(step @ w.T, 3, 1)
        rz, rr, rh = torch.chunk(r, 3, 0)
        bz, br, bh, sz, sr, sh = torch.chunk(b, 6)
        z, reset = torch.sigmoid(wz + h @ rz.T + bz + sz), torch.sigmoid(wr + h @ rr.T + br + sr)
        h = (1 - z) * torch.tanh(wh + (reset * h) @ rh.T + bh + sh) + z * h
        rows.append(h)
    return torch.stack(rows), h[None]


def with_peepholes(x, w, r, b, p, h, c):
    """The LSTM of Gers and Schmidhuber; gates in the order iofc, their peepholes without c."""
    rows = []
    pi, po, pf = torch.chunk(p, 3)
    for step in x:
        i, o, f, new = torch.chunk(step @ w.T + h @ r.T + sum(torch.chunk(b, 2)), 4, 1)
        c = torch.sigmoid(f + pf * c) * c + torch.sigmoid(i + pi * c) * torch.tanh(new)
        h = torch.sigmoid(o + po * c) * torch.tanh(c)
        rows.append(h)
    return torch.stack(rows), h, c


def layer(kind, given, x, w, r, b, *states):
    direction, named = given.get("direction", "forward"), given.get("gates", ORDERS[kind][0])
    d, steps, sequences = w.shape[0], x.shape[0], x.shape[1]
    b = b.expand(d, 2 * w.shape[1])
    if kind == "peephole_lstm":
        peepholes, *states = states
    states = [s.expand(d, sequences, UNITS).contiguous() for s in states]
    if kind == "gru" and not given.get("linear_before_reset", False):
        w, r, b = (ordered(v, named, "zrh") for v in (w, r, b))
        done = [before_reset(x if turn > 0 else x.flip(0), w[k], r[k], b[k], states[0][k]) for k, turn in enumerate(TURNS[direction])]
        turned = [rows.flip(0) if direction == "reverse" or k else rows for k, (rows, _) in enumerate(done)]
        return torch.stack(turned, 1), torch.cat([last for _, last in done])
    w, r, b = (ordered(v, named, ORDERS[kind][1]) for v in (w, r, b))
    if kind == "peephole_lstm":
        peepholes = ordered(peepholes, named.replace("c", ""), "iof")
        done = [with_peepholes(x if turn > 0 else x.flip(0), w[k], r[k], b[k], peepholes[k], *(s[k] for s in states))
                for k, turn in enumerate(TURNS[direction])]
        rows, *last = (torch.stack(parts, axis) for axis, parts in zip((1, 0, 0), zip(*done)))
        return torch.stack([rows[:, k] if turn > 0 else rows[:, k].flip(0) for k, turn in enumerate(TURNS[direction])], 1), *last
    flat = [v for k in range(d) for v in (w[k], r[k], *torch.chunk(b[k], 2))]
    function = {"lstm": torch._VF.lstm, "gru": torch._VF.gru, "rnn": torch._VF.rnn_relu if given.get("activation") == "relu" else torch._VF.rnn_tanh}[kind]
    if direction == "reverse":
        x = x.flip(0)
    rows, *last = function(x, tuple(states) if kind == "lstm" else states[0], flat, True, 1, 0.0, False, d == 2, False)
    rows = rows.reshape(steps, sequences, d, UNITS).transpose(1, 2)
    return (rows.flip(0) if direction == "reverse" else rows, *last)


def inputs(draw, kind, steps, sequences, features, d, plain):
    gates = len(ORDERS[kind][0])
    shapes = [(steps, sequences, features), (d, gates * UNITS, features), (d, gates * UNITS, UNITS)]
    shapes += [()] if plain else [(d, 2 * gates * UNITS)]
    if kind == "peephole_lstm":
        shapes += [(d, 3 * UNITS)]
    shapes += [() if plain else (d, sequences, UNITS)] * (2 if "lstm" in kind else 1)
    return [np.zeros((), "float32") if s == () else draw.floats(s, -1.0, 1.0) for s in shapes]


CASES = [(kind, steps, sequences, features, {**more, **given}, plain)
         for kind, options in {"rnn": [{}, {"activation": "relu"}], "lstm": [{}, {"gates": "ifco"}],
                               "peephole_lstm": [{}, {"gates": "ocfi"}],
                               "gru": [{}, {"linear_before_reset": True}, {"gates": "rzh", "linear_before_reset": True}, {"gates": "hzr"}]}.items()
         for more in options
         for steps, sequences, features, given, plain in [(4, 2, 5, {}, False), (3, 1, 2, {"direction": "reverse"}, False),
                                                          (5, 2, 3, {"direction": "bidirectional"}, False), (1, 3, 1, {}, True),
                                                          (2, 2, 2, {"direction": "bidirectional"}, True)]]


def each(take):
    for kind, steps, sequences, features, given, plain in CASES:
        d = 2 if given.get("direction") == "bidirectional" else 1
        drawn = inputs(Draw(f"recurrent {kind} {steps} {given}"), kind, steps, sequences, features, d, plain)
        names = ", ".join("%" + n for n, _ in zip("abcdefg", drawn))
        for part in range(3 if "lstm" in kind else 2):
            take(f"nn.{kind}", f"nn.{kind}({names}{attributes(**given)}).{part}", drawn,
                 lambda *v, part=part, kind=kind, given=given: layer(kind, given, *v)[part])


def layers(group):
    each(lambda name, expression, drawn, function:
         group.case(name, expression, drawn, np.ascontiguousarray(rounded(function(*map(exact, drawn)))), 32))


def gradients(group):
    each(lambda name, expression, drawn, function: group.gradient(name, expression, drawn, function, 256))


MAKERS = [layers]
