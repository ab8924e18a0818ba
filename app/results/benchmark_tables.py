"""The Results page's own numbers: words of its menus, Pareto points. Tables come from `knob_core.library.benchmark`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from app.console.stream_choice import CORRUPTION_NAMES
from knob_core import methods
from knob_core.library import benchmark as tables
from knob_core.library.benchmark import METHODS, METRICS, anchors, order, over_seeds, table_1, table_2

__all__ = ["METHODS", "METRICS", "anchors", "order", "over_seeds", "table_1", "table_2"]

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


def width_of(note: Mapping[str, Any]) -> int | None:
    """The width of the evaluated models, where the evaluation says one for all."""
    models = note.get("models")
    found = {model.get("width") for model in models.values()} if isinstance(models, dict) else set()
    return found.pop() if len(found) == 1 else None


def per_corruption(cells: pd.DataFrame, output: str, metric: str, scatter: bool = False) -> pd.DataFrame:
    """`knob_core.library.benchmark.per_corruption`, the corruptions by family as in the menus."""
    return tables.per_corruption(cells, output, metric, CORRUPTION_NAMES, scatter)


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


def evaluation_words(note: dict[str, object]) -> str:
    """What was evaluated."""
    models = note.get("models")
    names = list(models) if isinstance(models, dict) else []
    family = sum(str(name).rpartition("-s")[0] in METHODS for name in names)
    others = len(names) - family
    rivals = f" and {others} plain rival{'s' if others > 1 else ''}" if others else ""
    first, images = (number if isinstance(number := note.get(name), int) else 0 for name in ("first_image", "images"))
    return (
        f"{family} models{rivals}, pictures {first:,} to {first + images - 1:,} of the CIFAR-10 test split, "
        f"19 corruptions × 5 severities ({note.get('pixels', '')}). ± is the standard deviation over training seeds."
    )
