"""A camera's frames as a model takes them: (N, 3, size, size), RGB, in [0, 1]; the shipped models take 32 x 32.

Frames that have the model's size are left alone. Of others the middle square is shrunk (with antialiasing) or enlarged,
and a warning (`frame_size`) says so: what lies outside the square is not seen, and small things may vanish.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from knob_core._arrays.checks import for_torch
from knob_core.data.pixels import to_unit

SIZE = 32  # pixels
SLACK = 0.01  # what resampling may leave outside [0, 1]


def as_images(frames: Any, device: torch.device, size: tuple[int, int] | None = (SIZE, SIZE)) -> Tensor:
    """Frames (N, 3, H, W) or (N, H, W, 3), bytes or floats in [0, 1]; with `size` None they keep theirs."""
    images = frames if isinstance(frames, Tensor) else torch.from_numpy(for_torch(frames))
    if images.ndim != 4 or 3 not in (images.shape[1], images.shape[3]) or not images.numel():
        raise ValueError(f"frames have shape {tuple(images.shape)}, expected (N, 3, H, W) or (N, H, W, 3)")
    if images.is_floating_point():
        _require_unit(images)
    if images.shape[1] != 3:
        images = images.permute(0, 3, 1, 2)
    images = to_unit(images, device).to(torch.float32)
    height, width = images.shape[2:]
    if size is None or (height, width) == size:
        return images
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    square = images[:, :, top : top + side, left : left + side]
    return torch.nn.functional.interpolate(square, size, mode="bilinear", antialias=True, align_corners=False)


def _require_unit(images: Tensor) -> None:
    """Whatever is finite lies in [0, 1]; 0..255 as floats would be taken for a very bright picture indeed."""
    low, high = (float(x) for x in images.aminmax())
    if low >= -SLACK and high <= 1 + SLACK:
        return
    known = images[torch.isfinite(images)]  # a frame with other values is left out by whoever asked
    if known.numel() and not (known.min() >= -SLACK and known.max() <= 1 + SLACK):
        raise ValueError(f"frames go from {known.min():g} to {known.max():g}, expected floats in [0, 1] or bytes")
