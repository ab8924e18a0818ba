"""The Temperature panel: how much mixing two branches takes from confidence, along the stream and by severity."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.console.panels.panel_input import PanelInput
from app.figures.temperature_plot import temperature_plot
from knob_core import fusion
from knob_core.metrics import quartiles


def content(shown: PanelInput, unit: str) -> dict[str, Any]:
    """Figure, table and note."""
    if not shown.gated:
        note = "this model mixes no branches, so nothing shrinks its confidence: T_eff and CSR are 1 at every frame"
        return {"figure": temperature_plot(None, None, None, None), "note": note}
    stream, response = shown.stream, shown.response
    rows, severity = stream.rows(), stream.drawn_severity
    arrived = np.isfinite(response.g)
    t_eff, csr = np.full(arrived.shape, np.nan), np.full(arrived.shape, np.nan)
    branches = stream.branches
    t_eff[arrived], csr[arrived] = fusion.shrinkage(
        branches.z_static[arrived], branches.z_dyn[arrived], response.g[arrived].astype(branches.z_static.dtype)
    )
    agree, apart = arrived & stream.branches_agree, arrived & ~stream.branches_agree
    levels = None
    if severity is not None and severity.ndim == 1 and np.ptp(severity) > 0.5:
        nearest = np.rint(severity)
        levels = np.unique(nearest), _by_level(t_eff, agree, nearest), _by_level(t_eff, apart, nearest)
    figure = temperature_plot(
        quartiles(t_eff[rows]), quartiles(csr[rows]), np.median(response.p_max[rows], axis=0), levels
    )
    numbers = [["branches", "agree", "disagree"]]
    numbers.append(["share of frames", *(f"{split.sum() / max(1, arrived.sum()):.1%}" for split in (agree, apart))])
    for name, values in (("median T_eff", t_eff), ("median CSR", csr)):
        numbers.append([name, *(_text(_median(values[split])) for split in (agree, apart))])
    note = (
        "T_eff: how many times hotter the mix is than the surer branch; CSR: the share of its confidence that is left; "
        "thin: confidence"
    )
    return {"figure": figure, "numbers": numbers, "note": note}


def _by_level(values: np.ndarray, split: np.ndarray, nearest: np.ndarray) -> np.ndarray:
    """(L,) medians over the frames of `split` at each level of severity (T,)."""
    return np.array([_median(values[split & (nearest == level)]) for level in np.unique(nearest)])


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if len(values) else np.nan


def _text(value: float) -> str:
    return f"{value:.3f}" if np.isfinite(value) else "–"
