"""The models of bench/models as PyTorch modules, with the names of the weights in the Relay texts."""
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


# ---- Transformers ----

def heads_of(x, heads):
    """(batch, tokens, features) as (batch, heads, tokens, features of a head)."""
    return x.unflatten(-1, (heads, x.shape[-1] // heads)).transpose(1, 2)


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
