"""Ten perturbation sequences of small images, as in CIFAR-10-P: slight changes under which an answer should not flip.

Noise: independent draws around one picture, frame 0 clean. The others move on a little from frame to frame. Pixels end
in whole levels, y = floor(255 clamp(f(x))) / 255. A model's flip probability over m sequences of n frames is
    FP = 1 / (m (n - 1)) sum [f(x_j) != f(x_(j-1))],    for noise, whose frames have no order, [f(x_j) != f(x_0)].
Hendrycks & Dietterich, "Benchmarking Neural Network Robustness to Common Corruptions and Perturbations" (ICLR 2019),
section 4. The numbers are theirs, published with code under the Apache licence 2.0; the code here is our own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor

from knob_core.corruptions import HAIR, _kernels, _matrices
from knob_core.corruptions._draws import normal
from knob_core.corruptions._poisson import poisson_quantile
from knob_core.corruptions.digital import lighten
from knob_core.perturbations._warp import magnification, rotation, tilt, warp

Sequence = Callable[[Tensor, Generator | None], list[Tensor]]  # (N, 3, S, S) -> T frames of that shape
STEPS = range(31)
NOISE = ("gaussian_noise", "shot_noise")  # compared with frame 0

GAUSSIAN = 0.02  # sigma
PHOTONS = 700.0  # of a white value
MOTION = (6.0, 1.8, 9.0, range(-20, 1))  # radius, sigma in pixels, degrees a frame, frames
ZOOM_STEP = 0.004
SNOW = {"mean": 0.05, "std": 0.3, "zoom": 2.0, "threshold": 0.5, "radius": 10.0, "sigma": 2.0, "keep": 0.85}
SNOW_ANGLE = (-150.0, 4.0)  # degrees at the first frame, and a frame
LUMA = (0.299, 0.587, 0.114)


def gaussian_noise(images: Tensor, generator: Generator | None) -> list[Tensor]:
    draws = [normal(tuple(images.shape), images, generator) for _ in STEPS[1:]]
    return [images, *(images + GAUSSIAN * draw for draw in draws)]


def shot_noise(images: Tensor, generator: Generator | None) -> list[Tensor]:
    draws = [normal(tuple(images.shape), images, generator) for _ in STEPS[1:]]
    return [images, *(poisson_quantile(draw, images * PHOTONS) / PHOTONS for draw in draws)]


def motion_blur(images: Tensor, generator: Generator | None) -> list[Tensor]:
    """The direction turns."""
    radius, sigma, step, places = MOTION
    return [_smear(images, radius, sigma, place * step) for place in places]


def zoom_blur(images: Tensor, generator: Generator | None) -> list[Tensor]:
    """A mean of ever more, ever larger copies."""
    total, frames = images.clone(), [images]
    for i in STEPS[1:]:
        total = total + warp(images, magnification(1 + ZOOM_STEP * i))
        frames.append(total / (i + 1))
    return frames


def snow(images: Tensor, generator: Generator | None) -> list[Tensor]:
    """One field of flakes whose streaks turn."""
    count, _, height, width = images.shape
    flakes = SNOW["mean"] + SNOW["std"] * normal((count, 1, height, width), images, generator)
    rows, columns = (
        _matrices.zoom(size, *_matrices.zoom_sizes(size, SNOW["zoom"]), images.dtype, images.device)
        for size in (height, width)
    )
    flakes = rows @ (flakes @ columns.T)
    flakes = (flakes * (flakes >= SNOW["threshold"])).clamp(0, 1)
    grey = (images * images.new_tensor(LUMA).view(1, 3, 1, 1)).sum(1, keepdim=True)
    pale = SNOW["keep"] * images + (1 - SNOW["keep"]) * torch.maximum(images, 1.5 * grey + 0.5)
    frames = []
    for i in STEPS:
        streaks = _smear(flakes, SNOW["radius"], SNOW["sigma"], SNOW_ANGLE[0] + SNOW_ANGLE[1] * i)
        frames.append(pale + streaks + streaks.flip(-1, -2))
    return frames


def brightness(images: Tensor, generator: Generator | None) -> list[Tensor]:
    return [lighten(images, 0.015 * (i - 15)) for i in STEPS]


def translate(images: Tensor, generator: Generator | None) -> list[Tensor]:
    """From seven pixels left to eight right, black behind."""
    side = images.shape[-1]
    frames = []
    for pixels in range(-7, 9):
        moved = torch.zeros_like(images)
        moved[..., max(0, pixels) : side + min(0, pixels)] = images[..., max(0, -pixels) : side - max(0, pixels)]
        frames.append(moved)
    return frames


def rotate(images: Tensor, generator: Generator | None) -> list[Tensor]:
    return [warp(images, rotation(i - 15)) for i in STEPS]


def tilted(images: Tensor, generator: Generator | None) -> list[Tensor]:
    side = images.shape[-1]
    return [warp(images, tilt(0.75 * (i - 15), side), side / 2) for i in STEPS]


def scale(images: Tensor, generator: Generator | None) -> list[Tensor]:
    return [warp(images, magnification(0.70 + 0.02 * i)) for i in STEPS]


PERTURBATIONS: dict[str, Sequence] = {
    "gaussian_noise": gaussian_noise,
    "shot_noise": shot_noise,
    "motion_blur": motion_blur,
    "zoom_blur": zoom_blur,
    "snow": snow,
    "brightness": brightness,
    "translate": translate,
    "rotate": rotate,
    "tilt": tilted,
    "scale": scale,
}
NAMES = tuple(PERTURBATIONS)


def _smear(images: Tensor, radius: float, sigma: float, degrees: float) -> Tensor:
    """Half a Gaussian in one direction, as in the corruptions."""
    reach = int(2 * radius)
    like = images.new_ones(len(images))
    kernel = _kernels.streak(
        radius * like, sigma * like, np.deg2rad(degrees) * like, reach + 1, reach, reach, reach, reach
    )
    return _kernels.correlate(images, kernel, reach, reach, mode="replicate")


@torch.no_grad()
def perturb(images: Tensor, name: str, generator: Generator | None = None) -> Tensor:
    """Sequences (N, T, 3, S, S) of images (N, 3, S, S) in [0, 1]; T is 31, of motion blur 21, of translate 16."""
    if name not in PERTURBATIONS:
        raise ValueError(f"name must be one of {', '.join(NAMES)}; got {name!r}")
    if images.ndim != 4 or images.shape[1] != 3 or images.shape[2] != images.shape[3]:
        raise ValueError(f"images must have shape (N, 3, S, S), got {tuple(images.shape)}")
    frames = torch.stack(PERTURBATIONS[name](images.contiguous(), generator), 1)
    return (frames * 255).add_(HAIR).floor_().clamp_(0, 255).div_(255)


def flips(answers: NDArray, name: str) -> NDArray[np.float64]:
    """The share of frames after the first in which each sequence's answer flips, (m,); answers (m, n)."""
    if answers.ndim != 2 or answers.shape[1] < 2:
        raise ValueError(f"answers must be (sequences, frames), at least 2 frames, got shape {answers.shape}")
    before = answers[:, :1] if name in NOISE else answers[:, :-1]
    return (answers[:, 1:] != before).mean(1)
