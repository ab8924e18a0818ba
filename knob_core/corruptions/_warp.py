"""Pictures sampled elsewhere, linear between pixels.

affine: y(p) = x(L^-1 (p - t)) with L c_i + t = c_i + shift_i at three corners;  displace: y(p) = x(p + d(p)).
Reference: Simard, Steinkraus & Platt, "Best Practices for Convolutional Neural Networks" (2003).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from knob_core.corruptions._severity import any_true


def _grid(images: Tensor) -> Tensor:
    """Column number, row number and 1 of every pixel, (H, W, 3)."""
    height, width = images.shape[-2:]
    y, x = torch.meshgrid(
        torch.arange(height, dtype=images.dtype, device=images.device),
        torch.arange(width, dtype=images.dtype, device=images.device),
        indexing="ij",
    )
    return torch.stack([x, y, torch.ones_like(x)], -1)


def affine(images: Tensor, shifts: Tensor) -> Tensor:
    """Three corners of the middle, (+, +), (+, -), (-, -), move by shifts (N, 3, 2) pixels (x, y); edges mirrored."""
    count, _, height, width = images.shape
    q = min(height, width) // 3
    s1, s2, s3 = shifts.unbind(1)  # (N, 2)
    dx, dy = (s2 - s3) / (2 * q), (s1 - s2) / (2 * q)  # columns of L - I
    a, b, c, d = 1 + dx[:, 0], dy[:, 0], dx[:, 1], 1 + dy[:, 1]  # L = [[a, b], [c, d]]
    inverse = torch.stack([d, -b, -c, a], 1).view(-1, 2, 2) / (a * d - b * c).view(-1, 1, 1)
    corner = torch.tensor([width // 2 + q, height // 2 + q], dtype=images.dtype, device=images.device)
    start = corner - (inverse @ (corner + s1)[:, :, None])[:, :, 0]  # the first corner goes to itself plus s1
    side = torch.tensor([width - 1, height - 1], dtype=images.dtype, device=images.device)
    there = torch.cat([inverse, start[:, :, None]], 2) * (2 / side)[:, None]  # (N, 2, 3), in units of grid_sample
    there[:, :, 2] -= 1
    grid = (_grid(images).view(-1, 3) @ there.transpose(1, 2)).view(count, height, width, 2)
    return F.grid_sample(images, grid, mode="bilinear", padding_mode="reflection", align_corners=True)


def scattered(draw: Tensor, reach: Tensor) -> Tensor:
    """Where each pixel comes from (N, H W) when all swap places at random, one after the other from the last one.

    Pixel p takes the value that p + d has by then, d in -reach..reach-1 (N, 1, 1) from draws (2, N, H, W) in 0..1;
    those within `reach` of the edge stay. (The recipe's swap is in effect a copy.) Where p + d came before p it has
    been copied to itself: such chains are followed, twice as far with every look.
    """
    height, width = draw.shape[-2:]
    i, j = torch.arange(height, device=draw.device)[:, None], torch.arange(width, device=draw.device)
    inside = (i > reach) & (i <= height - reach) & (j > reach) & (j <= width - reach)  # (N, H, W)
    dy, dx = (((2 * reach * u).floor() - reach) * inside for u in draw)
    there = ((i + dy) * width + j + dx).long().flatten(1)  # (N, P)
    inside, here = inside.flatten(1), torch.arange(height * width, device=draw.device)
    copied = (there > here) & inside.gather(1, there)
    if not any_true(copied):
        return there
    pixels = len(here)
    chain = torch.cat([here.expand_as(there), there + pixels * copied], 1)  # values as they were, then as they are
    for _ in range(pixels.bit_length()):
        if not any_true(chain >= pixels):
            break
        chain = chain.gather(1, chain)
    return chain[:, pixels:]


def displace(images: Tensor, d: Tensor) -> Tensor:
    """y(p) = x(p + d(p)), d (N, 2, H, W) in pixels (x, y); edges reflected."""
    height, width = images.shape[-2:]
    side = torch.tensor([width, height], dtype=images.dtype, device=images.device)
    here = (2 * _grid(images)[..., :2] + 1) / side - 1  # (H, W, 2)
    grid = torch.addcmul(here, d.permute(0, 2, 3, 1), 2 / side)
    return F.grid_sample(images, grid, mode="bilinear", padding_mode="reflection", align_corners=False)
