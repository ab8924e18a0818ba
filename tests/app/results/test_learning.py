"""Learning: the curves are the file's, the reading follows the numbers, and every subset and seed can be chosen."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from app.figures import charts
from app.results import learning_curves, result_files
from app.results.learning_curves import SUBSETS

ROOT = Path(__file__).resolve().parents[3]


def page() -> AppTest:
    return AppTest.from_file(str(ROOT / "app" / "app_pages" / "learning.py"), default_timeout=60)


def said(at: AppTest) -> str:
    return "\n".join(element.value for element in at.markdown)


def spec(at: AppTest, key: str) -> dict:
    found = next(element for element in at.get("plotly_chart") if key in element.proto.id)
    return json.loads(found.proto.spec)


@pytest.mark.slow
def test_the_page_draws_the_files_curves_and_reads_them(folder: Path) -> None:
    learning = pd.read_csv(folder / "learning.csv")
    at = page().run()
    assert not at.exception and not at.warning
    assert len(at.get("plotly_chart")) == 4
    rows = learning.query("method == 'knob-ode' and epoch == 8")
    text = said(at)
    assert f"is {rows['auc_oa_all'].mean():.2f}" in text
    assert f"to {rows['polarisation'].mean():.2f}" in text
    assert "ζ from 0.90 to 0.70 (under-damped), ωₙ from 1.00 to 0.70" in text
    assert "trusts the sharp branch less" in text


@pytest.mark.slow
def test_every_subset(folder: Path) -> None:
    rows = pd.read_csv(folder / "learning.csv").query("method == 'knob-ode' and epoch == 8")
    at = page().run()
    for subset in SUBSETS:
        at.selectbox(key="learning_subset").set_value(subset).run()
        assert not at.exception
        assert f"is {rows[f'auc_oa_{subset}'].mean():.2f}" in said(at), subset


@pytest.mark.slow
def test_seeds_and_methods_can_be_chosen(folder: Path) -> None:
    learning = pd.read_csv(folder / "learning.csv")
    at = page().run()
    at.get("button_group")[0].set_value([1]).run()
    assert not at.exception
    row = learning.query("method == 'knob-ode' and epoch == 8 and seed == 1").iloc[0]
    assert f"is {row['auc_oa_all']:.2f}, " in said(at)  # one seed: no scatter
    at.selectbox(key="learning_method").set_value("knob-ia").run()
    assert not at.exception
    assert "ζ from" not in said(at) and len(at.get("plotly_chart")) == 3
    assert any("no knobs to learn" in element.value for element in at.info)


@pytest.mark.slow
def test_where_every_seed_and_subset_ends(folder: Path) -> None:
    learning = pd.read_csv(folder / "learning.csv").query("method == 'knob-ode' and epoch == 8").set_index("seed")
    at = page().run()
    shown = at.dataframe[0].value.set_index("pictures")
    assert list(shown.index) == list(SUBSETS.values())
    for subset, words in SUBSETS.items():
        for kind in ("oa", "gca"):
            wanted = learning[f"auc_{kind}_{subset}"]
            for seed in (0, 1, 2):
                assert shown.loc[words, f"{kind.upper()}, seed {seed}"] == pytest.approx(wanted[seed])
            assert shown.loc[words, f"{kind.upper()}, mean"] == pytest.approx(wanted.mean())
            assert shown.loc[words, f"{kind.upper()}, ±"] == pytest.approx(wanted.std(ddof=1))
    at.get("button_group")[0].set_value([2]).run()
    alone = at.dataframe[0].value
    assert list(alone.columns) == ["pictures", "OA, seed 2", "GCA, seed 2"]


def test_every_seed_is_drawn_thin_and_their_mean_thick(folder: Path) -> None:
    learning = pd.read_csv(folder / "learning.csv").query("method == 'knob-ode'")
    at = page().run()
    lines = {trace["name"]: trace for trace in spec(at, "knobs")["data"]}
    for seed in (0, 1, 2):
        assert lines[f"ζ, seed {seed}"]["y"] == pytest.approx(learning.query(f"seed == {seed}")["zeta"].tolist())
        assert lines[f"ζ, seed {seed}"]["line"]["width"] < lines["ζ, mean of seeds"]["line"]["width"]
    np.testing.assert_allclose(lines["ζ, mean of seeds"]["y"], learning.groupby("epoch")["zeta"].mean())
    low, high = spec(at, "knobs")["layout"]["yaxis"]["range"]
    assert low == 0 and high > learning[["zeta", "omega_n"]].max().max()
    assert any("Thin: each seed" in element.value for element in at.caption)


@pytest.mark.slow
def test_no_curve_is_cut_off(folder: Path) -> None:
    learning = pd.read_csv(folder / "learning.csv")
    learning.loc[learning["epoch"] == 0, "auc_oa_all"] = 0.13
    learning.to_csv(folder / "learning.csv", index=False)
    at = page().run()
    for key in ("auc", "gates", "polarisation", "knobs"):
        drawn = spec(at, key)
        low, high = drawn["layout"]["yaxis"]["range"]
        for trace in drawn["data"]:
            assert low <= min(trace["y"]) and max(trace["y"]) <= high, key


@pytest.mark.slow
def test_a_curve_a_seed_and_one_for_their_mean(folder: Path) -> None:
    frame = pd.read_csv(folder / "learning.csv").query("method == 'knob-ode'")
    drawn = charts.curves(frame, {"polarisation": ("Π", "confidence")}, "Π", lines={"level": (0.3, "muted")})
    assert len(drawn["data"]) == 3 + 1 + 1
    mean = drawn["data"][3]
    np.testing.assert_allclose(mean["y"], frame.groupby("epoch")["polarisation"].mean())
    assert drawn["data"][4]["y"] == [0.3, 0.3]
    assert charts.curves(frame, {"nothing": ("", "gate")}, "y")["data"] == []


@pytest.mark.slow
@pytest.mark.parametrize("auc, words", [(0.5, "no better"), (0.62, "), better"), (0.8, "clearly better")])
def test_the_reading_follows_the_numbers(auc: float, words: str) -> None:
    frame = pd.DataFrame(
        {"method": "knob-ode", "seed": [0, 1], "epoch": [1, 1], "auc_oa_all": [auc, auc], "gate_clean": 0.4,
         "gate_corrupted": 0.6, "zeta": 1.4, "omega_n": 0.2}
    )  # fmt: skip
    text = "\n".join(learning_curves.reading(frame, "all"))
    assert words in text
    assert "does not trust the sharp branch less" in text
    assert "over-damped" in text


@pytest.mark.slow
def test_a_missing_or_empty_file_is_named(folder: Path) -> None:
    pd.DataFrame({"method": ["warm"], "seed": [0], "epoch": [1]}).to_csv(folder / "learning.csv", index=False)
    at = page().run()
    assert not at.exception and "no curves of a gate" in at.warning[0].value
    (folder / "learning.csv").unlink()
    at = page().run()
    assert not at.exception and "python -m train.evaluate" in at.warning[0].value


@pytest.mark.slow
def test_what_ships_is_what_is_read() -> None:
    """On the real file, where it is."""
    if not (result_files.FOLDER / "learning.csv").is_file():
        pytest.skip("no curves yet: python -m train.evaluate")
    learning = pd.read_csv(result_files.FOLDER / "learning.csv")
    at = page().run()
    assert not at.exception and not at.warning
    rows = learning[learning["method"] == "knob-ode"].dropna(subset=["auc_oa_all"])
    last = rows.groupby("epoch")["auc_oa_all"].mean().iloc[-1]
    assert f"is {last:.2f}" in said(at)


@pytest.mark.slow
def test_the_consoles_knobs_are_drawn_beside_the_learned_ones(folder: Path) -> None:
    at = page()
    at.query_params["z"] = "1.3"
    at.query_params["w"] = "0.09"
    at.run()
    lines = {trace["name"]: trace for trace in spec(at, "knobs")["data"]}
    assert lines["your ζ now"]["y"] == [1.3, 1.3] and lines["your ωₙ now"]["y"] == [0.09, 0.09]
    assert at.query_params["z"] == "1.3"
