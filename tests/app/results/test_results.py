"""Results: every number on the page is a number of the files, and a missing file is named with its command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from app.figures import charts
from app.figures.figure_colours import painted
from app.results import benchmark_tables, result_files
from app.results.benchmark_tables import METHODS, METRICS
from app.results.result_files import Missing
from knob_core.library import result_tables
from knob_core.methods import GATED

ROOT = Path(__file__).resolve().parents[3]


def page() -> AppTest:
    return AppTest.from_file(str(ROOT / "app" / "app_pages" / "results.py"), default_timeout=60)


TOLD_BY = {
    "table_1": "seeds",
    "table_2": "GMAC",
    "anchors": "training",
    "per_corruption": "corruption",
}  # a column of its own


def frame(at: AppTest, name: str) -> pd.DataFrame:
    return next(element.value for element in at.dataframe if TOLD_BY[name] in element.value.columns)


def test_table_1_is_the_mean_and_scatter_over_seeds(folder: Path) -> None:
    summary, paper = pd.read_csv(folder / "summary.csv"), pd.read_csv(folder / "paper.csv")
    at = page().run()
    assert not at.exception
    shown = frame(at, "table_1").set_index("method")
    assert list(shown.index) == list(METHODS.values())
    for method, name in METHODS.items():
        rows = summary.query(f"method == '{method}' and output == 'fused' and scope == 'all 19'")
        assert shown.loc[name, "Avg-C, %"] == pytest.approx(100 * rows["accuracy"].mean())
        assert shown.loc[name, "± Avg-C"] == pytest.approx(100 * rows["accuracy"].std(ddof=1))
        assert shown.loc[name, "ECE (debiased)"] == pytest.approx(rows["ece_deb"].mean())
        assert shown.loc[name, "paper's ECE"] == paper.set_index("method").loc[method, "ece_deb"]
        assert shown.loc[name, "Err-C, %"] == pytest.approx(100 - 100 * rows["accuracy"].mean())
        assert shown.loc[name, "seeds"] == 3


@pytest.mark.slow
def test_the_choice_of_output_and_scope_is_obeyed(folder: Path) -> None:
    summary = pd.read_csv(folder / "summary.csv")
    at = page().run()
    at.selectbox(key="results_output").set_value("settled").run()
    at.selectbox(key="results_scope").set_value("standard 15").run()
    shown = frame(at, "table_1").set_index("method")
    rows = summary.query("method == 'knob-ode' and output == 'settled' and scope == 'standard 15'")
    assert shown.loc["Knob-ODE", "Avg-C, %"] == pytest.approx(100 * rows["accuracy"].mean())
    assert "Static" not in shown.index  # it has no gate that could settle
    assert "paper's ECE" not in shown.columns  # the paper has all 19 only


@pytest.mark.slow
def test_a_partial_evaluation_goes_by_what_it_holds(folder: Path) -> None:
    summary = pd.read_csv(folder / "summary.csv")
    some = summary[summary["scope"] == "all 19"].assign(scope="3 of 19")
    some.to_csv(folder / "summary.csv", index=False)
    at = page().run()
    assert not at.exception
    assert at.selectbox(key="results_scope").options == ["3 of 19 corruptions"]
    assert "paper's ECE" not in frame(at, "table_1").columns


@pytest.mark.slow
def test_table_2_anchors_and_claims(folder: Path) -> None:
    cost, paper = pd.read_csv(folder / "cost.csv"), pd.read_csv(folder / "paper.csv").set_index("method")
    at = page().run()
    shown = frame(at, "table_2")
    for _, row in cost.iterrows():
        mine = shown[(shown["method"] == METHODS[row["method"]]) & (shown["width"] == row["width"])].iloc[0]
        assert mine["GMAC"] == pytest.approx(row["macs"] / 1e9)
        assert mine["parameters, M"] == pytest.approx(row["parameters"] / 1e6)
        assert mine["ratio to Static"] == pytest.approx(row["ratio_to_static"])
        if row["width"] == 64:
            wanted = paper.loc[row["method"], "latency_ms"] / paper.loc["static", "latency_ms"]
            assert mine["paper's ratio"] == pytest.approx(wanted)
        else:
            assert pd.isna(mine["paper's ratio"])
    anchors = frame(at, "anchors")
    assert anchors["training"].tolist()[:2] == ["made-up training", "another"]
    assert len(anchors) == 2 + len(METHODS)
    claims = at.table[0].value
    assert claims["holds"].tolist() == ["✕ does not hold", "✓ holds"]  # what fails stands first


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
def test_corruption_by_corruption(folder: Path, metric: str) -> None:
    cells = pd.read_csv(folder / "cells.csv")
    shown = benchmark_tables.per_corruption(cells, "fused", metric).set_index("corruption")
    assert len(shown) == 20 and list(shown.columns) == list(METHODS.values())
    wanted = cells.query("corruption == 'fog' and method == 'knob-ode'")[f"fused_{metric}"].mean()
    assert shown.loc["fog", "Knob-ODE"] == pytest.approx(METRICS[metric][1] * wanted)
    settled = benchmark_tables.per_corruption(cells, "settled", metric)
    assert list(settled.columns) == ["corruption", *(METHODS[m] for m in GATED)]


@pytest.mark.slow
def test_corruption_by_corruption_on_the_page_has_mean_and_scatter_over_seeds(folder: Path) -> None:
    cells = pd.read_csv(folder / "cells.csv")
    at = page().run()
    at.selectbox(key="results_cells_output").set_value("dyn").run()
    for metric, (_, scale, *_) in METRICS.items():
        at.selectbox(key="results_metric").set_value(metric).run()
        assert not at.exception
        shown = frame(at, "per_corruption").set_index("corruption")
        for name in ("fog", "shot_noise"):
            part = cells[(cells["corruption"] == name) & (cells["method"] == "ode-lite")]
            seeds = scale * part.groupby("seed")[f"dyn_{metric}"].mean()
            assert len(seeds) == 3
            assert shown.loc[name.replace("_", " "), "ODE-Lite"] == pytest.approx(seeds.mean())
            assert shown.loc[name.replace("_", " "), "± ODE-Lite"] == pytest.approx(seeds.std(ddof=1))


@pytest.mark.slow
def test_one_seed_has_no_scatter(folder: Path) -> None:
    for name in ("cells", "summary"):
        table = pd.read_csv(folder / f"{name}.csv")
        table[table["seed"] == 1].to_csv(folder / f"{name}.csv", index=False)
    at = page().run()
    assert not at.exception
    for name in ("table_1", "anchors", "per_corruption"):
        assert not [column for column in frame(at, name).columns if "±" in column]


@pytest.mark.slow
def test_anchors_have_ours_beside_them(folder: Path) -> None:
    summary = pd.read_csv(folder / "summary.csv")
    shown = frame(page().run(), "anchors").set_index("training")
    rows = summary.query("method == 'knob-ode' and output == 'fused' and scope == 'standard 15'")
    assert shown.loc["ours, Knob-ODE", "Avg-C, %"] == pytest.approx(100 * rows["accuracy"].mean())
    assert shown.loc["ours, Knob-ODE", "± Avg-C"] == pytest.approx(100 * rows["accuracy"].std(ddof=1))
    assert shown.loc["ours, Knob-ODE", "ECE"] == pytest.approx(rows["ece"].mean())
    assert benchmark_tables.width_of({"models": {"a": {"width": 16}, "b": {"width": 16}}}) == 16
    assert benchmark_tables.width_of({"models": {"a": {"width": 16}, "b": {"width": 64}}}) is None
    assert benchmark_tables.width_of({}) is None


@pytest.mark.slow
def test_without_the_papers_models_only_ours_are_drawn(folder: Path) -> None:
    at = page().run()
    assert len(names(at, "pareto_accuracy")) == 1 + 2 * len(METHODS)
    at.toggle(key="with_paper").set_value(False).run()
    assert not at.exception
    drawn = names(at, "pareto_accuracy")
    assert len(drawn) == 1 + len(METHODS) and not [name for name in drawn if "paper" in name]


def names(at: AppTest, key: str) -> list[str]:
    found = next(element for element in at.get("plotly_chart") if key in element.proto.id)
    return [trace["name"] for trace in json.loads(found.proto.spec)["data"]]


@pytest.mark.slow
@pytest.mark.parametrize("x, more", [("accuracy", True), ("macs", False), ("latency", False)])
def test_the_front_is_what_nobody_beats(folder: Path, x: str, more: bool) -> None:
    points = benchmark_tables.pareto(
        *(pd.read_csv(folder / f"{n}.csv") for n in ("summary", "cost", "paper")), "fused", x
    )
    assert len(points) == 2 * len(METHODS)  # ours and the paper's
    best = benchmark_tables.front(points, more)
    assert best.any()
    for i, a in points.iterrows():
        beats = [(b["x"] > a["x"] if more else b["x"] < a["x"]) and b["ece"] < a["ece"] for _, b in points.iterrows()]
        if best[i]:
            assert not any(beats)
    drawn = charts.pareto(points, best, "x")
    ours = [trace for trace in drawn["data"] if trace["name"] == "Knob-ODE"]
    row = points.query("method == 'knob-ode' and whose == 'ours'").iloc[0]
    assert ours[0]["x"] == [row["x"]] and ours[0]["y"] == [row["ece"]]
    for theme in ("light", "dark"):
        text = str(painted(drawn, theme))
        assert "'color': 'gate'" not in text and "'gridcolor': 'grid'" not in text


@pytest.mark.slow
def test_the_front_by_hand() -> None:
    points = pd.DataFrame({"x": [1.0, 2.0, 3.0, 2.0], "ece": [0.3, 0.2, 0.25, 0.2]})
    np.testing.assert_array_equal(benchmark_tables.front(points, more_is_better=False), [True, True, False, True])
    np.testing.assert_array_equal(benchmark_tables.front(points, more_is_better=True), [False, True, True, True])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["summary", "cells", "cost", "paper", "anchors", "claims"])
def test_a_missing_table_is_named_and_the_rest_works(folder: Path, name: str) -> None:
    (folder / f"{name}.csv").unlink()
    at = page().run()
    assert not at.exception
    (warning,) = at.warning
    assert f"{name}.csv" in warning.value and "python -m train." in warning.value
    assert len(at.dataframe) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00", b"a,b\n1,2,3,4\n5\n", b"method,seed\nx,0\n"])
def test_a_damaged_table_is_named(folder: Path, content: bytes) -> None:
    (folder / "summary.csv").write_bytes(content)
    with pytest.raises(Missing, match=r"summary\.csv"):
        result_files.table("summary")
    at = page().run()
    assert not at.exception and at.warning


@pytest.mark.slow
def test_without_any_results_the_page_says_how_to_make_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_files, "FOLDER", tmp_path)
    at = page().run()
    assert not at.exception
    said = " ".join(warning.value for warning in at.warning)
    assert not at.dataframe
    for name in ("summary", "cells", "cost", "claims", "paper", "anchors"):
        assert f"{name}.csv" in said
    for command in (result_tables.EVALUATE, result_tables.REPORT, result_tables.COST):
        assert f"Make it: `{command}`" in said
    assert result_files.note() == {}


@pytest.mark.slow
def test_downloads_are_the_tables(folder: Path) -> None:
    at = page().run()
    wanted = {"table_1_csv", "table_2_csv", "anchors_csv", "per_corruption_csv", "claims_csv"}
    assert {button.key for button in at.get("download_button")} == wanted


def test_what_ships_is_what_is_shown() -> None:
    """On the real files, where they are: every table read back, number by number."""
    if not (result_files.FOLDER / "summary.csv").is_file():
        pytest.skip("no results yet: python -m train.evaluate")
    tables = {name: pd.read_csv(result_files.FOLDER / f"{name}.csv") for name in ("summary", "cost", "cells", "claims")}
    summary, cost, cells, claims = tables.values()
    at = page().run()
    assert not at.exception and not at.warning
    shown = frame(at, "table_1").set_index("method")
    measured = {method: name for method, name in METHODS.items() if method in set(summary["method"])}
    assert list(shown.index) == list(measured.values())
    for method, name in measured.items():
        rows = summary[(summary["method"] == method) & (summary["output"] == "fused") & (summary["scope"] == "all 19")]
        assert shown.loc[name, "seeds"] == len(rows)
        for column, metric in (("ECE (debiased)", "ece_deb"), ("NLL, nats", "nll"), ("Brier", "brier")):
            assert shown.loc[name, column] == pytest.approx(rows[metric].mean())
        assert shown.loc[name, "Avg-C, %"] == pytest.approx(100 * rows["accuracy"].mean())
        if len(rows) > 1:
            assert shown.loc[name, "± Avg-C"] == pytest.approx(100 * rows["accuracy"].std(ddof=1))
    costs = frame(at, "table_2")
    assert sorted(costs["GMAC"]) == pytest.approx(sorted(cost["macs"] / 1e9))
    assert sorted(costs["ratio to Static"]) == pytest.approx(sorted(cost["ratio_to_static"]))
    each = frame(at, "per_corruption").set_index("corruption")
    for method, name in measured.items():
        mine = cells[(cells["method"] == method) & (cells["corruption"] == "glass_blur")]
        assert each.loc["glass blur", name] == pytest.approx(100 * mine["fused_accuracy"].mean())
    assert len(at.table[0].value) == len(claims)
    assert f"{int(claims['holds'].sum())} of {len(claims)} hold" in " ".join(text.value for text in at.markdown)


@pytest.mark.slow
def test_the_page_says_which_pictures_were_measured_and_tells_rivals_apart() -> None:
    models = {"knob-ode-s0": {}, "static-s0": {}, "static-smoothed-s0": {}}
    note = {"models": models, "images": 8000, "first_image": 2000, "pixels": "our own corruptions"}
    said = benchmark_tables.evaluation_words(note)
    assert said.startswith("2 models and 1 plain rival, pictures 2,000 to 9,999 of the CIFAR-10 test split")
    del models["static-smoothed-s0"], note["first_image"]  # what was measured before has neither
    assert benchmark_tables.evaluation_words(note).startswith("2 models, pictures 0 to 7,999 of")
