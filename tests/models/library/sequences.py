"""Models of sequences as PyTorch's modules. A row is a function of the number of the input; it gives what `@main` of the same
row in sequences.cpp gives."""

import math

import torch
from torch import nn
from torch.nn import functional

from formula import fill, floats, integers, weight


def zeros(*shape):
    return torch.zeros(shape, dtype=torch.float64)


def gradients(result, *tensors):
    """Of the sum of the squares of a result."""
    return torch.autograd.grad(result.square().sum(), tensors)


# --- recurrent layers -------------------------------------------------------------------------------------------------


def layers(kind, *cells):
    """PyTorch's layers with the weights of cells: (cell, or one for each direction) for each layer."""
    first = cells[0][0]
    made = kind(first.input_size, first.hidden_size, num_layers=len(cells), bidirectional=len(cells[0]) == 2).double()
    made.load_state_dict({f"{name}_l{k}{'_reverse' if d else ''}": tensor
                          for k, directions in enumerate(cells) for d, cell in enumerate(directions)
                          for name, tensor in cell.state_dict().items()})
    return made


def halves(cell, x, h):
    """The products of a cell with its features and with its state."""
    return functional.linear(x, cell.weight_ih, cell.bias_ih), functional.linear(h, cell.weight_hh, cell.bias_hh)


def rnn_sums(cell, x, h):
    return sum(halves(cell, x, h))


def gru_gates(cell, x, h):
    (xr, xz, xn), (hr, hz, hn) = (half.chunk(3, 1) for half in halves(cell, x, h))
    return (xr + hr).sigmoid(), (xz + hz).sigmoid(), (xn + (xr + hr).sigmoid() * hn).tanh()


def lstm_gates(cell, x, state):
    i, f, g, o = sum(halves(cell, x, state[0])).chunk(4, 1)
    return i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()


def recurrent(kind, cell, inner):
    """Three layers one upon the other; a layer in both directions, and two; what is inside of the second step of the first."""
    def run(number):
        first = fill(cell(5, 6), "first.")
        rest = [fill(cell(6, 6), f"rest.{k}.") for k in range(2)]
        xs = floats("xs", number, (7, 2, 5)).requires_grad_()
        stacked = layers(kind, (first,), (rest[0],), (rest[1],))
        ys, last = stacked(xs)
        pair = fill(cell(5, 6), "both.forward."), fill(cell(5, 6), "both.backward.")
        upper = fill(cell(12, 6), "upper.forward."), fill(cell(12, 6), "upper.backward.")
        both, ends = layers(kind, pair)(xs)
        upon = layers(kind, pair, upper)
        deep, deep_ends = upon(xs)
        last, ends, deep_ends = (tuple(zip(*s)) if isinstance(s, tuple) else tuple(s) for s in (last, ends, deep_ends))
        return (ys, last, both, ends, inner(first, xs[1], first(xs[0])), gradients(ys, xs, stacked.weight_hh_l2), deep, deep_ends,
                gradients(deep, xs, upon.weight_hh_l0_reverse))
    return run


# --- a model of characters --------------------------------------------------------------------------------------------


def char_rnn(number):
    embedding, head = fill(nn.Embedding(12, 5), "embedding."), fill(nn.Linear(6, 12), "head.")
    lstm = layers(nn.LSTM, (fill(nn.LSTMCell(5, 6), "lstm.first."),), (fill(nn.LSTMCell(6, 6), "lstm.rest."),))
    text = integers("text", number, (8, 3))
    hidden, (h, c) = lstm(embedding(text))
    logits = head(hidden)
    loss = functional.cross_entropy(logits[:-1].reshape(-1, 12), text[1:].reshape(-1))
    written = text
    for _ in range(6):
        written = torch.cat([written, head(lstm(embedding(written))[0])[-1:].argmax(-1)])
    return logits, hidden, h[0], c[1], loss, written[8:], torch.autograd.grad(loss, (embedding.weight, lstm.weight_ih_l1))


# --- Tree-LSTM (Tai, Socher and Manning, ACL 2015) --------------------------------------------------------------------


class Weights(nn.Module):
    def __init__(self, **shapes):
        super().__init__()
        for name, shape in shapes.items():
            self.register_parameter(name, nn.Parameter(torch.empty(shape)))


def tree_lstm(number):
    w = fill(Weights(weight_ih=(18, 5), weight_hh=(18, 6), bias=(18,), forget_ih=(6, 5), forget_hh=(6, 6), forget_bias=(6,)))
    words = floats("words", number, (6, 5)).requires_grad_()

    def node(word, *children):
        x, h = words[word], sum((child[0] for child in children), zeros(6))
        i, o, u = (w.weight_ih @ x + w.weight_hh @ h + w.bias).chunk(3)
        forget = [(w.forget_ih @ x + w.forget_hh @ child[0] + w.forget_bias).sigmoid() for child in children]
        c = i.sigmoid() * u.tanh() + sum((f * child[1] for f, child in zip(forget, children)), zeros(6))
        return o.sigmoid() * c.tanh(), c

    below = node(2, node(3), node(4), node(5))
    root = node(0, node(1), below)
    return root, below, node(1), gradients(root[0], words, w.forget_hh)


# --- transformers -----------------------------------------------------------------------------------------------------


def heads(x, count):
    """(batch, tokens, features) as (batch, heads, tokens, features of a head)."""
    return x.unflatten(2, (count, -1)).transpose(1, 2)


def mix(weights, value):
    """The heads side by side again."""
    return (weights @ value).transpose(1, 2).flatten(2)


def norm_of(prefix, features, epsilon):
    return fill(nn.LayerNorm(features, eps=epsilon), prefix)


class BertLayer:
    def __init__(self, prefix):
        linear = lambda name, i, o: fill(nn.Linear(i, o), f"{prefix}{name}.")
        self.query, self.key, self.value, self.output = (linear(f"attention.{name}", 8, 8)
                                                         for name in ("query", "key", "value", "output"))
        self.norm1 = norm_of(prefix + "attention.norm.", 8, 1e-12)
        self.up, self.down = linear("intermediate", 8, 16), linear("output", 16, 8)
        self.norm2 = norm_of(prefix + "norm.", 8, 1e-12)

    def weights(self, x, mask):
        scores = heads(self.query(x), 2) @ heads(self.key(x), 2).transpose(2, 3) / math.sqrt(4)
        return scores.masked_fill(~mask[:, None, None, :], -math.inf).softmax(-1)

    def __call__(self, x, mask):
        x = self.norm1(x + self.output(mix(self.weights(x, mask), heads(self.value(x), 2))))
        return self.norm2(x + self.down(functional.gelu(self.up(x))))


def bert(number):
    table = lambda name, count: fill(nn.Embedding(count, 8), f"embeddings.{name}.")
    words = table("word_embeddings", 10)
    tokens, segments = integers("tokens", number, (2, 6)), integers("segments", number, (2, 6)) % 2
    mask = integers("marks", number, (2, 6)) > 2
    mask[:, 0] = True
    x = words(tokens) + table("position_embeddings", 9).weight[:6]
    x = norm_of("embeddings.norm.", 8, 1e-12)(x + table("token_type_embeddings", 2)(segments))
    layers = [BertLayer(f"layers.{k}.") for k in range(3)]
    hidden = []
    weights = layers[0].weights(x, mask)
    for layer in layers:
        hidden.append(x)
        x = layer(x, mask)
    pooled = fill(nn.Linear(8, 8), "pooler.")(x[:, 0]).tanh()
    return pooled, x, tuple(hidden), weights, gradients(pooled, words.weight, layers[1].query.weight)


def causal(scores):
    count = scores.shape[-1]
    return scores.masked_fill(~torch.ones(count, count).tril().bool(), -math.inf).softmax(-1)


def go_on(logits, text, count):
    """The text with the likeliest tokens, each time from all that is there."""
    for _ in range(count):
        text = torch.cat([text, logits(text)[:, -1:].argmax(-1)], 1)
    return text


class Gpt2Layer:
    def __init__(self, prefix):
        linear = lambda name, i, o: fill(nn.Linear(i, o), f"{prefix}{name}.")
        self.norm1, self.norm2 = (norm_of(f"{prefix}norm_{k}.", 8, 1e-5) for k in (1, 2))
        self.attention, self.projection = linear("query_key_value", 8, 24), linear("projection", 8, 8)
        self.up, self.down = linear("up", 8, 16), linear("down", 16, 8)

    def parts(self, x):
        q, k, v = (heads(part, 2) for part in self.attention(self.norm1(x)).chunk(3, 2))
        return causal(q @ k.transpose(2, 3) / math.sqrt(4)), v

    def __call__(self, x):
        x = x + self.projection(mix(*self.parts(x)))
        return x + self.down(functional.gelu(self.up(self.norm2(x)), approximate="tanh"))


def gpt2(number):
    words, positions = fill(nn.Embedding(10, 8), "word_embeddings."), fill(nn.Embedding(16, 8), "position_embeddings.")
    layers, norm = [Gpt2Layer(f"layers.{k}.") for k in range(3)], norm_of("norm.", 8, 1e-5)
    text = integers("text", number, (2, 5))

    def embedded(text):
        return words(text) + positions.weight[:text.shape[1]]

    def hidden(text):
        x = embedded(text)
        for layer in layers:
            x = layer(x)
        return norm(x)

    def logits(text):
        return hidden(text) @ words.weight.T

    weights, value = layers[0].parts(embedded(text))
    return (logits(text), logits(text)[:, 3:], hidden(text), weights, value.transpose(1, 2), go_on(logits, text, 9),
            gradients(logits(text), words.weight, layers[1].attention.weight))


class RmsNorm:
    def __init__(self, prefix):
        self.weight = weight(prefix + "weight", (10,))

    def __call__(self, x):
        return x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt() * self.weight


def turned(x):
    """Rotary positions (Su et al. 2021) of (batch, heads, tokens, features), as products of complex numbers."""
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[2])[:, None] * 10000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
    product = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([product.real, product.imag], -1)


class LlamaLayer:
    """Two heads of keys and values, each for three of queries, of four features."""

    def __init__(self, prefix):
        matrix = lambda name, i, o: fill(nn.Linear(i, o, bias=False), f"{prefix}{name}.")
        self.norm1, self.norm2 = RmsNorm(prefix + "attention_norm."), RmsNorm(prefix + "feed_forward_norm.")
        self.query, self.key, self.value = (matrix(f"attention.{name}", 10, o)
                                            for name, o in (("query", 24), ("key", 8), ("value", 8)))
        self.output = matrix("attention.output", 24, 10)
        self.gate, self.up = (matrix(f"feed_forward.{name}", 10, 16) for name in ("gate", "up"))
        self.down = matrix("feed_forward.down", 16, 10)

    def parts(self, x):
        x = self.norm1(x)
        key, value = turned(heads(self.key(x), 2)), heads(self.value(x), 2)
        scores = turned(heads(self.query(x), 6)) @ key.repeat_interleave(3, 1).transpose(2, 3)
        return causal(scores / math.sqrt(4)), value.repeat_interleave(3, 1), key

    def __call__(self, x):
        x = x + self.output(mix(*self.parts(x)[:2]))
        y = self.norm2(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


def llama(number):
    words, head = fill(nn.Embedding(11, 10), "embedding."), fill(nn.Linear(10, 11, bias=False), "head.")
    layers, norm = [LlamaLayer(f"layers.{k}.") for k in range(3)], RmsNorm("norm.")
    text = integers("text", number, (2, 5))

    def hidden(text):
        x = words(text)
        for layer in layers:
            x = layer(x)
        return norm(x)

    def logits(text):
        return head(hidden(text))

    weights, _, key = layers[0].parts(words(text))
    weights = weights.unflatten(1, (2, 3))
    return (logits(text), logits(text)[:, 3:], hidden(text), weights, key.transpose(1, 2), go_on(logits, text, 9),
            gradients(logits(text), words.weight, layers[1].key.weight))


# --- other cells ------------------------------------------------------------------------------------------------------


def scanned(step, xs, *state):
    """What a step gives first, for all steps, and the last state."""
    ys = []
    for x in xs:
        y, *state = step(x, *state)
        ys.append(y)
    return torch.stack(ys), tuple(state)


def mi_lstm(number):
    """Multiplicative integration (Wu et al., NIPS 2016)."""
    w = fill(Weights(weight_ih=(24, 5), weight_hh=(24, 6), alpha=(24,), beta1=(24,), beta2=(24,), bias=(24,)))
    sums = lambda x, h: (w.alpha * (x @ w.weight_ih.T) * (h @ w.weight_hh.T) + w.beta1 * (h @ w.weight_hh.T)
                         + w.beta2 * (x @ w.weight_ih.T) + w.bias)

    def step(x, h, c):
        i, f, g, o = sums(x, h).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        return h, h, c

    xs = floats("xs", number, (7, 2, 5)).requires_grad_()
    ys, last = scanned(step, xs, zeros(2, 6), zeros(2, 6))
    return ys, last, sums(xs[6], ys[5]), gradients(ys, xs, w.weight_hh)


def sub_lstm(number):
    """SubLSTM (Costa et al., NIPS 2017)."""
    w = fill(Weights(weight_ih=(24, 5), weight_hh=(24, 6), bias=(24,)))
    gates = lambda x, h: (x @ w.weight_ih.T + h @ w.weight_hh.T + w.bias).sigmoid().chunk(4, 1)

    def step(x, h, c):
        i, f, z, o = gates(x, h)
        c = f * c + z - i
        h = c.sigmoid() - o
        return h, h, c

    xs = floats("xs", number, (7, 2, 5)).requires_grad_()
    ys, last = scanned(step, xs, zeros(2, 6), zeros(2, 6))
    return ys, last, gates(xs[6], ys[5]), gradients(ys, xs, w.weight_hh)


def lltm(number):
    """The cell of PyTorch's tutorial on extensions in C++."""
    w = fill(Weights(weights=(18, 11), bias=(18,)))

    def gates(x, h):
        i, o, c = functional.linear(torch.cat([h, x], 1), w.weights, w.bias).chunk(3, 1)
        return i.sigmoid(), o.sigmoid(), functional.elu(c)

    def step(x, h, c):
        i, o, candidate = gates(x, h)
        c = c + candidate * i
        h = c.tanh() * o
        return h, h, c

    xs = floats("xs", number, (7, 2, 5)).requires_grad_()
    ys, last = scanned(step, xs, zeros(2, 6), zeros(2, 6))
    return ys, last, gates(xs[6], ys[5]), gradients(ys, xs, w.weights)


def scrn(number):
    """The structurally constrained network (Mikolov et al., ICLR 2015)."""
    w = fill(Weights(input_context=(4, 5), input_hidden=(6, 5), context_hidden=(6, 4), hidden_hidden=(6, 6),
                     hidden_output=(3, 6), context_output=(3, 4)))

    def step(x, s, h):
        s = 0.05 * (x @ w.input_context.T) + 0.95 * s
        h = (s @ w.context_hidden.T + x @ w.input_hidden.T + h @ w.hidden_hidden.T).sigmoid()
        return h @ w.hidden_output.T + s @ w.context_output.T, s, h

    xs = floats("xs", number, (7, 2, 5)).requires_grad_()
    ys, last = scanned(step, xs, zeros(2, 4), zeros(2, 6))
    return ys, last, gradients(ys, xs, w.input_context)


MODELS = {name: torch.enable_grad()(row) for name, row in {
    "rnn": recurrent(nn.RNN, nn.RNNCell, rnn_sums),
    "gru": recurrent(nn.GRU, nn.GRUCell, gru_gates),
    "lstm": recurrent(nn.LSTM, nn.LSTMCell, lstm_gates),
    "char_rnn": char_rnn,
    "tree_lstm": tree_lstm,
    "bert": bert,
    "gpt2": gpt2,
    "llama": llama,
    "mi_lstm": mi_lstm,
    "sub_lstm": sub_lstm,
    "lltm": lltm,
    "scrn": scrn,
}.items()}
