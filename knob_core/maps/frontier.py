"""Excess flips against mean delay: the settings that no other beats in both, and the same curve of rival filters.

A rival's curve is that of its tuned settings (`knob_core.tuning`), measured on the same streams with the same cuts, so
that both lie in one picture; `front` is the report's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from knob_core.assets import ASSETS
from knob_core.maps.settings_map import SettingsMap
from knob_core.rivals import RIVALS, WITH_COMMAND
from knob_core.tuning import saved
from knob_core.tuning.front import front
from knob_core.tuning.streams import Streams
from knob_core.tuning.sweep import repeat
from knob_core.tuning.tune import Tuned

NAMED = {"alert": 1.0, "balanced": 2.0, "calm": 4.0}  # frames of mean delay that each may take
TUNED_FILE = ASSETS / "rivals" / "knob-ode-s0.json"
SHOWN_RIVALS = ("ema-logits", "hmm", "change-point", "cusum")  # from weak to strong


@dataclass(frozen=True)
class Frontier:
    """F settings, by growing delay."""

    zeta: np.ndarray  # (F,)
    omega_n: np.ndarray  # (F,) rad/frame
    delay: np.ndarray  # (F,) frames, mean
    flips: np.ndarray  # (F,) excess flips per 100 frames
    named: dict[str, int]  # alert, balanced, calm: places on it


@dataclass(frozen=True)
class RivalCurve:
    """One filter's front on the same streams."""

    name: str  # in words
    delay: np.ndarray  # (S,) frames, mean
    flips: np.ndarray  # (S,) excess flips per 100 frames


def frontier(settings_map: SettingsMap) -> Frontier | None:
    """Over the worst of the map's sets; None where the streams have no change of class to follow."""
    delay, flips = (settings_map.worst(name).ravel() for name in ("delay_mean", "excess_flips"))
    measured = np.flatnonzero(np.isfinite(delay) & np.isfinite(flips))
    if not len(measured):
        return None
    on = measured[front(delay[measured], flips[measured])]
    i, j = np.unravel_index(on, (len(settings_map.zeta), len(settings_map.omega_n)))
    return Frontier(settings_map.zeta[i], settings_map.omega_n[j], delay[on], flips[on], named(delay[on]))


def named(delay: np.ndarray) -> dict[str, int]:
    """The calmest place of a front (F,) that is not later than each name allows; its fastest where all are."""
    return {name: max(0, int(np.searchsorted(delay, limit, side="right")) - 1) for name, limit in NAMED.items()}


@cache
def tuned_rivals(path: Path = TUNED_FILE) -> dict[str, Tuned]:
    """Settings of rival filters that ship, tuned on validation streams; empty where the file is missing."""
    return saved.load(path, RIVALS | WITH_COMMAND) if path.is_file() else {}


def rival_curves(sets: Sequence[Streams], tuned: Mapping[str, Tuned] | None = None) -> list[RivalCurve]:
    """Every shown rival at the settings of its tuned curve, each in the set of streams where it is worst."""
    tuned = tuned_rivals() if tuned is None else tuned
    sets = [streams for streams in sets if streams.known.counted.any()]
    curves = []
    for name in SHOWN_RIVALS:
        if name in tuned and sets:
            rival = tuned[name]
            means = [repeat(rival.kind, rival.parameters, rival.curve, streams).means() for streams in sets]
            delay, flips = (np.max([getattr(m, of) for m in means], axis=0) for of in ("delay", "flips"))
            on = front(delay, flips)
            curves.append(RivalCurve(rival.kind.NAME, delay[on], flips[on]))
    return curves
