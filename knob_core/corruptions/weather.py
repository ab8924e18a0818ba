"""Weather between the lens and the world: layers of random texture.

fog: y = (x + c p) m / (m + c), m = max x, p a plasma fractal;  frost: y = a x + b t, t a texture;
snow: y = c x + (1 - c) max(x, 1.5 grey + 0.5) + l + rot180(l), l = streaks of thresholded noise;
spatter: water y = x + w m / max(m), mud y = x (1 - m) + c m, m from a blurred, thresholded noise.
Reference: Hendrycks & Dietterich (ICLR 2019), CIFAR-10-C constants.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Generator, Tensor

from knob_core.corruptions import _edges, _kernels, _matrices, _textures
from knob_core.corruptions._draws import normal, uniform
from knob_core.corruptions._severity import Table, any_true, blend, constants

SNOW = [  # mean, std and zoom of the flakes' noise, threshold, streak radius and sigma in pixels, share of x kept
    [0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 1.0],
    [0.1, 0.2, 1.0, 0.6, 8.0, 3.0, 0.95],
    [0.1, 0.2, 1.0, 0.5, 10.0, 4.0, 0.9],
    [0.15, 0.3, 1.75, 0.55, 10.0, 4.0, 0.9],
    [0.25, 0.3, 2.25, 0.6, 12.0, 6.0, 0.85],
    [0.3, 0.3, 1.25, 0.65, 14.0, 12.0, 0.8],
]
FROST = [[1.0, 0.0], [1.0, 0.2], [1.0, 0.3], [0.9, 0.4], [0.85, 0.4], [0.75, 0.45]]  # weights of image and texture
FOG = [[0.0, 3.0], [0.2, 3.0], [0.5, 3.0], [0.75, 2.5], [1.0, 2.0], [1.5, 1.75]]  # amount, decay of the fine waves
SPATTER = [  # mean, std and blur of the liquid's noise, threshold, mix, mud (0 water, 1 mud)
    [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
    [0.62, 0.1, 0.7, 0.7, 0.5, 0.0],
    [0.65, 0.1, 0.8, 0.7, 0.5, 0.0],
    [0.65, 0.3, 1.0, 0.69, 0.5, 0.0],
    [0.65, 0.1, 0.7, 0.69, 0.6, 1.0],
    [0.65, 0.1, 0.5, 0.68, 0.6, 1.0],
]
LUMA = (0.299, 0.587, 0.114)
WATER = (175 / 255, 238 / 255, 238 / 255)  # pale turquoise
MUD = (63 / 255, 42 / 255, 20 / 255)
RELIEF = [[-2.0, -1.0, 0.0], [-1.0, 1.0, 1.0], [0.0, 1.0, 2.0]]  # light from the upper left


def _colour(rgb: tuple[float, float, float], like: Tensor) -> Tensor:
    return torch.tensor(rgb, dtype=like.dtype, device=like.device).view(1, 3, 1, 1)


def fog(images: Tensor, severity: Tensor, generator: Generator | None, table: Table = FOG) -> Tensor:
    """Drifting fog, scaled back so that the brightest value stays."""
    amount, decay = constants(table, severity, images)
    height, width = images.shape[-2:]
    side = 1 << (max(height, width) - 1).bit_length()
    wave = 2 * uniform((len(images), side, side), images, generator) - 1
    plasma = _textures.plasma(wave, decay)[:, None, :height, :width]
    top = images.amax((1, 2, 3), keepdim=True)
    # a black image has top 0: without fog 0 / 0, and it stays black
    return (images + amount * plasma) * (top / (top + amount).clamp(min=1e-6))


def frost(images: Tensor, severity: Tensor, generator: Generator | None) -> Tensor:
    """Ice on the window: a random piece of one of five photographs."""
    a, b = constants(FROST, severity, images)
    height, width = images.shape[-2:]
    u = uniform((3, len(images)), images, generator)  # which texture, which row, which column
    ice = _textures.frost(u, height, width)
    return a * images + b * ice


def snow(images: Tensor, severity: Tensor, generator: Generator | None, table: Table = SNOW) -> Tensor:
    """Flakes as streaks at -135..-45 degrees, over a whitened picture."""
    count, _, height, width = images.shape
    noise = normal((count, 1, height, width), images, generator)
    angle = torch.pi / 4 * (2 * uniform((count,), images, generator) - 3)
    grey = (images * _colour(LUMA, images)).sum(1, keepdim=True)
    white = torch.maximum(images, 1.5 * grey + 0.5)
    zooms = [
        torch.stack(
            [_matrices.zoom(size, *_matrices.zoom_sizes(size, row[2]), images.dtype, images.device) for row in table]
        )
        for size in (height, width)
    ]  # two of (6, size, size)

    def render(whole: Tensor) -> Tensor:
        mean, std, _, threshold, radius, sigma, keep = constants(table, whole, images)
        rows, columns = (table[whole.long()] for table in zooms)
        flakes = _matrices.apply(mean + std * noise, rows, columns)
        flakes = flakes.mul_(flakes >= threshold).clamp_(0, 1).mul_(255).floor_()
        kernel = _kernels.streak(radius, sigma, angle, taps=29, top=28, bottom=0, left=20, right=20)
        flakes = _kernels.correlate(flakes, kernel, top=28, left=20, mode="replicate").round().div(255)
        return (images * keep + white * (1 - keep) + flakes + flakes.flip(-1, -2)).clamp(0, 1)

    return blend(images, render, severity)


def _water(liquid: Tensor, mix: Tensor, reach: int) -> Tensor:
    """How bright each pixel's water is, (N, 1, H, W) in 0..mix; liquid (N, 1, H, W) is 0 where dry."""
    layer = (liquid[:, 0] * 255).floor().clamp(0, 255)  # (N, H, W)
    depth = _edges.distance(_edges.canny(layer, low=50, high=150, reach=reach), layer.dtype, most=20)
    depth = _edges.equalise((_edges.box3(depth) + 1e-4).floor(), top=20)
    relief = torch.tensor(RELIEF, dtype=layer.dtype, device=layer.device).view(1, 1, 3, 3)
    depth = F.conv2d(F.pad(depth[:, None], (1, 1, 1, 1), mode="reflect"), relief)[:, 0].clamp(0, 255)
    m = layer * _edges.box3(depth).round()
    return (m / m.amax((1, 2), keepdim=True).clamp(min=1e-6))[:, None] * mix


def _mud(wet: Tensor, mix: Tensor, radius: int) -> Tensor:
    """How much mud covers each pixel, (N, 1, H, W): 0 or 0.8..1."""
    m = _matrices.gaussian_blur(wet, mix, radius)
    return m * (m >= 0.8)


def spatter(
    images: Tensor,
    severity: Tensor,
    generator: Generator | None,
    table: Table = SPATTER,
    radii: tuple[int, int] = (4, 3),  # pixels to which the blurs of the liquid and of mud reach
    reach: int = 8,  # pixels along which a weak edge is followed
) -> Tensor:
    """Drops of water (1-3) or mud (4-5) on the lens."""
    count, _, height, width = images.shape
    noise = normal((count, 1, height, width), images, generator)

    def render(whole: Tensor) -> Tensor:
        mean, std, blur, threshold, mix, mud = constants(table, whole, images)
        liquid = mean + std * _matrices.gaussian_blur(noise, blur, radii[0])
        wet = (liquid > threshold).to(images.dtype)
        out = images
        if any_true(mud == 0):
            m = _water(liquid * wet, mix * (1 - mud), reach)
            out = (images + m * _colour(WATER, images)).clamp(0, 1)
        if any_true(mud == 1):
            m = _mud(wet, mix, radii[1]) * mud
            out = out * (1 - m) + m * _colour(MUD, images)
        return out

    return blend(images, render, severity)
