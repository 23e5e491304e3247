"""The ways in which a PyTorch user may write a capsule convolution with stride 2 (Hinton et al. 2018).

`a` has poses of i x k on (n, c, h, w), `b` poses of k x j for (o, c, r, s).
"""
import torch
import torch.nn.functional as F

kept = {}


def arranged(weight, arrange):
    """A weight in another arrangement, made once: a program keeps it so."""
    if (weight, arrange) not in kept:
        kept[weight, arrange] = arrange(weight).contiguous()
    return kept[weight, arrange]


def windows_of(a, r, s):
    """The windows of a capsule convolution with stride 2, as a view."""
    n, c, h, w, i, k = a.shape
    by = a.stride()
    return a.as_strided((n, c, (h - r) // 2 + 1, (w - s) // 2 + 1, r, s, i, k),
                        (by[0], by[1], 2 * by[2], 2 * by[3], by[2], by[3], by[4], by[5]))


def capsule_einsum(a, b):
    return torch.einsum("ncyxrsik,ocrskj->noyxij", windows_of(a, *b.shape[2:4]), b)


def as_columns(b):
    return b.permute(1, 2, 3, 4, 0, 5).flatten(4).flatten(0, 3)


def capsule_product(a, b, arranged=arranged):
    """Windows as the rows of one matrix product."""
    o, c, r, s, k, j = b.shape
    windows = windows_of(a, r, s).permute(0, 2, 3, 6, 1, 4, 5, 7)
    result = torch.mm(windows.reshape(-1, c * r * s * k), arranged(b, as_columns))
    return result.view(*windows.shape[:4], o, j).permute(0, 4, 1, 2, 3, 5)


def as_filters(b):
    return b.permute(0, 5, 1, 4, 2, 3).flatten(2, 3).flatten(0, 1)


def capsule_convolution(a, b, layout=torch.contiguous_format, arranged=arranged):
    """A plain convolution: the rows of a pose are its batch, its columns are channels."""
    n, c, h, w, i, k = a.shape
    rows = a.permute(0, 4, 1, 5, 2, 3).reshape(n * i, c * k, h, w).contiguous(memory_format=layout)
    result = F.conv2d(rows, arranged(b, as_filters), stride=2)
    return result.view(n, i, b.shape[0], b.shape[5], *result.shape[2:]).permute(0, 2, 4, 5, 1, 3)
