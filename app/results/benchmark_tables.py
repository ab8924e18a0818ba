"""The Results page's numbers: Tables 1 and 2, anchors, each corruption, Pareto points. Frames in, frames out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from app.console.stream_choice import CORRUPTION_NAMES
from knob_core import methods

METHODS = {key: method.name for key, method in methods.METHODS.items()}  # in the family's order
SCOPES = {
    "all 19": "all 19 corruptions, as in the paper",
    "standard 15": "the 15 standard corruptions, none of them seen in training",
    "training 4": "the 4 corruptions seen in training",
    "clean": "clean pictures",
}
OUTPUTS = {
    "fused": "Reset Mode: one step from rest, as in the paper",
    "settled": "settled gate: a stream at rest",
    "static": "static branch alone",
    "dyn": "dynamic branch alone",
    "fused_t_clean": "Reset Mode + temperature fitted on clean pictures",
    "fused_t_corrupted": "Reset Mode + temperature fitted on the training corruptions",
    "settled_t_clean": "settled gate + temperature fitted on clean pictures",
    "settled_t_corrupted": "settled gate + temperature fitted on the training corruptions",
}
METRICS = {  # column: (label, scale, digits)
    "accuracy": ("accuracy, %", 100, 2),
    "ece_deb": ("ECE (debiased)", 1, 4),
    "ece": ("ECE", 1, 4),
    "nll": ("NLL, nats", 1, 3),
    "brier": ("Brier", 1, 3),
}


def order(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows in the family's order; methods that nobody knows are left out."""
    known = frame[frame["method"].isin(list(METHODS))].copy()
    known["place"] = known["method"].map(list(METHODS).index)
    return known.sort_values("place", kind="stable").drop(columns="place").reset_index(drop=True)


def over_seeds(summary: pd.DataFrame, output: str, scope: str) -> pd.DataFrame:
    """Mean and standard deviation over seeds of every metric, one row a method."""
    part = summary[(summary["output"] == output) & (summary["scope"] == scope)]
    groups = part.groupby("method")[list(METRICS)]
    parts = [getattr(groups, what)().add_suffix(f"_{what}") for what in ("mean", "std", "count")]
    return order(pd.concat(parts, axis=1).reset_index())


def table_1(summary: pd.DataFrame, paper: pd.DataFrame | None, output: str, scope: str) -> pd.DataFrame:
    """Accuracy and calibration, ours and (for the scope that it has) the paper's."""
    found = over_seeds(summary, output, scope)
    rows = pd.DataFrame({"method": found["method"].map(METHODS), "seeds": found["accuracy_count"].astype(int)})
    rows["Avg-C, %"] = 100 * found["accuracy_mean"]
    rows["± Avg-C"] = 100 * found["accuracy_std"]
    theirs = None if paper is None or scope != "all 19" else paper.set_index("method").reindex(found["method"])
    if theirs is not None:
        rows["paper's Avg-C, %"] = theirs["avg_c"].to_numpy()
    rows["Err-C, %"] = 100 - rows["Avg-C, %"]
    if theirs is not None:
        rows["paper's Err-C, %"] = 100 - rows["paper's Avg-C, %"]
    rows["ECE (debiased)"] = found["ece_deb_mean"]
    rows["± ECE"] = found["ece_deb_std"]
    if theirs is not None:
        rows["paper's ECE"] = theirs["ece_deb"].to_numpy()
    rows["NLL, nats"], rows["Brier"] = found["nll_mean"], found["brier_mean"]
    return rows.dropna(axis=1, how="all")  # one seed has no scatter


def table_2(cost: pd.DataFrame, paper: pd.DataFrame | None) -> pd.DataFrame:
    """What each method costs; the paper's figures stand beside the width that is the paper's."""
    found = order(cost).sort_values("width", kind="stable").reset_index(drop=True)
    rows = pd.DataFrame({"method": found["method"].map(METHODS), "width": found["width"].astype(int)})
    rows["parameters, M"] = found["parameters"] / 1e6
    rows["GMAC"] = found["macs"] / 1e9
    rows["latency, ms"] = found["latency_ms"]
    rows["ratio to Static"] = found["ratio_to_static"]
    rows["ratio, 1st quartile"], rows["ratio, 3rd quartile"] = found["ratio_q25"], found["ratio_q75"]
    if paper is not None:
        theirs = paper.set_index("method").reindex(found["method"]).reset_index(drop=True)
        wide = found["width"] == 64
        static = paper.set_index("method")["latency_ms"].get(methods.PLAINEST, np.nan)
        rows["paper's parameters, M"] = theirs["params_m"].where(wide)
        rows["paper's GFLOPs"] = theirs["gflops"].where(wide)
        rows["paper's ratio"] = (theirs["latency_ms"] / static).where(wide)
    return rows


def anchors(published: pd.DataFrame, summary: pd.DataFrame | None, width: int | None = None) -> pd.DataFrame:
    """What others published for the standard 15, and ours beside it."""
    rows = published.rename(columns={"what": "training", "avg_c": "Avg-C, %", "ece": "ECE"})
    if summary is None:
        return rows
    ours = over_seeds(summary, "fused", "standard 15")
    network = f"ResNet-18, {width} channels wide" if width else "ResNet-18"
    mine = pd.DataFrame({"training": "ours, " + ours["method"].map(METHODS), "network": network})
    mine["Avg-C, %"], mine["± Avg-C"] = 100 * ours["accuracy_mean"], 100 * ours["accuracy_std"]
    mine["ECE"], mine["± ECE"] = ours["ece_mean"], ours["ece_std"]
    return pd.concat([rows, mine])[list(mine.columns)].dropna(axis=1, how="all").reset_index(drop=True)


def width_of(note: Mapping[str, Any]) -> int | None:
    """The width of the evaluated models, where the evaluation says one for all."""
    models = note.get("models")
    found = {model.get("width") for model in models.values()} if isinstance(models, dict) else set()
    return found.pop() if len(found) == 1 else None


def per_corruption(cells: pd.DataFrame, output: str, metric: str, scatter: bool = False) -> pd.DataFrame:
    """One row a corruption, one column a method: means over severities, then over seeds; and their scatter over seeds.

    What has no seed to scatter with is left out.
    """
    column = f"{output}_{metric}"
    if column not in cells.columns:
        return pd.DataFrame()
    _, scale, _ = METRICS[metric]
    seeds = cells.groupby(["corruption", "method", "seed"])[column].mean() * scale
    groups = seeds.groupby(["corruption", "method"])
    mean, std = groups.mean().unstack("method"), groups.std(ddof=1).unstack("method")
    names = [name for name in ("clean", *CORRUPTION_NAMES) if name in mean.index]
    rows = pd.DataFrame({"corruption": [name.replace("_", " ") for name in names]})
    for method, words in METHODS.items():
        if method in mean.columns:
            rows[words] = mean.loc[names, method].to_numpy()
            if scatter:
                rows[f"± {words}"] = std.loc[names, method].to_numpy()
    return rows.dropna(axis=1, how="all")


def pareto(
    summary: pd.DataFrame, cost: pd.DataFrame | None, paper: pd.DataFrame | None, output: str, x: str
) -> pd.DataFrame:
    """Points of a Pareto plot on all 19 corruptions: who, x, its error, ECE, its error, whose (ours or the paper's)."""
    found = over_seeds(summary, output, "all 19")
    rows = pd.DataFrame({"method": found["method"], "ece": found["ece_deb_mean"], "ece_error": found["ece_deb_std"]})
    rows["whose"], rows["x_error"] = "ours", np.nan
    theirs = order(paper).assign(whose="paper", ece_error=np.nan, x_error=np.nan) if paper is not None else None
    if x == "accuracy":
        rows["x"], rows["x_error"] = 100 * found["accuracy_mean"], 100 * found["accuracy_std"]
        if theirs is not None:
            theirs["x"] = theirs["avg_c"]
    else:
        if cost is None:
            return pd.DataFrame()
        narrow = cost[cost["width"] == cost["width"].min()].set_index("method").reindex(found["method"])
        rows["x"] = (narrow["macs"] / 1e9 if x == "macs" else narrow["ratio_to_static"]).to_numpy()
        if theirs is not None:
            static = theirs.set_index("method")["latency_ms"].get(methods.PLAINEST, np.nan)
            theirs["x"] = theirs["gflops"] if x == "macs" else theirs["latency_ms"] / static
    if theirs is not None:
        theirs["ece"] = theirs["ece_deb"]
        rows = pd.concat([rows, theirs[list(rows.columns)]], ignore_index=True)
    return rows.dropna(subset=["x", "ece"]).reset_index(drop=True)


def front(points: pd.DataFrame, more_is_better: bool) -> np.ndarray:
    """Which points (n,) no other beats in both: lower ECE, and higher accuracy or lower cost."""
    x = -points["x"].to_numpy() if more_is_better else points["x"].to_numpy()
    y = points["ece"].to_numpy()
    beaten = [bool(((x <= a) & (y <= b) & ((x < a) | (y < b))).any()) for a, b in zip(x, y, strict=True)]
    return ~np.array(beaten, bool)
