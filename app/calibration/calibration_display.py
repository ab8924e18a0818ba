"""From measured numbers to the calibration page's cards, table and figures. It draws and changes no state."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.calibration.cell_measures import EDGES, Measured
from app.calibration.comparison import Alternatives, cards, comparison
from app.calibration.predictions import ShownPredictions
from app.figures import calibration_figures as draw
from app.figures.figure_parts import axis
from knob_core.metrics import quartiles
from knob_core.probes.temperature import rank_correlation
from knob_core.reset_mode import Fused, cell_scores


def update(shown: ShownPredictions, now: Measured, before: Measured, others: Alternatives) -> dict[str, Any]:
    """Cards, table and figures of the figure sheet."""
    return {
        "cards": cards(now.scores, before.scores, others.without_knob),
        "table": comparison(now.scores, before.scores, others),
        "figures": figures(shown, now, before),
    }


def figures(shown: ShownPredictions, now: Measured, before: Measured) -> list[dict[str, Any]]:
    """Every panel."""
    fused, shape = now.fused, (len(shown.cells), shown.samples)
    accuracy, ece = cell_scores(fused.confidence.reshape(shape), fused.correct.reshape(shape))
    same = before is now
    return [
        draw.reliability(now.tables, None if same else before.tables["all"]),
        draw.histogram(
            EDGES, now.counts[0], now.counts[1], None if same else before.counts.sum(0), float(fused.confidence.mean())
        ),
        draw.gaps(now.tables["all"], None if same else before.tables["all"]),
        *_temperature(shown, fused),
        draw.heat(
            "ece", ece.clip(0), shown.cells, (0.0, 0.2), "wrong", 2, title="Miscalibration (ECE) of every cell",
            note="Stronger red: further from the truth. Click a cell to see its pictures.",
            alt=f"heat map of the calibration error: {_worst(ece, shown.cells)}",
        ),
        draw.heat(
            "accuracy", 100 * accuracy, shown.cells, (30.0, 100.0), "static", 0,
            title="Right answers, %, of every cell",
            note="Stronger green: more often right. Click a cell to see its pictures.",
            alt=f"heat map of accuracy: {_worst(-accuracy, shown.cells)}",
        ),
    ]  # fmt: skip


def _worst(values: np.ndarray, cells: tuple[tuple[str, int], ...]) -> str:
    name, severity = cells[int(np.argmax(values))]
    return f"worst at {name.replace('_', ' ')}, severity {severity}"


def _temperature(shown: ShownPredictions, fused: Fused) -> list[dict[str, Any]]:
    levels = np.array(shown.levels)
    spreads: dict[str, dict[str, np.ndarray]] = {"t_eff": {}, "csr": {}}
    for name, subsets in spreads.items():
        values = getattr(fused, name)
        for subset, groups in shown.groups.items():
            nothing = np.full(3, np.nan)
            subsets[subset] = np.stack([quartiles(values[here]) if len(here) else nothing for here in groups], axis=1)
    rho = rank_correlation(levels, spreads["t_eff"]["all"][1])
    rho_csr = rank_correlation(levels, spreads["csr"]["all"][1])
    # Most mixing cools by a few percent, some by a factor of three: T_eff - 1 on a logarithmic scale shows both.
    hotter = {name: np.maximum(part - 1, 1e-9) for name, part in spreads["t_eff"].items()}
    t_axis = axis((-2.4, 1.05), "effective temperature", [0.01, 0.03, 0.1, 0.3, 1, 3, 10], type="log",
                  ticktext=["1.01", "1.03", "1.1", "1.3", "2", "4", "11"])  # fmt: skip
    t_words = {
        "title": "Fusion as a temperature (T_eff)", "span": (10**-2.4, 10**1.05), "yaxis": t_axis,
        "note": (
            f"Mixing cools the surer branch by this factor. ρ with severity: {_rho(rho)} (of the medians). Both "
            f"branches "
            f"name the same two classes first in {shown.top2_preserved:.0%} of predictions."
        ),
        "alt": f"effective temperature by severity, medians and quartiles; rank correlation {_rho(rho)}",
    }  # fmt: skip
    lost = float(np.nanmax([1 - part[0] for part in spreads["csr"].values()]))
    least = 1 - draw.ladder(lost, (0.02, 0.1, 0.2, 0.5))  # along the fused pair no more than half can be lost
    c_span = (least, 1 + 0.05 * (1 - least))
    c_words = {
        "title": "How much confidence is left (CSR)", "span": c_span, "yaxis": axis(c_span, "share kept", titlegap=40),
        "note": (
            f"1 keeps all of the surer branch's confidence, 0.9 nine tenths of it. ρ with severity: {_rho(rho_csr)}."
        ),
        "alt": f"confidence shrinkage by severity, medians and quartiles; rank correlation {_rho(rho_csr)}",
    }  # fmt: skip
    return [
        draw.by_severity("t_eff", levels, hotter, t_words),
        draw.by_severity("csr", levels, spreads["csr"], c_words),
    ]


def _rho(value: float) -> str:
    return "not defined" if np.isnan(value) else f"{value:.2f}".replace("-", "−")
