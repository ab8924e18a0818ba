"""Streams of pictures whose content and corruption are under control.

`controlled`: still pictures under a schedule of severity. `scenes`: pictures that change under such a schedule, numpy
only; `scene_stream`: their pixels. `change`: the plan of a stream in which content and severity change, numpy only.
`change_frames`: the pixels of such a plan.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from knob_core.streams.change import CHANGE_STREAMS as CHANGE_STREAMS
    from knob_core.streams.change import ChangePlan as ChangePlan
    from knob_core.streams.change import ChangeStreamKind as ChangeStreamKind
    from knob_core.streams.change_frames import ChangeFrames as ChangeFrames
    from knob_core.streams.controlled import BLOCK as BLOCK
    from knob_core.streams.controlled import ControlledStream as ControlledStream
    from knob_core.streams.controlled import Frames as Frames
    from knob_core.streams.scene_stream import SceneStream as SceneStream

_MODULES = {
    "BLOCK": "controlled",
    "CHANGE_STREAMS": "change",
    "ChangeFrames": "change_frames",
    "ChangePlan": "change",
    "ChangeStreamKind": "change",
    "ControlledStream": "controlled",
    "Frames": "controlled",
    "SceneStream": "scene_stream",
}


def __getattr__(name: str) -> Any:
    """Imported when first asked for: pixels need torch, plans do not."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
