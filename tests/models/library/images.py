"""Models of images as PyTorch's modules. A row is a function of the number of the input; it gives what `@main` of the same
row in images.cpp gives."""

import torch.nn.functional as F
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


# --- MobileNet (Howard et al. 2017; Sandler et al., CVPR 2018) ------------------------------------------------------------


class ConvNorm(nn.Module):
    def __init__(self, i, o, kernel, stride=1, groups=1):
        super().__init__()
        self.conv, self.norm = Convolution(i, o, kernel, stride, groups), nn.BatchNorm2d(o)

    def forward(self, x):
        return self.norm(self.conv(x))


class Separable(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.depthwise, self.pointwise = ConvNorm(i, i, 3, stride, i), ConvNorm(i, o, 1)

    def forward(self, x):
        return self.pointwise(self.depthwise(x).relu()).relu()


class MobileNet1(nn.Module):
    def __init__(self, c, classes):
        super().__init__()
        self.stem = ConvNorm(3, c, 3, 2)
        self.stage1 = Separable(c, 2 * c, 1)
        for k, count in enumerate((2, 2, 6, 2), 2):
            i, o = c << (k - 1), c << k
            blocks = [Separable(i, o, 2)] + [Separable(o, o, 1) for _ in range(count - 1)]
            setattr(self, f"stage{k}", nn.Sequential(*blocks))
        self.fc = nn.Linear(32 * c, classes)

    def forward(self, x):
        x = self.stem(x).relu()
        features = []
        for k in range(1, 6):
            x = getattr(self, f"stage{k}")(x)
            features.append(x)
        return self.fc(x.mean((2, 3))), tuple(features)


class Inverted(nn.Module):
    def __init__(self, i, o, stride=1, factor=6):
        super().__init__()
        if factor != 1:
            self.expand = ConvNorm(i, factor * i, 1)
        self.depthwise, self.project = ConvNorm(factor * i, factor * i, 3, stride, factor * i), ConvNorm(factor * i, o, 1)
        self.keeps = stride == 1 and i == o

    def forward(self, x):
        y = F.relu6(self.expand(x)) if hasattr(self, "expand") else x
        y = self.project(F.relu6(self.depthwise(y)))
        return x + y if self.keeps else y


class MobileNet2(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.stem = ConvNorm(3, 32, 3, 2)
        self.stage1 = Inverted(32, 16, 1, 1)
        i = 16
        for k, (o, count, stride) in enumerate(((24, 2, 2), (32, 3, 2), (64, 4, 2), (96, 3, 1), (160, 3, 2)), 2):
            blocks = [Inverted(i, o, stride)] + [Inverted(o, o) for _ in range(count - 1)]
            setattr(self, f"stage{k}", nn.Sequential(*blocks))
            i = o
        self.stage7 = Inverted(160, 320)
        self.head = ConvNorm(320, 1280, 1)
        self.fc = nn.Linear(1280, classes)

    def forward(self, x):
        x = F.relu6(self.stem(x))
        features = []
        for k in range(1, 8):
            x = getattr(self, f"stage{k}")(x)
            features.append(x)
        return self.fc(F.relu6(self.head(x)).mean((2, 3))), tuple(features)


# --- VGG (Simonyan and Zisserman, ICLR 2015) ------------------------------------------------------------------------------


class Stage(nn.Module):
    def __init__(self, i, o, count):
        super().__init__()
        self.count = count
        for k in range(1, count + 1):
            setattr(self, f"conv{k}", nn.Conv2d(i if k == 1 else o, o, 3, padding=1))

    def forward(self, x):
        for k in range(1, self.count + 1):
            x = getattr(self, f"conv{k}")(x).relu()
        return x


class Stages(nn.Module):
    def __init__(self):
        super().__init__()
        i = 3
        for k, (o, count) in enumerate(((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)), 1):
            setattr(self, f"stage{k}", Stage(i, o, count))
            i = o

    def forward(self, x):
        features = []
        for k in range(1, 6):
            x = getattr(self, f"stage{k}")(x if k == 1 else F.max_pool2d(x, 2))
            features.append(x)
        return tuple(features)


class VGG16(nn.Module):
    def __init__(self, f, classes):
        super().__init__()
        self.stages = Stages()
        self.fc6, self.fc7, self.fc8 = nn.Linear(25088, f), nn.Linear(f, f), nn.Linear(f, classes)

    def forward(self, x):
        features = self.stages(x)
        x = F.adaptive_avg_pool2d(F.max_pool2d(features[-1], 2), 7).flatten(1)
        return self.fc8(self.fc7(self.fc6(x).relu()).relu()), features


def of_images(module, *shape):
    """Results for images of a shape; `module` makes the model."""
    return lambda number: fill(module())(floats("images", number, shape))


MODELS = {
    "resnet18": of_images(lambda: ResNet(basic, 1, (2, 2, 2, 2), 10), 2, 3, 64, 64),
    "resnet34": of_images(lambda: ResNet(basic, 1, (3, 4, 6, 3), 10), 1, 3, 64, 64),
    "resnet50": of_images(lambda: ResNet(bottleneck, 4, (3, 4, 6, 3), 10), 1, 3, 64, 64),
    "mobilenet_v1": of_images(lambda: MobileNet1(32, 10), 1, 3, 64, 64),
    "mobilenet_v2": of_images(lambda: MobileNet2(10), 2, 3, 64, 64),
    "vgg16": of_images(lambda: VGG16(128, 10), 1, 3, 64, 64),
}
