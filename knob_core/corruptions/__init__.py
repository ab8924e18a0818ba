"""Nineteen corruptions of images, in batches, on any device, at any real severity in [0, 5].

y = floor(255 clamp(f(x; c(s)))) / 255, with the published constants c at s = 1..5 and the identity at 0.
Reference: Hendrycks & Dietterich, "Benchmarking Neural Network Robustness to Common Corruptions" (ICLR 2019).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Generator, Tensor

from knob_core.corruptions import blur, digital, imagenet, noise, weather
from knob_core.corruptions._severity import any_true

Severity = float | Sequence[float] | Tensor
Corruption = Callable[[Tensor, Tensor, Generator | None], Tensor]

_TRAINING: dict[str, Corruption] = {
    "speckle_noise": noise.speckle_noise,
    "gaussian_blur": blur.gaussian_blur,
    "spatter": weather.spatter,
    "saturate": digital.saturate,
}
_TEST: dict[str, Corruption] = {
    "gaussian_noise": noise.gaussian_noise,
    "shot_noise": noise.shot_noise,
    "impulse_noise": noise.impulse_noise,
    "defocus_blur": blur.defocus_blur,
    "glass_blur": blur.glass_blur,
    "motion_blur": blur.motion_blur,
    "zoom_blur": blur.zoom_blur,
    "snow": weather.snow,
    "frost": weather.frost,
    "fog": weather.fog,
    "brightness": digital.brightness,
    "contrast": digital.contrast,
    "elastic_transform": digital.elastic_transform,
    "pixelate": digital.pixelate,
    "jpeg_compression": digital.jpeg_compression,
}
CORRUPTIONS = _TEST | _TRAINING
CONSTANTS: dict[str, dict[str, Corruption]] = {"cifar10-c": CORRUPTIONS, "imagenet-c": imagenet.CORRUPTIONS}

TRAINING = tuple(_TRAINING)  # set aside by the benchmark's authors for training and validation
TEST = tuple(_TEST)  # the standard fifteen
NAMES = tuple(CORRUPTIONS)

# A value that the recipe's double precision puts on a level may fall a hair below it in single precision, and would
# then be truncated to the level beneath.
HAIR = 1e-3  # levels


def _check_images(images: Tensor) -> None:
    if not isinstance(images, Tensor):
        raise ValueError(f"images must be a tensor (N, 3, H, W), got {type(images).__name__}")
    if images.dtype not in (torch.float32, torch.float64):
        raise ValueError(f"images must be float32 or float64 in [0, 1], got dtype {images.dtype}")
    if images.ndim != 4 or images.shape[1] != 3 or min(images.shape[2:]) < 8:
        raise ValueError(f"images must have shape (N, 3, H, W) with H, W >= 8, got {tuple(images.shape)}")
    if images.is_meta or not len(images):
        return
    low, high = (v.item() for v in images.aminmax())
    if not (low >= 0 and high <= 1):
        raise ValueError(f"images must lie in [0, 1], got values from {low:g} to {high:g}")


def _check_severity(severity: Severity, images: Tensor) -> Tensor:
    """Severity as a tensor (N,) on the images' device."""
    try:
        s = torch.as_tensor(severity, dtype=images.dtype, device=images.device)
    except (TypeError, ValueError, RuntimeError) as error:
        raise ValueError(f"severity must be a number in [0, 5] or one per image, got {severity!r}") from error
    if s.ndim > 1 or (s.ndim == 1 and len(s) != len(images)):
        raise ValueError(f"severity must be a number or one per image ({len(images)},), got shape {tuple(s.shape)}")
    if not s.is_meta and s.numel():
        low, high = (v.item() for v in s.aminmax())
        if not (low >= 0 and high <= 5):
            raise ValueError(f"severity must lie in [0, 5], got {low:g}" + (f" to {high:g}" if high != low else ""))
    return s.expand(len(images))


def _check_name(name: str, constants: str) -> Corruption:
    if constants not in CONSTANTS:
        raise ValueError(f"constants must be one of {', '.join(CONSTANTS)}; got {constants!r}")
    known = CONSTANTS[constants]
    if name not in known:
        raise ValueError(f"name must be one of {', '.join(known)}; got {name!r}")
    return known[name]


def _render(f: Corruption, images: Tensor, severity: Tensor, generator: Generator | None) -> Tensor:
    if not len(images):
        return images.clone()
    images = images.contiguous()
    y = (f(images, severity, generator) * 255).add_(HAIR).floor_().clamp_(0, 255).div_(255)
    untouched = severity == 0
    if any_true(untouched):
        y = torch.where(untouched.view(-1, 1, 1, 1), images, y)
    return y


@torch.no_grad()
def corrupt(
    images: Tensor, name: str, severity: Severity, generator: Generator | None = None, constants: str = "cifar10-c"
) -> Tensor:
    """Images (N, 3, H, W) in [0, 1] under corruption `name` at a severity in [0, 5], one number or one per image.

    `constants` "cifar10-c" are for small images, "imagenet-c" for those of 224 x 224 pixels, without frost.

    Every random draw comes from `generator` (on the images' device; None is torch's own), in shapes that do not
    depend on the severity: one seed gives pixels that move continuously with it.
    """
    f = _check_name(name, constants)
    _check_images(images)
    return _render(f, images, _check_severity(severity, images), generator)
