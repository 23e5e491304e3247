"""Models of images as PyTorch's modules. A row is a function of the number of the input; it gives what `@main` of the same
row in images.cpp gives."""

from torch import nn

from formula import fill, floats


class Convolution(nn.Conv2d):
    """Without biases, and of the input's size where the stride is 1."""

    def __init__(self, i, o, kernel, stride=1, groups=1):
        super().__init__(i, o, kernel, stride, (kernel - 1) // 2, groups=groups, bias=False)


# --- ResNet (He, Zhang, Ren and Sun, CVPR 2016) -----------------------------------------------------------------------


class Block(nn.Module):
    def __init__(self, i, o, stride, parts):
        super().__init__()
        for k, (conv, norm) in enumerate(parts, 1):
            setattr(self, f"conv{k}", conv)
            setattr(self, f"bn{k}", norm)
        self.count = len(parts)
        if stride != 1 or i != o:
            self.downsample = nn.Sequential(Convolution(i, o, 1, stride), nn.BatchNorm2d(o))

    def forward(self, x):
        y = x
        for k in range(1, self.count + 1):
            y = getattr(self, f"bn{k}")(getattr(self, f"conv{k}")(y))
            if k < self.count:
                y = y.relu()
        return (y + (self.downsample(x) if hasattr(self, "downsample") else x)).relu()


def basic(i, c, stride):
    return Block(i, c, stride, [(Convolution(i, c, 3, stride), nn.BatchNorm2d(c)), (Convolution(c, c, 3), nn.BatchNorm2d(c))])


def bottleneck(i, c, stride):
    return Block(i, 4 * c, stride, [(Convolution(i, c, 1), nn.BatchNorm2d(c)), (Convolution(c, c, 3, stride), nn.BatchNorm2d(c)),
                                    (Convolution(c, 4 * c, 1), nn.BatchNorm2d(4 * c))])


class ResNet(nn.Module):
    def __init__(self, block, wider, counts, classes):
        super().__init__()
        self.conv1, self.bn1 = Convolution(3, 64, 7, 2), nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        before = 64
        for k, count in enumerate(counts):
            c = 64 << k
            blocks = [block(before, c, 1 if k == 0 else 2)] + [block(wider * c, c, 1) for _ in range(count - 1)]
            setattr(self, f"layer{k + 1}", nn.Sequential(*blocks))
            before = wider * c
        self.fc = nn.Linear(before, classes)

    def forward(self, x):
        x = self.maxpool(self.bn1(self.conv1(x)).relu())
        features = []
        for k in range(1, 5):
            x = getattr(self, f"layer{k}")(x)
            features.append(x)
        return self.fc(x.mean((2, 3))), tuple(features)


def resnet(block, wider, counts):
    return lambda number: fill(ResNet(block, wider, counts, 10))(floats("images", number, (2, 3, 64, 64)))


MODELS = {
    "resnet18": resnet(basic, 1, (2, 2, 2, 2)),
    "resnet34": resnet(basic, 1, (3, 4, 6, 3)),
    "resnet50": resnet(bottleneck, 4, (3, 4, 6, 3)),
}
