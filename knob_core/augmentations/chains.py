"""AugMix: a picture mixed with three chains of one to three random operations each.

y = (1 - m) x + m sum_k w_k chain_k(x),   w ~ Dirichlet(1, 1, 1),   m ~ Beta(1, 1)
The chains of all pictures are worked on side by side: every picture has its own operations and magnitudes.
Reference: Hendrycks et al., "AugMix" (ICLR 2020); without its consistency loss, which triples the cost of a step.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Generator, Tensor

from knob_core.augmentations.geometry import GEOMETRY, warp
from knob_core.augmentations.tones import TONES

OPERATIONS = (*TONES, *GEOMETRY)
CHAINS = 3
DEPTH = 3  # operations in the longest chain


def apply(images: Tensor, operation: Tensor, magnitude: Tensor) -> Tensor:
    """One operation for each picture: its number in OPERATIONS (N,), -1 for none; magnitudes (N,) in [-1, 1].

    Operations on values take the size of the magnitude, those that move pixels its sign too.
    """
    out = images.clone()
    for number, tone in enumerate(TONES.values()):
        rows = (operation == number).nonzero().squeeze(1)
        if len(rows):
            out[rows] = tone(images[rows], magnitude[rows].abs())
    rows = (operation >= len(TONES)).nonzero().squeeze(1)
    if len(rows):
        side = min(images.shape[2:])
        maps = torch.stack([matrix(magnitude[rows], side) for matrix in GEOMETRY.values()], 1)  # (N, 5, 2, 3)
        chosen = maps[torch.arange(len(rows), device=rows.device), operation[rows] - len(TONES)]
        out[rows] = warp(images[rows], chosen)
    return out


def mix(images: Tensor, generator: Generator | None = None) -> Tensor:
    """Images (N, 3, H, W) in [0, 1] -> the same shape and range."""
    count, device, dtype = len(images), images.device, images.dtype
    options: dict[str, Any] = {"generator": generator, "device": device}
    weights = -torch.log1p(-torch.rand(count, CHAINS, dtype=dtype, **options))  # exponential; normalised: Dirichlet
    weights = weights / weights.sum(1, keepdim=True).clamp_min(1e-12)
    blend = torch.rand(count, 1, 1, 1, dtype=dtype, **options)
    depth = torch.randint(1, DEPTH + 1, (count, CHAINS, 1), **options)
    operation = torch.randint(0, len(OPERATIONS), (count, CHAINS, DEPTH), **options)
    operation = torch.where(torch.arange(DEPTH, device=device) < depth, operation, -1).flatten(0, 1)  # (N x 3, 3)
    magnitude = 2 * torch.rand(count * CHAINS, DEPTH, dtype=dtype, **options) - 1
    ends = images.repeat_interleave(CHAINS, 0)
    for place in range(DEPTH):
        ends = apply(ends, operation[:, place], magnitude[:, place])
    mixed = torch.einsum("nk,nkchw->nchw", weights, ends.view(count, CHAINS, *images.shape[1:]))
    return torch.lerp(images, mixed, blend).clamp_(0, 1)
