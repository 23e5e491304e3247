"""Models of images that are no classifiers, and of videos, as PyTorch's modules. A row is a function of the number of the
input; it gives what `@main` of the same row in vision.cpp gives."""

import torch
import torch.nn.functional as F
from torch import nn

from formula import of


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


MODELS = {
    "dqn": of(lambda: Dqn(18), 2, 4, 84, 84),
    "dcgan_generator": of(lambda: Generator(100, 32), 2, 100),
    "dcgan_discriminator": of(lambda: Discriminator(32), 2, 3, 64, 64),
    "resnet3d": of(lambda: ResNet3D(10), 1, 3, 4, 32, 34),
    "unet": of(lambda: UNet(1, 16, 3), 2, 1, 32, 48),
}
