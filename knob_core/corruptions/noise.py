"""Noise of the sensor: each channel value is disturbed by itself.

speckle: y = x + x n, n ~ N(0, sigma^2).
Reference: Hendrycks & Dietterich (ICLR 2019), CIFAR-10-C constants.
"""

from __future__ import annotations

from torch import Generator, Tensor

from knob_core.corruptions._draws import normal
from knob_core.corruptions._severity import constants

SPECKLE_NOISE = [[0.0], [0.06], [0.1], [0.12], [0.16], [0.2]]  # sigma, relative to the value


def speckle_noise(images: Tensor, severity: Tensor, generator: Generator | None) -> Tensor:
    """Noise in proportion to the light."""
    (sigma,) = constants(SPECKLE_NOISE, severity, images)
    return images + images * sigma * normal(tuple(images.shape), images, generator)
