"""From a setting to the calibration page's message: gate, fusion, reliability, heat maps. Runs while a knob turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app import results
from app.cells import Looked, Selection, cells_of
from app.figures import calibration as draw
from app.figures.parts import axis
from knob_core import gate, metrics
from knob_core.metrics.reliability import Reliability
from knob_core.probes.temperature import rank_correlation
from knob_core.reset_mode import Fused, Scores, cell_scores, fuse_all, prepare, quartiles, reset_gate, scores
from knob_core.settings import Settings

BINS = 15
EDGES = np.linspace(0, 1, 21)  # of the histogram
CARDS = (  # field, label, scale, digits, unit, help
    ("ece_deb", "miscalibration (ECE)", 1, 3, "", "How far what it says is from what it keeps, on average; "
     "debiased: what chance alone would show is taken off"),
    ("accuracy", "right answers", 100, 1, " %", "Predictions whose class is right"),
    ("nll", "surprise (NLL)", 1, 3, " nats", "Negative log-likelihood: how surprised it is by the truth; "
     "being sure and wrong costs most"),
    ("brier", "squared error (Brier)", 1, 3, "", "Mean squared distance between the probabilities and the truth, "
     "summed over the classes: 0 to 2"),
)  # fmt: skip
MORE_IS_BETTER = {"accuracy"}
WORDS = {  # jargon: what it means
    "Confidence": "the probability that the model gives to the class it names (p_max).",
    "Calibration": (
        "of all the times it says 80 %, it is right 80 % of the time. Below the diagonal it promises too much."
    ),
    "ECE": "expected calibration error: the mean gap between confidence and accuracy over 15 bins of equal counts, "
    "debiased: a perfect model on so few predictions would not show zero by chance, and that part is taken off.",
    "NLL and Brier": "proper scores: both get better when the model is right more often and when it is honestly sure.",
    "Agree, disagree": "whether the robust and the sharp branch name the same class for a picture.",
    "T_eff": "effective temperature: the surer branch's margin divided by the mix's, between the two classes that the "
    "mix finds likeliest. Along that pair it is never below 1; with each branch's own two classes it could be.",
    "CSR": "confidence-shrinkage ratio: the same as a share of confidence, never above 1.",
    "ρ": "Spearman's rank correlation of the medians with severity: 1 means that they rise together at every step.",
    "Temperature scaling": "the usual remedy: divide all logits by one number that was fitted on held-out pictures. "
    "It knows nothing of the picture at hand; a gate does.",
    "Reset Mode": "every picture by itself: the gate makes one step from rest. A stream settles at the command.",
}


@dataclass(frozen=True)
class Now:
    """Everything that one setting says about the chosen predictions."""

    fused: Fused
    scores: Scores
    tables: dict[str, Reliability]
    counts: np.ndarray  # (2, B) right and wrong predictions by confidence


@dataclass
class Memory:
    """What stood before this turn."""

    turn: int = -1
    key: tuple[Any, ...] = ()
    now: Now | None = None
    before: Now | None = None

    def see(self, now: Now, turn: int, key: tuple[Any, ...]) -> None:
        """Remember; at the first look at a selection there is nothing before it but itself."""
        if key != self.key:
            self.before = now
        elif turn != self.turn:
            self.before = self.now
        self.now, self.turn, self.key = now, turn, key


@dataclass(frozen=True)
class Fixed:
    """Rows of the comparison that no knob changes: name -> (help, scores)."""

    rows: dict[str, tuple[str, Scores]] = field(default_factory=dict)
    lacking: str = ""  # why there is no temperature scaling, if there is none


def gate_of(settings: Settings, looked: Looked, method: str) -> np.ndarray:
    """g (M,) in Reset Mode."""
    return reset_gate(looked.predictions.u_star, method, settings.zeta, settings.omega_n, settings.on)


def gain(settings: Settings, method: str) -> float:
    """The part of its way that the gate makes in one frame from rest."""
    return float(
        gate.reset_gain(settings.zeta, settings.omega_n) if method == "knob-ode" else gate.ema_alpha(settings.omega_n)
    )


def measure(looked: Looked, g: np.ndarray) -> Now:
    """All numbers under a gate g (M,)."""
    fused = fuse_all(looked.predictions, g)
    agree = looked.predictions.agree
    tables = {"all": metrics.reliability_table(fused.confidence, fused.correct, BINS)}
    for name, mask in (("agree", agree), ("disagree", ~agree)):
        if mask.any():
            tables[name] = metrics.reliability_table(fused.confidence[mask], fused.correct[mask], BINS)
    place = np.minimum((fused.confidence * (len(EDGES) - 1)).astype(np.intp), len(EDGES) - 2)
    counts = [np.bincount(place[mask], minlength=len(EDGES) - 1) for mask in (fused.correct, ~fused.correct)]
    means = (float(values.mean(dtype=np.float64)) for values in (fused.nll, fused.brier))
    found = Scores(float(fused.correct.mean()), tables["all"].ece_debiased(), *means)
    return Now(fused, found, tables, np.stack(counts))


def fixed(selection: Selection, looked: Looked) -> Fixed:
    """What the branches, the settled gate and temperature scaling give on the same predictions."""
    p = looked.predictions
    settled = reset_gate(p.u_star, selection.method, 1.0, 1.0, on=False)
    rows = {
        "gate as commanded": ("Frame by frame, or a stream at rest: g = σ(u*)", scores(fuse_all(p, settled))),
        "static branch alone": ("The robust branch, g = 0", scores(fuse_all(p, np.zeros_like(settled)))),
        "dynamic branch alone": ("The sharp branch, g = 1", scores(fuse_all(p, np.ones_like(settled)))),
    }
    fitted = results.temperatures()
    lacking = "" if fitted else "temperature scaling is not shown: `temperatures.csv` is missing; " + results.EVALUATE
    for on, words in (("clean", "clean pictures"), ("corrupted", "the four training corruptions")):
        t = fitted.get((selection.method, selection.seed, "settled", on))
        if t:
            help = f"The commanded gate with one temperature on top, fitted on held-out {words}"
            rows[f"gate as commanded + temperature {t:.2f} ({on})"] = (help, scores(fuse_all(p, settled, t)))
    try:
        plain = cells_of("static", selection.seed)
        chosen = [plain.cells.index(cell) for cell in looked.cells]
        alone = prepare(plain.z_static[chosen], plain.z_dyn[chosen], plain.u_star[chosen], plain.labels)
    except (OSError, ValueError):
        return Fixed(rows, lacking)
    shut = np.zeros(len(alone), np.float32)
    rows["Static model"] = ("The method without a gate, trained by itself", scores(fuse_all(alone, shut)))
    for on, words in (("clean", "clean pictures"), ("corrupted", "the four training corruptions")):
        t = fitted.get(("static", selection.seed, "fused", on))
        if t:
            help = f"What temperature scaling gives instead of a gate: fitted on held-out {words}"
            rows[f"Static model + temperature {t:.2f} ({on})"] = (help, scores(fuse_all(alone, shut, t)))
    return Fixed(rows, lacking)


def cards(now: Scores, before: Scores, commanded: Scores) -> list[dict[str, Any]]:
    """The big numbers, each beside what it was before this turn and with the gate as commanded."""
    out = []
    for name, label, scale, digits, unit, help in CARDS:
        texts = [f"{getattr(s, name) * scale:.{digits}f}{unit}" for s in (now, before, commanded)]
        change = getattr(now, name) - getattr(before, name)
        worse = change < 0 if name in MORE_IS_BETTER else change > 0
        mood = "" if abs(change) * scale < 0.5 * 10.0**-digits else "bad" if worse else "good"
        rest = [["before", texts[1]], ["as commanded", texts[2]]]
        out.append({"id": name, "label": label, "now": texts[0], "rest": rest, "help": help, "mood": mood})
    return out


def comparison(now: Scores, before: Scores, others: Fixed) -> dict[str, Any]:
    """The same four numbers for everything that could be used instead."""

    def row(name: str, help: str, s: Scores) -> dict[str, Any]:
        cells = [f"{getattr(s, field) * scale:.{digits}f}{unit}" for field, _, scale, digits, unit, _ in CARDS]
        return {"name": name, "help": help, "cells": cells}

    rows = [row("now", "Reset Mode at these knobs", now), row("before this turn", "At the knobs before", before)]
    rows += [row(name, help, s) for name, (help, s) in others.rows.items()]
    head = [["", ""], *([label, help] for _, label, _, _, _, help in CARDS)]
    return {"caption": "Instead of these knobs", "head": head, "rows": rows}


def figures(looked: Looked, now: Now, before: Now) -> list[dict[str, Any]]:
    """Every panel."""
    fused, shape = now.fused, (len(looked.cells), looked.samples)
    accuracy, ece = cell_scores(fused.confidence.reshape(shape), fused.correct.reshape(shape))
    same = before is now
    return [
        draw.reliability(now.tables, None if same else before.tables["all"]),
        draw.histogram(
            EDGES, now.counts[0], now.counts[1], None if same else before.counts.sum(0), float(fused.confidence.mean())
        ),
        draw.gaps(now.tables["all"], None if same else before.tables["all"]),
        *_temperature(looked, fused),
        draw.heat(
            "ece", ece.clip(0), looked.cells, (0.0, 0.2), "wrong", 2, title="Miscalibration (ECE) of every cell",
            note="Stronger red: further from the truth. Click a cell to see its pictures.",
            alt=f"heat map of the calibration error: {_worst(ece, looked.cells)}",
        ),
        draw.heat(
            "accuracy", 100 * accuracy, looked.cells, (30.0, 100.0), "static", 0,
            title="Right answers, %, of every cell",
            note="Stronger green: more often right. Click a cell to see its pictures.",
            alt=f"heat map of accuracy: {_worst(-accuracy, looked.cells)}",
        ),
    ]  # fmt: skip


def _worst(values: np.ndarray, cells: tuple[tuple[str, int], ...]) -> str:
    name, severity = cells[int(np.argmax(values))]
    return f"worst at {name.replace('_', ' ')}, severity {severity}"


def _temperature(looked: Looked, fused: Fused) -> list[dict[str, Any]]:
    levels = np.array(looked.levels)
    spreads: dict[str, dict[str, np.ndarray]] = {"t_eff": {}, "csr": {}}
    for name, subsets in spreads.items():
        values = getattr(fused, name)
        for subset, groups in looked.groups.items():
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
            f"name the same two classes first in {looked.top2_preserved:.0%} of predictions."
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


def message(
    selection: Selection, looked: Looked, settings: Settings, memory: Memory, turn: int, others: Fixed
) -> Mapping[str, Any]:
    """Cards, table and figures for the desk's setting."""
    now = measure(looked, gate_of(settings, looked, selection.method))
    memory.see(now, turn, (selection,))
    before = memory.before or now
    commanded = others.rows["gate as commanded"][1]
    return {
        "cards": cards(now.scores, before.scores, commanded),
        "table": comparison(now.scores, before.scores, others),
        "figures": figures(looked, now, before),
    }
