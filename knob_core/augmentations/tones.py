"""Operations on pixel values alone: each level v of a channel becomes another level, wherever it stands.

autocontrast: (v - min) / (max - min);  equalize: share of the pixels below v;  posterize: the upper bits of v;
solarize: 1 - v where v >= threshold.  Reference: Hendrycks et al., "AugMix" (ICLR 2020), which takes them from Pillow.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

LEVELS = 256
POSTERIZE_BITS = (5.0, 3.0)  # bits kept at magnitude 0 and 1, rounded to a whole number
SOLARIZE_THRESHOLD = (1.0, 0.7)  # at magnitude 0 and 1


def autocontrast(images: Tensor) -> Tensor:
    """Every channel stretched over the whole of [0, 1]; a channel of one value stays as it is."""
    low, high = images.amin((2, 3), keepdim=True), images.amax((2, 3), keepdim=True)
    flat = high == low
    return torch.where(flat, images, (images - low) / (high - low + flat.to(images.dtype)))


def equalize(images: Tensor) -> Tensor:
    """Every channel's 256 levels moved so that all are used about equally; a channel of one level stays as it is."""
    count, channels, height, width = images.shape
    level = (images * (LEVELS - 1)).round().long().reshape(count * channels, height * width)
    histogram = images.new_zeros(count * channels, LEVELS)
    histogram.scatter_add_(1, level, images.new_ones(1, 1).expand_as(level))
    below = histogram.cumsum(1)  # pixels at or below each level
    first = histogram.gather(1, level.amin(1, keepdim=True))  # pixels at the lowest occupied level
    rest = height * width - first
    flat = rest == 0
    table = (below - first) / (rest + flat.to(images.dtype))  # (N x 3, 256)
    out = table.gather(1, level).view_as(images)
    return torch.where(flat.view(count, channels, 1, 1), images, out)


def posterize(images: Tensor, bits: Tensor) -> Tensor:
    """Only the upper `bits` (N,) of the eight bits of every value; 8 is the identity on whole levels."""
    step = torch.exp2(8 - bits).view(-1, 1, 1, 1)
    level = (images * (LEVELS - 1)).round()
    return (level / step).floor() * step / (LEVELS - 1)


def solarize(images: Tensor, threshold: Tensor) -> Tensor:
    """Values at or above `threshold` (N,) are inverted."""
    return torch.where(images >= threshold.view(-1, 1, 1, 1), 1 - images, images)


def _between(ends: tuple[float, float], magnitude: Tensor) -> Tensor:
    return ends[0] + (ends[1] - ends[0]) * magnitude


TONES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {  # images (N, 3, H, W), magnitudes (N,) in [0, 1]
    "autocontrast": lambda images, magnitude: autocontrast(images),
    "equalize": lambda images, magnitude: equalize(images),
    "posterize": lambda images, magnitude: posterize(images, _between(POSTERIZE_BITS, magnitude).round()),
    "solarize": lambda images, magnitude: solarize(images, _between(SOLARIZE_THRESHOLD, magnitude)),
}
