"""The Reliability panel: what the answers promise and what they keep, over the shown stream, and a temperature."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from app.console.panels.panel_input import PanelInput
from app.figures.reliability_plot import reliability_plot
from knob_core.metrics.reliability import Reliability, bin_by_mass

BINS = 15


class Judged(NamedTuple):
    """Answers whose truth is known, over all paths: (N,) each, now and without Knob."""

    confidence: np.ndarray
    correct: np.ndarray
    confidence_without: np.ndarray
    correct_without: np.ndarray


def judged(shown: PanelInput) -> Judged | None:
    """The labelled answers of the frames that have arrived; None where there are none."""
    labels, now, bare = shown.stream.branches.frame_labels, shown.response, shown.stream.without_knob
    known = (labels >= 0) & (now.predicted >= 0)
    if not known.any():
        return None
    return Judged(
        now.p_max[known], now.predicted[known] == labels[known],
        bare.p_max[known], bare.predicted[known] == labels[known],
    )  # fmt: skip


def content(shown: PanelInput, unit: str) -> dict[str, Any]:
    """Figure, table and note."""
    found = judged(shown)
    if found is None:
        note = "nobody knows whether an unlabelled frame's answer is right: this panel needs labels"
        return {"figure": reliability_plot(None, None), "note": note}
    confidence, correct, confidence_without, correct_without = found
    now = bin_by_mass(confidence, correct, BINS)
    without = bin_by_mass(confidence_without, correct_without, BINS)
    rows = [["", "now", "without Knob"], *table(now, without)]
    rows += [["temperature", f"{shown.settings.temperature:g}", "1"]]
    note = (
        "above the dashed line it is too modest, below it promises too much; dotted: without Knob; tint: 95 % interval"
    )
    return {"figure": reliability_plot(now, without), "numbers": rows, "note": note, "temperature": True}


def table(now: Reliability, without: Reliability) -> list[list[str]]:
    """What is said, how often it is right, and the miscalibration."""

    def share(values: Any, of: Reliability) -> str:
        return f"{float(values @ of.counts) / of.counts.sum():.1%}"

    return [
        ["says, on average", share(now.confidence, now), share(without.confidence, without)],
        ["is right", share(now.accuracy, now), share(without.accuracy, without)],
        ["ECE", f"{now.ece_debiased():.3f}", f"{without.ece_debiased():.3f}"],
    ]
