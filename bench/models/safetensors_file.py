"""Writes .safetensors files (https://github.com/huggingface/safetensors#format); Debian has no package that does."""
import json
import struct

DTYPES = {"bool": "BOOL", "float32": "F32", "float64": "F64", "int32": "I32", "int64": "I64", "uint8": "U8"}


def write_safetensors(path, tensors):
    """Tensors of PyTorch's by their names."""
    arrays = {name: tensor.contiguous().numpy() for name, tensor in tensors.items()}
    header, offset = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": DTYPES[str(array.dtype)], "shape": list(array.shape),
                        "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
        for array in arrays.values():
            array.tofile(file)
