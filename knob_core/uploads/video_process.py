"""Videos, decoded in a process of their own: `read_in_process` asks, `answer` is what the process does."""

from __future__ import annotations

from typing import Any

import numpy as np

from knob_core.uploads import process, video
from knob_core.uploads.budget import Budget
from knob_core.uploads.limits import require_size
from knob_core.uploads.picture_frames import PictureFrames
from knob_core.uploads.stills import SIZE


def read_in_process(name: str, kind: str, content: bytes, budget: Budget, most_frames: int) -> PictureFrames:
    """As `video.read`, one video at a time: how much memory it takes, its own process finds out."""
    require_size(name, len(content))
    with budget.turns():
        budget.wait_for_turn(name)
        found, body = process.ask(__name__, ("av",), name, content, budget, kind=kind, most_frames=most_frames)
    return PictureFrames(np.frombuffer(body, np.uint8).reshape(-1, 3, SIZE, SIZE), found["frame_rate"])


def answer(
    name: str, content: bytes, budget: Budget, kind: str, most_frames: int
) -> tuple[dict[str, Any], list[memoryview]]:
    """The frames."""
    found = video.read(name, kind, content, budget, most_frames)
    return {"frame_rate": found.frame_rate}, [np.ascontiguousarray(found.images).data]
