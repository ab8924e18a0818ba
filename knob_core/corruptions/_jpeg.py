"""JPEG there and back, without the file: what remains after 4:2:0 chroma and quantised cosines.

c = C b C^T on blocks b (luma 8x8; chroma 16x16 cut to its 8x8 low frequencies);  c' = q round(c / q);  b' = C^T c' C.
References: ITU-T T.81, tables K.1 and K.2; the Independent JPEG Group's library since version 7 (chroma by scaled DCT).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import Tensor

# fmt: off
LUMA = (
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56,
    14, 17, 22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
)
CHROMA = (
    17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99,
    47, 66, 99, 99, 99, 99, 99, 99,
) + (99,) * 32
# fmt: on
TO_YCC = ((0.299, 0.587, 0.114), (-0.168735892, -0.331264108, 0.5), (0.5, -0.418687589, -0.081312411))
TO_RGB = ((1.0, 0.0, 1.402), (1.0, -0.344136286, -0.714136286), (1.0, 1.772, 0.0))


def steps(base: Sequence[int], quality: int) -> list[int]:
    """The 64 quantiser steps of a quality in 1..100."""
    scale = 5000 // quality if quality < 50 else 200 - 2 * quality
    return [min(max((b * scale + 50) // 100, 1), 255) for b in base]


@lru_cache(maxsize=32)
def _cosines(side: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """(64, side^2): the 8x8 lowest orthonormal cosines of a side x side block, scaled as if it were 8x8."""
    line = [
        [
            math.sqrt((1 if k == 0 else 2) / side * 8 / side) * math.cos(math.pi * k * (i + 0.5) / side)
            for i in range(side)
        ]
        for k in range(8)
    ]
    c = torch.tensor(line, dtype=dtype, device=device)  # (8, side)
    return torch.einsum("ki,lj->klij", c, c).reshape(64, side * side)


def _code(plane: Tensor, side: int, q: Tensor) -> Tensor:
    """Quantise planes (N, C, H, W), H and W multiples of side, by q (N, 1, 1, 64); returns 0..255, whole numbers."""
    count, channels, height, width = plane.shape
    h, w = height // side, width // side
    blocks = plane.view(count, channels, h, side, w, side).transpose(3, 4).reshape(count, channels, h * w, side * side)
    cosines = _cosines(side, plane.dtype, plane.device)
    c = ((blocks @ cosines.T) / q).round_() * q
    # the inverse of a scaled block: the same cosines, without the scale that made it an 8x8 one
    blocks = (c @ cosines) * (side / 8) ** 2
    blocks = blocks.view(count, channels, h, w, side, side).transpose(3, 4).reshape(plane.shape)
    return blocks.add_(128).round_().clamp_(0, 255)


def _mix(matrix: Sequence[Sequence[float]], planes: Tensor) -> Tensor:
    m = torch.tensor(matrix, dtype=planes.dtype, device=planes.device)
    return (m @ planes.flatten(2)).view_as(planes)


def roundtrip(images: Tensor, qualities: Sequence[int], which: Tensor) -> Tensor:
    """Images (N, 3, H, W) in 0..1 at quality qualities[which[n]]; the result is in 8 bits."""
    height, width = images.shape[-2:]
    x = F.pad(images, (0, -width % 16, 0, -height % 16), mode="replicate") * 255
    ycc = _mix(TO_YCC, x.round()).round_()  # chroma about 0
    tables = torch.tensor([[steps(base, q) for base in (LUMA, CHROMA)] for q in qualities], device=images.device)
    q = tables.to(images.dtype)[which]  # (N, 2, 64)
    luma = _code(ycc[:, :1] - 128, 8, q[:, None, None, 0])
    chroma = _code(ycc[:, 1:], 16, q[:, None, None, 1]) - 128
    rgb = _mix(TO_RGB, torch.cat([luma, chroma], 1))
    return rgb.round_().clamp_(0, 255)[..., :height, :width] / 255
