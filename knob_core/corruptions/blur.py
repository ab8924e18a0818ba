"""Blur of the lens, the glass and the hand.

defocus, motion: y = sum_d k[d] x[i + d];  gaussian: y = G_h x G_w^T;  zoom: y = (x + sum_z A_z x A_z^T) / (n + 1);
glass: y = G x[i + d(i)] with random d in -r..r-1, pixel after pixel from the last.
Reference: Hendrycks & Dietterich (ICLR 2019), CIFAR-10-C constants.
"""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from knob_core.corruptions import _kernels, _matrices, _warp
from knob_core.corruptions._draws import uniform
from knob_core.corruptions._severity import Table, any_true, blend, constants, highest

DEFOCUS_BLUR = [(0.0, 0.0), (0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1.0, 0.2), (1.5, 0.1)]  # disk radius, its own blur
DEFOCUS_KERNELS = [_kernels.disk(radius, alias) for radius, alias in DEFOCUS_BLUR]
GLASS_BLUR = [  # sigma, passes, largest way of a pixel
    [0.0, 0.0, 1.0],
    [0.05, 1.0, 1.0],
    [0.25, 1.0, 1.0],
    [0.4, 1.0, 1.0],
    [0.25, 2.0, 1.0],
    [0.4, 2.0, 1.0],
]
MOTION_BLUR = [[0.0, 0.0], [6.0, 1.0], [6.0, 1.5], [6.0, 2.0], [8.0, 2.0], [9.0, 2.5]]  # radius, sigma in pixels
ZOOM_STEP = 1.01 - 1.0  # not 0.01: the recipe's 1.25 is a hair above it, and 26 x 1.25 rounds to 33 samples
ZOOM_BLUR = [[1 + z * ZOOM_STEP for z in range(copies)] for copies in (0, 7, 12, 16, 21, 26)]  # factors
GAUSSIAN_BLUR = [[0.0], [0.4], [0.6], [0.7], [0.8], [1.0]]  # sigma in pixels


def gaussian_blur(
    images: Tensor, severity: Tensor, generator: Generator | None, table: Table = GAUSSIAN_BLUR
) -> Tensor:
    """A soft lens."""
    (sigma,) = constants(table, severity, images)
    return _matrices.gaussian_blur(images, sigma, radius=int(4 * max(row[0] for row in table) + 0.5))


def defocus_blur(
    images: Tensor,
    severity: Tensor,
    generator: Generator | None,
    kernels: Table = DEFOCUS_KERNELS,
) -> Tensor:
    """A lens out of focus: the disk of whole pixels grows by mixing the kernels of neighbouring severities."""
    (*weights,) = constants(kernels, severity, images)
    side = math.isqrt(len(weights))
    kernel = torch.cat(weights, 1).view(-1, side, side)
    return _kernels.correlate(images, kernel, top=side // 2, left=side // 2, mode="reflect")


def motion_blur(
    images: Tensor,
    severity: Tensor,
    generator: Generator | None,
    table: Table = MOTION_BLUR,
    taps: int = 13,  # at sigma 2.5 all further ones together weigh less than 1e-6
) -> Tensor:
    """A hand that moves, at -45..45 degrees."""
    radius, sigma = constants(table, severity, images)
    angle = torch.pi / 4 * (2 * uniform((len(images),), images, generator) - 1)
    aside = math.ceil((taps - 1) * math.sqrt(0.5))
    kernel = _kernels.streak(radius, sigma, angle, taps=taps, top=aside, bottom=aside, left=0, right=taps - 1)
    return _kernels.correlate(images, kernel, top=aside, left=0, mode="replicate")


def zoom_blur(images: Tensor, severity: Tensor, generator: Generator | None, table: Table = ZOOM_BLUR) -> Tensor:
    """A lens that zooms while the shutter is open."""
    height, width = images.shape[-2:]
    # many of the factors crop and stretch alike: {how: its copies at each severity}
    alike: dict[tuple[tuple[int, int], tuple[int, int]], list[int]] = {}
    for level, factors in enumerate(table[: highest(severity) + 1]):
        for factor in factors:
            rows, columns = (_matrices.zoom_sizes(size, factor) for size in (height, width))
            alike.setdefault((rows, columns), [0] * len(table))[level] += 1
    shares = [
        [1 / (len(factors) + 1)] + [copies[level] / (len(factors) + 1) for copies in alike.values()]
        for level, factors in enumerate(table)
    ]
    itself, *weights = constants(shares, severity, images)
    out = images * itself
    for (rows, columns), weight in zip(alike, weights, strict=True):
        zoom_rows = _matrices.zoom(height, *rows, images.dtype, images.device)
        zoom_columns = _matrices.zoom(width, *columns, images.dtype, images.device)
        out.addcmul_(zoom_rows @ (images @ zoom_columns.T), weight)
    return out


def glass_blur(images: Tensor, severity: Tensor, generator: Generator | None, table: Table = GLASS_BLUR) -> Tensor:
    """Frosted glass: soften, scatter the pixels, soften again."""
    count, channels, height, width = images.shape
    passes = int(max(row[1] for row in table))
    draws = uniform((passes, 2, count, height, width), images, generator)
    radius = int(4 * max(row[0] for row in table) + 0.5)

    def render(whole: Tensor) -> Tensor:
        sigma, passes, reach = constants(table, whole, images)
        x = _matrices.gaussian_blur(images, sigma, radius).mul(255).add(1e-3).floor().div(255).flatten(2)
        for n, draw in enumerate(draws):
            active = passes.flatten(1) > n  # (N, 1)
            if any_true(active):
                source = _warp.scattered(draw, reach.flatten(1)[:, :, None])
                source = torch.where(active, source, torch.arange(height * width, device=images.device))
                x = x.gather(2, source[:, None].expand(count, channels, -1))
        return _matrices.gaussian_blur(x.view_as(images), sigma, radius)

    return blend(images, render, severity)
