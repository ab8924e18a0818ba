"""What software does to a picture: colour, contrast, warping, resampling, compression.

HSV without the hue: k_c = (V - x_c) / (V - min x) depends on the hue alone, and x_c = V (1 - S k_c).
contrast: y = m + c (x - m), m each channel's mean;  elastic: y(p) = x(L^-1 (p - t) + alpha G u).
Reference: Hendrycks & Dietterich (ICLR 2019), CIFAR-10-C constants.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Generator, Tensor

from knob_core.corruptions import _jpeg, _matrices, _warp
from knob_core.corruptions._draws import uniform
from knob_core.corruptions._severity import Table, any_true, blend, constants

BRIGHTNESS = [[0.0], [0.05], [0.1], [0.15], [0.2], [0.3]]  # added to V
CONTRAST = [[1.0], [0.75], [0.5], [0.4], [0.3], [0.15]]  # factor about the mean
ELASTIC_TRANSFORM = [  # strength and smoothness of the waves, largest shift of the affine's corners; x image side
    [0.0, 0.0, 0.0],
    [0.0, 0.0, 0.08],
    [0.05, 0.2, 0.07],
    [0.08, 0.06, 0.06],
    [0.1, 0.04, 0.05],
    [0.1, 0.03, 0.03],
]
PIXELATE = [1.0, 0.95, 0.9, 0.85, 0.75, 0.65]  # cells along a side, x image side
JPEG_COMPRESSION = [100, 80, 65, 58, 50, 40]  # quality; row 0 is not compressed at all
SATURATE = [[1.0, 0.0], [0.3, 0.0], [0.1, 0.0], [1.5, 0.0], [2.0, 0.1], [2.5, 0.2]]  # S -> a S + b

ROUND = 0.498 / 255  # Pillow's resizing and JPEG end in whole levels, so mixtures of two are rounded, not truncated


def brightness(images: Tensor, severity: Tensor, generator: Generator | None, table: Table = BRIGHTNESS) -> Tensor:
    """More light: V rises, hue and saturation stay."""
    (c,) = constants(table, severity, images)
    return lighten(images, c)


def lighten(images: Tensor, c: Tensor | float) -> Tensor:
    """V + c, kept in [0, 1]; a negative c darkens."""
    value = images.amax(1, keepdim=True)
    brighter = (value + c).clamp_(0, 1)
    black = (value < torch.finfo(images.dtype).tiny).to(images.dtype)  # has no hue to keep; a division could overflow
    return (images * (brighter / (value + black))).add_(brighter * black)


def contrast(images: Tensor, severity: Tensor, generator: Generator | None, table: Table = CONTRAST) -> Tensor:
    """Everything drawn towards its channel's mean."""
    (c,) = constants(table, severity, images)
    mean = images.mean((2, 3), keepdim=True)
    return mean + c * (images - mean)


def saturate(images: Tensor, severity: Tensor, generator: Generator | None, table: Table = SATURATE) -> Tensor:
    """Colours washed out (1-2) or lurid (3-5); grey has hue 0, so b > 0 turns it red."""
    a, b = constants(table, severity, images)
    value = images.amax(1, keepdim=True)
    delta = value - images.amin(1, keepdim=True)  # (N, 1, H, W)
    grey = (delta == 0).to(images.dtype)
    saturation = (a * (delta / value.clamp(min=1e-12)) + b).clamp_(0, 1)
    k = (value - images).div_(delta + grey)
    k[:, 1:] += grey
    return value - k.mul_(saturation * value)


def elastic_transform(
    images: Tensor, severity: Tensor, generator: Generator | None, table: Table = ELASTIC_TRANSFORM
) -> Tensor:
    """Stretched by a random affine map, then wobbled."""
    count, _, height, width = images.shape
    alpha, sigma, shift = (min(height, width) * c for c in constants(table, severity, images))
    corners = 2 * uniform((count, 3, 2), images, generator) - 1
    waves = 2 * uniform((count, 2, height, width), images, generator) - 1
    out = _warp.affine(images, shift.view(-1, 1, 1) * corners)
    if any_true(alpha > 0):
        radius = int(3 * max(row[1] for row in table) * min(height, width) + 0.5)
        out = _warp.displace(out, alpha * _matrices.gaussian_blur(waves, sigma, radius, mode="reflect", truncate=3))
    return out


def pixelate(
    images: Tensor, severity: Tensor, generator: Generator | None, table: Sequence[float] = PIXELATE
) -> Tensor:
    """Fewer pixels, shown at the old size."""
    size = images.shape[-2:]
    tables = [
        torch.stack([_matrices.pixelate(n, int(n * scale), images.dtype, images.device) for scale in table])
        for n in size
    ]  # two of (6, size, size)

    def render(whole: Tensor) -> Tensor:
        rows, columns = (table[whole.long()] for table in tables)
        x = (images.flatten(1, 2) @ (255 * columns).transpose(1, 2)).add_(0.5 + 1e-3).floor_()  # along rows, 8 bits
        return (rows[:, None] @ x.view_as(images)).add_(0.5 + 1e-3).floor_().div_(255)

    return blend(images, render, severity) + ROUND


def jpeg_compression(
    images: Tensor, severity: Tensor, generator: Generator | None, table: Sequence[int] = JPEG_COMPRESSION
) -> Tensor:
    """Blocks of 8x8 pixels, coarsely quantised."""

    def render(whole: Tensor) -> Tensor:
        out = _jpeg.roundtrip(images, table, whole.long())
        untouched = (whole == 0).view(-1, 1, 1, 1)
        return torch.where(untouched, images, out) if any_true(untouched) else out

    return blend(images, render, severity) + ROUND
