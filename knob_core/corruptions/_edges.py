"""Small image-processing steps on batches of masks and 8-bit layers: Canny edges, distance, equalisation.

distance: d(i, j)^2 = min over rows r of (i - r)^2 + (distance along row r from column j)^2.
References: Canny, "A Computational Approach to Edge Detection" (1986); Felzenszwalb & Huttenlocher, "Distance
Transforms of Sampled Functions" (2012).
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor


def canny(layer: Tensor, low: float, high: float, reach: int = 8) -> Tensor:
    """Edges (N, H, W) of a layer (N, H, W) of 0..255; weak edges join a strong one up to `reach` pixels away."""
    p = F.pad(layer[:, None], (1, 1, 1, 1), mode="replicate")[:, 0]
    row = p[:, :-2] + 2 * p[:, 1:-1] + p[:, 2:]  # (N, H, W + 2)
    column = p[:, :, :-2] + 2 * p[:, :, 1:-1] + p[:, :, 2:]  # (N, H + 2, W)
    gx, gy = row[:, :, 2:] - row[:, :, :-2], column[:, 2:] - column[:, :-2]
    m = gx.abs() + gy.abs()
    tan = math.tan(math.pi / 8)
    flat, steep = gy.abs() < tan * gx.abs(), gy.abs() > (2 + tan) * gx.abs()
    rising = (gx * gy) >= 0
    around = F.pad(m, (1, 1, 1, 1))

    def at(dy: int, dx: int) -> Tensor:
        return around[:, 1 + dy : 1 + dy + m.shape[1], 1 + dx : 1 + dx + m.shape[2]]

    across = (m > at(0, -1)) & (m >= at(0, 1))
    along = (m > at(-1, 0)) & (m >= at(1, 0))
    down = (m > at(-1, -1)) & (m > at(1, 1))
    up = (m > at(-1, 1)) & (m > at(1, -1))
    slanted = ~(flat | steep)
    ridge = (flat & across) | (steep & along) | (slanted & rising & down) | (slanted & ~rising & up)
    ridge &= m > low
    edge = ridge & (m > high)
    for _ in range(reach):
        p = F.pad(edge, (1, 1, 1, 1))
        p = p[:, :-2] | p[:, 1:-1] | p[:, 2:]
        grown = ridge & (p[:, :, :-2] | p[:, :, 1:-1] | p[:, :, 2:])
        if not grown.is_meta and torch.equal(grown, edge):
            break
        edge = grown
    return edge


def distance(mask: Tensor, dtype: torch.dtype, most: int) -> Tensor:
    """Euclidean distance (N, H, W) of every pixel to the nearest true one, cut at `most` < 128 pixels."""
    # squares below 2 x 128^2 fit 16 bits, of which a vector register holds twice as many as floats
    line = (~mask).to(torch.int16) * most
    for k in (1 << n for n in range((min(most, mask.shape[-1]) - 1).bit_length())):  # reach doubles: 1, 2, 4, ...
        line = torch.minimum(line, F.pad(line, (k, 0), value=most)[..., :-k] + k)
        line = torch.minimum(line, F.pad(line, (0, k), value=most)[..., k:] + k)
    line *= line  # (N, H, W)
    nearest = line.clone()
    for k in range(1, min(most, mask.shape[-2] - 1) + 1):
        raised = line + k * k
        torch.minimum(nearest[:, k:], raised[:, :-k], out=nearest[:, k:])
        torch.minimum(nearest[:, :-k], raised[:, k:], out=nearest[:, :-k])
    return nearest.to(dtype).sqrt_().clamp_(max=most)


def equalise(levels: Tensor, top: int) -> Tensor:
    """Histogram equalisation to 0..255 of integer levels (N, H, W) in 0..top; an even picture stays as it is."""
    flat = levels.flatten(1)
    bins = torch.zeros(flat.shape[0], top + 1, dtype=levels.dtype, device=levels.device)
    histogram = bins.scatter_add(1, flat.long(), torch.ones_like(flat))  # (N, top + 1)
    total = flat.shape[1]
    below = histogram.cumsum(1)
    first = torch.where(histogram > 0, below, float(total)).amin(1, keepdim=True)  # count of the lowest level present
    table = ((below - first).clamp(min=0) * (255 / (total - first).clamp(min=1))).round()
    even = flat == flat[:, :1]
    out = torch.where(even.all(1, keepdim=True), flat, table.gather(1, flat.long()))
    return out.view_as(levels)


def box3(x: Tensor) -> Tensor:
    """Mean over 3x3 pixels of x (N, H, W), mirrored at the edge."""
    p = F.pad(x[:, None], (1, 1, 1, 1), mode="reflect")[:, 0]
    p = p[:, :-2] + p[:, 1:-1] + p[:, 2:]
    return (p[:, :, :-2] + p[:, :, 1:-1]).add_(p[:, :, 2:]).mul_(1 / 9)
