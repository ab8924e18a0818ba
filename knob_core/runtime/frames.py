"""A camera's frames as the shipped models take them: (N, 3, 32, 32), RGB, in [0, 1].

The middle square of the picture, shrunk with antialiasing; frames that are 32 x 32 already are left alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from knob_core.pixels import to_unit

SIZE = 32  # pixels


def as_images(frames: Any, device: torch.device) -> Tensor:
    """Frames (N, 3, H, W) or (N, H, W, 3), bytes or floats in [0, 1]."""
    images = frames if isinstance(frames, Tensor) else torch.from_numpy(np.require(frames, requirements=["C", "W"]))
    if images.ndim != 4 or 3 not in (images.shape[1], images.shape[3]) or not images.numel():
        raise ValueError(f"frames have shape {tuple(images.shape)}, expected (N, 3, H, W) or (N, H, W, 3)")
    if images.shape[1] != 3:
        images = images.permute(0, 3, 1, 2)
    images = to_unit(images, device).to(torch.float32)
    height, width = images.shape[2:]
    if (height, width) == (SIZE, SIZE):
        return images
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    square = images[:, :, top : top + side, left : left + side]
    return torch.nn.functional.interpolate(square, (SIZE, SIZE), mode="bilinear", antialias=True, align_corners=False)
