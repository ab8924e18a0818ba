"""What every picture adds to a score, so that an error over pictures can be given to it, and to a difference of two.

Accuracy, NLL and Brier score of a set of cells are means over pictures of each picture's mean over the cells; ECE_deb
is no mean, and is kept with its values without each group of pictures (`knob_core.metrics.clustered`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knob_core import metrics
from knob_core._arrays.top import pick
from knob_core.data import Labels
from knob_core.metrics import clustered
from knob_core.metrics.clustered import Estimate
from knob_core.reset_mode import cell_scores

MEANS = ("accuracy", "nll", "brier")
SCORES = (*MEANS, "ece_deb")


@dataclass(frozen=True)
class CellScores:
    """One output of one model in one cell; all (N,)."""

    accuracy: NDArray
    nll: NDArray
    brier: NDArray
    confidence: NDArray

    def measure(self) -> dict[str, float]:
        """The cell's row, in the order of the columns."""
        table = metrics.reliability_table(self.confidence, self.accuracy.astype(bool))
        means = {name: float(getattr(self, name).mean(dtype=np.float64)) for name in MEANS}
        return {**means, "ece": table.ece(), "ece_deb": table.ece_debiased()}


def score(z: NDArray, labels: Labels) -> CellScores:
    """Of logits (N, K)."""
    p = metrics.softmax(z.astype(np.float64))
    confidence, correct = metrics.top_label(p, labels)
    brier = 1 + np.einsum("nk,nk->n", p, p) - 2 * pick(p, labels)
    return CellScores(
        correct.astype(np.float64), metrics.cross_entropy(z.astype(np.float64), labels), brier, confidence
    )


@dataclass(frozen=True)
class PictureScores:
    """One output over a set of cells: pictures' means by score, and ECE_deb without each group."""

    means: dict[str, NDArray]  # (N,) each
    ece: float
    ece_without: NDArray  # (G,)

    def estimate(self, name: str) -> Estimate:
        if name in MEANS:
            return clustered.mean(self.means[name])
        return clustered.jackknife(self.ece, self.ece_without)

    def __sub__(self, other: PictureScores) -> PictureScores:
        """Paired, picture by picture."""
        return _combine([self, other], (1.0, -1.0))


def average(parts: Sequence[PictureScores]) -> PictureScores:
    """Of several seeds on the same pictures."""
    return _combine(parts, (1 / len(parts),) * len(parts))


def _combine(parts: Sequence[PictureScores], weights: Sequence[float]) -> PictureScores:
    def total(values: Sequence[NDArray]) -> NDArray:
        return np.asarray(sum(weight * value for weight, value in zip(weights, values, strict=True)))

    means = {name: total([part.means[name] for part in parts]) for name in MEANS}
    ece = total([np.asarray(part.ece) for part in parts])
    return PictureScores(means, float(ece), total([part.ece_without for part in parts]))


def gather(cells: Mapping[str, list[CellScores]], scopes: Mapping[str, Sequence[str]]) -> dict[str, PictureScores]:
    """By scope, from the cells of every corruption ("clean" among them), one for each severity."""
    order = [(unit, cell) for unit, found in cells.items() for cell in found]
    confidence = np.stack([cell.confidence for _, cell in order]).astype(np.float32)  # (C, N)
    correct = np.stack([cell.accuracy for _, cell in order]).astype(bool)
    ece = cell_scores(confidence, correct)[1]  # (C,)
    without = clustered.left_out(
        lambda kept: cell_scores(confidence[:, kept], correct[:, kept])[1], confidence.shape[1]
    )  # (G, C)
    found = {}
    for scope, names in scopes.items():
        rows = [index for index, (unit, _) in enumerate(order) if unit in names]
        means = {name: np.mean([getattr(order[row][1], name) for row in rows], 0) for name in MEANS}
        found[scope] = PictureScores(means, float(ece[rows].mean()), without[:, rows].mean(1))
    return found
