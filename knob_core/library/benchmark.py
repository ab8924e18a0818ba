"""Tables 1 and 2 and their parts from the result files, for the report and for the Results page: frames in, frames out.

Avg-C is a mean over severities, then over corruptions; Err-C = 100 - Avg-C. ± is the standard deviation over seeds.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from knob_core import methods

METHODS = {key: method.name for key, method in methods.METHODS.items()}  # in the table's order
PAPER_WIDTH = 64
METRICS = {  # column: (label, scale, digits)
    "accuracy": ("accuracy, %", 100, 2),
    "ece_deb": ("ECE (debiased)", 1, 4),
    "ece": ("ECE", 1, 4),
    "nll": ("NLL, nats", 1, 3),
    "brier": ("Brier", 1, 3),
}


def order(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows in the order of `knob_core.methods`; methods that nobody knows are left out."""
    known = frame[frame["method"].isin(list(METHODS))].copy()
    known["place"] = known["method"].map(list(METHODS).index)
    return known.sort_values("place", kind="stable").drop(columns="place").reset_index(drop=True)


def over_seeds(summary: pd.DataFrame, output: str, scope: str) -> pd.DataFrame:
    """Mean, standard deviation and number of seeds of every metric, one row a method."""
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
    """What each method costs; the paper's figures are in the rows of the paper's own width."""
    found = order(cost).sort_values("width", kind="stable").reset_index(drop=True)
    rows = pd.DataFrame({"method": found["method"].map(METHODS), "width": found["width"].astype(int)})
    rows["parameters, M"] = found["parameters"] / 1e6
    rows["GMAC"] = found["macs"] / 1e9
    rows["latency, ms"] = found["latency_ms"]
    rows["ratio to Static"] = found["ratio_to_static"]
    rows["ratio, 1st quartile"], rows["ratio, 3rd quartile"] = found["ratio_q25"], found["ratio_q75"]
    if paper is not None:
        theirs = paper.set_index("method").reindex(found["method"]).reset_index(drop=True)
        wide = found["width"] == PAPER_WIDTH
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


def per_corruption(
    cells: pd.DataFrame, output: str, metric: str, corruptions: Iterable[str], scatter: bool = False
) -> pd.DataFrame:
    """One row a corruption, one column a method: means over severities and seeds; and their scatter over seeds.

    Clean comes first, then the `corruptions` that were measured. What has no seed to scatter with is left out.
    """
    column = f"{output}_{metric}"
    if column not in cells.columns:
        return pd.DataFrame()
    _, scale, _ = METRICS[metric]
    mean = (scale * cells.groupby(["corruption", "method"])[column].mean()).unstack("method")
    seeds = scale * cells.groupby(["corruption", "method", "seed"])[column].mean()
    std = seeds.groupby(["corruption", "method"]).std(ddof=1).unstack("method")
    names = [name for name in ("clean", *corruptions) if name in mean.index]
    rows = pd.DataFrame({"corruption": [name.replace("_", " ") for name in names]})
    for method, words in METHODS.items():
        if method in mean.columns:
            rows[words] = mean.loc[names, method].to_numpy()
            if scatter:
                rows[f"± {words}"] = std.loc[names, method].to_numpy()
    return rows.dropna(axis=1, how="all")
