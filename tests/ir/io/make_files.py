#!/usr/bin/env python3
"""Makes the images and data files of files/, each byte by hand from the format's specification, and NAME.npy with what they hold.

PNG: https://www.w3.org/TR/png-3/; JPEG: ITU-T T.81 and JFIF; IDX: http://yann.lecun.com/exdb/mnist/; CIFAR:
https://www.cs.toronto.edu/~kriz/cifar.html."""

import gzip
import os
import struct
import zlib

import numpy as np

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "files")
random = np.random.default_rng(5)


def write(name, data, expected=None):
    with open(os.path.join(FOLDER, name), "wb") as file:
        file.write(data)
    if expected is not None:
        np.save(os.path.join(FOLDER, name + ".npy"), expected)


# --- PNG -----------------------------------------------------------------------------------------------------------

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed_row(samples, depth):
    """The samples of a row, `depth` bits each, from the highest bit on."""
    if depth == 16:
        return samples.astype(">u2").tobytes()
    bits = ((samples[:, None].astype(np.uint8) >> np.arange(depth - 1, -1, -1, dtype=np.uint8)) & 1).reshape(-1)
    return np.packbits(bits).tobytes()


def paeth(left, up, corner):
    estimate = left + up - corner
    distances = [abs(estimate - left), abs(estimate - up), abs(estimate - corner)]
    return (left, up, corner)[distances.index(min(distances))]


def filtered(rows, step):
    """Each row with another of the five filters; `step` is the bytes of a pixel, at least one."""
    out, above = b"", bytes(len(rows[0]))
    for k, row in enumerate(rows):
        out += bytes([k % 5])
        for i, value in enumerate(row):
            left = row[i - step] if i >= step else 0
            corner = above[i - step] if i >= step else 0
            predicted = [0, left, above[i], (left + above[i]) // 2, paeth(left, above[i], corner)][k % 5]
            out += bytes([(value - predicted) % 256])
        above = row
    return out


def png(samples, color, depth, extra=b"", interlaced=False):
    """samples: (h, w, channels)."""
    height, width, channels = samples.shape
    step = max(1, channels * depth // 8)
    passes = [(0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)]
    data = b""
    for y, x, dy, dx in passes if interlaced else [(0, 0, 1, 1)]:
        part = samples[y::dy, x::dx]
        if part.size:
            data += filtered([packed_row(row.reshape(-1), depth) for row in part], step)
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(data))
            + chunk(b"IEND", b""))


def make_pngs():
    for color, depths in {0: [1, 2, 4, 8, 16], 2: [8, 16], 4: [8, 16], 6: [8, 16]}.items():
        for depth in depths:
            for interlaced in [False, True] if depth in (1, 16) or color == 2 else [False]:
                samples = random.integers(0, 1 << depth, (9, 7, CHANNELS[color]))
                expected = samples * (255 // ((1 << depth) - 1)) if depth < 8 else samples
                write(f"color{color}_depth{depth}{'_interlaced' if interlaced else ''}.png",
                      png(samples, color, depth, b"", interlaced),
                      expected.astype(np.uint16 if depth == 16 else np.uint8))
    palette = random.integers(0, 256, (16, 3)).astype(np.uint8)
    for depth in [1, 2, 4, 8]:
        samples = random.integers(0, min(1 << depth, 16), (9, 7, 1))
        write(f"palette_depth{depth}.png", png(samples, 3, depth, chunk(b"PLTE", palette[:1 << depth].tobytes())),
              palette[samples[:, :, 0]])
    alphas = random.integers(0, 256, 10).astype(np.uint8)  # of the first colours; the rest are opaque
    samples = random.integers(0, 16, (9, 7, 1))
    all_alphas = np.concatenate([alphas, np.full(6, 255, np.uint8)])
    write("palette_transparent.png",
          png(samples, 3, 4, chunk(b"PLTE", palette.tobytes()) + chunk(b"tRNS", alphas.tobytes())),
          np.concatenate([palette[samples[:, :, 0]], all_alphas[samples]], 2))
    samples = random.integers(0, 2, (9, 7, 3)) * 200  # a colour that is transparent
    clear = np.where((samples == [200, 0, 200]).all(2, keepdims=True), 0, 255)
    write("rgb_transparent.png", png(samples, 2, 8, chunk(b"tRNS", struct.pack(">HHH", 200, 0, 200))),
          np.concatenate([samples, clear], 2).astype(np.uint8))
    one = np.zeros((1, 1, 1), int)
    write("animated.png", png(one, 0, 8, chunk(b"acTL", struct.pack(">II", 2, 0))))
    for name, width, height in [("too_large", 60000, 60000), ("no_width", 0, 4), ("lying", 9000, 9000)]:
        header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
        write(f"{name}.png", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
              + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b""))


# --- JPEG ----------------------------------------------------------------------------------------------------------

ZIGZAG = sorted(range(64), key=lambda k: (k // 8 + k % 8, k // 8 if (k // 8 + k % 8) % 2 else k % 8))
# Any prefix code will do: 4 bits for each of the sizes of DC, 8 for each of the symbols of AC.
DC_SYMBOLS = list(range(12))
AC_SYMBOLS = [0x00, 0xF0] + [run * 16 + size for run in range(16) for size in range(1, 11)]
COSINES = np.array([[np.cos((2 * x + 1) * u * np.pi / 16) * (np.sqrt(1 / 8) if u == 0 else 0.5) for x in range(8)]
                    for u in range(8)])


def segment(marker, data):
    return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data


class Bits:
    def __init__(self):
        self.text = ""

    def put(self, value, count):
        self.text += format(value, f"0{count}b") if count else ""

    def number(self, value, size):
        self.put(value if value > 0 else value + (1 << size) - 1, size)

    def bytes(self):
        padded = self.text + "1" * (-len(self.text) % 8)
        return bytes(int(padded[i:i + 8], 2) for i in range(0, len(padded), 8)).replace(b"\xff", b"\xff\0")


def put_dc(bits, difference):
    size = abs(difference).bit_length()
    bits.put(DC_SYMBOLS.index(size), 4)
    bits.number(difference, size)


def put_ac(bits, block):
    run = 0
    last = max([k for k in range(1, 64) if block[k]], default=0)
    for k in range(1, last + 1):
        if block[k] == 0:
            run += 1
            continue
        while run > 15:
            bits.put(AC_SYMBOLS.index(0xF0), 8)
            run -= 16
        size = abs(block[k]).bit_length()
        bits.put(AC_SYMBOLS.index(run * 16 + size), 8)
        bits.number(block[k], size)
        run = 0
    if last < 63:
        bits.put(AC_SYMBOLS.index(0), 8)


def blocks_of(plane):
    """Rows of 64 coefficients in zigzag order, with a quantisation by 1."""
    height, width = plane.shape
    padded = np.pad(plane, ((0, -height % 8), (0, -width % 8)), "edge") - 128.0
    for y in range(0, padded.shape[0], 8):
        for x in range(0, padded.shape[1], 8):
            found = np.rint(COSINES @ padded[y:y + 8, x:x + 8] @ COSINES.T).astype(int).reshape(-1)
            yield [int(found[k]) for k in ZIGZAG]


def jpeg(planes, progressive=False, extra=b"", size=None):
    """Channels of (h, w) as they are stored."""
    height, width = size or planes[0].shape
    count = len(planes)
    tables = b"\0" + bytes([0, 0, 0, len(DC_SYMBOLS)] + [0] * 12) + bytes(DC_SYMBOLS)
    tables += b"\x10" + bytes([0] * 7 + [len(AC_SYMBOLS)] + [0] * 8) + bytes(AC_SYMBOLS)
    frame = struct.pack(">BHHB", 8, height, width, count) + b"".join(bytes([k + 1, 0x11, 0]) for k in range(count))
    out = b"\xff\xd8" + extra + segment(0xDB, b"\0" + bytes([1] * 64))
    out += segment(0xC2 if progressive else 0xC0, frame) + segment(0xC4, tables)
    blocks = [list(blocks_of(plane)) for plane in planes]
    scans = [(range(count), 0, 0)] + [([k], 1, 63) for k in range(count)] if progressive else [(range(count), 0, 63)]
    for channels, first, last in scans:
        bits, before = Bits(), [0] * count
        for k in range(len(blocks[0])):
            for c in channels:
                if first == 0:
                    put_dc(bits, blocks[c][k][0] - before[c])
                    before[c] = blocks[c][k][0]
                if last > 0:
                    put_ac(bits, blocks[c][k])
        header = bytes([len(channels)]) + b"".join(bytes([c + 1, 0]) for c in channels) + bytes([first, last, 0])
        out += segment(0xDA, header) + bits.bytes()
    return out + b"\xff\xd9"


def make_jpegs():
    y, x = np.mgrid[0:11, 0:19].astype(float)
    rgb = np.stack([40 + 9 * x, 200 - 8 * x + 3 * y, 60 + 12 * y], 2).round()
    red, green, blue = rgb[:, :, 0], rgb[:, :, 1], rgb[:, :, 2]
    luma = 0.299 * red + 0.587 * green + 0.114 * blue
    planes = [luma, (blue - luma) / 1.772 + 128, (red - luma) / 1.402 + 128]
    jfif = segment(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0")
    write("rgb.jpg", jpeg(planes, extra=jfif), rgb.astype(np.uint8))
    write("progressive.jpg", jpeg(planes, progressive=True, extra=jfif), rgb.astype(np.uint8))
    write("grey.jpg", jpeg([red], extra=jfif), red[:, :, None].astype(np.uint8))
    write("cmyk.jpg", jpeg([red, green, blue, luma], extra=segment(0xEE, b"Adobe\0\x64\0\0\0\0\0")))
    write("too_large.jpg", jpeg(planes, extra=jfif, size=(60000, 60000)))
    write("lying.jpg", jpeg([red], extra=jfif, size=(20000, 20000)))


# --- IDX and CIFAR -------------------------------------------------------------------------------------------------


def make_idx():
    for code, dtype in {0x08: "u1", 0x09: "i1", 0x0B: "i2", 0x0C: "i4", 0x0D: "f4", 0x0E: "f8"}.items():
        values = (random.normal(0, 1, (3, 4, 2)) * 50).astype(np.dtype(dtype))
        data = bytes([0, 0, code, 3]) + struct.pack(">III", 3, 4, 2) + values.astype(">" + dtype).tobytes()
        write(f"{np.dtype(dtype).name}.idx", data, values)
    labels = random.integers(0, 10, 6).astype(np.uint8)
    data = bytes([0, 0, 8, 1]) + struct.pack(">I", 6) + labels.tobytes()
    write("t10k-labels-idx1-ubyte", data, labels)
    write("t10k-labels-idx1-ubyte.gz", gzip.compress(data, mtime=0), labels)
    write("parts.idx.gz", gzip.compress(data[:7], mtime=0) + gzip.compress(data[7:], mtime=0), labels)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    make_pngs()
    make_jpegs()
    make_idx()


main()
