"""E-1 and E-2 of a gated model over all test cells, as rows; errors are over pictures.

The gate is taken in Reset Mode (one step from rest, the paper's tables) and settled (a stream at rest).
E-1's rank correlations and E-2's rivals go over corrupted images alone, so that every level sees the same samples.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knob_core import fusion, metrics
from knob_core.metrics import clustered
from knob_core.models import MODES
from knob_core.probes import learning, temperature
from train.measuring.branch_cache import BranchCache
from train.measuring.branch_outputs import BranchArrays, Member
from train.measuring.cell_images import CellPixels

Rows = list[dict[str, Any]]
TABLES = ("e1", "e1_summary", "e1_csr", "e1_reliability", "e2_test", "e2_rivals")
GATE_RANGE = (5, 95)  # percent


def pooled(member: Member, cache: BranchCache, pixels: CellPixels) -> tuple[BranchArrays, NDArray, NDArray]:
    """All C cells of a model as one set of M = C x N samples, cell by cell: branches, severity (M,), labels (M,)."""
    parts, severities = [], []
    for unit in pixels.units:
        for severity, branches in zip(pixels.severities(unit), cache.load(member, unit), strict=True):
            parts.append(branches)
            severities.append(np.full(len(pixels.labels), severity))
    names = ("z_static", "z_dyn", "u_star")
    branches = BranchArrays(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
    return branches, np.concatenate(severities), np.tile(pixels.labels, len(parts))


def probes(member: Member, cache: BranchCache, pixels: CellPixels) -> dict[str, Rows]:
    """The rows of every table."""
    branches, severity, labels = pooled(member, cache, pixels)
    found: dict[str, Rows] = {name: [] for name in TABLES}
    for mode in MODES:
        who = {"method": member.title, "seed": member.seed, "mode": mode}
        g = member.model.gate(branches.outputs().u_star, mode).detach().numpy()
        tables = _e1(branches, g, severity, labels, len(pixels.labels)) | _e2(branches, g, severity, labels)
        for name, rows in tables.items():
            found[name] += [{**who, **row} for row in rows]
    own = {"method": member.title, "seed": member.seed}
    found["e2_rivals"] = [{**own, **row} for row in _e2_rivals(branches, severity, labels, len(pixels.labels))]
    return found


def _e1(branches: BranchArrays, g: NDArray, severity: NDArray, labels: NDArray, pictures: int) -> dict[str, Rows]:
    z_static, z_dyn = branches.z_static, branches.z_dyn
    probe = temperature.temperature_probe(z_static, z_dyn, g, severity)
    fused = fusion.diagnose(z_static, z_dyn, g)
    cells = severity.reshape(-1, pictures)[:, 0]  # (C,)
    csr = {
        name: _by_severity(fused.csr, mask, cells, pictures)
        for name, mask in temperature.masks(z_static, z_dyn).items()
    }
    rows = []
    for row in probe.rows:
        flat = asdict(row)
        for name in ("t_eff", "csr"):
            flat |= {f"{name}_{key}": value for key, value in flat.pop(name).items()}
        sums, counts = csr[row.subset][row.severity]
        rows.append({**flat, "csr_sem": clustered.mean(sums, counts).error})
    corrupted = severity > 0
    levels = rank_levels(fused.t_eff.reshape(-1, pictures)[cells > 0], cells[cells > 0])
    summary = {f"spearman_{name}": value for name, value in levels.items()} | {
        "t_eff_min": probe.t_eff_min,
        "csr_max": probe.csr_max,
        "agree": float(fusion.agreement(z_static, z_dyn).mean()),
        "agree_corrupted": float(fusion.agreement(z_static[corrupted], z_dyn[corrupted]).mean()),
        "top2_preserved": float(fusion.top2_preserved(z_static, z_dyn).mean()),
        **_gate_range(g[corrupted]),
    }
    tables = temperature.reliability_by_subset(z_static[corrupted], z_dyn[corrupted], g[corrupted], labels[corrupted])
    bins = []
    for subset, table in tables.items():
        for b in range(len(table.counts)):
            columns = ("counts", "confidence", "accuracy", "gap", "low", "high")
            bins.append({"subset": subset, "bin": b} | {name: getattr(table, name)[b] for name in columns})
    changes = [{"subset": subset, **_change(found)} for subset, found in csr.items()]
    return {"e1": rows, "e1_summary": [summary], "e1_csr": changes, "e1_reliability": bins}


def _gate_range(g: NDArray) -> dict[str, float]:
    low, high = np.percentile(g, GATE_RANGE)
    return {"gate_q05": float(low), "gate_q95": float(high)}


def rank_levels(t_eff: NDArray, severity: NDArray) -> dict[str, float]:
    """Spearman's rho of T_eff (C, N) with severity (C,) at three levels, each with its error over pictures.

    severity_medians: the median of each severity; cell_medians: of each corruption and severity; samples: every sample.
    """

    def levels(kept: NDArray) -> list[float]:
        values = t_eff[:, kept]
        steps = np.unique(severity)
        by_severity = np.array([np.median(values[severity == step]) for step in steps])
        return [
            temperature.rank_correlation(steps, by_severity),
            temperature.rank_correlation(severity, np.median(values, 1)),
            temperature.rank_correlation(np.repeat(severity, len(kept)), values.ravel()),
        ]

    whole = levels(np.arange(t_eff.shape[1]))
    without = clustered.left_out(levels, t_eff.shape[1])  # (G, 3)
    found: dict[str, float] = {}
    for index, name in enumerate(("severity_medians", "cell_medians", "samples")):
        value, error = clustered.jackknife(whole[index], without[:, index])
        found |= {name: value, f"{name}_error": error}
    return found


def _by_severity(values: NDArray, mask: NDArray, cells: NDArray, pictures: int) -> dict[float, tuple[NDArray, NDArray]]:
    """Pictures' sums and counts of the values inside a mask, (N,) each, by severity."""
    inside = mask.reshape(-1, pictures)
    summed = np.where(inside, values.reshape(-1, pictures), 0.0)
    return {
        float(s): (summed[cells == s].sum(0, dtype=np.float64), inside[cells == s].sum(0)) for s in np.unique(cells)
    }


def _change(by_severity: dict[float, tuple[NDArray, NDArray]]) -> dict[str, float]:
    """The mean at the highest severity less that at the lowest above 0, from each picture's part in both."""
    steps = [step for step in by_severity if step > 0]
    low, high = (clustered.mean(*by_severity[step]) for step in (steps[0], steps[-1]))
    moved = np.zeros(len(by_severity[steps[0]][0]))
    for sign, step, mean in ((-1, steps[0], low), (1, steps[-1], high)):
        sums, counts = by_severity[step]
        moved += sign * (sums - mean.value * counts) / max(counts.sum(), 1)  # (N,) influence on the difference
    n = len(moved)
    error = float(np.sqrt(n / max(n - 1, 1) * np.square(moved).sum()))
    return {"first": low.value, "last": high.value, "change": high.value - low.value, "error": error}


def _e2(branches: BranchArrays, g: NDArray, severity: NDArray, labels: NDArray) -> dict[str, Rows]:
    rows = []
    scopes: dict[str, NDArray] = {"all": np.ones(len(g), bool), "corrupted": severity > 0}
    scopes |= {str(s): severity == s for s in np.unique(severity)}
    for scope, mask in scopes.items():
        probe = learning.gate_advantage(branches.z_static[mask], branches.z_dyn[mask], g[mask], labels[mask])
        for subset in learning.SUBSETS:
            rows.append(
                {
                    "severity": scope,
                    "subset": subset,
                    "share": probe.share[subset],
                    "auc_oa": probe.auc_oa[subset],
                    "auc_oa_error": probe.auc_oa_error[subset],
                    "auc_gca": probe.auc_gca[subset],
                    "auc_gca_error": probe.auc_gca_error[subset],
                    "polarisation": probe.polarisation,
                    "saturated": probe.saturated,
                    "gate_mean": float(g[mask].mean()),
                }
            )
    return {"e2_test": rows}


def _e2_rivals(branches: BranchArrays, severity: NDArray, labels: NDArray, pictures: int) -> Rows:
    """AUC against OA of the command and of what needs no gate, each branch's p_max; corrupted images."""
    cells = severity.reshape(-1, pictures)[:, 0] > 0

    def grid(values: NDArray) -> NDArray:
        return values.reshape(-1, pictures)[cells]

    oa = grid(learning.oracle_advantage(branches.z_static, branches.z_dyn, labels))
    scores = {
        "gate": grid(branches.u_star),
        "p_max dynamic": grid(metrics.softmax(branches.z_dyn).max(-1)),
        "p_max static": grid(metrics.softmax(branches.z_static).max(-1)),
    }

    def aucs(kept: NDArray) -> list[float]:
        return [learning.auc(score[:, kept].ravel(), oa[:, kept].ravel()) for score in scores.values()]

    whole, without = np.array(aucs(np.arange(pictures))), clustered.left_out(aucs, pictures)
    rows = []
    for index, name in enumerate(scores):
        auc = clustered.jackknife(whole[index], without[:, index])
        behind = clustered.jackknife(whole[0] - whole[index], without[:, 0] - without[:, index])
        rows.append({"score": name, "auc_oa": auc.value, "error": auc.error, "gate_less_this": behind.value,
                     "difference_error": behind.error})  # fmt: skip
    return rows
