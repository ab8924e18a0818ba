"""Blur of the lens and the hand: linear filters.

gaussian: y = G_h x G_w^T with a sampled Gaussian of sigma pixels, edges repeated.
Reference: Hendrycks & Dietterich (ICLR 2019), CIFAR-10-C constants.
"""

from __future__ import annotations

from torch import Generator, Tensor

from knob_core.corruptions import _matrices
from knob_core.corruptions._severity import constants

GAUSSIAN_BLUR = [[0.0], [0.4], [0.6], [0.7], [0.8], [1.0]]  # sigma in pixels


def gaussian_blur(images: Tensor, severity: Tensor, generator: Generator | None) -> Tensor:
    """A soft lens."""
    (sigma,) = constants(GAUSSIAN_BLUR, severity, images)
    return _matrices.gaussian_blur(images, sigma, radius=4)
