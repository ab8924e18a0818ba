"""Tables 1 and 2 on numbers that can be checked by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from knob_core import methods
from knob_core.library import benchmark

VALUES = {"nll": 1.0, "brier": 0.5, "ece": 0.2}
SUMMARY = pd.DataFrame(
    [
        {
            "method": method,
            "seed": seed,
            "output": "fused",
            "scope": scope,
            "accuracy": accuracy,
            "ece_deb": ece,
            **VALUES,
        }
        for method, seed, scope, accuracy, ece in (
            ("knob-ode", 0, "all 19", 0.7, 0.1),
            ("knob-ode", 1, "all 19", 0.9, 0.3),
            ("static", 0, "all 19", 0.5, 0.2),
            ("static", 1, "all 19", 0.5, 0.2),
            ("static", 0, "clean", 0.95, 0.0),
            ("nobody's", 0, "all 19", 0.1, 0.1),
        )
    ]
)
PAPER = pd.DataFrame([{"method": key, **row.paper._asdict()} for key, row in methods.METHODS.items() if row.paper])


def test_table_1_is_mean_and_deviation_over_seeds_in_the_tables_order() -> None:
    rows = benchmark.table_1(SUMMARY, PAPER, "fused", "all 19").set_index("method")
    assert rows.index.tolist() == ["Static", "Knob-ODE"]  # and nobody's is left out
    ode = rows.loc["Knob-ODE"]
    assert ode["seeds"] == 2
    assert ode["Avg-C, %"] == pytest.approx(80) and ode["Err-C, %"] == pytest.approx(20)
    assert ode["± Avg-C"] == pytest.approx(100 * 0.02**0.5)
    assert ode["ECE (debiased)"] == pytest.approx(0.2) and ode["± ECE"] == pytest.approx(0.02**0.5)
    assert ode["paper's Avg-C, %"] == 71.49 and ode["paper's Err-C, %"] == pytest.approx(28.51)


def test_the_paper_stands_only_beside_its_own_scope_and_one_seed_has_no_deviation() -> None:
    rows = benchmark.table_1(SUMMARY, PAPER, "fused", "clean")
    assert rows["Avg-C, %"].tolist() == [95]
    assert not [column for column in rows.columns if "paper" in column or "±" in column]
    assert benchmark.table_1(SUMMARY, PAPER, "settled", "clean").empty


def test_table_2_has_the_papers_figures_at_the_papers_width() -> None:
    row = {
        "parameters": 2e6,
        "macs": 5e8,
        "latency_ms": 4.0,
        "ratio_to_static": 1.0,
        "ratio_q25": 0.9,
        "ratio_q75": 1.1,
    }
    cost = pd.DataFrame([{"width": w, "method": m, **row} for w in (64, 16) for m in ("knob-ode", "static")])
    rows = benchmark.table_2(cost, PAPER)
    assert rows[["width", "method"]].values.tolist() == [
        [16, "Static"], [16, "Knob-ODE"], [64, "Static"], [64, "Knob-ODE"]
    ]  # fmt: skip
    assert rows["parameters, M"].tolist() == [2.0] * 4 and rows["GMAC"].tolist() == [0.5] * 4
    assert (
        rows["paper's ratio"].tolist()[2:] == pytest.approx([1, 4.41 / 3.48]) and rows["paper's ratio"][:2].isna().all()
    )


def test_ours_stand_below_the_published_ones() -> None:
    published = pd.DataFrame([{"what": "plain", "network": "ResNet-18", "avg_c": 74.6, "ece": 0.166}])
    summary = SUMMARY.replace({"all 19": "standard 15"})
    rows = benchmark.anchors(published, summary, 16)
    assert rows["training"].tolist() == ["plain", "ours, Static", "ours, Knob-ODE"]
    assert rows["Avg-C, %"].tolist() == pytest.approx([74.6, 50, 80])
    assert rows["network"][1] == "ResNet-18, 16 channels wide"
    assert benchmark.anchors(published, None)["training"].tolist() == ["plain"]


def test_corruptions_come_in_the_order_asked_for_after_clean() -> None:
    cells = pd.DataFrame(
        [
            {"corruption": name, "method": "static", "seed": seed, "severity": s, "fused_accuracy": 0.1 * (seed + s)}
            for name in ("fog", "snow", "clean")
            for seed in (0, 1)
            for s in (1, 2)
        ]
    )
    rows = benchmark.per_corruption(cells, "fused", "accuracy", ("snow", "fog", "frost"), scatter=True)
    assert rows["corruption"].tolist() == ["clean", "snow", "fog"]
    assert rows["Static"].tolist() == pytest.approx([20] * 3)  # of 10, 20, 20, 30
    assert rows["± Static"].tolist() == pytest.approx([10 / 2**0.5] * 3)  # of 15 and 25
    assert benchmark.per_corruption(cells, "settled", "accuracy", ("snow",)).empty
