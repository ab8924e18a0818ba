"""ImageNet-C's constants at 224 x 224 pixels: parity with the published recipe, in NumPy and SciPy."""

from __future__ import annotations

import io
import math

import numpy as np
import pytest
import torch
from matplotlib.colors import hsv_to_rgb, rgb_to_hsv
from PIL import Image
from quick import slow_but
from scipy import ndimage

from knob_core.corruptions import CONSTANTS, NAMES, TEST, corrupt
from knob_core.corruptions.imagenet import SIDE

# the published constants, in the recipe's own words; frost needs photographs that do not ship
GAUSSIAN = [0.08, 0.12, 0.18, 0.26, 0.38]
SHOT = [60, 25, 12, 5, 3]
IMPULSE = [0.03, 0.06, 0.09, 0.17, 0.27]
SPECKLE = [0.15, 0.2, 0.35, 0.45, 0.6]
BLUR = [1, 2, 3, 4, 6]
GLASS = [(0.7, 1, 2), (0.9, 2, 1), (1, 2, 3), (1.1, 3, 2), (1.5, 4, 2)]
DEFOCUS = [(3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)]
MOTION = [(10, 3), (15, 5), (15, 8), (15, 12), (20, 15)]
ZOOM = [(1.11, 0.01), (1.16, 0.01), (1.21, 0.02), (1.26, 0.02), (1.31, 0.03)]
FOG = [(1.5, 2), (2, 2), (2.5, 1.7), (2.5, 1.5), (3, 1.4)]
SNOW = [
    (0.1, 0.3, 3, 0.5, 10, 4, 0.8), (0.2, 0.3, 2, 0.5, 12, 4, 0.7), (0.55, 0.3, 4, 0.9, 12, 8, 0.7),
    (0.55, 0.3, 4.5, 0.85, 12, 8, 0.65), (0.55, 0.3, 2.5, 0.85, 12, 12, 0.55),
]  # fmt: skip
MUD = {4: (0.65, 0.3, 1, 0.65, 1.5), 5: (0.67, 0.4, 1, 0.65, 1.5)}
BRIGHTNESS = [0.1, 0.2, 0.3, 0.4, 0.5]
CONTRAST = [0.4, 0.3, 0.2, 0.1, 0.05]
SATURATE = [(0.3, 0), (0.1, 0), (2, 0), (5, 0.1), (20, 0.2)]
JPEG = [25, 18, 15, 10, 7]
PIXELATE = [0.6, 0.5, 0.4, 0.3, 0.25]
ELASTIC = [(488, 170.8, 24.4), (488, 19.52, 48.8), (12.2, 2.44, 4.88), (17.08, 2.44, 4.88), (29.28, 2.44, 4.88)]
JPEG_OFF = (
    1.5  # levels, mean: Pillow comes with libjpeg-turbo, whose chroma is smoother than that of the published files
)
CHANCE_FREE = (
    "gaussian_blur", "defocus_blur", "zoom_blur", "brightness", "contrast", "saturate", "pixelate", "jpeg_compression",
)  # fmt: skip
BY_CHANCE = (
    "gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise", "glass_blur", "motion_blur", "snow", "fog",
    "elastic_transform", "spatter",
)  # fmt: skip


def softened(x: np.ndarray, sigma: float) -> np.ndarray:
    return ndimage.gaussian_filter(x, (sigma, sigma, 0), mode="nearest", truncate=4)


def zoomed(x: np.ndarray, factor: float) -> np.ndarray:
    crop = math.ceil(SIDE / factor)
    top = (SIDE - crop) // 2
    y = ndimage.zoom(x[top : top + crop, top : top + crop], (factor, factor, 1), order=1)
    trim = (len(y) - SIDE) // 2
    return y[trim : trim + SIDE, trim : trim + SIDE]


def streaked(x: np.ndarray, radius: int, sigma: float, degrees: float) -> np.ndarray:
    """ImageMagick's motion blur: half a Gaussian along a line, the edge repeated."""
    weights = np.exp(-(np.arange(2 * radius + 1) ** 2) / (2 * sigma**2))
    out = np.zeros_like(x, float)
    for i, weight in enumerate(weights / weights.sum()):
        dy, dx = (math.ceil(i * f(math.radians(degrees)) - 0.5) for f in (math.sin, math.cos))
        rows, columns = (np.clip(np.arange(SIDE) + d, 0, SIDE - 1) for d in (dy, dx))
        out += weight * x[rows][:, columns]
    return out


def plasma(decay: float, rng: np.random.Generator) -> np.ndarray:
    """Diamond-square on a torus of 256 points, one point after the other."""
    n, m, step, wibble = 256, np.zeros((256, 256)), 256, 100.0
    while step >= 2:
        half = step // 2
        for i in range(half, n, step):
            for j in range(half, n, step):
                near = [m[(i + a) % n, (j + b) % n] for a in (-half, half) for b in (-half, half)]
                m[i, j] = sum(near) / 4 + wibble * rng.uniform(-wibble, wibble)
        for i in range(0, n, half):
            for j in range(half if i % step == 0 else 0, n, step):
                near = [m[(i + a) % n, (j + b) % n] for a, b in ((-half, 0), (half, 0), (0, -half), (0, half))]
                m[i, j] = sum(near) / 4 + wibble * rng.uniform(-wibble, wibble)
        step, wibble = half, wibble / decay
    return (m - m.min()) / (m.max() - m.min())


def disk(radius: int, alias: float) -> np.ndarray:
    edge, reach = (8, 1) if radius <= 8 else (radius, 2)
    line = np.arange(-edge, edge + 1)
    inside = (line[:, None] ** 2 + line**2 <= radius**2).astype(float)
    inside /= inside.sum()  # before it is blurred, and not again
    taps = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * alias**2))
    for axis in (0, 1):
        inside = ndimage.correlate1d(inside, taps / taps.sum(), axis, mode="mirror")
    return inside


def recipe(name: str, x: np.ndarray, severity: int, rng: np.random.Generator) -> np.ndarray:
    """One picture (H, W, 3) in [0, 1] under the published recipe, not yet cut to bytes."""
    at = severity - 1
    picture = Image.fromarray((x * 255).round().astype(np.uint8))
    if name == "gaussian_noise":
        return x + rng.normal(0, GAUSSIAN[at], x.shape)
    if name == "shot_noise":
        return rng.poisson(x * SHOT[at]) / SHOT[at]
    if name == "impulse_noise":
        return np.where(rng.random(x.shape) < IMPULSE[at], rng.integers(0, 2, x.shape), x)
    if name == "speckle_noise":
        return x + x * rng.normal(0, SPECKLE[at], x.shape)
    if name == "gaussian_blur":
        return softened(x, BLUR[at])
    if name == "glass_blur":
        sigma, most, passes = GLASS[at]
        y = (softened(x, sigma) * 255).astype(np.uint8)
        for _ in range(passes):
            for i in range(SIDE - most, most, -1):
                for j in range(SIDE - most, most, -1):
                    dx, dy = rng.integers(-most, most, 2)
                    y[i, j] = y[i + dy, j + dx]  # the recipe's swap of two views
        return softened(y / 255, sigma)
    if name == "defocus_blur":
        return ndimage.correlate(x, disk(*DEFOCUS[at])[:, :, None], mode="mirror")
    if name == "motion_blur":
        return streaked(x, *MOTION[at], rng.uniform(-45, 45))
    if name == "zoom_blur":
        factors = np.arange(1, *ZOOM[at])
        return (x + sum(zoomed(x, factor) for factor in factors)) / (len(factors) + 1)
    if name == "snow":
        mean, std, zoom, threshold, radius, sigma, keep = SNOW[at]
        layer = zoomed(rng.normal(mean, std, (SIDE, SIDE, 1)), zoom)[:, :, 0]
        layer = (np.clip(np.where(layer < threshold, 0, layer), 0, 1) * 255).astype(np.uint8)
        layer = (streaked(layer, int(radius), sigma, rng.uniform(-135, -45)).round() / 255)[:, :, None]
        grey = (x * [0.299, 0.587, 0.114]).sum(2, keepdims=True)
        return keep * x + (1 - keep) * np.maximum(x, grey * 1.5 + 0.5) + layer + np.rot90(layer, 2)
    if name == "fog":
        amount, decay = FOG[at]
        cloud = plasma(decay, rng)[:SIDE, :SIDE, None]
        return (x + amount * cloud) * x.max() / (x.max() + amount)
    if name == "spatter":
        mean, std, blur, threshold, thick = MUD[severity]
        liquid = ndimage.gaussian_filter(rng.normal(mean, std, (SIDE, SIDE)), blur, mode="nearest")
        m = ndimage.gaussian_filter((liquid > threshold).astype(float), thick, mode="nearest")
        m = np.where(m < 0.8, 0, m)[:, :, None]
        return x * (1 - m) + np.array([63, 42, 20]) / 255 * m
    if name in ("brightness", "saturate"):
        hsv = rgb_to_hsv(x)
        if name == "brightness":
            hsv[:, :, 2] = np.clip(hsv[:, :, 2] + BRIGHTNESS[at], 0, 1)
        else:
            hsv[:, :, 1] = np.clip(hsv[:, :, 1] * SATURATE[at][0] + SATURATE[at][1], 0, 1)
        return hsv_to_rgb(hsv)
    if name == "contrast":
        mean = x.mean((0, 1), keepdims=True)
        return (x - mean) * CONTRAST[at] + mean
    if name == "jpeg_compression":
        file = io.BytesIO()
        picture.save(file, "JPEG", quality=JPEG[at])
        return np.asarray(Image.open(file)) / 255
    if name == "pixelate":
        side = int(SIDE * PIXELATE[at])
        return (
            np.asarray(picture.resize((side, side), Image.Resampling.BOX).resize((SIDE, SIDE), Image.Resampling.BOX))
            / 255
        )
    assert name == "elastic_transform"
    strength, sigma, most = ELASTIC[at]
    corner, third = SIDE // 2, SIDE // 3
    before = np.array([[corner + third, corner + third], [corner + third, corner - third], [corner - third] * 2], float)
    after = before + rng.uniform(-most, most, before.shape)
    back = np.linalg.solve(np.c_[after, np.ones(3)], before)  # (3, 2): from after to before, in (x, y)
    row, column = np.mgrid[:SIDE, :SIDE]
    where = np.stack([column, row, np.ones_like(row)], -1) @ back
    y = np.stack(
        [
            ndimage.map_coordinates(c, where.T[::-1].transpose(0, 2, 1), order=1, mode="mirror")
            for c in x.transpose(2, 0, 1)
        ],
        -1,
    )
    wave = [
        ndimage.gaussian_filter(rng.uniform(-1, 1, (SIDE, SIDE)), sigma, mode="reflect", truncate=3) * strength
        for _ in range(2)
    ]
    there = [row + wave[1], column + wave[0]]
    return np.stack([ndimage.map_coordinates(c, there, order=1, mode="reflect") for c in y.transpose(2, 0, 1)], -1)


@pytest.fixture(scope="module")
def pictures() -> np.ndarray:
    """Ten made pictures (N, H, W, 3) of whole levels in [0, 1]: soft colours, sharp edges, fine grain."""
    rng = np.random.default_rng(0)
    made = []
    for _ in range(10):
        soft = ndimage.zoom(rng.random((5, 5, 3)), (SIDE / 5, SIDE / 5, 1), order=3)
        left, top, width, height = rng.integers(20, 110, 4)
        soft[top : top + height, left : left + width] = rng.random(3)
        soft += rng.normal(0, 0.03, soft.shape)
        made.append((np.clip(soft, 0, 1) * 255).round() / 255)
    return np.array(made)


def ours(pictures: np.ndarray, name: str, severity: int) -> np.ndarray:
    x = torch.from_numpy(pictures.transpose(0, 3, 1, 2)).float()
    y = corrupt(x, name, severity, torch.Generator().manual_seed(severity), constants="imagenet-c")
    return (y * 255).round().numpy().transpose(0, 2, 3, 1)


def theirs(pictures: np.ndarray, name: str, severity: int) -> np.ndarray:
    rng = np.random.default_rng(severity)
    return np.array([np.floor(np.clip(recipe(name, x, severity, rng), 0, 1) * 255 + 1e-6) for x in pictures])


def test_all_but_frost_are_there() -> None:
    assert set(CONSTANTS["imagenet-c"]) == {*NAMES} - {"frost"} == {*CHANCE_FREE, *BY_CHANCE}
    assert len(set(CONSTANTS["imagenet-c"]) & set(TEST)) == 14
    with pytest.raises(ValueError, match=r"name must be one of gaussian_noise.*; got 'frost'"):
        corrupt(torch.rand(1, 3, SIDE, SIDE), "frost", 1, constants="imagenet-c")
    with pytest.raises(ValueError, match="constants must be one of cifar10-c, imagenet-c; got 'mine'"):
        corrupt(torch.rand(1, 3, SIDE, SIDE), "fog", 1, constants="mine")


@pytest.mark.parametrize("name", slow_but(["contrast", "pixelate"], CHANCE_FREE))
def test_without_chance_the_pixels_are_the_recipe_s(pictures: np.ndarray, name: str) -> None:
    for severity in range(1, 6):
        off = np.abs(ours(pictures, name, severity) - theirs(pictures, name, severity))
        limit = JPEG_OFF if name == "jpeg_compression" else 0.1
        assert off.mean() < limit, severity


@pytest.mark.parametrize("name", slow_but(["speckle_noise"], BY_CHANCE))
def test_by_chance_the_statistics_are_the_recipe_s(pictures: np.ndarray, name: str) -> None:
    """Strength and shift of the residual, mean over pictures: they differ by what ten draws of each explain."""
    clean = pictures * 255
    for severity in (4, 5) if name == "spatter" else (1, 3, 5):
        found = []
        for made in (ours, theirs):
            residual = made(pictures, name, severity) - clean
            found.append([10 * np.log10(np.square(residual).mean((1, 2, 3))), residual.mean((1, 2, 3))])
        off = np.subtract(*found)  # (2, N) dB and levels; picture by picture, so that what pictures have in common goes
        error = off.std(1, ddof=1) / math.sqrt(len(pictures))
        assert (np.abs(off.mean(1)) < 4 * error + [0.05, 0.05]).all(), (severity, off.mean(1), error)
