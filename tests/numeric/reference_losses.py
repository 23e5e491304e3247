"""References of the losses (stdlib/loss.relay, and Relay's in stdlib/nn.relay), and their gradients."""

import numpy as np
import torch
import torch.nn.functional as F

from reference_groups import Draw, attributes

REDUCTIONS = ("mean", "sum", "none")
SHAPES = [(), (7,), (3, 5), (2, 3, 4)]


def exact(array):
    tensor = torch.from_numpy(np.array(array))
    return tensor.double() if tensor.is_floating_point() else tensor.long()


def probabilities(draw, shape):
    return draw.floats(shape, 0.05, 0.95)


def logarithms(draw, shape, axis=-1):
    a = draw.floats(shape).astype("float64")
    return (a - np.log(np.sum(np.exp(a), axis, keepdims=True))).astype("float32")


# A loss of two tensors of one shape: how they are drawn, attributes, and PyTorch's function.
PAIRS = [
    ("loss.mse", Draw.floats, Draw.floats, [{}], F.mse_loss),
    ("loss.l1", Draw.floats, Draw.floats, [{}], F.l1_loss),
    ("loss.huber", Draw.floats, Draw.floats, [{}, dict(delta=2.5)], F.huber_loss),
    ("loss.smooth_l1", Draw.floats, Draw.floats, [{}, dict(beta=2.5), dict(beta=0.0)], F.smooth_l1_loss),
    ("loss.bce", probabilities, probabilities, [{}], F.binary_cross_entropy),
    ("loss.bce_with_logits", Draw.floats, probabilities, [{}, dict(pos_weight=3.0)],
     lambda x, y, pos_weight=1.0, reduction="mean": F.binary_cross_entropy_with_logits(
         x, y, pos_weight=torch.tensor(pos_weight).double(), reduction=reduction)),
    ("loss.kl_div", Draw.floats, probabilities, [{}], F.kl_div),
    ("loss.kl_div", Draw.floats, Draw.floats, [dict(log_target=True)], F.kl_div),
]

# Probabilities, logits and differences at the ends of their ranges, at kinks and where a naive formula overflows.
AWKWARD = [
    ("loss.bce", [0.0, 1.0, 0.0, 1.0, 1e-30, 0.5], [1.0, 0.0, 0.0, 1.0, 1.0, 0.5], {}, F.binary_cross_entropy),
    ("loss.bce_with_logits", [0.0, 0.0, 200.0, -200.0, 200.0, -200.0, 30.0, -30.0], [0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0],
     {}, F.binary_cross_entropy_with_logits),
    ("loss.kl_div", [-1.0, -2.0, 0.0], [0.0, 1.0, 0.25], {}, F.kl_div),
    ("loss.huber", [1.0, -1.0, 0.0, 1e30], [0.0, 0.0, 0.0, 0.0], {}, F.huber_loss),
    ("loss.smooth_l1", [2.0, -2.0, 0.0, 1e30], [0.0, 0.0, 0.0, 0.0], dict(beta=2.0), F.smooth_l1_loss),
    ("loss.l1", [1.0, 0.0], [1.0, 0.5], {}, F.l1_loss),
]
# Where the predictions are right for certain PyTorch's gradient of the cross-entropy is 0, though the loss has a slope there.
AWKWARD_GRADIENTS = [("loss.bce", [0.0, 1.0, 0.5], [1.0, 0.0, 0.5], {}, F.binary_cross_entropy), *AWKWARD[1:]]


def size(array):
    return max(int(np.size(array)), 1)


def pairs(group):
    for name, first, second, given, function in PAIRS:
        draw = Draw(name)
        for shape in SHAPES:
            x, y = first(draw, shape), second(draw, shape)
            for more in given:
                for reduction in REDUCTIONS:
                    result = function(exact(x), exact(y), **more, reduction=reduction).numpy().astype("float32")
                    written = attributes(**more) + (attributes(reduction=reduction) if reduction != "mean" else "")
                    group.case(name, f"{name}(%a, %b{written})", [x, y], np.asarray(result), size(x))
    for name, x, y, more, function in AWKWARD:
        x, y = np.array(x, "float32"), np.array(y, "float32")
        result = function(exact(x), exact(y), **more, reduction="none").numpy().astype("float32")
        group.case(name, f"{name}(%a, %b{attributes(**more, reduction='none')})", [x, y], result)
    draw = Draw("batchmean")
    x, y = draw.floats((3, 5)), probabilities(draw, (3, 5))
    result = F.kl_div(exact(x), exact(y), reduction="batchmean").numpy().astype("float32")
    group.case("loss.kl_div", 'loss.kl_div(%a, %b, reduction="batchmean")', [x, y], np.asarray(result), 15)
    x = np.append(draw.floats((30,), -30.0, 30.0), np.array([0.0, 88.0, -88.0, 200.0, -200.0, np.inf, -np.inf], "float32"))
    for a in (x, x.astype("float64"), x.astype("float16")):
        group.case("nn.softplus", "nn.softplus(%a)", [a], F.softplus(exact(a), threshold=1e9).numpy().astype(a.dtype))


# Shapes of the classes' scores, and the axis of the classes where it is not PyTorch's.
SCORES = [((4,), None), ((3, 5), None), ((2, 3, 4), None), ((2, 3, 2, 2), None), ((3, 5), 0), ((2, 3, 4), -1), ((1, 1), None)]


def labelled(draw):
    """Scores, labels of which some do not count, weights, and attributes, with the axis where PyTorch has it."""
    for shape, axis in SCORES:
        at = (axis if axis is not None else min(1, len(shape) - 1)) % len(shape)
        rest = shape[:at] + shape[at + 1:]
        for ignored in (-100, 1):
            labels = draw.ints(rest, 0, shape[at] - 1, "int64" if ignored == 1 else "int32")
            if ignored == -100 and labels.size > 1:
                labels.flat[1] = ignored
            given = {} if axis is None else dict(axis=axis)
            more = {} if ignored == -100 else dict(ignore_index=ignored)
            if np.all(labels == ignored):
                continue
            weights = draw.floats((shape[at],), 0.5, 2.0)
            turn = lambda t, at=at: torch.movedim(t, at, min(1, t.ndim - 1))
            yield draw.floats(shape), labels, weights, given, more, turn


def classes(group):
    draw = Draw("losses of labels")
    for x, y, w, given, more, turn in labelled(draw):
        for reduction in REDUCTIONS:
            reduced = {} if reduction == "mean" else dict(reduction=reduction)
            said = lambda **attrs: attributes(**given, **more, **attrs, **reduced)
            take = lambda t: np.asarray(t.numpy().astype("float32"))
            tensors = turn(exact(x)), exact(y)
            for smoothing in (0.0, 0.1):
                smooth = dict(label_smoothing=smoothing) if smoothing else {}
                result = F.cross_entropy(*tensors, **more, label_smoothing=smoothing, reduction=reduction)
                group.case("loss.cross_entropy", f"loss.cross_entropy(%a, %b{said(**smooth)})", [x, y], take(result), size(x))
                result = F.cross_entropy(*tensors, exact(w), **more, label_smoothing=smoothing, reduction=reduction)
                group.case("loss.weighted_cross_entropy", f"loss.weighted_cross_entropy(%a, %b, %c{said(**smooth)})",
                           [x, y, w], take(result), size(x))
            result = F.nll_loss(*tensors, exact(w), **more, reduction=reduction)
            group.case("loss.nll", f"loss.nll(%a, %b, %c{said()})", [x, y, w], take(result), size(x))
            if not given:
                group.case("nn.nll_loss", f"nn.nll_loss(%a, %b, %c{said()})", [x, y, w], take(result), size(x))
    large = np.array([[1000.0, 999.0, -1000.0], [88.0, -88.0, 0.0]], "float32")
    y = np.array([2, 1], "int32")
    group.case("loss.cross_entropy", 'loss.cross_entropy(%a, %b, reduction="none")', [large, y],
               F.cross_entropy(exact(large), exact(y), reduction="none").numpy().astype("float32"))


def distributions(group):
    draw = Draw("losses of distributions")
    for shape in [(3, 5), (1, 1), (4, 33)]:
        x, y = logarithms(draw, shape), np.exp(logarithms(draw, shape))
        p = np.exp(x)
        for name, given, log in (("nn.cross_entropy_with_logits", x, exact(x)), ("nn.cross_entropy", p, torch.log(exact(p)))):
            result = -torch.sum(log * exact(y)) / shape[0]
            group.case(name, f"{name}(%a, %b)", [given, y], np.asarray(result.numpy().astype("float32")), x.size)


def gradients(group):
    for name, first, second, given, function in PAIRS:
        draw = Draw(f"gradients {name}")
        x, y = first(draw, (3, 4)), second(draw, (3, 4))
        for more in given:
            for reduction in REDUCTIONS:
                written = attributes(**more, reduction=reduction)
                group.gradient(name, f"{name}(%a, %b{written})", [x, y],
                               lambda x, y, f=function, m=more, r=reduction: f(x, y, **m, reduction=r), 12)
    for name, x, y, more, function in AWKWARD_GRADIENTS:
        x, y = np.array(x, "float32"), np.array(y, "float32")
        group.gradient(name, f"{name}(%a, %b{attributes(**more, reduction='none')})", [x, y],
                       lambda x, y, f=function, m=more: f(x, y, **m, reduction="none"), 4, of=1)
    draw = Draw("gradients softplus")
    group.gradient("nn.softplus", "nn.softplus(%a)", [np.append(draw.floats((9,), -20.0, 20.0), np.float32([0.0, 200.0, -200.0]))],
                   lambda x: F.softplus(x, threshold=1e9), 4)
    draw = Draw("gradients of labels")
    for x, y, w, given, more, turn in labelled(draw):
        for smoothing, reduction in ((0.0, "mean"), (0.1, "mean"), (0.1, "none"), (0.0, "none"), (0.0, "sum")):
            said = attributes(**given, **more, **(dict(label_smoothing=smoothing) if smoothing else {}), reduction=reduction)
            group.gradient("loss.cross_entropy", f"loss.cross_entropy(%a, %b{said})", [x, y],
                           lambda x, y, t=turn, m=more, s=smoothing, r=reduction: F.cross_entropy(
                               t(x), y.long(), **m, label_smoothing=s, reduction=r), 24)
            group.gradient("loss.weighted_cross_entropy", f"loss.weighted_cross_entropy(%a, %b, %c{said})", [x, y, w],
                           lambda x, y, w, t=turn, m=more, s=smoothing, r=reduction: F.cross_entropy(
                               t(x), y.long(), w, **m, label_smoothing=s, reduction=r), 24, of=1)
            if not given and not smoothing:
                said = attributes(**more, reduction=reduction)
                group.gradient("nn.nll_loss", f"nn.nll_loss(%a, %b, %c{said})", [x, y, w],
                               lambda x, y, w, m=more, r=reduction: F.nll_loss(x, y.long(), w, **m, reduction=r), 24, of=1)
    draw = Draw("gradients of distributions")
    x, y = logarithms(draw, (3, 5)), np.exp(logarithms(draw, (3, 5)))
    group.gradient("nn.cross_entropy_with_logits", "nn.cross_entropy_with_logits(%a, %b)", [x, y], lambda x, y: -torch.sum(x * y) / 3, 15)
    group.gradient("nn.cross_entropy", "nn.cross_entropy(%a, %b)", [np.exp(x), y], lambda x, y: -torch.sum(torch.log(x) * y) / 3, 15)


MAKERS = [pairs, classes, distributions]
