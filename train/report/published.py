"""Numbers that others published, each with its source: the only literals among our results.

The paper's rows of Tables 1 and 2 stand beside their methods in `knob_core.methods`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import pandas as pd

from knob_core.methods import METHODS, PaperRow

PAPER = {key: method.paper for key, method in METHODS.items() if method.paper is not None}  # tables 1 and 2
NOT_IN_THE_PAPER = PaperRow(*[math.nan] * len(PaperRow._fields))

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
