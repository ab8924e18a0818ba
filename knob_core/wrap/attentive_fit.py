"""Fit attentive memory to labelled streams: weights, knobs and temperature together, by the likelihood.

min over (zeta, omega_n, a, b, d, tau, eps, t_0, f) of  mean NLL + |x - x_0|^2 / (2 n)
x are the parameters on a scale of order one (logs of what is positive); the second term is a standard normal prior
around the start. n is the number of stretches of one class: frames of one content err alike, so a stretch counts as
one observation, however long it is; a caller with streams in plenty may count frames. Slopes by differences: an
evaluation is one compiled run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from knob_core import metrics
from knob_core._arrays.top import pick
from knob_core.memories import Attentive

Floats = NDArray[np.float64]
STEP = 1e-4  # of the differences
LOGS = ("zeta", "omega_n", "tau", "eps")  # positive: fitted as logarithms
LIMITS = {  # of what is fitted; wide, and the same for everybody
    "zeta": (0.2, 3.0), "omega_n": (0.01, 3.0), "b": (0.0, 8.0), "d": (-3.0, 8.0), "tau": (0.2, 5.0),
    "eps": (1e-4, 0.3), "t_0": (-2.0, 2.0), "f": (0.0, 0.8),
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """Knobs and weights: everything that decides an answer."""

    zeta: float
    omega_n: float
    weights: Attentive

    def run(self, z: Floats) -> Floats:
        """Logits of the answer (R, T, K)."""
        return self.weights.run_logits(z, self.zeta, self.omega_n).z

    def get(self, name: str) -> float:
        """A parameter by its name."""
        return getattr(self, name) if name in ("zeta", "omega_n") else getattr(self.weights, name)

    def put(self, **values: float) -> Setting:
        """The same with other values."""
        knobs = {name: values.pop(name) for name in ("zeta", "omega_n") if name in values}
        return replace(self, **knobs, weights=replace(self.weights, **values))  # type: ignore[arg-type]


@dataclass(frozen=True)
class Labelled:
    """Streams with a class for each frame."""

    z: Floats  # (R, T, K) logits of the frame
    labels: NDArray[np.int64]  # (R, T), -1 where unknown
    go_on: Callable[[], object] = lambda: None  # called before each NLL; what it raises ends a fit

    def rows(self, chosen: NDArray) -> Labelled:
        """Some of the streams."""
        return replace(self, z=self.z[chosen], labels=self.labels[chosen])

    def nll(self, answer: Floats) -> float:
        """Mean NLL of answer logits (R, T, K) over the frames whose class is known."""
        self.go_on()
        labelled = self.labels >= 0
        log_p = metrics.log_softmax(answer[labelled])
        return -float(pick(log_p, self.labels[labelled]).mean())

    @property
    def frames(self) -> int:
        return int((self.labels >= 0).sum())

    @property
    def stretches(self) -> int:
        """Runs of one known class."""
        begins = np.diff(self.labels, prepend=-1) != 0
        return int((begins & (self.labels >= 0)).sum())


def fit_nll(
    streams: Labelled,
    start: Setting,
    fitted: Sequence[str] | None = None,
    iterations: int = 60,
    observations: int | None = None,
) -> tuple[Setting, float]:
    """The best setting near `start`, and its NLL; only the parameters named are moved.

    `observations` is the n that the prior is set against: the stretches, unless told otherwise.
    """
    from scipy.optimize import minimize

    fitted = tuple(LIMITS) if fitted is None else tuple(fitted)
    x_0 = np.array([_inside(start.get(name), name) for name in fitted])
    bounds = [tuple(_scaled(limit, name) for limit in LIMITS[name]) for name in fitted]
    strength = 0.5 / (observations or streams.stretches)

    def cost(x: Floats) -> float:
        return streams.nll(_at(start, fitted, x).run(streams.z)) + strength * float((x - x_0) @ (x - x_0))

    def cost_and_slope(x: Floats) -> tuple[float, Floats]:
        here = cost(x)
        slope = np.empty_like(x)
        for i, (_, high) in enumerate(bounds):
            d = np.zeros_like(x)
            d[i] = STEP if x[i] + STEP <= high else -STEP
            slope[i] = (cost(x + d) - here) / d[i]
        return here, slope

    found = minimize(cost_and_slope, x_0, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": iterations})
    best = _at(start, fitted, found.x)
    return best, streams.nll(best.run(streams.z))


def _scaled(value: float, name: str) -> float:
    return float(np.log(value)) if name in LOGS else float(value)


def _inside(value: float, name: str) -> float:
    """On the fitting scale, within the limits."""
    low, high = LIMITS[name]
    return _scaled(min(high, max(low, value)), name)


def _at(start: Setting, fitted: Sequence[str], x: Floats) -> Setting:
    return start.put(**{name: float(np.exp(v) if name in LOGS else v) for name, v in zip(fitted, x, strict=True)})
