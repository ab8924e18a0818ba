"""The paper's own recipe beside ours: the same code, width, pictures and seeds; empty where it was not measured.

`python -m train.evaluate` with `--out assets/results/paper-pocket` and the checkpoints of `--recipe paper-pocket` makes
its tables.
"""

from __future__ import annotations

from knob_core.methods import GATED
from train.report.result_set import NAMES, Results, markdown, number

FOLDER = "paper-pocket"
SCOPE = "standard 15"


def section(results: Results) -> list[str]:
    """Table and what it says, after Table 1."""
    if not (results.folder / FOLDER / "summary.csv").is_file():
        return []
    theirs = Results(results.folder / FOLDER)
    rows = [
        row
        for method in theirs.methods
        for row in (_row(theirs, theirs, method, "the paper's recipe"), _row(results, theirs, method, "ours"))
    ]
    seeds = ", ".join(str(seed) for seed in theirs.seeds)
    return [
        "### The paper's recipe, at our width",
        "`--recipe paper-pocket` follows the paper's protocol (end to end, cross-entropy of the fused output in Reset "
        "Mode and nothing else, AdamW, its curriculum; `train/STUDY.md` lists what it leaves open) at width 16 for 30 "
        f"epochs instead of 100. Both recipes: seed {seeds}, the same four training corruptions, "
        f"pictures {theirs.note['first_image']:,} to {theirs.note['first_image'] + theirs.note['images'] - 1:,}, Reset "
        "Mode:",
        markdown(
            ["model", "recipe", "clean %", "Avg-C % (15, unseen)", "NLL (15)", "ECE_deb (15)", "AUC (OA)", "AUC (GCA)"],
            rows,
        ),
        _reading(results, theirs),
    ]


def _mean(source: Results, seeds: list[int], method: str, scope: str, score: str) -> float:
    frame = source["summary"]
    chosen = (frame["method"] == method) & (frame["output"] == "fused") & (frame["scope"] == scope)
    return float(frame[chosen & frame["seed"].isin(seeds)][score].mean())


def _aucs(source: Results, seeds: list[int], method: str) -> list[float]:
    """Of the gate against both advantages, all severities."""
    frame = source["e2_test"].query("mode == 'reset' and severity == 'all' and subset == 'all'")
    chosen = frame[(frame["method"] == method) & frame["seed"].isin(seeds)]
    return [float(chosen[name].mean()) for name in ("auc_oa", "auc_gca")]


def _row(source: Results, theirs: Results, method: str, recipe: str) -> list[str]:
    clean, avg_c = (100 * _mean(source, theirs.seeds, method, scope, "accuracy") for scope in ("clean", SCOPE))
    nll, ece = (_mean(source, theirs.seeds, method, SCOPE, score) for score in ("nll", "ece_deb"))
    aucs = [number(auc, 3) for auc in _aucs(source, theirs.seeds, method)] if method in GATED else ["", ""]
    return [NAMES[method], recipe, number(clean), number(avg_c), number(nll, 4), number(ece, 4), *aucs]


def _reading(results: Results, theirs: Results) -> str:
    more = [
        100 * (_mean(results, theirs.seeds, m, SCOPE, "accuracy") - _mean(theirs, theirs.seeds, m, SCOPE, "accuracy"))
        for m in theirs.methods
    ]
    ends = [f"{end:+.1f}" for end in (min(more), max(more))]
    words = f"Ours less the paper's, Avg-C (15): {' to '.join(dict.fromkeys(ends))} points."
    gated = [method for method in theirs.methods if method in GATED]
    if gated:
        gca, ours_gca = (_aucs(source, theirs.seeds, gated[-1])[1] for source in (theirs, results))
        words += (
            f" By the paper's recipe the gate of {NAMES[gated[-1]]} finds the branch that would lower the loss with an "
            f"AUC of {gca:.2f} (0.5 is chance), by ours with {ours_gca:.2f}."
        )
    return words
