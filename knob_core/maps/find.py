"""The setting that meets the goals, and among those that do the one in which another measure is best.

Goals count in the worst of the sets of streams, the measure to be best in their median. Where no setting meets all
goals, the nearest: the least sum of shortfalls, each in steps that an operator would notice (`knob_core.goals`). Of
settings that are equally good, the one nearest to home. Found on a map first, then between its places: rounds of a
small grid around the best one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from knob_core import goals as goals_
from knob_core.goals import Goals, Verdict
from knob_core.maps.many_settings import ManySettings
from knob_core.maps.measure_words import MEASURES
from knob_core.maps.settings_map import SettingsMap
from knob_core.settings import HOME

AROUND = 8  # places on each side of the small grid
ROUNDS = 2
SOFT = "excess_flips"


@dataclass(frozen=True)
class Found:
    """One setting, what it does, and what it misses."""

    zeta: float
    omega_n: float  # rad/frame
    worst: dict[str, float]  # every measure, in the set where it is worst
    median: dict[str, float]  # every measure, over the sets
    verdicts: tuple[Verdict, ...]  # each goal against the worst set
    soft: str  # the measure that was made best
    sets: int

    @property
    def met(self) -> bool:
        """All goals that can be measured here are met, and there is one."""
        measured = [v for v in self.verdicts if np.isfinite(v.value)]
        return bool(measured) and all(v.met for v in measured)

    @property
    def words(self) -> str:
        """What was found, in a few sentences."""
        setting = f"ζ {self.zeta:.3g}, ωₙ {self.omega_n:.3g} rad/frame"
        over = "" if self.sets == 1 else f" in the worst of {self.sets} streams"
        if not any(np.isfinite(v.value) for v in self.verdicts):
            first = f"{setting}: no goal can be measured here; it has the best {MEASURES[self.soft].words}."
        elif self.met:
            first = f"{setting} meets every goal{over}."
        else:
            first = f"No setting meets every goal{over}. The nearest is {setting}."
        each = [f"{_sentence(goals_.KINDS[v.name].words)}: {v.words}." for v in self.verdicts]
        best = MEASURES[self.soft]
        value = f"{_sentence(best.words)}: {best.shown(self.median[self.soft])}"
        value += " (median)." if self.sets > 1 else "."
        return " ".join([first, *each, *([] if self.soft in {_measure(v.name) for v in self.verdicts} else [value])])


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def _measure(goal: str) -> str:
    return goals_.KINDS[goal].measure


def find(
    settings_map: SettingsMap,
    goals: Goals,
    soft: str = SOFT,
    sets: Sequence[ManySettings] = (),
    stop: Callable[[], bool] = lambda: False,
) -> Found:
    """Look on the map, then, given the `sets` that it was measured on, between its places. `stop` ends it early."""
    if soft not in MEASURES:
        raise ValueError(f"soft is {soft!r}, expected one of {', '.join(MEASURES)}")
    map_ = settings_map
    i, j = _best(map_, goals, soft)
    best = _found(map_, i, j, goals, soft)
    width = np.array([np.log(x[-1] / x[0]) / max(1, len(x) - 1) for x in (map_.zeta, map_.omega_n)])  # of a cell
    for _ in range(ROUNDS if sets else 0):
        if stop():
            break
        near = _around(best, width, map_)
        zeta, omega_n = (x.ravel() for x in np.meshgrid(*near, indexing="ij"))
        measured = [one.measure(zeta, omega_n) for one in sets]
        shape = (*(len(x) for x in near), len(sets))
        part = SettingsMap(*near, {n: np.stack([m[n] for m in measured], -1).reshape(shape) for n in MEASURES})
        found = _found(part, *_best(part, goals, soft), goals, soft)
        best = min((best, found), key=_order)
        width = width * 2 / (AROUND - 1)
    return best


def _around(best: Found, width: np.ndarray, map_: SettingsMap) -> tuple[np.ndarray, np.ndarray]:
    """A small grid of one cell to each side, within the map."""
    out = []
    for x, w, axis in ((best.zeta, width[0], map_.zeta), (best.omega_n, width[1], map_.omega_n)):
        out.append(np.geomspace(max(axis[0], x * np.exp(-w)), min(axis[-1], x * np.exp(w)), AROUND))
    return out[0], out[1]


def _best(map_: SettingsMap, goals: Goals, soft: str) -> tuple[int, int]:
    """The place with the least (shortfall, soft measure, way from home)."""
    short = np.zeros((len(map_.zeta), len(map_.omega_n)))
    for name, limit in goals.set().items():
        kind, value = goals_.KINDS[name], map_.worst(_measure(name))
        if np.isnan(value).all():
            continue  # these streams cannot tell
        missing = (limit - value if kind.at_least else value - limit) / kind.step
        short += np.where(np.isnan(missing), np.inf, np.maximum(0.0, missing))
    cost = _cost(map_.median(soft), soft)
    far = _from_home(map_.zeta[:, None], map_.omega_n)
    order = np.lexsort((far.ravel(), cost.ravel(), short.ravel()))
    i, j = np.unravel_index(order[0], short.shape)
    return int(i), int(j)


def _cost(value: np.ndarray, soft: str) -> np.ndarray:
    """Less is better; what cannot be told comes last."""
    return np.nan_to_num(-value if MEASURES[soft].more_is_better else value, nan=np.inf)


def _from_home(zeta: np.ndarray | float, omega_n: np.ndarray | float) -> np.ndarray:
    """How far a setting is from home, in log: of settings that are as good, the nearest is the least surprise."""
    return np.hypot(np.log(zeta / HOME.zeta), np.log(omega_n / HOME.omega_n))


def _order(found: Found) -> tuple[float, float, float]:
    short = sum(v.shortfall for v in found.verdicts if np.isfinite(v.value))
    cost = _cost(np.array(found.median[found.soft]), found.soft)
    return short, float(cost), float(_from_home(found.zeta, found.omega_n))


def _found(map_: SettingsMap, i: int, j: int, goals: Goals, soft: str) -> Found:
    worst, median = ({n: float(over(n)[i, j]) for n in MEASURES} for over in (map_.worst, map_.median))
    verdicts = tuple(goals_.verdict(name, limit, worst[_measure(name)]) for name, limit in goals.set().items())
    return Found(float(map_.zeta[i]), float(map_.omega_n[j]), worst, median, verdicts, soft, map_.sets)
