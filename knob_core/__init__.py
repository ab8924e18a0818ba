"""A volume knob for neural networks: the doors most people need; everything else is reached by its module."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from knob_core import interrupts
from knob_core._extras import needed_for

if TYPE_CHECKING:
    from knob_core.corruptions import corrupt as corrupt
    from knob_core.fitting import fit as fit
    from knob_core.fusion import diagnose as diagnose
    from knob_core.fusion import fuse as fuse
    from knob_core.memories.attentive import Knob as Knob
    from knob_core.metrics import ece_debiased as ece_debiased
    from knob_core.metrics import reliability_table as reliability_table
    from knob_core.models import build as build
    from knob_core.response import respond as respond
    from knob_core.runtime import KnobStream as KnobStream
    from knob_core.settings import Settings as Settings
    from knob_core.streams import ControlledStream as ControlledStream

_DOORS = {
    "ControlledStream": "streams",
    "Knob": "memories.attentive",
    "KnobStream": "runtime",
    "Settings": "settings",
    "build": "models",
    "corrupt": "corruptions",
    "diagnose": "fusion",
    "ece_debiased": "metrics",
    "fit": "fitting",
    "fuse": "fusion",
    "reliability_table": "metrics",
    "respond": "response",
}

__all__ = list(_DOORS)

interrupts.in_one_line()


def __getattr__(name: str) -> Any:
    """A door opens when it is asked for: half of these need torch, and the console does not."""
    if name not in _DOORS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with needed_for(f"{__name__}.{name}"):
        return getattr(importlib.import_module(f"{__name__}.{_DOORS[name]}"), name)
