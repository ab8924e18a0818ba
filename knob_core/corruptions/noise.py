"""Noise of the sensor: each channel value is disturbed by itself.

gaussian: y = x + sigma n;  speckle: y = x + sigma x n;  shot: y = v Poisson(x / v);  impulse: y = 0 or 1 for a share p.
Reference: Hendrycks & Dietterich (ICLR 2019), CIFAR-10-C constants.
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from knob_core.corruptions._draws import normal, symmetric
from knob_core.corruptions._poisson import poisson_quantile
from knob_core.corruptions._severity import Table, blend, constants

GAUSSIAN_NOISE = [[0.0], [0.04], [0.06], [0.08], [0.09], [0.10]]  # sigma
SHOT_NOISE = [[0.0], [1 / 500], [1 / 250], [1 / 100], [1 / 75], [1 / 50]]  # v, one over the photons of a white value
IMPULSE_NOISE = [[0.0], [0.01], [0.02], [0.03], [0.05], [0.07]]  # p, share of values replaced
SPECKLE_NOISE = [[0.0], [0.06], [0.1], [0.12], [0.16], [0.2]]  # sigma, relative to the value


def gaussian_noise(
    images: Tensor, severity: Tensor, generator: Generator | None, table: Table = GAUSSIAN_NOISE
) -> Tensor:
    """Heat: the same noise in light and dark."""
    (sigma,) = constants(table, severity, images)
    return normal(tuple(images.shape), images, generator).mul_(sigma).add_(images)


def speckle_noise(
    images: Tensor, severity: Tensor, generator: Generator | None, table: Table = SPECKLE_NOISE
) -> Tensor:
    """Noise in proportion to the light."""
    (sigma,) = constants(table, severity, images)
    return normal(tuple(images.shape), images, generator).mul_(sigma).add_(1).mul_(images)


def shot_noise(images: Tensor, severity: Tensor, generator: Generator | None, table: Table = SHOT_NOISE) -> Tensor:
    """Few photons: counts are whole numbers, so values between two severities mix the two counts of one draw."""
    z = normal(tuple(images.shape), images, generator)

    def render(whole: Tensor) -> Tensor:
        (v,) = constants(table, whole, images)
        counts = poisson_quantile(z, images / v.clamp(min=1e-6))
        return counts.mul_(v).addcmul_(images, (v == 0).to(images.dtype))

    return blend(images, render, severity)


def impulse_noise(
    images: Tensor, severity: Tensor, generator: Generator | None, table: Table = IMPULSE_NOISE
) -> Tensor:
    """Dead and hot values: those whose rank is below p. Between whole severities p's edge is soft, so none jumps."""
    (p,) = constants(table, severity, images)
    (below,) = constants(table, severity.floor(), images)
    (above,) = constants(table, severity.ceil(), images)
    edge = torch.minimum(p - below, above - p).clamp(min=1e-7)  # at most half of it is added or missing on either side
    side = symmetric(tuple(images.shape), images, generator)  # < 0 dead, >= 0 hot; rank 1 - |side|
    weight = side.abs().mul_(1 / edge).add_((p - 1) / edge + 0.5).clamp_(0, 1)
    return torch.lerp(images, side.ge_(0), weight)
