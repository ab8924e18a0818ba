"""E-2: does the gate lean towards the better branch?

OA = [CE_dyn < CE_static],  GCA = [dCE(fused)/dg < 0],  Π = E|g - 0.5|;  ROC-AUC of g against OA and GCA.
Paper, section 4.3.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from knob_core import fusion, metrics

SUBSETS = ("all", "disagree", "dyn_margin_larger", "static_margin_larger")


@dataclass(frozen=True)
class GateAdvantage:
    """AUC by subset (NaN where a subset lacks one of the two outcomes), polarisation, and the share of each subset."""

    auc_oa: dict[str, float]
    auc_gca: dict[str, float]
    auc_oa_error: dict[str, float]  # standard errors
    auc_gca_error: dict[str, float]
    share: dict[str, float]
    polarisation: float
    saturated: float  # share of samples with g outside [0.02, 0.98]


def auc(score: ArrayLike, positive: ArrayLike) -> float:
    """ROC-AUC: the chance that a positive scores above a negative, ties counting half. NaN without both kinds."""
    score, positive = np.asarray(score, float), np.asarray(positive, bool)
    n_pos = int(positive.sum())
    n_neg = positive.size - n_pos
    if not n_pos or not n_neg:
        return float("nan")
    return float((rankdata(score)[positive].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg))


def auc_error(score: ArrayLike, positive: ArrayLike) -> float:
    """Standard error of `auc` (DeLong, DeLong & Clarke-Pearson 1988); NaN without two of both kinds.

    A sample's placement is the share of the other kind that it beats; their variances over each kind make up the AUC's.
    """
    score, positive = np.asarray(score, float), np.asarray(positive, bool)
    n_pos = int(positive.sum())
    n_neg = positive.size - n_pos
    if n_pos < 2 or n_neg < 2:
        return float("nan")
    ranks = rankdata(score)
    beats_neg = (ranks[positive] - rankdata(score[positive])) / n_neg  # (n_pos,)
    beats_pos = (ranks[~positive] - rankdata(score[~positive])) / n_pos  # (n_neg,)
    return float(np.sqrt(beats_neg.var(ddof=1) / n_pos + beats_pos.var(ddof=1) / n_neg))


def oracle_advantage(z_static: NDArray, z_dyn: NDArray, labels: NDArray) -> NDArray[np.bool_]:
    """OA (N,): the dynamic branch has the lower cross-entropy."""
    rows = np.arange(len(labels))
    return metrics.log_softmax(z_dyn)[rows, labels] > metrics.log_softmax(z_static)[rows, labels]


def gradient_advantage(z_static: NDArray, z_dyn: NDArray, g: NDArray, labels: NDArray) -> NDArray[np.bool_]:
    """GCA (N,): opening the gate a little lowers the fused loss. dCE/dg = Σ_k (p_k - y_k)(z_dyn - z_static)_k."""
    residual = np.exp(metrics.log_softmax(fusion.fuse(z_static, z_dyn, g)))  # (N, K)
    residual[np.arange(len(labels)), labels] -= 1
    return (residual * (z_dyn - z_static)).sum(-1) < 0


def gate_advantage(z_static: NDArray, z_dyn: NDArray, g: NDArray, labels: NDArray) -> GateAdvantage:
    """The probe over N samples: branches (N, K), gate (N,), labels (N,)."""
    oa = oracle_advantage(z_static, z_dyn, labels)
    gca = gradient_advantage(z_static, z_dyn, g, labels)
    m_static, m_dyn, _ = fusion.margins(z_static, z_dyn, g)
    masks = {
        "all": np.ones(len(labels), bool),
        "disagree": z_static.argmax(-1) != z_dyn.argmax(-1),
        "dyn_margin_larger": m_dyn > m_static,
        "static_margin_larger": m_dyn <= m_static,
    }
    return GateAdvantage(
        auc_oa={name: auc(g[mask], oa[mask]) for name, mask in masks.items()},
        auc_gca={name: auc(g[mask], gca[mask]) for name, mask in masks.items()},
        auc_oa_error={name: auc_error(g[mask], oa[mask]) for name, mask in masks.items()},
        auc_gca_error={name: auc_error(g[mask], gca[mask]) for name, mask in masks.items()},
        share={name: float(mask.mean()) for name, mask in masks.items()},
        polarisation=float(np.abs(g - 0.5).mean()),
        saturated=float(((g < 0.02) | (g > 0.98)).mean()),
    )
