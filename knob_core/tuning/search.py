"""A seeded search for the lowest value in the unit cube, with a fixed number of evaluations.

A quarter of them on a scrambled Sobol grid, the rest by CMA-ES from the best point found: a cloud of points, drawn from
N(m, s^2 C), whose mean m, shape C and size s follow the better half of each generation.
Hansen, "The CMA Evolution Strategy: A Tutorial", arXiv 1604.00772; the letters are its.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Point = NDArray[np.float64]
GRID_SHARE = 0.25  # of the evaluations
FIRST_SIZE = 0.15  # s at first, in sides of the cube


class _Spent(Exception):
    """All evaluations are used."""


@dataclass
class Search:
    """The best point so far, and every value in the order of evaluation."""

    f: Callable[[Point], float]
    evaluations: int
    best: Point | None = None
    lowest: float = math.inf
    history: list[float] = field(default_factory=list)

    def __call__(self, point: Point) -> float:
        if len(self.history) >= self.evaluations:
            raise _Spent
        y = self.f(point)
        self.history.append(y)
        if self.best is None or y < self.lowest:
            self.best, self.lowest = point.copy(), y
        return y


def minimise(
    f: Callable[[Point], float], start: Point, evaluations: int, seed: int, grid: float = GRID_SHARE
) -> Search:
    """Search [0, 1]^n from the points of a grid and `start` (n,); a cube without sides is evaluated once.

    `grid` is its share of the evaluations: 0 where the start is known to be good.
    """
    start = np.asarray(start, np.float64)
    if start.ndim != 1 or not ((start >= 0) & (start <= 1)).all():
        raise ValueError(f"start must be a point of the unit cube, got {start}")
    if evaluations < 1:
        raise ValueError(f"evaluations must be at least 1, got {evaluations}")
    search = Search(f, evaluations if len(start) else 1)
    rng = np.random.default_rng(seed)
    try:
        search(start)
        if len(start):
            for point in _grid(len(start), int(grid * evaluations), rng):
                search(point)
            while True:  # a cloud that has shrunk to nothing starts anew
                _cma_es(search, rng)
    except _Spent:
        pass
    return search


def _grid(sides: int, points: int, rng: np.random.Generator) -> NDArray:
    from scipy.stats import qmc

    exponent = max(0, math.ceil(math.log2(max(points, 1))))
    return qmc.Sobol(sides, rng=rng).random_base2(exponent)[:points]


def _cma_es(search: Search, rng: np.random.Generator) -> None:
    """Generations from the best point until the cloud is smaller than 1e-3; points are clipped to the cube."""
    assert search.best is not None
    n, m, s = len(search.best), search.best, FIRST_SIZE
    lam = 4 + int(3 * math.log(n))
    w = np.log(lam / 2 + 0.5) - np.log(np.arange(1, lam // 2 + 1))
    w /= w.sum()
    mu_eff = 1 / (w**2).sum()
    c_s = (mu_eff + 2) / (n + mu_eff + 5)
    d_s = 1 + c_s + 2 * max(0.0, math.sqrt((mu_eff - 1) / (n + 1)) - 1)
    c_c = (4 + mu_eff / n) / (n + 4 + 2 * mu_eff / n)
    c_1 = 2 / ((n + 1.3) ** 2 + mu_eff)
    c_mu = min(1 - c_1, 2 * (mu_eff - 2 + 1 / mu_eff) / ((n + 2) ** 2 + mu_eff))
    chi = math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n**2))  # mean length of a standard normal vector
    c, p_s, p_c = np.eye(n), np.zeros(n), np.zeros(n)
    while s * math.sqrt(np.linalg.eigvalsh(c)[-1]) > 1e-3:
        lengths, axes = np.linalg.eigh(c)
        root = axes * np.sqrt(np.maximum(lengths, 1e-20))  # C^(1/2) = root axes^T
        points = np.clip(m + s * rng.standard_normal((lam, n)) @ root.T, 0, 1)  # (lam, n)
        order = np.argsort([search(point) for point in points], kind="stable")
        y = (points[order[: len(w)]] - m) / s  # the better half, (mu, n)
        step = w @ y
        m = m + s * step
        p_s = (1 - c_s) * p_s + math.sqrt(c_s * (2 - c_s) * mu_eff) * (axes / np.sqrt(np.maximum(lengths, 1e-20))) @ (
            axes.T @ step
        )
        p_c = (1 - c_c) * p_c + math.sqrt(c_c * (2 - c_c) * mu_eff) * step
        c = (1 - c_1 - c_mu) * c + c_1 * np.outer(p_c, p_c) + c_mu * (y.T * w) @ y
        s *= math.exp(min(1.0, c_s / d_s * (np.linalg.norm(p_s) / chi - 1)))
