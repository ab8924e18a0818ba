"""The four scores as cards, and beside everything that could be used instead of the knobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from app.calibration.cell_selection import Selection
from app.calibration.predictions import ShownPredictions, cells_of
from app.console.readouts import WITHOUT_KNOB
from app.results import result_files
from knob_core.methods import PLAINEST
from knob_core.reset_mode import Scores, fuse_all, prepare, reset_gate, scores

CARDS = (  # field, label, scale, digits, unit, help
    ("ece_deb", "miscalibration (ECE)", 1, 3, "", "How far what it says is from what it keeps, on average; "
     "debiased: what chance alone would show is taken off"),
    ("accuracy", "right answers", 100, 1, " %", "Predictions whose class is right"),
    ("nll", "surprise (NLL)", 1, 3, " nats", "Negative log-likelihood: how surprised it is by the truth; "
     "confident errors cost most"),
    ("brier", "squared error (Brier)", 1, 3, "", "Mean squared distance between the probabilities and the truth, "
     "summed over the classes: 0 to 2"),
)  # fmt: skip
MORE_IS_BETTER = {"accuracy"}


@dataclass(frozen=True)
class Alternatives:
    """Rows of the comparison that no knob changes: name -> (help, scores)."""

    rows: dict[str, tuple[str, Scores]]
    lacking: str = ""  # why there is no temperature scaling, if there is none

    @property
    def without_knob(self) -> Scores:
        """The scores without Knob."""
        return self.rows[WITHOUT_KNOB][1]


def alternatives(selection: Selection, shown: ShownPredictions) -> Alternatives:
    """What the branches, the settled gate and temperature scaling give on the same predictions."""
    p = shown.predictions
    settled = reset_gate(p.u_star, selection.method, 1.0, 1.0, on=False)
    rows = {
        WITHOUT_KNOB: ("The gate without inertia, or of a settled stream: g = σ(u*)", scores(fuse_all(p, settled))),
        "static branch alone": ("The robust branch, g = 0", scores(fuse_all(p, np.zeros_like(settled)))),
        "dynamic branch alone": ("The sharp branch, g = 1", scores(fuse_all(p, np.ones_like(settled)))),
    }
    fitted = result_files.temperatures()
    lacking = (
        "" if fitted else "temperature scaling is not shown: `temperatures.csv` is missing; " + result_files.EVALUATE
    )
    for on, words in (("clean", "clean pictures"), ("corrupted", "the four training corruptions")):
        t = fitted.get((selection.method, selection.seed, "settled", on))
        if t:
            help = f"The gate without inertia and one temperature, fitted on held-out {words}"
            rows[f"{WITHOUT_KNOB} + temperature {t:.2f} ({on})"] = (help, scores(fuse_all(p, settled, t)))
    try:
        plain = cells_of(PLAINEST, selection.seed)
        chosen = [plain.cells.index(cell) for cell in shown.cells]
        alone = prepare(plain.z_static[chosen], plain.z_dyn[chosen], plain.u_star[chosen], plain.labels)
    except (OSError, ValueError):
        return Alternatives(rows, lacking)
    shut = np.zeros(len(alone), np.float32)
    rows["Static model"] = ("The method without a gate, trained by itself", scores(fuse_all(alone, shut)))
    for on, words in (("clean", "clean pictures"), ("corrupted", "the four training corruptions")):
        t = fitted.get((PLAINEST, selection.seed, "fused", on))
        if t:
            help = f"What temperature scaling gives instead of a gate: fitted on held-out {words}"
            rows[f"Static model + temperature {t:.2f} ({on})"] = (help, scores(fuse_all(alone, shut, t)))
    return Alternatives(rows, lacking)


def cards(now: Scores, before: Scores, without: Scores) -> list[dict[str, Any]]:
    """The big numbers, each beside what it was before this turn and without Knob."""
    out = []
    for name, label, scale, digits, unit, help in CARDS:
        texts = [f"{getattr(s, name) * scale:.{digits}f}{unit}" for s in (now, before, without)]
        change = getattr(now, name) - getattr(before, name)
        worse = change < 0 if name in MORE_IS_BETTER else change > 0
        mood = "" if abs(change) * scale < 0.5 * 10.0**-digits else "bad" if worse else "good"
        rest = [["previous setting", texts[1]], [WITHOUT_KNOB, texts[2]]]
        said = {"bad": "worse", "good": "better", "": ""}[mood]  # colour alone does not tell everybody
        out.append(
            {"id": name, "label": label, "now": texts[0], "rest": rest, "help": help, "mood": mood, "change": said}
        )
    return out


def comparison(now: Scores, before: Scores, others: Alternatives) -> dict[str, Any]:
    """The same four numbers for everything that could be used instead."""

    def row(name: str, help: str, s: Scores) -> dict[str, Any]:
        cells = [f"{getattr(s, field) * scale:.{digits}f}{unit}" for field, _, scale, digits, unit, _ in CARDS]
        return {"name": name, "help": help, "cells": cells}

    rows = [
        row("now", "Reset Mode at these knobs", now),
        row("previous setting", "Before the last turn of a knob", before),
    ]
    rows += [row(name, help, s) for name, (help, s) in others.rows.items()]
    head = [["setting", "What is used"], *([label, help] for _, label, _, _, _, help in CARDS)]
    return {"caption": "Instead of these knobs", "head": head, "rows": rows}
