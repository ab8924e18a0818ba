"""Blur of the lens, the glass and the hand.

defocus, motion: y = sum_d k[d] x[i + d];  gaussian: y = G_h x G_w^T;  zoom: y = (x + sum_z A_z x A_z^T) / (n + 1);
glass: y = G x[i + d(i)] with random d in {-1, 0}.
Reference: Hendrycks & Dietterich (ICLR 2019), CIFAR-10-C constants.
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from knob_core.corruptions import _kernels, _matrices
from knob_core.corruptions._draws import uniform
from knob_core.corruptions._severity import any_true, blend, constants, highest

DEFOCUS_BLUR = [(0.0, 0.0), (0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1.0, 0.2), (1.5, 0.1)]  # disk radius, its own blur
GLASS_BLUR = [[0.0, 0.0], [0.05, 1.0], [0.25, 1.0], [0.4, 1.0], [0.25, 2.0], [0.4, 2.0]]  # sigma, passes
MOTION_BLUR = [[0.0, 0.0], [6.0, 1.0], [6.0, 1.5], [6.0, 2.0], [8.0, 2.0], [9.0, 2.5]]  # radius, sigma in pixels
ZOOM_BLUR = [0, 7, 12, 16, 21, 26]  # copies, at factors 1, 1.01, 1.02, ...
ZOOM_STEP = 1.01 - 1.0  # not 0.01: the recipe's 1.25 is a hair above it, and 26 x 1.25 rounds to 33 samples
GAUSSIAN_BLUR = [[0.0], [0.4], [0.6], [0.7], [0.8], [1.0]]  # sigma in pixels


def gaussian_blur(images: Tensor, severity: Tensor, generator: Generator | None) -> Tensor:
    """A soft lens."""
    (sigma,) = constants(GAUSSIAN_BLUR, severity, images)
    return _matrices.gaussian_blur(images, sigma, radius=4)


def defocus_blur(images: Tensor, severity: Tensor, generator: Generator | None) -> Tensor:
    """A lens out of focus: the disk of whole pixels grows by mixing the kernels of neighbouring severities."""
    kernels = [_kernels.disk(radius, alias) for radius, alias in DEFOCUS_BLUR]
    (*weights,) = constants(kernels, severity, images)
    kernel = torch.cat(weights, 1).view(-1, 5, 5)  # (N, 5, 5)
    return _kernels.correlate(images, kernel, top=2, left=2, mode="reflect")


def motion_blur(images: Tensor, severity: Tensor, generator: Generator | None) -> Tensor:
    """A hand that moves, at -45..45 degrees."""
    radius, sigma = constants(MOTION_BLUR, severity, images)
    angle = torch.pi / 4 * (2 * uniform((len(images),), images, generator) - 1)
    # 13 taps: at sigma 2.5 all further ones together weigh less than 1e-6
    kernel = _kernels.streak(radius, sigma, angle, taps=13, top=9, bottom=9, left=0, right=12)
    return _kernels.correlate(images, kernel, top=9, left=0, mode="replicate")


def zoom_blur(images: Tensor, severity: Tensor, generator: Generator | None) -> Tensor:
    """A lens that zooms while the shutter is open."""
    height, width = images.shape[-2:]
    # many of the factors crop and stretch alike: {how: its copies}
    alike: dict[tuple[tuple[int, int], tuple[int, int]], list[int]] = {}
    for z in range(ZOOM_BLUR[highest(severity)]):
        rows, columns = (_matrices.zoom_sizes(size, 1 + z * ZOOM_STEP) for size in (height, width))
        alike.setdefault((rows, columns), []).append(z)
    table = [[1 / (n + 1)] + [sum(z < n for z in zs) / (n + 1) for zs in alike.values()] for n in ZOOM_BLUR]
    itself, *weights = constants(table, severity, images)
    out = images * itself
    for (rows, columns), weight in zip(alike, weights, strict=True):
        zoom_rows = _matrices.zoom(height, *rows, images.dtype, images.device)
        zoom_columns = _matrices.zoom(width, *columns, images.dtype, images.device)
        out.addcmul_(zoom_rows @ (images @ zoom_columns.T), weight)
    return out


def glass_blur(images: Tensor, severity: Tensor, generator: Generator | None) -> Tensor:
    """Frosted glass: soften, scatter every pixel to its upper left, soften again."""
    count, channels, height, width = images.shape
    i, j = torch.arange(height, device=images.device), torch.arange(width, device=images.device)
    moves = uniform((2, 2, count, height, width), images, generator) < 0.5  # (pass, axis, N, H, W)
    moves &= (i >= 2)[:, None] & (j >= 2)  # the recipe leaves the first two rows and columns alone
    sources = ((i[:, None] - moves[:, 0].long()) * width + j - moves[:, 1].long()).flatten(2)  # (pass, N, H W)

    def render(whole: Tensor) -> Tensor:
        sigma, passes = constants(GLASS_BLUR, whole, images)
        x = _matrices.gaussian_blur(images, sigma, radius=2).mul(255).add(1e-3).floor().div(255).flatten(2)
        for n, source in enumerate(sources):
            active = passes.flatten(1) > n  # (N, 1)
            if any_true(active):
                source = torch.where(active, source, torch.arange(height * width, device=images.device))
                x = x.gather(2, source[:, None].expand(count, channels, -1))
        return _matrices.gaussian_blur(x.view_as(images), sigma, radius=2)

    return blend(images, render, severity)
