"""Separable filters of small images as matrices.

y = A_h x A_w^T, A[i, j] = sum of the kernel's weights k[d] with border(i + d) = j.
Reference: scipy.ndimage's boundary modes ("nearest", "mirror", "reflect").
"""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from torch import Tensor


def border(index: Tensor, size: int, mode: str) -> Tensor:
    """Fold positions outside 0..size-1 back: nearest aaa|abc|ccc, mirror cb|abc|ba, reflect ba|abc|cb."""
    if mode == "nearest":
        return index.clamp(0, size - 1)
    if mode == "mirror":
        period = max(2 * (size - 1), 1)
        index = index.remainder(period)
        return torch.minimum(index, period - index)
    index = index.remainder(2 * size)
    return torch.minimum(index, 2 * size - 1 - index)


def gaussian_kernel(sigma: Tensor, radius: int, truncate: float) -> Tensor:
    """(N, 2 radius + 1) sampled Gaussians cut at int(truncate sigma + 0.5) and summing to one; sigma (N,)."""
    d = torch.arange(-radius, radius + 1, dtype=sigma.dtype, device=sigma.device)  # (K,)
    cut = (truncate * sigma + 0.5).floor()[:, None]
    # sigma 0 is the identity: its cut is 0, so only the centre remains whatever the clamp makes of the exponent
    weight = torch.exp(-0.5 * (d / sigma.clamp(min=1e-3)[:, None]) ** 2) * (d.abs() <= cut)
    return weight / weight.sum(1, keepdim=True)


def filter_matrix(kernel: Tensor, size: int, mode: str) -> Tensor:
    """(N, size, size) matrices that correlate a line of `size` samples with kernel (N, K), K odd."""
    radius = kernel.shape[1] // 2
    i = torch.arange(size, device=kernel.device)
    d = torch.arange(-radius, radius + 1, device=kernel.device)
    j = border(i[None, :] + d[:, None], size, mode)  # (K, size)
    if len(d) > 2 * size:  # the table below would be larger than many images
        there = j.T.expand(len(kernel), -1, -1)  # (N, size, K)
        matrix = torch.zeros(len(kernel), size, size, dtype=kernel.dtype, device=kernel.device)
        return matrix.scatter_add_(2, there, kernel[:, None].expand(there.shape))
    incidence = (j[:, :, None] == i).to(kernel.dtype)  # (K, size, size)
    return (kernel @ incidence.flatten(1)).view(-1, size, size)


def apply(images: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """rows (N, H', H) and columns (N, W', W) around images (N, C, H, W) -> (N, C, H', W')."""
    count, channels, height, _ = images.shape
    y = images.reshape(count, channels * height, -1) @ columns.transpose(1, 2)
    return rows[:, None] @ y.view(count, channels, height, -1)


def gaussian_blur(images: Tensor, sigma: Tensor, radius: int, mode: str = "nearest", truncate: float = 4.0) -> Tensor:
    """Gaussian of sigma (N, 1, 1, 1) pixels; `radius` bounds every int(truncate sigma + 0.5)."""
    kernel = gaussian_kernel(sigma.flatten(), radius, truncate)
    height, width = images.shape[-2:]
    rows = filter_matrix(kernel, height, mode)
    columns = rows if width == height else filter_matrix(kernel, width, mode)
    return apply(images, rows, columns)


def zoom_sizes(size: int, factor: float) -> tuple[int, int]:
    """Samples before and after zooming the middle of `size` samples; all that a zoom factor decides."""
    crop = math.ceil(size / factor)
    return crop, round(crop * factor)


@lru_cache(maxsize=256)
def zoom(size: int, crop: int, stretched: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """(size, size): the middle `crop` samples stretched to `stretched`, linear between them, cut to size."""
    first, trim = (size - crop) // 2, (stretched - size) // 2
    matrix = [[0.0] * size for _ in range(size)]
    for i, line in enumerate(matrix):
        position = (i + trim) * (crop - 1) / (stretched - 1)
        j = min(int(position), crop - 2)
        line[first + j], line[first + j + 1] = 1 - (position - j), position - j
    return torch.tensor(matrix, dtype=dtype, device=device)


@lru_cache(maxsize=256)
def pixelate(size: int, side: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """(size, size): averages over `side` cells of whole samples, each given to the samples whose centre it holds."""
    cell = size / side
    matrix = [[0.0] * size for _ in range(size)]
    for i, line in enumerate(matrix):
        k = int((i + 0.5) / cell)
        start, stop = int(k * cell + 0.5), min(int((k + 1) * cell + 0.5), size)
        for j in range(start, stop):
            line[j] = 1 / (stop - start)
    return torch.tensor(matrix, dtype=dtype, device=device)
