"""The frames of one uploaded picture file, still or moving, and how fast they follow each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from knob_core.settings import LIMITS


@dataclass(frozen=True)
class PictureFrames:
    """T frames, as the models see them."""

    images: np.ndarray  # (T, 3, 32, 32) uint8
    frame_rate: float | None  # frames/s, None where the file does not tell


def frame_rate(rate: Any) -> float | None:
    """Frames a second as the settings take them, None where there is no such number."""
    low, high = LIMITS["frame_rate"]
    return float(rate) if rate and low <= rate <= high else None
