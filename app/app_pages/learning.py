"""Learning: does the gate learn whom to trust? Curves over epochs, for every seed and subset, and their reading."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from app.console import session
from app.figures import charts
from app.results import learning_curves, result_files
from app.results.benchmark_tables import METHODS
from app.results.learning_curves import SUBSETS
from app.results.result_files import Missing
from app.widgets import page_layout
from app.widgets.plotly_chart import chart


def chosen(learning: pd.DataFrame, methods: list[str]) -> tuple[pd.DataFrame, str]:
    """The curves looked at: a method, some seeds, a subset."""
    left, middle, right = st.columns([1, 1, 1.6])
    method = left.selectbox(
        "Method",
        methods,
        key="learning_method",
        persist_state="session",
        format_func=METHODS.__getitem__,
        help="The methods that have a gate",
    )
    part = learning[learning["method"] == method]
    seeds = sorted(int(seed) for seed in part["seed"].unique())
    kept = middle.pills(
        "Seeds", seeds, selection_mode="multi", key="learning_seeds", persist_state="session",
        help="Other random starts; none means all",
    )  # fmt: skip
    subset = right.selectbox(
        "Pictures", list(SUBSETS), key="learning_subset", persist_state="session", format_func=SUBSETS.__getitem__,
        help="Where the branches disagree, the gate decides the answer",
    )  # fmt: skip
    return part[part["seed"].isin(kept or seeds)], subset


def last(frame: pd.DataFrame, column: str) -> str:
    """A curve's last value, for the alternative text."""
    found = learning_curves.ends(frame, column)
    return "unknown" if found is None else f"{found[1]:.2f}"


def curves(frame: pd.DataFrame, subset: str) -> None:
    """The four pictures."""
    own = session.console_state().settings
    thin = " Thin: each seed; thick: their mean." if frame["seed"].nunique() > 1 else ""
    oa, gca = f"auc_oa_{subset}", f"auc_gca_{subset}"
    known = [column for column in (oa, gca) if column in frame.columns]
    lowest = min(0.3, np.floor(10 * frame[known].min().min()) / 10)
    left, right = page_layout.columns("curves", [1, 1])
    with left:
        chart(
            charts.curves(
                frame, {oa: ("better branch (OA)", "gate"), gca: ("loss's slope (GCA)", "under")}, "AUC of the gate",
                span=(lowest, 1.0), lines={"guessing": (learning_curves.CHANCE, "muted")},
            ),
            key="auc", alt=f"AUC over epochs: better branch {last(frame, oa)}, slope {last(frame, gca)}",
            note="AUC: the chance that the gate is higher where the sharp branch is better than where it is "
            f"not.{thin}",
        )  # fmt: skip
        names = {"gate_clean": ("clean pictures", "gate"), "gate_corrupted": ("corrupted pictures", "wrong")}
        chart(
            charts.curves(frame, names, "mean gate", span=(0, 1)), key="gates",
            alt=f"mean gate over epochs: {last(frame, 'gate_clean')} clean, {last(frame, 'gate_corrupted')} corrupted",
            note=f"1 trusts the sharp branch, 0 the robust one.{thin}",
        )  # fmt: skip
    with right:
        chart(
            charts.curves(frame, {"polarisation": ("Π", "confidence")}, "polarisation Π = E|g − ½|", span=(0, 0.5)),
            key="polarisation", alt=f"polarisation over epochs, at the end {last(frame, 'polarisation')}",
            note=f"Π: 0 always mixes evenly, 0.5 always switches.{thin}",
        )  # fmt: skip
        if learning_curves.ends(frame, "zeta"):
            names = {"zeta": ("ζ", "gate"), "omega_n": ("ωₙ, rad/frame", "under")}
            yours = {"your ζ now": (own.zeta, "gate"), "your ωₙ now": (own.omega_n, "under")}
            highest = max(own.zeta, own.omega_n, frame[list(names)].max().max())
            chart(
                charts.curves(frame, names, "ζ and ωₙ", span=(0, 1.1 * highest), lines=yours), key="knobs",
                alt=f"knobs over epochs: ζ {last(frame, 'zeta')}, ωₙ {last(frame, 'omega_n')} at the end",
                note=f"Dotted: where the console's knobs stand now.{thin}",
            )  # fmt: skip
        else:
            st.info("This method's gate has no inertia: there are no knobs to learn.")


def at_the_end(frame: pd.DataFrame) -> None:
    """Every subset and seed at once."""
    st.header("At the end of training", anchor=False)
    rows = learning_curves.final(frame)
    digits = {name: st.column_config.NumberColumn(format="%.3f") for name in rows.columns if name != "pictures"}
    words = f"AUC of the gate at the end of training, for {len(rows)} sets of pictures: {', '.join(rows.columns[1:])}"
    st.dataframe(rows, key="final", hide_index=True, column_config=digits, height="content", alt=words)


def page() -> None:
    """All of it, or why not."""
    try:
        learning = result_files.table("learning")
        methods = learning_curves.gated(learning)
        if not methods:
            raise Missing("`learning.csv` has no curves of a gate.", result_files.EVALUATE)
    except Missing as error:
        st.warning(str(error))
        return
    frame, subset = chosen(learning, methods)
    for sentence in learning_curves.reading(frame, subset):
        st.markdown(sentence)
    curves(frame, subset)
    at_the_end(frame)
    with st.expander("How this is measured (E-2)"):
        st.markdown(
            "After every epoch, on held-out training pictures, clean and corrupted alike. **OA** (oracle advantage): "
            "the sharp branch has the lower cross-entropy. **GCA** (gradient advantage): opening the gate a little "
            "would lower the loss of the mix. **AUC**: the chance that a picture with the advantage has a higher gate "
            "than one without. Nobody tells the gate which branch is better when it is used; it has to see it in the "
            "picture."
        )
    data = frame.to_csv(index=False).encode()
    st.download_button(
        "CSV", data, "learning.csv", "text/csv", key="learning_csv", on_click="ignore", help="The curves"
    )


page_layout.style()
st.title("Does the gate learn whom to trust?", anchor=False)
page()
session.write_link()
