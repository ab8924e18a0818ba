"""E-1: does fusion act as a temperature that rises with the difficulty of the input?

T_eff = max(m_static, m_dyn) / m_fuse >= 1,  CSR = s(m_fuse) / s(max(m_static, m_dyn)) <= 1, by severity and agreement.
Paper, sections 3.3 and 4.3.1; margins along the fused top-2 (`knob_core.fusion`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from knob_core import fusion, metrics
from knob_core.metrics.reliability import Reliability

SUBSETS = ("all", "agree", "disagree")


@dataclass(frozen=True)
class Spread:
    """Quartiles of some samples; NaN where there are none."""

    q25: float
    median: float
    q75: float


@dataclass(frozen=True)
class TemperatureRow:
    """One severity, one subset."""

    severity: float
    subset: str
    count: int
    t_eff: Spread
    csr: Spread
    csr_mean: float
    csr_sem: float
    top2_preserved: float  # share of samples whose branches have the same top class and runner-up


@dataclass(frozen=True)
class TemperatureProbe:
    """The rows, and how T_eff goes with severity: Spearman over each severity's median, and over single samples."""

    rows: tuple[TemperatureRow, ...]
    spearman_medians: float
    spearman_samples: float
    t_eff_min: float
    csr_max: float

    def row(self, severity: float, subset: str = "all") -> TemperatureRow:
        return next(row for row in self.rows if (row.severity, row.subset) == (severity, subset))


def spread(values: NDArray) -> Spread:
    """Quartiles of values (n,); NaN where there is none."""
    return Spread(*metrics.quartiles(values).tolist()) if len(values) else Spread(np.nan, np.nan, np.nan)


def masks(z_static: NDArray, z_dyn: NDArray) -> dict[str, NDArray[np.bool_]]:
    """Which of N samples each subset holds: all, and by whether the branches have the same top class."""
    agree = fusion.agreement(z_static, z_dyn)
    return {"all": np.ones_like(agree), "agree": agree, "disagree": ~agree}


def temperature_probe(z_static: NDArray, z_dyn: NDArray, g: NDArray, severity: NDArray) -> TemperatureProbe:
    """The probe over N samples: branches (N, K), gate (N,), severity (N,)."""
    fused = fusion.diagnose(z_static, z_dyn, g)
    preserved = fusion.top2_preserved(z_static, z_dyn)
    subsets = masks(z_static, z_dyn)
    levels = np.unique(severity)
    rows = []
    for level in levels:
        for name, mask in subsets.items():
            here = mask & (severity == level)
            n, csr = int(here.sum()), fused.csr[here].astype(np.float64)
            rows.append(
                TemperatureRow(
                    float(level), name, n, spread(fused.t_eff[here]), spread(csr),
                    csr_mean=float(csr.mean()) if n else np.nan,
                    csr_sem=float(csr.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan,
                    top2_preserved=float(preserved[here].mean()) if n else np.nan,
                )
            )  # fmt: skip
    medians = [row.t_eff.median for row in rows if row.subset == "all"]
    return TemperatureProbe(
        rows=tuple(rows),
        spearman_medians=rank_correlation(levels, np.array(medians)),
        spearman_samples=rank_correlation(severity, fused.t_eff),
        t_eff_min=float(fused.t_eff.min()),
        csr_max=float(fused.csr.max()),
    )


def rank_correlation(x: NDArray, y: NDArray) -> float:
    """Spearman's rho; NaN where one of the two never changes."""
    if len(x) < 2 or np.ptp(x) == 0 or (y == y[0]).all():
        return float("nan")
    return float(spearmanr(x, y).statistic)


def reliability_by_subset(
    z_static: NDArray, z_dyn: NDArray, g: NDArray, labels: NDArray, bins: int = 15
) -> dict[str, Reliability]:
    """Reliability of the fused output where the branches agree, where not, and over all; empty subsets left out."""
    confidence, correct = metrics.top_label_of_logits(fusion.fuse(z_static, z_dyn, g), labels)
    tables = {}
    for name, mask in masks(z_static, z_dyn).items():
        if mask.any():
            tables[name] = metrics.reliability_table(confidence[mask], correct[mask], bins)
    return tables
