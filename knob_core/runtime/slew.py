"""A limit on how fast the knobs themselves may move, whatever is asked of them.

|change of log(knob)| <= slew each step; 0.05 is five per cent a frame.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from knob_core._arrays.checks import shown

ZETA_FLOOR = 1e-3  # below it, damping counts as none and needs no time to move
LARGEST = 100.0  # takes any knob from one end of its range to the other at once


def limit(slew: Any) -> float | None:
    """A limit as it was given, checked; None for none."""
    if slew is None:
        return None
    number = isinstance(slew, (int, float, np.integer, np.floating)) and not isinstance(slew, bool)
    if not number or not 0.0 < slew < math.inf:
        raise ValueError(f"slew is {shown(slew)}, expected a number > 0 or None")
    return float(min(slew, LARGEST))


def slewed(now: tuple[float, float], wanted: tuple[float, float], slew: float | None) -> tuple[float, float]:
    """(zeta, omega_n) one step further from where they are to where they are wanted."""
    if slew is None:
        return wanted
    return _toward(now[0], wanted[0], slew, ZETA_FLOOR), _toward(now[1], wanted[1], slew, 0.0)


def _toward(now: float, wanted: float, slew: float, floor: float) -> float:
    low, high = max(now, floor) * math.exp(-slew), max(now, floor) * math.exp(slew)
    if low <= max(wanted, floor) <= high:
        return wanted
    return low if wanted < now else high
