"""Numbers that others published, each with its source: the only literals among our results."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd


class PaperRow(NamedTuple):
    """Tables 1 and 2 of the paper (ResNet-18, CIFAR-10-C with all 19 corruptions, Reset Mode, mean of three runs)."""

    avg_c: float  # percent
    ece_deb: float
    latency_ms: float
    params_m: float  # millions
    gflops: float


PAPER = {
    "static": PaperRow(71.25, 0.1553, 3.48, 11.70, 0.5584),
    "attention": PaperRow(70.45, 0.1648, 3.51, 11.90, 0.5586),
    "knob-ia": PaperRow(72.52, 0.1617, 3.49, 11.77, 0.5585),
    "ode-lite": PaperRow(71.62, 0.1488, 3.64, 11.77, 0.5585),
    "knob-ode": PaperRow(71.49, 0.1829, 4.41, 11.77, 0.5585),
}

# The paper's probes: section 4.3, figures E-1 to E-3.
PAPER_SPEARMAN = 0.6  # of T_eff with severity
PAPER_AUC_OA, PAPER_AUC_GCA, PAPER_POLARISATION = 0.79, 0.74, 0.10  # by epoch 50


class Anchor(NamedTuple):
    """A published result for CIFAR-10-C, standard 15 corruptions; not measured here."""

    what: str
    network: str
    avg_c: float | None  # percent
    ece: float


ANCHORS = (
    Anchor("plain training", "ResNet-18", 74.6, 0.166),
    Anchor("AugMix", "ResNet-18", 86.6, 0.069),
    Anchor("AugMix + JSD + RLAT", "ResNet-18", 89.6, 0.045),
    Anchor("SNGP + AugMix", "WRN-28-10", None, 0.015),
)


def paper() -> pd.DataFrame:
    """The paper's rows as a table, one a method."""
    return pd.DataFrame([{"method": method, **row._asdict()} for method, row in PAPER.items()])


def anchors() -> pd.DataFrame:
    """The published anchors as a table."""
    return pd.DataFrame([anchor._asdict() for anchor in ANCHORS])
