#!/usr/bin/python3
"""Makes the stored references of the library's models: references/NAME.safetensors, for all models or those that are named.

Needs Debian's python3-numpy and python3-torch; the tests read only what it wrote. Results are PyTorch's, computed in float64
and rounded once. Of each result on each of two inputs, elements at equal distances are stored, and its shape.
"""

import json
import math
import os
import struct
import sys

import numpy as np
import torch

import images
import sequences
import vision

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "references")
SAMPLES = 512
TOLERANCE = 1e-4
MODELS = {**images.MODELS, **vision.MODELS, **sequences.MODELS}


def samples(tensor):
    """Elements at equal distances, which share no factor with the extents."""
    flat = tensor.detach().contiguous().reshape(-1)
    distance = max(1, flat.numel() // SAMPLES)
    while math.gcd(distance, flat.numel()) != 1:
        distance += 1
    return flat[::distance].to(torch.float32).numpy()


def save(path, entries):
    header, data = {}, b""
    for name, array in entries.items():
        dtype = {"float32": "F32", "int64": "I64"}[str(array.dtype)]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += np.ascontiguousarray(array).tobytes()
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + data)


def flattened(result, name=""):
    """The tensors of a tuple, named as a file of Quern names them."""
    if torch.is_tensor(result):
        return {name: result}
    parts = {}
    for k, part in enumerate(result):
        parts.update(flattened(part, f"{name}.{k}" if name else str(k)))
    return parts


def main(names):
    for name in names or MODELS:
        entries, runs = {}, []
        with torch.no_grad():
            for number in (0, 1):
                results = flattened(MODELS[name](number))
                runs.append({k: samples(v) for k, v in results.items()})
                for k, v in results.items():
                    entries[f"{k}.input{number}"] = runs[-1][k]
                    entries[f"{k}.shape"] = np.array(v.shape, dtype=np.int64)
        for k, first in runs[0].items():
            second = runs[1][k]
            scale = np.abs(second).max()
            differs = np.abs(first - second).max()
            print(f"{name} {k}: largest {scale:.3g}, differs by {differs:.3g}")
            assert np.isfinite(scale) and differs > 100 * TOLERANCE * scale, f"{name} {k} hardly depends on the input"
        save(os.path.join(FOLDER, f"{name}.safetensors"), entries)


if __name__ == "__main__":
    main(sys.argv[1:])
