"""Poisson counts from normal draws, so that one draw follows its rate smoothly.

k = floor(lam + sqrt(lam) z + (2 + z^2)/6 - (2 z + z^3)/(72 sqrt(lam)) + ...), exact summation of the CDF where lam < 4.
Reference: M. Giles, "Algorithm 955: Approximation of the Inverse Poisson Cumulative Distribution Function" (2016).
"""

from __future__ import annotations

import torch
from torch import Tensor

FEW = 4.0  # below this rate the expansion is not good enough
MOST = 18  # P(k > 18) < 1e-7 at rate 4


def _expansion(z: Tensor, lam: Tensor) -> Tensor:
    root = lam.clamp(min=FEW).rsqrt_()
    z2 = z * z
    tail = (z2 / 270).add_(7 / 810).mul_(z2).sub_(8 / 405).mul_(root)
    tail.addcmul_(z, z2 + 2, value=-1 / 72).mul_(root)
    k = (lam * root).mul_(z)  # sqrt(lam) z, where lam is not few
    return k.add_(lam).add_(z2, alpha=1 / 6).add_(1 / 3).add_(tail).floor_().clamp_(min=0)


def _summation(z: Tensor, lam: Tensor) -> Tensor:
    u = torch.special.ndtr(z)
    term = torch.exp(-lam)
    total, k = term.clone(), torch.zeros_like(lam)
    for n in range(1, MOST + 1):
        k += u > total
        total += term.mul_(lam).div_(n)
    return k


def poisson_quantile(z: Tensor, lam: Tensor) -> Tensor:
    """The count at the same quantile of Poisson(lam) as z has in N(0, 1); z and lam of one shape, contiguous."""
    k = _expansion(z, lam)
    if lam.is_meta:
        return k
    few = (lam.view(-1) < FEW).nonzero().squeeze(1)
    k.view(-1)[few] = _summation(z.view(-1)[few], lam.view(-1)[few])
    return k
