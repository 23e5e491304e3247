"""Models of images that are no classifiers, and of videos, as PyTorch's modules. A row is a function of the number of the
input; it gives what `@main` of the same row in vision.cpp gives."""

import torch
import torch.nn.functional as F
from torch import nn

from formula import of
from images import Stages


# --- DQN (Mnih et al., Nature 2015) ---------------------------------------------------------------------------------------


class Dqn(nn.Module):
    def __init__(self, actions):
        super().__init__()
        self.conv1, self.conv2, self.conv3 = nn.Conv2d(4, 32, 8, 4), nn.Conv2d(32, 64, 4, 2), nn.Conv2d(64, 64, 3)
        self.fc4, self.fc5 = nn.Linear(3136, 512), nn.Linear(512, actions)

    def forward(self, x):
        x1 = self.conv1(x).relu()
        x2 = self.conv2(x1).relu()
        x3 = self.conv3(x2).relu()
        return self.fc5(self.fc4(x3.flatten(1)).relu()), (x1, x2, x3)


# --- DCGAN (Radford, Metz and Chintala, ICLR 2016) ------------------------------------------------------------------------


class Generator(nn.Module):
    def __init__(self, z, c):
        super().__init__()
        self.conv1 = nn.ConvTranspose2d(z, 8 * c, 4, bias=False)
        for k in range(1, 5):
            o = 3 if k == 4 else (8 >> k) * c
            setattr(self, f"bn{k}", nn.BatchNorm2d((16 >> k) * c))
            setattr(self, f"conv{k + 1}", nn.ConvTranspose2d((16 >> k) * c, o, 4, 2, 1, bias=False))

    def forward(self, noise):
        x, features = noise[:, :, None, None], []
        for k in range(1, 5):
            x = getattr(self, f"bn{k}")(getattr(self, f"conv{k}")(x)).relu()
            features.append(x)
        return self.conv5(x).tanh(), tuple(features)


class Discriminator(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv1 = nn.Conv2d(3, c, 4, 2, 1, bias=False)
        for k in range(2, 5):
            setattr(self, f"conv{k}", nn.Conv2d(c << (k - 2), c << (k - 1), 4, 2, 1, bias=False))
            setattr(self, f"bn{k}", nn.BatchNorm2d(c << (k - 1)))
        self.conv5 = nn.Conv2d(8 * c, 1, 4, bias=False)

    def forward(self, x):
        x = F.leaky_relu(self.conv1(x), 0.2)
        features = [x]
        for k in range(2, 5):
            x = F.leaky_relu(getattr(self, f"bn{k}")(getattr(self, f"conv{k}")(x)), 0.2)
            features.append(x)
        return self.conv5(x).flatten(), tuple(features)


# --- R3D (Tran, Wang, Torresani, Ray, LeCun and Paluri, CVPR 2018) --------------------------------------------------------


def conv_norm(i, o, kernel, stride, padding):
    return nn.Sequential(nn.Conv3d(i, o, kernel, stride, padding, bias=False), nn.BatchNorm3d(o))


class Block(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.conv1, self.conv2 = conv_norm(i, o, 3, stride, 1), conv_norm(o, o, 3, 1, 1)
        if stride != 1:
            self.downsample = conv_norm(i, o, 1, stride, 0)

    def forward(self, x):
        shortcut = self.downsample(x) if hasattr(self, "downsample") else x
        return (self.conv2(self.conv1(x).relu()) + shortcut).relu()


class ResNet3D(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.stem = conv_norm(3, 64, (3, 7, 7), (1, 2, 2), (1, 3, 3))
        for k in range(4):
            i, o = max(64, 32 << k), 64 << k
            setattr(self, f"layer{k + 1}", nn.Sequential(Block(i, o, 1 if k == 0 else 2), Block(o, o, 1)))
        self.fc = nn.Linear(512, classes)

    def forward(self, x):
        x, features = self.stem(x).relu(), []
        for k in range(1, 5):
            x = getattr(self, f"layer{k}")(x)
            features.append(x)
        return self.fc(x.mean((2, 3, 4))), tuple(features)


# --- U-Net (Ronneberger, Fischer and Brox, MICCAI 2015) -------------------------------------------------------------------


class Double(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(i, o, 3, padding=1), nn.Conv2d(o, o, 3, padding=1)

    def forward(self, x):
        return self.conv2(self.conv1(x).relu()).relu()


class Up(nn.ConvTranspose2d):
    def __init__(self, c):
        super().__init__(2 * c, c, 2, 2)
        self.convs = Double(2 * c, c)

    def forward(self, below, beside):
        return self.convs(torch.cat((beside, super().forward(below)), 1))


class UNet(nn.Module):
    def __init__(self, i, c, classes):
        super().__init__()
        self.down1, self.down2, self.down3, self.down4 = Double(i, c), Double(c, 2 * c), Double(2 * c, 4 * c), Double(4 * c, 8 * c)
        self.bottom = Double(8 * c, 16 * c)
        self.up4, self.up3, self.up2, self.up1 = Up(8 * c), Up(4 * c), Up(2 * c), Up(c)
        self.head = nn.Conv2d(c, classes, 1)

    def forward(self, x):
        x1 = self.down1(x)
        x2 = self.down2(F.max_pool2d(x1, 2))
        x3 = self.down3(F.max_pool2d(x2, 2))
        x4 = self.down4(F.max_pool2d(x3, 2))
        bottom = self.bottom(F.max_pool2d(x4, 2))
        y = self.up1(self.up2(self.up3(self.up4(bottom, x4), x3), x2), x1)
        return self.head(y), (x1, x2, x3, x4, bottom)


# --- Boxes -----------------------------------------------------------------------------------------------------------


def overlap(a, b):
    """The intersection of two boxes by their union."""
    shared = (torch.minimum(a[2:], b[2:]) - torch.maximum(a[:2], b[:2])).clamp(0).prod()
    return shared / ((a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - shared)


def kept(classes, rows, threshold):
    """By falling score, what overlaps no better one of its class by 0.45; -1 in place of the others."""
    all_rows, better = torch.full((len(rows), 6), -1.0, dtype=torch.float64), []
    for place, k in enumerate(k for k in rows[:, 0].argsort(descending=True).tolist() if rows[k, 0] > threshold):
        if all(classes[k] != classes[j] or overlap(rows[k, 1:], rows[j, 1:]) < 0.45 for j in better):
            better.append(k)
            all_rows[place] = torch.cat((classes[k:k + 1].double(), rows[k]))
    return all_rows


# --- SSD (Liu, Anguelov, Erhan, Szegedy, Reed, Fu and Berg, ECCV 2016) ----------------------------------------------------


class Extra(nn.Module):
    def __init__(self, i, m, o, stride):
        super().__init__()
        self.reduce, self.conv = nn.Conv2d(i, m, 1), nn.Conv2d(m, o, 3, stride, stride - 1)

    def forward(self, x):
        return self.conv(self.reduce(x).relu()).relu()


class Head(nn.Module):
    def __init__(self, i, boxes, classes):
        super().__init__()
        self.classes = classes
        self.loc, self.conf = nn.Conv2d(i, 4 * boxes, 3, padding=1), nn.Conv2d(i, boxes * classes, 3, padding=1)

    def forward(self, x):
        conf = self.conf(x).permute(0, 2, 3, 1).reshape(x.shape[0], -1, self.classes)
        return conf, self.loc(x).permute(0, 2, 3, 1).flatten(1)


def default_boxes(extent, sizes, ratios):
    """Corners, of the size of each ratio and of the second size."""
    boxes = []
    for y in range(extent):
        for x in range(extent):
            for size, ratio in [(sizes[0], 1.0), (sizes[1], 1.0)] + [(sizes[0], r) for r in ratios]:
                w, h = size * ratio ** 0.5 / 2, size / ratio ** 0.5 / 2
                u, v = (x + 0.5) / extent, (y + 0.5) / extent
                boxes.append((u - w, v - h, u + w, v + h))
    return torch.tensor(boxes, dtype=torch.float64)


def candidates(logits, places, boxes):
    """The likeliest class of each box but class 0, which is the background; its probability and the corners."""
    best, place = logits.softmax(2)[:, :, 1:].max(2), places.reshape(len(places), -1, 4)
    assert best.values.min() > 0.01, "a box is no candidate"
    centre = (boxes[:, :2] + boxes[:, 2:]) / 2 + place[:, :, :2] * 0.1 * (boxes[:, 2:] - boxes[:, :2])
    half = (place[:, :, 2:] * 0.2).exp() * (boxes[:, 2:] - boxes[:, :2]) / 2
    return best.indices, torch.cat((best.values[:, :, None], torch.cat((centre - half, centre + half), 2).clamp(0, 1)), 2)


class Ssd300(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.vgg, self.scale = Stages(), nn.Module()
        self.scale.weight = nn.Parameter(torch.empty(512))
        self.conv6, self.conv7 = nn.Conv2d(512, 1024, 3, padding=6, dilation=6), nn.Conv2d(1024, 1024, 1)
        self.conv8, self.conv9 = Extra(1024, 256, 512, 2), Extra(512, 128, 256, 2)
        self.conv10, self.conv11 = Extra(256, 128, 256, 1), Extra(256, 128, 256, 1)
        self.heads = nn.ModuleList(Head(i, b, classes) for i, b in ((512, 4), (1024, 6), (512, 6), (256, 6), (256, 4), (256, 4)))

    def maps(self, x):
        v = self.vgg
        x = v.stage3(F.max_pool2d(v.stage2(F.max_pool2d(v.stage1(x), 2)), 2))
        x4 = v.stage4(F.max_pool2d(x, 2, ceil_mode=True))
        x5 = F.max_pool2d(v.stage5(F.max_pool2d(x4, 2)), 3, 1, 1)
        x7 = self.conv7(self.conv6(x5).relu()).relu()
        x8 = self.conv8(x7)
        x9 = self.conv9(x8)
        x10 = self.conv10(x9)
        return F.normalize(x4) * self.scale.weight[:, None, None], x7, x8, x9, x10, self.conv11(x10)

    def forward(self, x):
        maps = self.maps(x)
        conf, loc = zip(*(head(x) for head, x in zip(self.heads, maps)))
        logits, places = torch.cat(conf, 1), torch.cat(loc, 1)
        sizes = ((0.1, 0.1414), (0.2, 0.2739), (0.375, 0.4541), (0.55, 0.6315), (0.725, 0.8078), (0.9, 0.9836))
        ratios = [[2, 0.5] + ([3, 0.3333] if k in (1, 2, 3) else []) for k in range(6)]
        boxes = torch.cat([default_boxes(x.shape[2], s, r) for x, s, r in zip(maps, sizes, ratios)])
        _, rows = candidates(logits / 4, places / 4, boxes)
        found = kept(*(x[0] for x in candidates(logits[:, -4:] * 2, places[:, -16:] * 4, boxes[-4:])), 0.01)
        return logits, places, rows, found[None], maps


# --- A head of YOLOv3 (Redmon and Farhadi 2018) ---------------------------------------------------------------------------


class Yolo(nn.Module):
    def __init__(self, i, boxes, classes):
        super().__init__()
        self.anchors = nn.Parameter(torch.empty(boxes, 2))
        self.head = nn.Module()
        self.head.conv = nn.Conv2d(i, boxes * (5 + classes), 1)

    def forward(self, x):
        raw = self.head.conv(x)
        n, _, h, w = x.shape
        p = raw.reshape(n, len(self.anchors), -1, h, w).permute(0, 1, 3, 4, 2)
        v, u = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        centre = (p[..., :2].sigmoid() + torch.stack((u, v), 2)) / torch.tensor([w, h])
        half = p[..., 2:4].exp() * self.anchors[:, None, None].abs() / 2
        objectness, classes = p[..., 4].sigmoid().flatten(1), p[..., 5:].sigmoid().flatten(1, 3)
        boxes = torch.cat((centre - half, centre + half), 4).flatten(1, 3)
        rows = torch.cat(((objectness * classes.max(2).values)[..., None], boxes), 2)
        return boxes, objectness, classes, rows, torch.stack([kept(*each, 0.05) for each in zip(classes.argmax(2), rows)])


# --- The vision transformer (Dosovitskiy et al., ICLR 2021) ---------------------------------------------------------------


class Layer(nn.Module):
    def __init__(self, h, k, f):
        super().__init__()
        self.h = h
        self.norm_1, self.norm_2 = nn.LayerNorm(h * k, eps=1e-6), nn.LayerNorm(h * k, eps=1e-6)
        self.query, self.key, self.value = nn.Linear(h * k, h * k), nn.Linear(h * k, h * k), nn.Linear(h * k, h * k)
        self.projection, self.up, self.down = nn.Linear(h * k, h * k), nn.Linear(h * k, f), nn.Linear(f, h * k)

    def weights(self, x):
        heads = lambda x: x.unflatten(2, (self.h, -1)).transpose(1, 2)
        y = self.norm_1(x)
        query, key, self.mixed = heads(self.query(y)), heads(self.key(y)), heads(self.value(y))
        return (query @ key.transpose(2, 3) / query.shape[-1] ** 0.5).softmax(3)

    def forward(self, x):
        weights = self.weights(x)
        x = x + self.projection((weights @ self.mixed).transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm_2(x))))


class ViT(nn.Module):
    def __init__(self, p, g, h, k, f, classes):
        super().__init__()
        self.patches = nn.Conv2d(3, h * k, p, p)
        self.class_token, self.positions = nn.Parameter(torch.empty(1, 1, h * k)), nn.Parameter(torch.empty(1, g * g + 1, h * k))
        self.layers = nn.Sequential(Layer(h, k, f), Layer(h, k, f))
        self.norm, self.head = nn.LayerNorm(h * k, eps=1e-6), nn.Linear(h * k, classes)

    def forward(self, x):
        x = torch.cat((self.class_token.expand(len(x), -1, -1), self.patches(x).flatten(2).transpose(1, 2)), 1) + self.positions
        y = self.layers[0](x)
        last = self.norm(self.layers[1](y))
        return self.head(last[:, 0]), last, (x, y), self.layers[0].weights(x)


# --- Capsules (Sabour, Frosst and Hinton, NIPS 2017) ----------------------------------------------------------------------


def squash(s):
    square = (s * s).sum(-1, keepdim=True)
    return s * (square + 1e-9).sqrt() / (1 + square)


class CapsNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1, self.primary = nn.Conv2d(1, 256, 9), nn.Conv2d(256, 256, 9, 2)
        self.transforms = nn.Parameter(torch.empty(1152, classes, 16, 8))
        self.decoder = nn.Sequential(nn.Linear(classes * 16, 512), nn.Linear(512, 1024), nn.Linear(1024, 784))

    def forward(self, x):
        n = len(x)
        x = self.conv1(x).relu()
        u = squash(self.primary(x).reshape(n, 32, 8, 36).transpose(2, 3).reshape(n, 1152, 8))
        votes = torch.einsum("ijkm,bim->bijk", self.transforms, u)
        logits = torch.zeros(votes.shape[:3], dtype=torch.float64)
        for _ in range(3):
            v = squash((logits.softmax(2)[..., None] * votes).sum(1))
            logits = logits + (votes * v[:, None]).sum(3)
        lengths = ((v * v).sum(2) + 1e-9).sqrt()
        there = F.one_hot(torch.tensor([1, 0]), v.shape[1])
        y = self.decoder[1](self.decoder[0]((v * there[:, :, None]).flatten(1)).relu()).relu()
        loss = there * (0.9 - lengths).relu() ** 2 + 0.5 * (1 - there) * (lengths - 0.1).relu() ** 2
        return lengths, v, self.decoder[2](y).sigmoid().reshape(n, 1, 28, 28), loss.sum(1).mean(), (x, u)


MODELS = {
    "dqn": of(lambda: Dqn(18), 2, 4, 84, 84),
    "dcgan_generator": of(lambda: Generator(100, 32), 2, 100),
    "dcgan_discriminator": of(lambda: Discriminator(32), 2, 3, 64, 64),
    "resnet3d": of(lambda: ResNet3D(10), 1, 3, 4, 32, 34),
    "unet": of(lambda: UNet(1, 16, 3), 2, 1, 32, 48),
    "ssd": of(lambda: Ssd300(3), 1, 3, 300, 300),
    "yolo": of(lambda: Yolo(16, 3, 4), 2, 16, 5, 7),
    "vit": of(lambda: ViT(4, 3, 2, 8, 24, 5), 2, 3, 12, 12),
    "capsnet": of(lambda: CapsNet(3), 2, 1, 28, 28),
}
