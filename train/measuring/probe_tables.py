"""E-1 and E-2 of a gated model over all test cells, as rows.

The gate is taken in both modes: Reset (one step from rest, the paper's tables) and settled (a stream at rest).
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knob_core import fusion
from knob_core.models import MODES
from knob_core.probes import learning, temperature
from train.measuring.branch_cache import BranchCache
from train.measuring.branch_outputs import BranchArrays, Member
from train.measuring.cell_images import CellPixels

Rows = list[dict[str, Any]]


def pooled(member: Member, cache: BranchCache, pixels: CellPixels) -> tuple[BranchArrays, NDArray, NDArray, NDArray]:
    """All cells of a model as one set: branches, severity (M,), corruption's number (M,), labels (M,)."""
    parts, severities, units, labels = [], [], [], []
    for number, unit in enumerate(pixels.units):
        for severity, branches in zip(pixels.severities(unit), cache.load(member, unit), strict=True):
            parts.append(branches)
            severities.append(np.full(len(pixels.labels), severity))
            units.append(np.full(len(pixels.labels), number))
            labels.append(pixels.labels)
    names = ("z_static", "z_dyn", "u_star")
    branches = BranchArrays(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))
    return branches, np.concatenate(severities), np.concatenate(units), np.concatenate(labels)


def probes(member: Member, cache: BranchCache, pixels: CellPixels) -> dict[str, Rows]:
    """The rows of e1, e1_summary, e1_reliability and e2_test."""
    branches, severity, unit, labels = pooled(member, cache, pixels)
    found: dict[str, Rows] = {"e1": [], "e1_summary": [], "e1_reliability": [], "e2_test": []}
    for mode in MODES:
        who = {"method": member.method, "seed": member.seed, "mode": mode}
        g = member.model.gate(branches.outputs().u_star, mode).detach().numpy()
        for name, rows in (_e1(branches, g, severity, unit, labels) | _e2(branches, g, severity, labels)).items():
            found[name] += [{**who, **row} for row in rows]
    return found


def _e1(branches: BranchArrays, g: NDArray, severity: NDArray, unit: NDArray, labels: NDArray) -> dict[str, Rows]:
    z_static, z_dyn = branches.z_static, branches.z_dyn
    probe = temperature.temperature_probe(z_static, z_dyn, g, severity)
    rows = []
    for row in probe.rows:
        flat = asdict(row)
        for name in ("t_eff", "csr"):
            flat |= {f"{name}_{key}": value for key, value in flat.pop(name).items()}
        rows.append(flat)
    t_eff = fusion.effective_temperature(z_static, z_dyn, g)
    corrupted = severity > 0
    cells = sorted(set(zip(unit[corrupted].tolist(), severity[corrupted].tolist(), strict=True)))
    medians = np.array([np.median(t_eff[(unit == u) & (severity == s)]) for u, s in cells])
    summary = {
        "spearman_severity_medians": probe.spearman_medians,
        "spearman_cell_medians": temperature.rank_correlation(np.array([s for _, s in cells]), medians),
        "spearman_samples": probe.spearman_samples,
        "t_eff_min": probe.t_eff_min,
        "csr_max": probe.csr_max,
        "agree": float(fusion.agreement(z_static, z_dyn).mean()),
        "top2_preserved": float(fusion.top2_preserved(z_static, z_dyn).mean()),
    }
    tables = temperature.reliability_by_subset(z_static[corrupted], z_dyn[corrupted], g[corrupted], labels[corrupted])
    bins = []
    for subset, table in tables.items():
        for b in range(len(table.counts)):
            columns = ("counts", "confidence", "accuracy", "gap", "low", "high")
            bins.append({"subset": subset, "bin": b} | {name: getattr(table, name)[b] for name in columns})
    return {"e1": rows, "e1_summary": [summary], "e1_reliability": bins}


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
