"""The Learning page's numbers: what training did to the gate, epoch by epoch (E-2), and the reading in words."""

from __future__ import annotations

import numpy as np
import pandas as pd

from app.console.setting_words import DAMPING, damping
from knob_core.methods import DEFAULT, GATED

SUBSETS = {
    "all": "all pictures",
    "disagree": "pictures on which the branches disagree",
    "dyn_margin_larger": "pictures on which the sharp branch is surer",
    "static_margin_larger": "pictures on which the robust branch is surer",
}
CHANCE = 0.5


def gated(learning: pd.DataFrame) -> list[str]:
    """Methods with a gate that was probed, the default first."""
    if "auc_oa_all" not in learning.columns:
        return []
    probed = set(learning.dropna(subset=["auc_oa_all"])["method"])
    return sorted(probed.intersection(GATED), key=lambda m: (m != DEFAULT, -GATED.index(m)))


def ends(frame: pd.DataFrame, column: str) -> tuple[float, float] | None:
    """(first, last) value over epochs, mean of seeds; None where the column is empty."""
    if column not in frame.columns or frame[column].notna().sum() == 0:
        return None
    mean = frame.dropna(subset=[column]).groupby("epoch")[column].mean()
    return float(mean.iloc[0]), float(mean.iloc[-1])


def final(frame: pd.DataFrame) -> pd.DataFrame:
    """Where every seed ends, subset by subset: AUC against OA and GCA; mean and scatter where seeds are several."""
    last = frame.sort_values("epoch").groupby("seed").last()
    rows = []
    for subset, words in SUBSETS.items():
        row: dict[str, object] = {"pictures": words}
        for kind in ("oa", "gca"):
            column = f"auc_{kind}_{subset}"
            values = last[column] if column in last.columns else pd.Series(np.nan, index=last.index)
            if len(values) > 1:
                row |= {f"{kind.upper()}, mean": values.mean(), f"{kind.upper()}, ±": values.std(ddof=1)}
            row |= {f"{kind.upper()}, seed {seed}": value for seed, value in values.items()}
        rows.append(row)
    return pd.DataFrame(rows)


def scatter(frame: pd.DataFrame, column: str) -> float:
    """Standard deviation over seeds of the last value; NaN for a single seed."""
    last = frame.dropna(subset=[column]).sort_values("epoch").groupby("seed")[column].last()
    return float(last.std(ddof=1)) if len(last) > 1 else float("nan")


def reading(frame: pd.DataFrame, subset: str) -> list[str]:
    """What the curves say, in words, from the numbers."""
    out = []
    auc = ends(frame, f"auc_oa_{subset}")
    if auc:
        verdict = "no better" if auc[1] < 0.55 else "better" if auc[1] < 0.7 else "clearly better"
        spread = scatter(frame, f"auc_oa_{subset}")
        seeds = "" if np.isnan(spread) else f" (± {spread:.2f} over seeds)"
        out.append(
            f"**Does it lean towards the better branch?** On {SUBSETS[subset]} the chance that the gate is higher "
            f"where the sharp branch is really better is {auc[1]:.2f}{seeds}, {verdict} than guessing (0.50); it began "
            f"at {auc[0]:.2f}."
        )
    gradient = ends(frame, f"auc_gca_{subset}")
    if gradient:
        out.append(
            f"**Would opening it further help?** Measured by the loss's own slope, the same chance is "
            f"{gradient[1]:.2f}."
        )
    polarisation = ends(frame, "polarisation")
    if polarisation:
        way = "further from" if polarisation[1] > polarisation[0] else "nearer to"
        out.append(
            f"**Does it mix or switch?** Π, the mean distance from an even mix, goes from {polarisation[0]:.2f} to "
            f"{polarisation[1]:.2f}: {way} the middle; 0 always mixes evenly, 0.5 always switches."
        )
    clean, corrupted = ends(frame, "gate_clean"), ends(frame, "gate_corrupted")
    if clean and corrupted:
        verdict = "it trusts the sharp branch less when the picture is bad" if corrupted[1] < clean[1] else (
            "it does not trust the sharp branch less when the picture is bad"
        )  # fmt: skip
        out.append(
            f"**Does it see bad pictures?** The mean gate is {clean[1]:.2f} on clean and {corrupted[1]:.2f} on "
            f"corrupted pictures: {verdict}."
        )
    zeta, omega_n = ends(frame, "zeta"), ends(frame, "omega_n")
    if zeta and omega_n:
        kind = DAMPING[damping(zeta[1], omega_n[1])]
        out.append(
            f"**Where did training leave the knobs?** ζ from {zeta[0]:.2f} to {zeta[1]:.2f} ({kind}), ωₙ from "
            f"{omega_n[0]:.2f} to {omega_n[1]:.2f} rad/frame. An operator may turn both afterwards; no weight changes."
        )
    return out
