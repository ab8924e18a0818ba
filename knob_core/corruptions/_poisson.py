"""Poisson counts from normal draws, so that one draw follows its rate smoothly.

k = floor(lam + sqrt(lam) z + (2 + z^2)/6 - (2 z + z^3)/(72 sqrt(lam)) + ...), exact summation of the CDF where lam < 4.
Reference: M. Giles, "Algorithm 955: Approximation of the Inverse Poisson Cumulative Distribution Function" (2016).
"""

from __future__ import annotations

import torch
from torch import Tensor

FEW = 4.0  # below this rate the expansion is not good enough
MOST = 24  # P(k > 24) < 1e-11 at rate 4


def _expansion(z: Tensor, lam: Tensor) -> Tensor:
    root = lam.clamp(min=FEW).rsqrt()
    z2 = z * z
    tail = root * (root * (-8 / 405 + z2 * (7 / 810 + z2 / 270)) - z * (2 + z2) / 72)
    return (lam + lam.sqrt() * z + (2 + z2) / 6 + tail).floor().clamp(min=0)


def _summation(z: Tensor, lam: Tensor) -> Tensor:
    u = torch.special.ndtr(z)
    term = torch.exp(-lam)
    total, k = term.clone(), torch.zeros_like(lam)
    for n in range(1, MOST + 1):
        k += u > total
        term = term * lam / n
        total += term
    return k


def poisson_quantile(z: Tensor, lam: Tensor) -> Tensor:
    """The count at the same quantile of Poisson(lam) as z has in N(0, 1); z and lam of one shape."""
    k = _expansion(z, lam)
    few = lam < FEW
    if lam.is_meta:
        return k
    k[few] = _summation(z[few], lam[few])
    return k
