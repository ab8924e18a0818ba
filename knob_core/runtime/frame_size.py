"""Frames that do not have the size of a model's pictures: a warning says, once for each size, what is done to them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

MOST_SIZES = 8  # that are named; a camera has one


class FrameSizeWarning(UserWarning):
    """Frames do not have the size that the model takes."""


class SizeNotice:
    """What was said so far about the frames of one model."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.size = size  # (height, width) that the model takes
        self._said: set[tuple[int, int]] = set()

    def check(self, shape: Sequence[int]) -> None:
        """Warn where the size of a frame is new: (3, H, W) or (H, W, 3); what is neither is refused elsewhere."""
        if len(shape) != 3 or 3 not in (shape[0], shape[2]):
            return
        size = (shape[1], shape[2]) if shape[0] == 3 else (shape[0], shape[1])
        if size != self.size and size not in self._said and len(self._said) < MOST_SIZES:
            self._said.add(size)
            warnings.warn(self.words(*size), FrameSizeWarning, stacklevel=2)

    def words(self, height: int, width: int) -> str:
        """What is done to frames of this size."""
        side = min(height, width)
        part = "they are" if height == width else f"the middle {side} x {side} is"
        done = "shrunk" if side > max(self.size) else "enlarged" if side < min(self.size) else "cut out"
        wanted = f"{self.size[1]} x {self.size[0]}"
        return f"frames are {width} x {height} pixels: {part} {done} to fit this model, which takes {wanted}"
