"""Tuning a filter: the same streams, the same objective and the same number of evaluations for every kind.

J = mean over d of [log(0.05 + flips(d)) + 4 off(d)] + nll_weight min NLL,    d = 1, 1.25, 1.5, 2, 3, 4 frames
flips(d): excess flips per 100 frames at a mean delay of d, along the sweep (`knob_core.tuning.front`); off(d): how far
d lies outside of the delays that the sweep reaches, in log; min NLL: of the best setting of the sweep.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import Any

import numpy as np

from knob_core.rivals.base import Filter, Range
from knob_core.tuning import front, space
from knob_core.tuning.search import minimise
from knob_core.tuning.streams import Streams
from knob_core.tuning.sweep import FEWEST, SETTINGS, Curve, sweep

DELAYS = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0)  # frames
PENALTY = 4.0  # about as steeply as log flips fall with log delay, where they fall steepest
EVALUATIONS = 200
EVERY = 4  # frames: NLL is thinned out during the search
FINAL_SETTINGS, FINAL_SPAN = 24, (0.4, 8.0)  # other streams have other delays: the tuned sweep reaches further


@dataclass(frozen=True)
class Tuned:
    """A filter's best parameters and its curve on the streams it was tuned on."""

    kind: type[Filter]
    parameters: dict[str, Any]  # all but the sweep parameter
    curve: Curve
    objective: float
    evaluations: int


def objective(curve: Curve, nll_weight: float = 1.0) -> float:
    """J of one curve."""
    flips = front.at_delay(curve.delay, curve.flips, DELAYS).mix(curve.flips)
    missed = PENALTY * front.off_range(curve.delay, DELAYS)
    return float((np.log(FEWEST + flips) + missed).mean() + nll_weight * curve.nll.min())


def tune(
    kind: type[Filter],
    streams: Streams,
    evaluations: int = EVALUATIONS,
    seed: int = 0,
    nll_weight: float = 1.0,
    fixed: dict[str, Any] | None = None,
) -> Tuned:
    """The best parameters among `evaluations` tried, each with a sweep of 12 settings; `fixed` ones stay."""
    fixed = fixed or {}
    spans = {name: span for name, span in kind.PARAMETERS.items() if name != kind.SWEEP and name not in fixed}

    def cost(point: np.ndarray) -> float:
        return objective(sweep(kind, space.values(point, spans) | fixed, streams, SETTINGS, every=EVERY), nll_weight)

    found = minimise(cost, _home(kind, spans), evaluations, seed)
    assert found.best is not None
    parameters = space.values(found.best, spans) | fixed
    curve = sweep(kind, parameters, streams, FINAL_SETTINGS, FINAL_SPAN)
    return Tuned(kind, parameters, curve, found.lowest, len(found.history))


def _home(kind: type[Filter], spans: dict[str, Range]) -> np.ndarray:
    """The fields' defaults as a point of the cube; the middle of the range for a field without one."""
    defaults = {field.name: field.default for field in fields(kind) if field.default is not MISSING}  # type: ignore[arg-type]
    return np.array([space.place(defaults[name], span) if name in defaults else 0.5 for name, span in spans.items()])
