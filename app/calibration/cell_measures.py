"""What one knob setting makes of the shown predictions: confidences, scores, reliability. Runs while a knob turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from app.calibration.predictions import ShownPredictions
from knob_core import methods, metrics
from knob_core.metrics.reliability import Reliability
from knob_core.reset_mode import Fused, Scores, fuse_all, reset_gate
from knob_core.settings import Settings

BINS = 15
EDGES = np.linspace(0, 1, 21)  # of the histogram


@dataclass(frozen=True)
class Measured:
    """Everything that one setting says about the chosen predictions."""

    fused: Fused
    scores: Scores
    tables: dict[str, Reliability]
    counts: np.ndarray  # (2, B) right and wrong predictions by confidence


@dataclass
class BeforeAndNow:
    """The numbers now, and those before this turn."""

    turn: int = -1
    key: tuple[Any, ...] = ()
    now: Measured | None = None
    before: Measured | None = None

    def record(self, now: Measured, turn: int, key: tuple[Any, ...]) -> None:
        """Keep them; the first numbers of a selection (`key`) are also what stood before."""
        if key != self.key:
            self.before = now
        elif turn != self.turn:
            self.before = self.now
        self.now, self.turn, self.key = now, turn, key


def gate_of(settings: Settings, shown: ShownPredictions, method: str) -> np.ndarray:
    """g (M,) in Reset Mode."""
    knobs = settings.zeta, settings.omega_n
    return reset_gate(shown.predictions.u_star, method, *knobs, settings.on, shown.reset_reference)


def one_step(settings: Settings, method: str, reference: float | None = None) -> float:
    """The part of its way that the gate makes in one frame from rest; normalised, 1 at the trained knobs."""
    step = methods.get(method).gate.normalised(reference).one_step(settings.zeta, settings.omega_n)
    return float(step.gain * step.share)


def measure(shown: ShownPredictions, g: np.ndarray, temperature: float = 1.0) -> Measured:
    """All numbers under a gate g (M,) and a temperature."""
    fused = fuse_all(shown.predictions, g, temperature)
    agree = shown.predictions.agree
    tables = {"all": metrics.reliability_table(fused.confidence, fused.correct, BINS)}
    for name, mask in (("agree", agree), ("disagree", ~agree)):
        if mask.any():
            tables[name] = metrics.reliability_table(fused.confidence[mask], fused.correct[mask], BINS)
    place = np.minimum((fused.confidence * (len(EDGES) - 1)).astype(np.intp), len(EDGES) - 2)
    counts = [np.bincount(place[mask], minlength=len(EDGES) - 1) for mask in (fused.correct, ~fused.correct)]
    means = (float(values.mean(dtype=np.float64)) for values in (fused.nll, fused.brier))
    found = Scores(float(fused.correct.mean()), tables["all"].ece_debiased(), *means)
    return Measured(fused, found, tables, np.stack(counts))
