"""The paper's own recipe at our width beside the paper and beside ours: for as many of its runs as were measured.

`python -m train.paper_pocket` measures the finished runs of `--recipe paper-pocket` and writes these tables.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from knob_core.methods import GATED, METHODS, PLAINEST
from train.report import published
from train.report.result_set import NAMES, Results, markdown, number

FOLDER = "paper-pocket"
TABLES = ("summary", "e1_summary", "e2_test", "learning")  # of an evaluation, that the section reads
SEEDS = (0, 1, 2)
SCOPE = "all 19"
RUNS = tuple(f"{method}-s{seed}" for seed in SEEDS for method in published.PAPER)


def section(results: Results, curves: str = "") -> list[str]:
    """Table, what it says and the picture `curves`, after Table 1; empty where nothing was measured."""
    if not (results.folder / FOLDER / "summary.csv").is_file():
        return []
    theirs = Results(results.folder / FOLDER)
    return [
        "### The paper's recipe, at our width",
        "`--recipe paper-pocket` follows the paper's protocol (end to end, cross-entropy of the fused output in Reset "
        "Mode and nothing else, AdamW, its curriculum; `train/STUDY.md` lists what it leaves open) at width 16 for 30 "
        f"epochs instead of 100. {progress(theirs)} Reset Mode, all 19 corruptions, pictures "
        f"{theirs.note['first_image']:,} to {theirs.note['first_image'] + theirs.note['images'] - 1:,}; ours are means "
        "over the same seeds. ρ is Spearman's, of T_eff with severity, over the five medians.",
        table(results, theirs),
        _reading(results, theirs),
        *([curves] if gated_curves(theirs) is not None else []),
    ]


def gated_curves(theirs: Results) -> Any:
    """The probes of gated methods over the epochs; None where none was kept."""
    if not theirs.has("learning"):
        return None
    frame = theirs["learning"]
    rows = frame[frame["method"].isin(GATED)]
    return rows if len(rows) else None


def progress(theirs: Results) -> str:
    """How many of the fifteen runs there are."""
    done = [run for run in RUNS if run in theirs.note["models"]]
    lacking = ", ".join(run for run in RUNS if run not in done)
    return f"{len(done)} of {len(RUNS)} runs measured" + (f"; not yet: {lacking}." if lacking else ".")


def table(results: Results, theirs: Results) -> str:
    """For each method the paper's row, its recipe's, and ours."""
    rows = []
    for method, paper in published.PAPER.items():
        ratio = paper.latency_ms / published.PAPER[PLAINEST].latency_ms
        shown = [number(paper.avg_c), number(100 - paper.avg_c), number(paper.ece_deb, 4), "-", number(ratio)]
        rows.append([NAMES[method], "the paper, width 64", "3", *shown, *["-"] * 4])
        if method in theirs.methods:
            rows.append(_row(results, theirs, theirs, method, "its recipe, width 16"))
            rows.append(_row(results, results, theirs, method, "ours, width 16"))
    header = ["method", "trained by", "seeds", "Avg-C %", "Err-C %", "ECE_deb", "NLL", "latency / Static"]
    return markdown([*header, "AUC (OA)", "AUC (GCA)", "Π", "ρ"], rows)


def _seeds(theirs: Results, method: str) -> list[int]:
    frame = theirs["summary"]
    return sorted(int(seed) for seed in frame[frame["method"] == method]["seed"].unique())


def _mean(source: Results, theirs: Results, method: str, score: str) -> float:
    frame = source["summary"]
    chosen = (frame["method"] == method) & (frame["output"] == "fused") & (frame["scope"] == SCOPE)
    return float(frame[chosen & frame["seed"].isin(_seeds(theirs, method))][score].mean())


def _probes(source: Results, theirs: Results, method: str) -> dict[str, float]:
    """AUC against both advantages and Π over all severities, and Spearman's ρ; NaN where it was not measured."""
    found: dict[str, float] = dict.fromkeys(("auc_oa", "auc_gca", "polarisation", "rho"), np.nan)
    seeds = _seeds(theirs, method)

    def mine(frame: Any) -> Any:
        return frame[(frame["method"] == method) & (frame["mode"] == "reset") & frame["seed"].isin(seeds)]

    if method in GATED:
        part = mine(source["e2_test"]).query("severity == 'all' and subset == 'all'")
        found |= {name: float(part[name].mean()) for name in ("auc_oa", "auc_gca", "polarisation")}
        if source.has("e1_summary"):
            found["rho"] = float(mine(source["e1_summary"])["spearman_severity_medians"].mean())
    return found


def _row(results: Results, source: Results, theirs: Results, method: str, words: str) -> list[str]:
    avg_c = 100 * _mean(source, theirs, method, "accuracy")
    ece, nll = (_mean(source, theirs, method, score) for score in ("ece_deb", "nll"))
    cost = results["cost"].query("width == 16").set_index("method")["ratio_to_static"]
    shown = [number(avg_c), number(100 - avg_c), number(ece, 4), number(nll, 4), number(cost[method])]
    probes = _probes(source, theirs, method)
    shown += [number(probes[name], 3) for name in ("auc_oa", "auc_gca", "polarisation")]
    return [NAMES[method], words, ", ".join(map(str, _seeds(theirs, method))), *shown, number(probes["rho"])]


def _reading(results: Results, theirs: Results) -> str:
    """What the rows say of the paper's order of methods and of its probes."""
    done = [method for method in published.PAPER if method in theirs.methods]
    more = [100 * (_mean(results, theirs, m, "accuracy") - _mean(theirs, theirs, m, "accuracy")) for m in done]
    ends = dict.fromkeys(f"{end:+.1f}" for end in (min(more), max(more)))
    lines = [f"Ours less its recipe's, Avg-C: {' to '.join(ends)} points."]
    if len(done) == len(published.PAPER):
        for score, best, words in (("accuracy", max, "highest Avg-C"), ("ece_deb", min, "lowest ECE_deb")):
            here = best(done, key=lambda m: _mean(theirs, theirs, m, score))
            column = "avg_c" if score == "accuracy" else "ece_deb"
            there = best(done, key=lambda m: getattr(published.PAPER[m], column))
            same = "as in the paper" if here == there else f"in the paper {NAMES[there]}: **that does not come again**"
            lines.append(f"The {words} has {NAMES[here]}, {same}.")
    for method in (m for m in done if METHODS[m].gate.gated):
        probes = _probes(theirs, theirs, method)
        holds = probes["auc_oa"] >= published.PAPER_AUC_OA and probes["auc_gca"] >= published.PAPER_AUC_GCA
        lines.append(
            f"The gate of {NAMES[method]} finds the better branch with an AUC of {probes['auc_oa']:.2f} (OA) and "
            f"{probes['auc_gca']:.2f} (GCA; 0.5 is chance) at Π {probes['polarisation']:.2f}; the paper has "
            f"{published.PAPER_AUC_OA}, {published.PAPER_AUC_GCA} and {published.PAPER_POLARISATION:.2f}"
            + ("." if holds else ": **not reached**.")
        )
    return " ".join(lines)
