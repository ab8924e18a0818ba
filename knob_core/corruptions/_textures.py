"""Textures for the weather: plasma clouds and photographs of ice.

plasma: midpoints = mean of four neighbours + (100 / decay^l)^2 u at level l (diamond, then squares), scaled to 0..1.
References: Fournier, Fussell & Carpenter, "Computer Rendering of Stochastic Models" (1982); assets/frost/NOTICE.md.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from knob_core import assets

# the recipe draws from five files, of which the second and the third hold the same colours
FROST = ("frost1", "frost2", "frost2", "frost4", "frost5")


def plasma(wave: Tensor, decay: Tensor) -> Tensor:
    """(N, S, S) in 0..1 from draws `wave` (N, S, S) in -1..1, one per point, S a power of two; decay (N, 1, 1, 1)."""
    side = wave.shape[-1]
    decay = decay.view(-1, 1, 1)
    height = torch.zeros_like(wave)
    step, wibble = side, torch.full_like(decay, 100.0)
    while step >= 2:
        half = step // 2
        corner = height[:, ::step, ::step]
        # every sum of neighbours wraps around, so the texture tiles
        pairs = corner + corner.roll(-1, 1)
        middle = (pairs + pairs.roll(-1, 2)) / 4 + wibble**2 * wave[:, half::step, half::step]
        height[:, half::step, half::step] = middle
        above = middle + middle.roll(1, 1) + corner + corner.roll(-1, 2)
        height[:, ::step, half::step] = above / 4 + wibble**2 * wave[:, ::step, half::step]
        beside = middle + middle.roll(1, 2) + corner + corner.roll(-1, 1)
        height[:, half::step, ::step] = beside / 4 + wibble**2 * wave[:, half::step, ::step]
        step, wibble = half, wibble / decay
    height = height - height.amin((1, 2), keepdim=True)
    return height / height.amax((1, 2), keepdim=True)


@lru_cache(maxsize=8)
def _ice(dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """All textures as rows of pixels (P, 3) in 0..1, each one's first row, and their (height, width) (5, 2)."""
    pictures = [np.asarray(Image.open(assets.find(f"frost/{name}.webp")).convert("RGB")) for name in FROST]
    sizes = torch.tensor([p.shape[:2] for p in pictures], device=device)
    areas = [p.shape[0] * p.shape[1] for p in pictures]
    first = torch.tensor([sum(areas[:k]) for k in range(len(areas))], device=device)
    pixels = np.concatenate([p.reshape(-1, 3) for p in pictures])
    return torch.tensor(pixels, dtype=dtype, device=device) / 255, first, sizes


def frost(u: Tensor, height: int, width: int) -> Tensor:
    """(N, 3, height, width) pieces of ice; u (3, N) in [0, 1) chooses texture, row and column."""
    pixels, first, sizes = _ice(u.dtype, u.device)
    which = (u[0] * len(FROST)).long()
    rows, columns = sizes[which].unbind(1)  # (N,)
    y = (u[1] * (rows - height).clamp(min=1)).long()[:, None] + torch.arange(height, device=u.device)
    x = (u[2] * (columns - width).clamp(min=1)).long()[:, None] + torch.arange(width, device=u.device)
    # an image larger than the texture sees it repeated
    y, x = y.remainder(rows[:, None]), x.remainder(columns[:, None])
    index = first[which][:, None, None] + y[:, :, None] * columns[:, None, None] + x[:, None, :]  # (N, H, W)
    return pixels[index].permute(0, 3, 1, 2)
