"""Results: the paper's tables on our models, beside the paper's numbers and what others published."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app.console import session
from app.figures import charts
from app.results import benchmark_tables, result_files
from app.results.benchmark_tables import METHODS, METRICS, OUTPUTS, SCOPES
from app.results.result_files import Missing
from app.widgets import page_layout
from app.widgets.plotly_chart import chart
from app.widgets.untrusted import escape_markdown

AXES = {  # what a Pareto plot has below: (words, whether more is better)
    "accuracy": ("Avg-C, %", True),
    "macs": ("GMAC of one picture", False),
    "latency": ("latency, ratio to Static", False),
}
HELP = {
    "Avg-C, %": "Accuracy, averaged over severities, then over corruptions",
    "± Avg-C": "Standard deviation over training seeds",
    "Err-C, %": "100 minus Avg-C",
    "ECE (debiased)": "Expected calibration error, debiased: 0 is a model that keeps its promises",
    "± ECE": "Standard deviation over training seeds",
    "NLL, nats": "Negative log-likelihood: how surprised the model is by the truth",
    "Brier": "Mean squared distance between the probabilities and the truth, 0 to 2",
    "GMAC": "Billions of multiply-accumulates for one picture of 32 x 32",
    "latency, ms": "Median for one picture on one processor thread; depends on the machine",
    "ratio to Static": "Latency divided by Static's in the same round: what counts on any machine",
}


def tables(*names: str) -> dict[str, pd.DataFrame | None]:
    """Tables by name; None, and a plain word on the page, for what is missing."""
    found: dict[str, pd.DataFrame | None] = {}
    lacking: dict[str, list[str]] = {}
    for name in names:
        try:
            found[name] = result_files.table(name)
        except Missing as error:
            found[name] = None
            lacking.setdefault(error.command, []).append(error.what)
    for command, what in lacking.items():
        st.warning(f"{' '.join(what)} Make it: `{command}`")
    return found


def show(frame: pd.DataFrame, key: str, digits: dict[str, int], name: str) -> None:
    """A sortable table, and the same as a file."""
    settings = {}
    for column in frame.columns:
        places = next((d for part, d in digits.items() if part in column), None)
        if places is not None:
            settings[column] = st.column_config.NumberColumn(format=f"%.{places}f", help=HELP.get(column))
    words = f"table with {len(frame)} rows: {', '.join(frame.columns)}"
    st.dataframe(frame, key=key, hide_index=True, column_config=settings, height="content", placeholder="", alt=words)
    download(frame, key, name)


def download(frame: pd.DataFrame, key: str, name: str) -> None:
    """A table as a file."""
    data = frame.to_csv(index=False).encode()
    st.download_button("CSV", data, f"{name}.csv", "text/csv", key=f"{key}_csv", on_click="ignore", help="This table")


DIGITS = {"Avg-C": 2, "Err-C": 2, "ECE": 4, "NLL": 3, "Brier": 3}
DIGITS_2 = {"parameters": 2, "GMAC": 4, "GFLOPs": 4, "latency": 2, "ratio": 2}


def main_table(found: dict[str, pd.DataFrame | None]) -> None:
    """Table 1."""
    summary = found["summary"]
    if summary is None:
        return
    st.header("Table 1: accuracy and calibration", anchor=False)
    left, right = st.columns(2)
    here = [name for name in OUTPUTS if name in set(summary["output"])]
    output = left.selectbox(
        "What the model says", here, key="results_output", persist_state="session", format_func=OUTPUTS.__getitem__,
        help="Reset Mode is the paper's; a stream settles at the other",
    )  # fmt: skip
    measured = list(dict.fromkeys(summary["scope"]))
    scopes = [*(name for name in SCOPES if name in measured), *(name for name in measured if name not in SCOPES)]
    scope = right.selectbox(
        "On which pictures", scopes, key="results_scope", persist_state="session",
        format_func=lambda name: SCOPES.get(name, f"{name} corruptions"),
        help="The paper averages all 19 corruptions; public leader boards the standard 15",
    )  # fmt: skip
    show(benchmark_tables.table_1(summary, found["paper"], output, scope), "table_1", DIGITS, "table-1")
    st.caption("The paper's own numbers are for a network four times as wide, with all 19 corruptions, in Reset Mode.")


def pareto(found: dict[str, pd.DataFrame | None]) -> None:
    """Pareto plots."""
    summary = found["summary"]
    if summary is None:
        return
    st.header("What is bought with what", anchor=False)
    help = "The paper's models are four times as wide, and far away: without them ours can be told apart"
    theirs = (
        found["paper"]
        if st.toggle("With the paper's", value=True, key="with_paper", persist_state="session", help=help)
        else None
    )
    for place, x in zip(page_layout.columns("pareto", [1, 1, 1]), AXES, strict=True):
        words, more = AXES[x]
        points = benchmark_tables.pareto(summary, found["cost"], theirs, "fused", x)
        if points.empty:
            continue
        best = benchmark_tables.front(points, more)
        unbeaten = ", ".join(METHODS[m] for m in points[best & (points["whose"] == "ours")]["method"])
        with place:
            chart(
                charts.pareto(points, best, words), key=f"pareto_{x}",
                alt=f"calibration error against {words}: of ours, {unbeaten or 'none'} are beaten by no other",
                note=(
                    f"{'Filled: ours; open: the paper’s, of width 64. ' if theirs is not None else ''}"
                    f"Not beaten in both by any other: {unbeaten or 'none of ours'}."
                ),
            )  # fmt: skip


def costs(found: dict[str, pd.DataFrame | None]) -> None:
    """Table 2."""
    if found["cost"] is None:
        return
    st.header("Table 2: cost", anchor=False)
    show(benchmark_tables.table_2(found["cost"], found["paper"]), "table_2", DIGITS_2, "table-2")


def anchors(found: dict[str, pd.DataFrame | None], width: int | None) -> None:
    """What others published."""
    if found["anchors"] is None:
        return
    st.header("Published anchors, standard 15 corruptions", anchor=False)
    rows = benchmark_tables.anchors(found["anchors"], found["summary"], width)
    show(rows, "anchors", {"Avg-C": 1, "ECE": 3}, "anchors")
    st.caption("Not measured here, except ours. ECE here is not debiased, as it was published; ours is in Reset Mode.")


def corruptions(found: dict[str, pd.DataFrame | None]) -> None:
    """Corruption by corruption."""
    cells = found["cells"]
    if cells is None:
        return
    st.header("Corruption by corruption", anchor=False)
    left, right = st.columns(2)
    metric = left.selectbox(
        "Number", list(METRICS), key="results_metric", persist_state="session", format_func=lambda m: METRICS[m][0],
        help="Mean over severities and seeds",
    )  # fmt: skip
    here = [name for name in OUTPUTS if f"{name}_{metric}" in cells.columns]
    output = right.selectbox(
        "What the model says ", here, key="results_cells_output", persist_state="session",
        format_func=OUTPUTS.__getitem__,
        help="Which of the model's answers is measured",
    )  # fmt: skip
    rows = benchmark_tables.per_corruption(cells, output, metric, scatter=True)
    show(rows, "per_corruption", dict.fromkeys(METHODS.values(), METRICS[metric][2]), f"corruptions-{metric}")


def verdicts(found: dict[str, pd.DataFrame | None]) -> None:
    """What we set out to show, and what of it holds."""
    claims = found["claims"]
    if claims is None:
        return
    st.header("What we set out to show", anchor=False)
    holds = claims["holds"].astype(bool)
    st.markdown(f"{int(holds.sum())} of {len(claims)} hold; those that do not stand first.")
    order = holds.sort_values(kind="stable").index
    shown = claims.assign(holds=holds.map({True: "✓ holds", False: "✕ does not hold"})).loc[order]
    st.table(shown[["holds", "what", "target", "measured"]].astype(str).map(escape_markdown), hide_index=True)
    download(shown, "claims", "claims")


page_layout.style()
st.title("Results", anchor=False)
found = tables("summary", "paper", "cost", "anchors", "cells", "claims")
note = result_files.note()
if note:
    st.caption(benchmark_tables.evaluation_words(note))
main_table(found)
pareto(found)
costs(found)
anchors(found, benchmark_tables.width_of(note))
corruptions(found)
verdicts(found)
session.write_link()
