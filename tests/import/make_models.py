"""Small models of PyTorch as ONNX files with inputs and results: /usr/bin/python3 tests/import/make_models.py."""

import pathlib
import sys
import warnings

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent.parent / "bench/models"))
from safetensors_file import write_safetensors  # noqa: E402

FOLDER = pathlib.Path(__file__).parent / "models"


class Block(nn.Module):
    """A residual block; batch norms are folded by the exporter."""

    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        return torch.relu(x + self.conv2(torch.relu(self.norm1(self.conv1(x)))))


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.blocks = nn.Sequential(Block(8), Block(8), Block(8))
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = self.blocks(self.stem(x))
        return self.head(x.mean((2, 3)))


class Encoder(nn.Module):
    """A transformer's encoder; the shape of its input is computed where it is reshaped."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.layers = nn.ModuleList([Layer(16, 2) for _ in range(3)])

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return x


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 32), nn.Linear(32, width)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        weights = torch.softmax(q @ k.transpose(-1, -2) / (q.size(-1) ** 0.5), -1)
        mixed = (weights @ v).transpose(1, 2).contiguous().view(x.size(0), x.size(1), -1)
        x = self.norm1(x + self.out(mixed))
        return self.norm2(x + self.down(nn.functional.gelu(self.up(x))))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 8, num_layers=2, bidirectional=True)
        self.gru = nn.GRU(16, 4)

    def forward(self, x):
        return self.gru(self.lstm(x)[0])[0]


def export(name, model, inputs, axes=None):
    torch.manual_seed(1)
    for parameter in model.parameters():
        nn.init.uniform_(parameter, -0.5, 0.5)
    for buffer_name, buffer in model.named_buffers():
        if buffer.dtype == torch.float32:
            nn.init.uniform_(buffer, 0.5, 1.5)
    model.eval()
    names = [f"x{k + 1}" if len(inputs) > 1 else "x" for k in range(len(inputs))]
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = model(*inputs)
        torch.onnx.export(model, tuple(inputs), str(FOLDER / f"{name}.onnx"), opset_version=13, input_names=names,
                          output_names=["y"], dynamic_axes=axes)
    write_safetensors(str(FOLDER / f"{name}.safetensors"), dict(zip(names, inputs)) | {"y": result})


def main():
    torch.manual_seed(0)
    FOLDER.mkdir(exist_ok=True)
    export("conv_net", ConvNet(), [torch.randn(1, 3, 12, 12)])
    export("encoder", Encoder(), [torch.randint(0, 20, (2, 7))], {"x": {0: "batch", 1: "length"}})
    export("recurrent", Recurrent(), [torch.randn(5, 2, 6)])


main()
