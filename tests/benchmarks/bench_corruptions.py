"""Batched corruptions against the per-image recipe, one thread, batch 256; and the four of training inside a step.

The recipe's own libraries are not needed: its cost per image was measured once (RECIPE_MS, one thread), and seven of
its nineteen, which NumPy, SciPy and Pillow alone can redo, are timed here to carry those figures to this machine.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from functools import partial

import numpy as np
import scipy.ndimage
import torch
from numpy.typing import NDArray
from PIL import Image
from timing import fastest
from torch.nn.functional import cross_entropy

from knob_core.corruptions import NAMES, corrupt
from knob_core.data import load_sample
from knob_core.models import build
from train.training.batches import corrupt_chunk

Picture = NDArray[np.uint8]
RNG = np.random.RandomState(0)  # the generator that the recipe draws from

RECIPE_MS = {  # ms an image, mean over severities 1-5
    "gaussian_noise": 0.1117,
    "shot_noise": 0.2596,
    "impulse_noise": 0.1025,
    "defocus_blur": 0.3180,
    "glass_blur": 16.0437,
    "motion_blur": 1.4103,
    "zoom_blur": 4.0712,
    "snow": 1.8558,
    "frost": 6.0991,
    "fog": 0.5505,
    "brightness": 0.5780,
    "contrast": 0.0897,
    "elastic_transform": 0.6081,
    "pixelate": 0.0504,
    "jpeg_compression": 0.2151,
    "speckle_noise": 0.1031,
    "gaussian_blur": 0.1672,
    "spatter": 0.3279,
    "saturate": 0.6355,
}
SOFT = ("glass_blur", "frost")  # a Python loop and a file decoded per image: too easy to count


def noise(x: Picture, s: int) -> NDArray[np.float64]:
    y = x / 255.0
    return np.clip(y + RNG.normal(size=y.shape, scale=(0.04, 0.06, 0.08, 0.09, 0.10)[s - 1]), 0, 1) * 255


def speckle(x: Picture, s: int) -> NDArray[np.float64]:
    y = x / 255.0
    return np.clip(y + y * RNG.normal(size=y.shape, scale=(0.06, 0.1, 0.12, 0.16, 0.2)[s - 1]), 0, 1) * 255


def shot(x: Picture, s: int) -> NDArray[np.float64]:
    rate = (500, 250, 100, 75, 50)[s - 1]
    return np.clip(RNG.poisson(x / 255.0 * rate) / rate, 0, 1) * 255


def contrast(x: Picture, s: int) -> NDArray[np.float64]:
    y = x / 255.0
    mean = y.mean(axis=(0, 1), keepdims=True)
    return np.clip((y - mean) * (0.75, 0.5, 0.4, 0.3, 0.15)[s - 1] + mean, 0, 1) * 255


def pixelate(x: Picture, s: int) -> Picture:
    side = (30, 28, 27, 24, 20)[s - 1]
    small = Image.fromarray(x).resize((side, side), Image.Resampling.BOX)
    return np.asarray(small.resize((32, 32), Image.Resampling.BOX))


def jpeg(x: Picture, s: int) -> Picture:
    file = io.BytesIO()
    Image.fromarray(x).save(file, "JPEG", quality=(80, 65, 58, 50, 40)[s - 1])
    return np.asarray(Image.open(file))


def zoom(x: Picture, s: int) -> NDArray[np.float32]:
    y = (x / 255.0).astype(np.float32)
    out, factors = np.zeros_like(y), np.arange(1, (1.06, 1.11, 1.16, 1.21, 1.26)[s - 1], 0.01)
    for factor in factors:
        crop = math.ceil(32 / factor)
        top = (32 - crop) // 2
        big = scipy.ndimage.zoom(y[top : top + crop, top : top + crop], (factor, factor, 1), order=1)
        trim = (len(big) - 32) // 2
        out += big[trim : trim + 32, trim : trim + 32]
    return np.float32(255) * np.clip((y + out) / np.float32(len(factors) + 1), 0, 1)


PER_IMAGE: dict[str, Callable[[Picture, int], NDArray]] = {
    "gaussian_noise": noise,
    "shot_noise": shot,
    "zoom_blur": zoom,
    "contrast": contrast,
    "pixelate": pixelate,
    "jpeg_compression": jpeg,
    "speckle_noise": speckle,
}


def pictures(n: int) -> torch.Tensor:
    """Photographs: how many are dark matters to shot noise."""
    images = load_sample()[0]
    return torch.from_numpy(images[:: len(images) // n][:n]).contiguous() / 255


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def test_batches_beat_the_recipe() -> None:
    x = pictures(256)
    one = x[:8].mul(255).round().byte().permute(0, 2, 3, 1).numpy()

    def recipe(name: str) -> float:
        f = PER_IMAGE[name]
        return 1e3 * fastest(lambda: [np.uint8(f(image, s)) for s in range(1, 6) for image in one], 7) / (5 * len(one))

    measured = {name: recipe(name) for name in PER_IMAGE}
    machine = geometric_mean([measured[name] / RECIPE_MS[name] for name in PER_IMAGE])
    print(f"\nthis machine costs {machine:.2f} x the machine of the table")
    print(f"{'corruption':18s} {'batch 256':>10s} {'recipe':>10s} {'ratio':>7s}   ms an image")
    ratios = {}
    for name in NAMES:
        ours = 1e3 * sum(fastest(partial(corrupt, x, name, s), 7) for s in range(1, 6)) / (5 * len(x))
        theirs = measured.get(name, machine * RECIPE_MS[name])
        ratios[name] = theirs / ours
        mark = "measured" if name in measured else "table"
        print(f"{name:18s} {ours:10.4f} {theirs:10.4f} {ratios[name]:6.1f}x   {mark}")
    hard = geometric_mean([r for name, r in ratios.items() if name not in SOFT])
    mean = geometric_mean(list(ratios.values()))
    print(f"geometric mean {mean:.1f}x, without {' and '.join(SOFT)} {hard:.1f}x")
    assert min(ratios.values()) > 1, min(ratios, key=lambda name: ratios[name])
    assert mean >= 10


def test_training_corruptions_in_a_step() -> None:
    x = pictures(128)
    labels = torch.arange(128) % 10
    generator = torch.Generator().manual_seed(0)
    model = build("static", width=16)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step() -> None:
        optimiser.zero_grad()
        out = model(x)
        (cross_entropy(out.z_static, labels) + cross_entropy(out.z_dyn, labels)).backward()
        optimiser.step()

    train, spoil = fastest(step, 2), fastest(lambda: corrupt_chunk(x, 5.0, 0.5, generator), 5)
    print(f"\nstep {1e3 * train:.0f} ms, corruptions {1e3 * spoil:.1f} ms: {spoil / train:.3f}")
    assert spoil <= 0.15 * train
