"""The pixels of scenes that change, in several realisations of the noise over one plan.

x[r, t] = corrupt(picture[t], s(t); noise[r, t]): as `controlled.ControlledStream`, with another picture after each cut.
Realisation r is stream number r of `change_frames.ChangeFrames`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from knob_core._arrays.checks import whole_number
from knob_core.streams.change import ChangePlan
from knob_core.streams.change_frames import ChangeFrames
from knob_core.streams.controlled import Frames


class SceneStream:
    """T frames of one plan x realisations; nothing is rendered before it is asked for."""

    def __init__(
        self,
        images: NDArray[np.uint8] | Tensor,
        plan: ChangePlan,
        corruption: str,
        realisations: int = 1,
        seed: int = 0,
    ) -> None:
        self.plan, self.severity = plan, plan.severity
        self.realisations = whole_number("realisations", realisations, 1)
        self.parts = [ChangeFrames(images, plan, corruption, seed, stream) for stream in range(self.realisations)]

    def __len__(self) -> int:
        """Frames of all realisations together."""
        return self.realisations * len(self.plan)

    def frames(self, t0: int, t1: int, image: int = 0, realisation: int = 0) -> Tensor:
        """Frames t0 <= t < t1 of one realisation, (t1 - t0, 3, H, W); `image` is 0: there is one plan."""
        if image or not 0 <= realisation < self.realisations:
            raise ValueError(
                f"image, realisation are {image!r}, {realisation!r}, expected 0 and 0 to {self.realisations - 1}"
            )
        return self.parts[realisation].frames(t0, t1)

    def batches(self, batch_size: int) -> Iterator[Frames]:
        """Every frame of every realisation once, `batch_size` at most at a time."""
        for realisation, part in enumerate(self.parts):
            t = 0
            for images in part.batches(batch_size):
                frame = t + np.arange(len(images))
                t += len(images)
                yield Frames(
                    images, self.plan.picture[frame], np.full_like(frame, realisation), frame, self.severity[frame]
                )
