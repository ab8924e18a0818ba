"""How far a memory can be driven: a bound on |m| for any logits |z| <= Z, any evidence and any turning of the knobs.

One class of attentive memory is a midpoint rule, y = (x + x') / 2, x = [m, v]:
    m' - m = 2h y_v,    v' - v = 2h (z - y_m - 2 zeta y_v),    0 < h <= c = zeta + sqrt(zeta^2 + 1)
Evidence, u_star and omega_n choose h and nothing else. Bounds are in units of Z, from rest.

`safe`   proved, for every sequence of zeta in [low, high] and of h. V = m^2 + v^2 + 2 alpha m v grows by 4h f(y) in a
         step, f = -alpha m^2 - (2 zeta - alpha) v^2 - 2 zeta alpha m v + z (alpha m + v). f > 0 only in an ellipse: a
         step that raises V has its midpoint there, so it lands at a bounded V itself.
`reach`  the sharp value, computed: s(d) = max <d, x> over all that can be reached is the least solution of
         s(d) = max(|d_m|, max over h, zeta of s(A^T d) + |<d, B>|).  Between two directions of the grid s is at most
         linear, so nothing is lost there; knobs are on a grid too. `worst` gives logits and knobs that drive m there.
For one zeta >= 1 the sharp value is 2: the hexagon |m| <= 2, |v| <= c, |c m / 2 + v| <= c is never left.
A brake, v <- (1 - brake g) v after the step, is covered by `reach`, `worst` and the hexagon; `safe` is for none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knob_core._arrays import checks as check
from knob_core.memories.attentive import largest_h

DIRECTIONS, STEPS, DAMPINGS = 180, 48, 9  # of the grids
SMALLEST = 1e-3  # h / c of the grid: smaller steps are many of this size
CONVERGED, ROUNDS = 1e-8, 20_000


@dataclass(frozen=True)
class Reach:
    """The largest |m| and |v|, per unit of max |z|."""

    m: float
    v: float


@dataclass(frozen=True)
class Worst:
    """T frames that drive m upwards."""

    z: NDArray[np.float64]  # (T,) logits of one class, -1 or 1
    zeta: NDArray[np.float64]  # (T,)
    omega_n: NDArray[np.float64]  # (T,) rad/frame, as turned by the evidence: 2 h


def safe(low: float, high: float | None = None) -> float:
    """A proved bound on |m| for any sequence of zeta in [low, high] and any omega_n > 0; far from sharp."""
    low, high = _range(low, high)
    alpha = min(zeta / (1 + zeta * zeta) for zeta in (low, high))  # half of what keeps f negative definite
    y = 2 * np.sqrt(1 + alpha * alpha) / alpha  # |y| where f(y) >= 0: the smallest eigenvalue is alpha / 2 or more
    return float((y + largest_h(high) * ((1 + 2 * high) * y + 1)) / np.sqrt(1 - alpha))


def reach(low: float, high: float | None = None, brake: float = 0.0) -> Reach:
    """The sharp values for any sequence of zeta in [low, high] and any omega_n > 0."""
    grid = _Grid(*_range(low, high), brake)
    return Reach(float(grid.s[0]), float(grid.s[DIRECTIONS // 2]))


def worst(low: float, high: float | None = None, frames: int = 400, brake: float = 0.0) -> Worst:
    """Knobs and logits whose last m comes close to `reach(low, high).m`: the maximising steps, followed backwards."""
    grid = _Grid(*_range(low, high), brake)
    d = np.array([1.0, 0.0])
    z, steps = np.empty(frames), np.empty(frames, np.intp)
    for t in reversed(range(frames)):
        m, v, drive = grid.back(d[None])  # (1, S)
        steps[t] = grid.heights(m, v, drive).argmax()
        z[t] = 1.0 if drive[0, steps[t]] >= 0 else -1.0
        d = np.array([m[0, steps[t]], v[0, steps[t]]])
        d /= np.hypot(*d)
    return Worst(z, grid.zeta[steps], 2 * grid.h[steps])


def _range(low: float, high: float | None) -> tuple[float, float]:
    low = float(check.knob("low", low, 0, above=True))
    return low, float(check.knob("high", low if high is None else high, low, above=False))


class _Grid:
    """s on directions d = (cos, sin) of half a turn, s(-d) = s(d), for S steps (zeta, h)."""

    def __init__(self, low: float, high: float, brake: float) -> None:
        zetas = np.geomspace(low, high, DAMPINGS) if high > low else np.array([low])
        self.zeta = np.repeat(zetas, STEPS)  # (S,)
        self.h = np.concatenate([largest_h(zeta) * np.geomspace(SMALLEST, 1, STEPS) for zeta in zetas])
        self.k = 2 / (1 / self.h + 2 * self.zeta + self.h)
        self.kept = 1 - brake * self.k * self.h  # of v
        turn = np.arange(DIRECTIONS) * np.pi / DIRECTIONS
        steps = self.back(np.stack([np.cos(turn), np.sin(turn)], -1))
        mix = self._mix(steps[0], steps[1])
        self.s = np.abs(np.cos(turn))  # from rest: |m| <= 1, v = 0
        for _ in range(ROUNDS):
            before, self.s = self.s, np.maximum(self.s, (self._between(*mix) + np.abs(steps[2])).max(-1))
            if (self.s - before).max() <= CONVERGED * self.s.max():
                break

    def back(self, d: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """(A^T d)_m, (A^T d)_v and <d, B> of directions (D, 2), each (D, S)."""
        d_m, d_v = d[:, :1], d[:, 1:] * self.kept
        g = self.k * self.h
        return (
            d_m * (1 - g) - d_v * self.k,
            d_m * self.k + d_v * (1 - self.k * (2 * self.zeta + self.h)),
            d_m * g + d_v * self.k,
        )

    def heights(self, m: NDArray, v: NDArray, drive: NDArray) -> NDArray:
        """The largest <d, x> after each step, (D, S)."""
        return self._between(*self._mix(m, v)) + np.abs(drive)

    def _mix(self, m: NDArray, v: NDArray) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Vectors (m, v) as sums of two neighbouring directions: their places and their weights."""
        place = np.mod(np.arctan2(v, m), np.pi) * DIRECTIONS / np.pi
        first = place.astype(np.intp)
        angle, between = np.pi / DIRECTIONS, place - first
        length = np.hypot(m, v) / np.sin(angle)
        weights = length * np.sin((1 - between) * angle), length * np.sin(between * angle)
        return first % DIRECTIONS, (first + 1) % DIRECTIONS, *weights

    def _between(self, first: NDArray, second: NDArray, one: NDArray, other: NDArray) -> NDArray:
        return one * self.s[first] + other * self.s[second]
