"""Models of images as PyTorch's modules. A row is a function of the number of the input; it gives what `@main` of the same
row in images.cpp gives."""

import torch
import torch.nn.functional as F
from torch import nn

from formula import of


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
        self.conv, self.bn = Convolution(i, o, kernel, stride, groups), nn.BatchNorm2d(o)

    def forward(self, x):
        return self.bn(self.conv(x))


class Separable(nn.Module):
    def __init__(self, i, o, stride, group=1):
        super().__init__()
        self.depthwise, self.pointwise = ConvNorm(i, i, 3, stride, i // group), ConvNorm(i, o, 1)

    def forward(self, x):
        return self.pointwise(self.depthwise(x).relu()).relu()


class MobileNet1(nn.Module):
    def __init__(self, c, classes, group=1):
        super().__init__()
        self.stem = ConvNorm(3, c, 3, 2)
        self.stage1 = Separable(c, 2 * c, 1, group)
        for k, count in enumerate((2, 2, 6, 2), 2):
            i, o = c << (k - 1), c << k
            blocks = [Separable(i, o, 2, group)] + [Separable(o, o, 1, group) for _ in range(count - 1)]
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


# --- SqueezeNet (Iandola et al. 2016) -------------------------------------------------------------------------------------


class Fire(nn.Module):
    def __init__(self, i, s, e):
        super().__init__()
        self.squeeze, self.expand1x1, self.expand3x3 = nn.Conv2d(i, s, 1), nn.Conv2d(s, e, 1), nn.Conv2d(s, e, 3, padding=1)

    def forward(self, x):
        x = self.squeeze(x).relu()
        return torch.cat((self.expand1x1(x).relu(), self.expand3x3(x).relu()), 1)


class SqueezeNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 3, 2)
        i = 64
        for k, (s, e) in enumerate(((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)), 2):
            setattr(self, f"fire{k}", Fire(i, s, e))
            i = 2 * e
        self.conv10 = nn.Conv2d(512, classes, 1)

    def forward(self, x):
        pool = lambda x: F.max_pool2d(x, 3, 2, ceil_mode=True)
        x1 = self.conv1(x).relu()
        x3 = self.fire3(self.fire2(pool(x1)))
        x5 = self.fire5(self.fire4(pool(x3)))
        x9 = self.fire9(self.fire8(self.fire7(self.fire6(pool(x5)))))
        return self.conv10(x9).relu().mean((2, 3)), (x1, x3, x5, x9)


# --- DenseNet (Huang, Liu, van der Maaten and Weinberger, CVPR 2017) ------------------------------------------------------


class DenseLayer(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.norm1, self.conv1 = nn.BatchNorm2d(i), Convolution(i, 128, 1)
        self.norm2, self.conv2 = nn.BatchNorm2d(128), Convolution(128, 32, 3)

    def forward(self, x):
        return torch.cat((x, self.conv2(self.norm2(self.conv1(self.norm1(x).relu())).relu())), 1)


class Transition(nn.Module):
    def __init__(self, i):
        super().__init__()
        self.norm, self.conv = nn.BatchNorm2d(i), Convolution(i, i // 2, 1)

    def forward(self, x):
        return F.avg_pool2d(self.conv(self.norm(x).relu()), 2)


def two(i):
    return nn.Sequential(DenseLayer(i), DenseLayer(i + 32))


def six(i):
    return nn.Sequential(two(i), two(i + 64), two(i + 128))


def twelve(i):
    return nn.Sequential(six(i), six(i + 192))


class DenseNet121(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv0, self.norm0 = Convolution(3, 64, 7, 2), nn.BatchNorm2d(64)
        self.block1, self.transition1 = six(64), Transition(256)
        self.block2, self.transition2 = twelve(128), Transition(512)
        self.block3, self.transition3 = nn.Sequential(twelve(256), twelve(640)), Transition(1024)
        self.block4 = nn.Sequential(twelve(512), two(896), two(960))
        self.norm5, self.classifier = nn.BatchNorm2d(1024), nn.Linear(1024, classes)

    def forward(self, x):
        x1 = self.block1(F.max_pool2d(self.norm0(self.conv0(x)).relu(), 3, 2, 1))
        x2 = self.block2(self.transition1(x1))
        x3 = self.block3(self.transition2(x2))
        x4 = self.block4(self.transition3(x3))
        return self.classifier(self.norm5(x4).relu().mean((2, 3))), (x1, x2, x3, x4)


# --- ShuffleNet V2 (Ma, Zhang, Zheng and Sun, ECCV 2018) ------------------------------------------------------------------


def shuffled(x):
    n, c, h, w = x.shape
    return x.reshape(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)


class Unit(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv1, self.depthwise, self.conv2 = ConvNorm(c, c, 1), ConvNorm(c, c, 3, 1, c), ConvNorm(c, c, 1)

    def forward(self, x):
        by, x = x.chunk(2, 1)
        return shuffled(torch.cat((by, self.conv2(self.depthwise(self.conv1(x).relu())).relu()), 1))


class UnitDown(nn.Module):
    def __init__(self, i, c):
        super().__init__()
        self.depthwise1, self.conv1 = ConvNorm(i, i, 3, 2, i), ConvNorm(i, c, 1)
        self.conv2, self.depthwise2, self.conv3 = ConvNorm(i, c, 1), ConvNorm(c, c, 3, 2, c), ConvNorm(c, c, 1)

    def forward(self, x):
        near = self.conv1(self.depthwise1(x)).relu()
        return shuffled(torch.cat((near, self.conv3(self.depthwise2(self.conv2(x).relu())).relu()), 1))


def three(c):
    return nn.Sequential(Unit(c), Unit(c), Unit(c))


class ShuffleNet(nn.Module):
    def __init__(self, c, classes):
        super().__init__()
        self.conv1 = ConvNorm(3, 24, 3, 2)
        self.stage2 = nn.Sequential(UnitDown(24, c), three(c))
        self.stage3 = nn.Sequential(UnitDown(2 * c, 2 * c), nn.Sequential(three(2 * c), three(2 * c), Unit(2 * c)))
        self.stage4 = nn.Sequential(UnitDown(4 * c, 4 * c), three(4 * c))
        self.conv5, self.fc = ConvNorm(8 * c, 1024, 1), nn.Linear(1024, classes)

    def forward(self, x):
        x2 = self.stage2(F.max_pool2d(self.conv1(x).relu(), 3, 2, 1))
        x3 = self.stage3(x2)
        x4 = self.stage4(x3)
        return self.fc(self.conv5(x4).relu().mean((2, 3))), (x2, x3, x4)


# --- Inception v3 (Szegedy, Vanhoucke, Ioffe, Shlens and Wojna, CVPR 2016) ------------------------------------------------


class Active(nn.Module):
    def __init__(self, i, o, kernel, stride=1, padding=0):
        super().__init__()
        self.conv, self.bn = nn.Conv2d(i, o, kernel, stride, padding, bias=False), nn.BatchNorm2d(o, eps=1e-3)

    def forward(self, x):
        return self.bn(self.conv(x)).relu()


class Module(nn.Module):
    """Convolutions with names that begin with `branch`."""

    def __init__(self, convolutions):
        super().__init__()
        for name, given in convolutions.items():
            setattr(self, "branch" + name, Active(*given))

    def row(self, x, *names):
        for name in names:
            x = getattr(self, "branch" + name)(x)
        return x

    def pooled(self, x):
        return self.branch_pool(F.avg_pool2d(x, 3, 1, 1))


class InceptionA(Module):
    def __init__(self, i, p):
        super().__init__({"1x1": (i, 64, 1), "5x5_1": (i, 48, 1), "5x5_2": (48, 64, 5, 1, 2), "3x3dbl_1": (i, 64, 1),
                          "3x3dbl_2": (64, 96, 3, 1, 1), "3x3dbl_3": (96, 96, 3, 1, 1), "_pool": (i, p, 1)})

    def forward(self, x):
        return torch.cat((self.row(x, "1x1"), self.row(x, "5x5_1", "5x5_2"), self.row(x, "3x3dbl_1", "3x3dbl_2", "3x3dbl_3"),
                          self.pooled(x)), 1)


class InceptionB(Module):
    def __init__(self, i):
        super().__init__({"3x3": (i, 384, 3, 2), "3x3dbl_1": (i, 64, 1), "3x3dbl_2": (64, 96, 3, 1, 1), "3x3dbl_3": (96, 96, 3, 2)})

    def forward(self, x):
        return torch.cat((self.row(x, "3x3"), self.row(x, "3x3dbl_1", "3x3dbl_2", "3x3dbl_3"), F.max_pool2d(x, 3, 2)), 1)


class InceptionC(Module):
    def __init__(self, i, c):
        row, column = ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))
        super().__init__({"1x1": (i, 192, 1), "7x7_1": (i, c, 1), "7x7_2": (c, c, *row), "7x7_3": (c, 192, *column),
                          "7x7dbl_1": (i, c, 1), "7x7dbl_2": (c, c, *column), "7x7dbl_3": (c, c, *row),
                          "7x7dbl_4": (c, c, *column), "7x7dbl_5": (c, 192, *row), "_pool": (i, 192, 1)})

    def forward(self, x):
        return torch.cat((self.row(x, "1x1"), self.row(x, "7x7_1", "7x7_2", "7x7_3"),
                          self.row(x, "7x7dbl_1", "7x7dbl_2", "7x7dbl_3", "7x7dbl_4", "7x7dbl_5"), self.pooled(x)), 1)


class InceptionD(Module):
    def __init__(self, i):
        super().__init__({"3x3_1": (i, 192, 1), "3x3_2": (192, 320, 3, 2), "7x7x3_1": (i, 192, 1),
                          "7x7x3_2": (192, 192, (1, 7), 1, (0, 3)), "7x7x3_3": (192, 192, (7, 1), 1, (3, 0)),
                          "7x7x3_4": (192, 192, 3, 2)})

    def forward(self, x):
        return torch.cat((self.row(x, "3x3_1", "3x3_2"), self.row(x, "7x7x3_1", "7x7x3_2", "7x7x3_3", "7x7x3_4"),
                          F.max_pool2d(x, 3, 2)), 1)


class InceptionE(Module):
    def __init__(self, i):
        row, column = ((1, 3), 1, (0, 1)), ((3, 1), 1, (1, 0))
        super().__init__({"1x1": (i, 320, 1), "3x3_1": (i, 384, 1), "3x3_2a": (384, 384, *row), "3x3_2b": (384, 384, *column),
                          "3x3dbl_1": (i, 448, 1), "3x3dbl_2": (448, 384, 3, 1, 1), "3x3dbl_3a": (384, 384, *row),
                          "3x3dbl_3b": (384, 384, *column), "_pool": (i, 192, 1)})

    def forward(self, x):
        near, far = self.row(x, "3x3_1"), self.row(x, "3x3dbl_1", "3x3dbl_2")
        return torch.cat((self.row(x, "1x1"), self.row(near, "3x3_2a"), self.row(near, "3x3_2b"), self.row(far, "3x3dbl_3a"),
                          self.row(far, "3x3dbl_3b"), self.pooled(x)), 1)


class InceptionV3(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.Conv2d_1a_3x3, self.Conv2d_2a_3x3 = Active(3, 32, 3, 2), Active(32, 32, 3)
        self.Conv2d_2b_3x3, self.Conv2d_3b_1x1, self.Conv2d_4a_3x3 = Active(32, 64, 3, 1, 1), Active(64, 80, 1), Active(80, 192, 3)
        self.Mixed_5b, self.Mixed_5c, self.Mixed_5d = InceptionA(192, 32), InceptionA(256, 64), InceptionA(288, 64)
        self.Mixed_6a, self.Mixed_6b, self.Mixed_6c = InceptionB(288), InceptionC(768, 128), InceptionC(768, 160)
        self.Mixed_6d, self.Mixed_6e = InceptionC(768, 160), InceptionC(768, 192)
        self.Mixed_7a, self.Mixed_7b, self.Mixed_7c = InceptionD(768), InceptionE(1280), InceptionE(2048)
        self.fc = nn.Linear(2048, classes)

    def forward(self, x):
        x = F.max_pool2d(self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(x))), 3, 2)
        x4 = F.max_pool2d(self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(x)), 3, 2)
        x5 = self.Mixed_5d(self.Mixed_5c(self.Mixed_5b(x4)))
        x6 = self.Mixed_6e(self.Mixed_6d(self.Mixed_6c(self.Mixed_6b(self.Mixed_6a(x5)))))
        x7 = self.Mixed_7c(self.Mixed_7b(self.Mixed_7a(x6)))
        return self.fc(x7.mean((2, 3))), (x4, x5, x6, x7)


MODELS = {
    "resnet18": of(lambda: ResNet(basic, 1, (2, 2, 2, 2), 10), 2, 3, 64, 64),
    "resnet34": of(lambda: ResNet(basic, 1, (3, 4, 6, 3), 10), 1, 3, 64, 64),
    "resnet50": of(lambda: ResNet(bottleneck, 4, (3, 4, 6, 3), 10), 1, 3, 64, 64),
    "mobilenet_v1": of(lambda: MobileNet1(32, 10), 1, 3, 64, 64),
    "mobilenet_g": of(lambda: MobileNet1(32, 10, 16), 1, 3, 64, 64),
    "mobilenet_v2": of(lambda: MobileNet2(10), 2, 3, 64, 64),
    "vgg16": of(lambda: VGG16(128, 10), 1, 3, 64, 64),
    "squeezenet": of(lambda: SqueezeNet(10), 2, 3, 65, 64),
    "densenet": of(lambda: DenseNet121(10), 1, 3, 64, 64),
    "shufflenet_v2": of(lambda: ShuffleNet(58, 10), 1, 3, 64, 64),
    "inception_v3": of(lambda: InceptionV3(10), 1, 3, 79, 75),
}
