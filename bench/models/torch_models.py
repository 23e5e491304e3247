"""The models of bench/models as PyTorch modules, with the names of the weights in the Relay texts."""
from typing import List

import torch
import torch.nn as nn
import torch.nn.functional as F


class Named(nn.Module):
    """A module whose parts are attributes with these names."""

    def __init__(self, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)


def conv(inputs, outputs, kernel, stride=1, groups=1):
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)


def randomise(module):
    """Weights with which activations keep their size from layer to layer, and statistics as after a training."""
    for part in module.modules():
        if isinstance(part, (nn.Conv2d, nn.ConvTranspose2d, nn.Linear)):
            nn.init.kaiming_normal_(part.weight)
        elif isinstance(part, nn.Embedding):
            nn.init.normal_(part.weight)
        elif isinstance(part, nn.BatchNorm2d):
            nn.init.normal_(part.running_mean, 0, 0.1)
            nn.init.uniform_(part.running_var, 0.5, 1.5)
        if isinstance(part, (nn.BatchNorm2d, nn.LayerNorm)):
            nn.init.uniform_(part.weight, 0.5, 1)
        bias = getattr(part, "bias", None)
        if isinstance(bias, torch.Tensor):
            nn.init.normal_(bias, 0, 0.1)


# ---- Convolutional networks ----

class Block(nn.Module):
    """ResNet's basic block."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = conv(inputs, outputs, 3, stride), nn.BatchNorm2d(outputs)
        self.conv2, self.bn2 = conv(outputs, outputs, 3), nn.BatchNorm2d(outputs)
        self.projects = stride > 1
        if self.projects:
            self.shortcut, self.bn3 = conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs)

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (self.bn3(self.shortcut(x)) if self.projects else x))


class Bottleneck(nn.Module):
    """ResNet's bottleneck, with the stride at the 3x3 convolution."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.conv1, self.bn1 = conv(inputs, width, 1), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = conv(width, width, 3, stride), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = conv(width, outputs, 1), nn.BatchNorm2d(outputs)
        self.projects = inputs != outputs
        if self.projects:
            self.shortcut, self.bn4 = conv(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs)

    def forward(self, x):
        y = F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))
        return F.relu(self.bn3(self.conv3(y)) + (self.bn4(self.shortcut(x)) if self.projects else x))


class ResNet(nn.Module):
    def __init__(self, layers, features):
        super().__init__()
        self.conv1, self.bn1, self.pool = conv(3, 64, 7, 2), nn.BatchNorm2d(64), nn.MaxPool2d(3, 2, 1)
        self.layer1, self.layer2, self.layer3, self.layer4 = layers
        self.fc = nn.Linear(features, 1000)

    def forward(self, x):
        x = self.pool(F.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


def resnet18():
    layers, inputs = [], 64
    for width in (64, 128, 256, 512):
        layers.append(nn.Sequential(Block(inputs, width, width // inputs), Block(width, width, 1)))
        inputs = width
    return ResNet(layers, 512)


def resnet50():
    layers, inputs = [], 64
    for width, count in ((64, 3), (128, 4), (256, 6), (512, 3)):
        blocks = []
        for k in range(count):
            blocks.append(Bottleneck(inputs, width, 2 if k == 0 and width > 64 else 1))
            inputs = 4 * width
        layers.append(nn.Sequential(*blocks))
    return ResNet(layers, 2048)


class InvertedBottleneck(nn.Module):
    """MobileNet V2's, which expands the channels in between; without that where `width` is None."""

    def __init__(self, inputs, width, outputs, stride=1, adds=False):
        super().__init__()
        self.expands, self.adds = width is not None, adds
        width = width or inputs
        if self.expands:
            self.expand = Named(conv=conv(inputs, width, 1), bn=nn.BatchNorm2d(width))
        self.depthwise = Named(conv=conv(width, width, 3, stride, width), bn=nn.BatchNorm2d(width))
        self.project = Named(conv=conv(width, outputs, 1), bn=nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = F.relu6(self.expand.bn(self.expand.conv(x))) if self.expands else x
        y = F.relu6(self.depthwise.bn(self.depthwise.conv(y)))
        y = self.project.bn(self.project.conv(y))
        return x + y if self.adds else y


class MobileNetV2(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = Named(conv=conv(3, 32, 3, 2), bn=nn.BatchNorm2d(32))
        self.first = InvertedBottleneck(32, None, 16)
        inputs, stages = 16, []
        for outputs, count, stride in ((24, 2, 2), (32, 3, 2), (64, 4, 2), (96, 3, 1), (160, 3, 2), (320, 1, 1)):
            blocks = []
            for k in range(count):
                blocks.append(InvertedBottleneck(inputs, 6 * inputs, outputs, 1 if k else stride, k > 0))
                inputs = outputs
            stages.append(nn.Sequential(*blocks))
        self.stage2, self.stage3, self.stage4, self.stage5, self.stage6, self.stage7 = stages
        self.head = Named(conv=conv(320, 1280, 1), bn=nn.BatchNorm2d(1280))
        self.fc = nn.Linear(1280, 1000)

    def forward(self, x):
        x = self.first(F.relu6(self.stem.bn(self.stem.conv(x))))
        x = self.stage7(self.stage6(self.stage5(self.stage4(self.stage3(self.stage2(x))))))
        x = F.relu6(self.head.bn(self.head.conv(x)))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Fire(nn.Module):
    def __init__(self, inputs, squeezed, expanded):
        super().__init__()
        self.squeeze = nn.Conv2d(inputs, squeezed, 1)
        self.expand1 = nn.Conv2d(squeezed, expanded, 1)
        self.expand3 = nn.Conv2d(squeezed, expanded, 3, padding=1)

    def forward(self, x):
        x = F.relu(self.squeeze(x))
        return torch.cat((F.relu(self.expand1(x)), F.relu(self.expand3(x))), 1)


class SqueezeNet(nn.Module):
    """Version 1.1."""

    def __init__(self):
        super().__init__()
        self.stem, self.pool = nn.Conv2d(3, 64, 3, 2), nn.MaxPool2d(3, 2, ceil_mode=True)
        self.fire2, self.fire3 = Fire(64, 16, 64), Fire(128, 16, 64)
        self.fire4, self.fire5 = Fire(128, 32, 128), Fire(256, 32, 128)
        self.fire6, self.fire7 = Fire(256, 48, 192), Fire(384, 48, 192)
        self.fire8, self.fire9 = Fire(384, 64, 256), Fire(512, 64, 256)
        self.classifier = nn.Conv2d(512, 1000, 1)

    def forward(self, x):
        x = self.fire3(self.fire2(self.pool(F.relu(self.stem(x)))))
        x = self.fire7(self.fire6(self.pool(self.fire5(self.fire4(self.pool(x))))))
        x = F.relu(self.classifier(self.fire9(self.fire8(x))))
        return F.adaptive_avg_pool2d(x, 1).flatten(1)


class Vgg16(nn.Module):
    def __init__(self):
        super().__init__()
        inputs, stages = 3, []
        for outputs, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
            convs = []
            for _ in range(count):
                convs.append(nn.Conv2d(inputs, outputs, 3, padding=1))
                inputs = outputs
            stages.append(nn.ModuleList(convs))
        self.stage1, self.stage2, self.stage3, self.stage4, self.stage5 = stages
        self.fc1, self.fc2, self.fc3 = nn.Linear(25088, 4096), nn.Linear(4096, 4096), nn.Linear(4096, 1000)

    def forward(self, x):
        for stage in (self.stage1, self.stage2, self.stage3, self.stage4, self.stage5):
            for layer in stage:
                x = F.relu(layer(x))
            x = F.max_pool2d(x, 2)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x.flatten(1))))))


class Dqn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.conv3 = nn.Conv2d(4, 32, 8, 4), nn.Conv2d(32, 64, 4, 2), nn.Conv2d(64, 64, 3)
        self.hidden, self.actions = nn.Linear(3136, 512), nn.Linear(512, 18)

    def forward(self, x):
        x = F.relu(self.conv3(F.relu(self.conv2(F.relu(self.conv1(x))))))
        return self.actions(F.relu(self.hidden(x.flatten(1))))


class Dcgan(nn.Module):
    """The generator."""

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.ConvTranspose2d(100, 1024, 4, bias=False), nn.BatchNorm2d(1024)
        self.conv2, self.bn2 = nn.ConvTranspose2d(1024, 512, 4, 2, 1, bias=False), nn.BatchNorm2d(512)
        self.conv3, self.bn3 = nn.ConvTranspose2d(512, 256, 4, 2, 1, bias=False), nn.BatchNorm2d(256)
        self.conv4, self.bn4 = nn.ConvTranspose2d(256, 128, 4, 2, 1, bias=False), nn.BatchNorm2d(128)
        self.conv5 = nn.ConvTranspose2d(128, 3, 4, 2, 1, bias=False)

    def forward(self, x):
        x = F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))
        x = F.relu(self.bn4(self.conv4(F.relu(self.bn3(self.conv3(x))))))
        return torch.tanh(self.conv5(x))


class CapsuleConv(nn.Module):
    """`function` is one of torch_capsules."""

    def __init__(self, function):
        super().__init__()
        self.weight, self.function = nn.Parameter(0.02 * torch.randn(256, 64, 3, 3, 4, 4)), function

    def forward(self, poses):
        return self.function(poses, self.weight).mean((2, 3))


# ---- Recurrent networks ----

class CellLoop(nn.Module):
    """A cell of PyTorch's over the steps of a sequence, from a state of zeros."""

    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, xs):
        state = None
        for t in range(xs.shape[0]):
            state = self.cell(xs[t], state)
        return state[0] if isinstance(state, tuple) else state


class FusedLayer(nn.Module):
    """The layer of PyTorch's that has a cell's weights."""

    def __init__(self, kind, cell):
        super().__init__()
        self.layer = kind(cell.input_size, cell.hidden_size)
        self.layer.load_state_dict({name + "_l0": tensor for name, tensor in cell.state_dict().items()})

    def forward(self, xs):
        return self.layer(xs)[0][-1]


class MiLstmCell(nn.Module):
    """An LSTM's cell with multiplicative integration."""

    def __init__(self, inputs, width):
        super().__init__()
        scale = width ** -0.5
        self.weight_ih = nn.Parameter(scale * torch.randn(4 * width, inputs))
        self.weight_hh = nn.Parameter(scale * torch.randn(4 * width, width))
        self.alpha, self.beta1, self.beta2 = (nn.Parameter(torch.rand(4 * width)) for _ in range(3))
        self.bias = nn.Parameter(torch.zeros(4 * width))

    def forward(self, x, state):
        h, c = state if state is not None else (x.new_zeros(1, self.weight_hh.shape[1]),) * 2
        wx, uh = F.linear(x, self.weight_ih), F.linear(h, self.weight_hh)
        gates = self.alpha * wx * uh + self.beta1 * uh + self.beta2 * wx + self.bias
        i, f, g, o = gates.chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


class TreeLstm(nn.Module):
    """A binary Tree-LSTM; `left` and `right` have the parts of each node by its number, -1 at leaves, which come first
    and in the order of their words, and parts before the nodes that they are of."""

    def __init__(self):
        super().__init__()
        self.leaf, self.node = nn.Linear(300, 450), nn.Linear(300, 750)

    def of_leaves(self, words):
        i, o, u = self.leaf(words).chunk(3, 1)
        c = torch.sigmoid(i) * torch.tanh(u)
        return torch.sigmoid(o) * torch.tanh(c), c

    def of_nodes(self, hl, cl, hr, cr):
        i, o, u, fl, fr = self.node(torch.cat((hl, hr), 1)).chunk(5, 1)
        c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(fl) * cl + torch.sigmoid(fr) * cr
        return torch.sigmoid(o) * torch.tanh(c), c

    def forward(self, words, left, right):
        left, right = left.tolist(), right.tolist()

        def read(node):
            if left[node] < 0:
                return self.of_leaves(words[node:node + 1])
            return self.of_nodes(*read(left[node]), *read(right[node]))

        return read(len(left) - 1)[0]


class TreeLstmByLevels(nn.Module):
    """The same, with the nodes of each height together."""

    def __init__(self, tree, left, right):
        super().__init__()
        self.tree = tree
        left, right = left.tolist(), right.tolist()
        heights = []
        for a, b in zip(left, right):
            heights.append(0 if a < 0 else 1 + max(heights[a], heights[b]))
        self.levels, rows = [], {}
        for height in range(max(heights) + 1):
            nodes = [node for node in range(len(left)) if heights[node] == height]
            if height > 0:
                self.levels.append([torch.tensor([rows[side[node]] for node in nodes]) for side in (left, right)])
            for node in nodes:
                rows[node] = len(rows)

    def forward(self, words):
        h, c = self.tree.of_leaves(words)
        for left, right in self.levels:
            more = self.tree.of_nodes(h[left], c[left], h[right], c[right])
            h, c = torch.cat((h, more[0])), torch.cat((c, more[1]))
        return h[-1:]


class TreeLstmInOrder(nn.Module):
    """The same for TorchScript, which has no recursion: node by node."""

    def __init__(self, tree):
        super().__init__()
        self.leaf, self.node = tree.leaf, tree.node

    def forward(self, words: torch.Tensor, left: List[int], right: List[int]):
        hs, cs = torch.jit.annotate(List[torch.Tensor], []), torch.jit.annotate(List[torch.Tensor], [])
        for node in range(len(left)):
            a, b = left[node], right[node]
            if a < 0:
                i, o, u = self.leaf(words[node:node + 1]).chunk(3, 1)
                c = torch.sigmoid(i) * torch.tanh(u)
            else:
                i, o, u, fl, fr = self.node(torch.cat((hs[a], hs[b]), 1)).chunk(5, 1)
                c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(fl) * cs[a] + torch.sigmoid(fr) * cs[b]
            hs.append(torch.sigmoid(o) * torch.tanh(c))
            cs.append(c)
        return hs[-1]


# ---- Transformers ----

def heads_of(x, heads):
    """(batch, tokens, features) as (batch, heads, tokens, features of a head)."""
    return x.reshape(*x.shape[:-1], heads, -1).transpose(1, 2)


def attention(query, key, value, mask=None):
    scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + mask
    return (torch.softmax(scores, -1) @ value).transpose(1, 2).flatten(2)


class BertLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.output, self.norm1 = nn.Linear(width, width), nn.LayerNorm(width, 1e-12)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm2 = nn.LayerNorm(width, 1e-12)

    def forward(self, x):
        query, key, value = (heads_of(f(x), self.heads) for f in (self.query, self.key, self.value))
        x = self.norm1(x + self.output(attention(query, key, value)))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class Bert(nn.Module):
    def __init__(self, layers, width, heads):
        super().__init__()
        self.words, self.positions = nn.Embedding(30522, width), nn.Embedding(512, width)
        self.segments, self.norm = nn.Embedding(2, width), nn.LayerNorm(width, 1e-12)
        self.layers = nn.Sequential(*[BertLayer(width, heads) for _ in range(layers)])
        self.pooler = nn.Linear(width, width)

    def forward(self, tokens):
        count = tokens.shape[1]
        x = self.words(tokens) + self.positions.weight[:count] + self.segments.weight[0]
        return torch.tanh(self.pooler(self.layers(self.norm(x))[:, 0]))


class Columns(nn.Module):
    """A linear layer whose weight is not transposed, as GPT-2's are."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * (2 / inputs) ** 0.5)
        self.bias = nn.Parameter(0.1 * torch.randn(outputs))

    def forward(self, x):
        return torch.addmm(self.bias, x.flatten(0, -2), self.weight).reshape(*x.shape[:-1], -1)


class Gpt2Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.attention = nn.LayerNorm(width), Columns(width, 3 * width)
        self.output, self.norm2 = Columns(width, width), nn.LayerNorm(width)
        self.up, self.down = Columns(width, 4 * width), Columns(4 * width, width)

    def forward(self, x, mask):
        query, key, value = (heads_of(y, self.heads) for y in self.attention(self.norm1(x)).chunk(3, -1))
        x = x + self.output(attention(query, key, value, mask))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt2(nn.Module):
    def __init__(self, layers=12, width=768, heads=12):
        super().__init__()
        self.words, self.positions = nn.Embedding(50257, width), nn.Embedding(1024, width)
        self.layers = nn.ModuleList([Gpt2Layer(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens):
        count = tokens.shape[0]
        places = torch.arange(count)
        mask = torch.zeros(count, count).masked_fill(places > places[:, None], float("-inf"))
        x = (self.words(tokens) + self.positions.weight[:count])[None]
        for layer in self.layers:
            x = layer(x, mask)
        return F.linear(self.norm(x[:, -1]), self.words.weight)


class CachedAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.output = nn.Linear(width, width)

    def seen(self, x):
        return self.key(x), self.value(x)

    def forward(self, x, keys, values):
        query, key, value = (heads_of(y, self.heads) for y in (self.query(x), keys, values))
        return self.output(attention(query, key, value))


class DecoderLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention, self.cross = CachedAttention(width, heads), CachedAttention(width, heads)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, seen, memory):
        x = self.norm1(x + self.attention(x, *seen))
        x = self.norm2(x + self.cross(x, *memory))
        return self.norm3(x + self.down(F.relu(self.up(x))))


class Decoder(nn.Module):
    """Writes tokens, each time the likeliest; the result is the logits after the last."""

    def __init__(self, width=256, heads=4, words=1000, count=40):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(count, width)
        self.layer1, self.layer2 = DecoderLayer(width, heads), DecoderLayer(width, heads)
        self.out = nn.Linear(width, words)

    def forward(self, memory):
        layers = (self.layer1, self.layer2)
        memories = [layer.cross.seen(memory[None]) for layer in layers]
        seen, token = [None, None], torch.zeros((1, 1), dtype=torch.int64)
        for t in range(self.positions.num_embeddings):
            x = self.words(token) + self.positions.weight[t]
            for k, layer in enumerate(layers):
                more = layer.attention.seen(x)
                seen[k] = more if t == 0 else tuple(torch.cat(both, 1) for both in zip(seen[k], more))
                x = layer(x, seen[k], memories[k])
            logits = self.out(x)
            token = logits.argmax(-1)
        return logits[0]
