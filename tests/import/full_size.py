#!/usr/bin/python3
"""Whole models of PyTorch against their imports: `tests/import/full_size.py [MODEL…]`, minutes and gigabytes.

Each has random weights, is exported as ONNX, imported by `quern import` and run by `quern run` on the same input. BERT is also
compared with that of the library. Needs a release build and Debian's python3-torch; it fails where an error is above LIMIT of
the largest element of the result.
"""

import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import numpy
import torch
from torch import nn
from torch.nn import functional

ROOT = pathlib.Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "bench/models"))
from safetensors_file import write_safetensors  # noqa: E402
import torch_models as models  # noqa: E402

QUERN = ROOT / "build/release/quern"
LIMIT = 1e-4
OPSETS = (13, 17)
LENGTH = 24



class BertAttention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (nn.Linear(width, width) for _ in range(4))
        self.norm = nn.LayerNorm(width, 1e-12)

    def forward(self, x, mask):
        query, key, value = (models.heads_of(f(x), self.heads) for f in (self.query, self.key, self.value))
        return self.norm(x + self.output(models.attention(query, key, value, mask)))


class BertLayer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = BertAttention(width, heads)
        self.intermediate, self.output = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm = nn.LayerNorm(width, 1e-12)

    def forward(self, x, mask):
        x = self.attention(x, mask)
        return self.norm(x + self.output(functional.gelu(self.intermediate(x))))


class Bert(nn.Module):
    """BERT with segments and a mask, and the fields of stdlib/models/bert.relay."""

    def __init__(self, layers=12, width=768, heads=12):
        super().__init__()
        self.embeddings = models.Named(word_embeddings=nn.Embedding(30522, width), norm=nn.LayerNorm(width, 1e-12),
                                       position_embeddings=nn.Embedding(512, width),
                                       token_type_embeddings=nn.Embedding(2, width))
        self.layers = nn.ModuleList([BertLayer(width, heads) for _ in range(layers)])
        self.pooler = nn.Linear(width, width)

    def forward(self, tokens, segments, mask):
        parts = self.embeddings
        positions = torch.arange(tokens.shape[1])[None]
        x = parts.word_embeddings(tokens) + parts.position_embeddings(positions) + parts.token_type_embeddings(segments)
        x = parts.norm(x)
        mask = (1 - mask[:, None, None, :].to(x.dtype)) * torch.finfo(x.dtype).min
        for layer in self.layers:
            x = layer(x, mask)
        return torch.tanh(self.pooler(x[:, 0]))


def bert_inputs():
    mask = torch.ones(2, LENGTH, dtype=torch.int64)
    mask[1, LENGTH - 5:] = 0
    return {"tokens": torch.randint(0, 30522, (2, LENGTH)), "segments": torch.randint(0, 2, (2, LENGTH)), "mask": mask}


def image():
    return {"image": torch.randn(1, 3, 224, 224)}


# The module, its inputs, and the extents that the export leaves open.
MODELS = {
    "bert_base": (Bert, bert_inputs, {}),
    "bert_base_open": (Bert, bert_inputs, {name: {0: "batch", 1: "length"} for name in ("tokens", "segments", "mask")}),
    "gpt2": (models.Gpt2, lambda: {"tokens": torch.randint(0, 50257, (LENGTH,))}, {}),
    "resnet50": (models.resnet50, image, {}),
    "resnet50_open": (models.resnet50, image, {"image": {0: "batch"}}),
    "mobilenet_v2": (models.MobileNetV2, image, {}),
}

# stdlib/models/bert.relay on the state of `Bert`; a file has no lists.
LIBRARY = """import "quern:models/bert.relay" as bert
import "quern:models/layers.relay" as layers
type Layer = bert.Layer[12, 64, 3072]
type File {{
  File(embeddings: bert.Embeddings[30522, 512, 768], layers: ({types}), pooler: layers.Linear[768, 768])
}}
let %params: File = load("weights.safetensors");
def @main(
  %params: File, %tokens: Tensor[(2, {length}), int64], %segments: Tensor[(2, {length}), int64], %mask: Tensor[(2, {length}), int64]
) {{
  let %w: bert.Base = bert.Bert(%params.embeddings, {layers}, %params.pooler);
  @bert.bert(%w, cast(%tokens, dtype="int32"), cast(%segments, dtype="int32"), %mask > 0).pooled
}}
"""


def quern(folder, *arguments):
    subprocess.run([str(QUERN), *map(str, arguments)], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def error(folder, program, inputs, wanted):
    """The largest difference by the largest element."""
    for name, tensor in inputs.items():
        numpy.save(folder / f"{name}.npy", tensor.numpy())
    given = [part for name in inputs for part in ("--input", f"{name}={folder / f'{name}.npy'}")]
    quern(folder, "run", program, *given, "--output", folder / "y.npy")
    found = numpy.load(folder / "y.npy")
    wanted = wanted.numpy()
    assert found.shape == wanted.shape, f"{found.shape} instead of {wanted.shape}"
    return float(numpy.abs(found - wanted).max() / numpy.abs(wanted).max())


def compare(name, folder):
    make, make_inputs, axes = MODELS[name]
    torch.manual_seed(1)
    module, inputs = make(), make_inputs()
    models.randomise(module)
    module.eval()
    wanted = module(*inputs.values())
    for opset in OPSETS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(module, tuple(inputs.values()), str(folder / "model.onnx"), opset_version=opset,
                              input_names=list(inputs), output_names=["y"], dynamic_axes=axes)
        start = time.monotonic()
        quern(folder, "import", "--force", folder / "model.onnx")
        seconds = time.monotonic() - start
        lines = len((folder / "model.relay").read_text().splitlines())
        yield f"opset {opset}, imported in {seconds:.1f} s, {lines} lines", error(folder, "model.relay", inputs, wanted)
    if name == "bert_base":
        write_safetensors(str(folder / "weights.safetensors"), module.state_dict())
        layers = "Nil"
        for k in reversed(range(12)):
            layers = f"Cons(%params.layers.{k}, {layers})"
        text = LIBRARY.format(types=", ".join(["Layer"] * 12), layers=layers, length=LENGTH)
        (folder / "library.relay").write_text(text)
        yield "bert.relay of the library", error(folder, "library.relay", inputs, wanted)


def main(names):
    worst = 0.0
    for name in names or MODELS:
        with tempfile.TemporaryDirectory() as folder, torch.no_grad():
            for what, found in compare(name, pathlib.Path(folder)):
                print(f"{name}: {what}: {found:.2g}", flush=True)
                worst = max(worst, found)
    return 0 if worst <= LIMIT else f"an error is above {LIMIT}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
