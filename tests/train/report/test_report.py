"""The report says what the files say: regenerated it is the same text, and a changed number changes a verdict."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from knob_core.assets import ROOT
from knob_core.library import result_tables
from train import choose
from train.report import __main__ as report
from train.report import choices, filters, paper_recipe, published, readings, readme, rivals
from train.report.claims import calmest, claims
from train.report.result_set import Results, Spread, markdown, number

pytestmark = pytest.mark.skipif(
    not (result_tables.RESULTS / "claims.csv").is_file(), reason="no results yet: python -m train.report"
)


@pytest.fixture
def results() -> Results:
    return Results(result_tables.RESULTS)


def verdict(results: Results, begins: str) -> bool:
    (claim,) = [claim for claim in claims(results) if claim.what.startswith(begins)]
    return claim.holds


def test_the_shipped_report_is_what_the_files_give_and_no_number_is_missing(results: Results) -> None:
    text = report.document(results, "assets/results/figures")
    assert (ROOT / "RESULTS.md").read_text(encoding="utf-8") == text
    assert not re.search(r"\b(nan|inf|NaN)\b", text)


def test_the_readme_shows_what_the_files_give(results: Results) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert readme.insert(text, results) == text
    rows = readme.table(results).splitlines()
    assert sum("**Knob**" in row for row in rows) == 2 and rows[-1].startswith("| without Knob |")


@pytest.mark.parametrize("text", ["", readme.BEGIN, readme.END + readme.BEGIN, 2 * (readme.BEGIN + readme.END)])
def test_a_readme_without_its_markers_is_left_alone(text: str, results: Results) -> None:
    with pytest.raises(ValueError, match="README must hold"):
        readme.insert(text, results)


def test_the_shipped_verdicts_are_what_the_files_give(results: Results) -> None:
    shipped = result_tables.read(result_tables.RESULTS / "claims.csv")
    now = claims(results)
    assert shipped["what"].tolist() == [claim.what for claim in now]
    assert shipped["holds"].tolist() == [claim.holds for claim in now]


def test_every_picture_is_there_and_said_in_words(results: Results) -> None:
    found = re.findall(r"!\[([^\]]+)\]\(([^)]+)\)", (ROOT / "RESULTS.md").read_text(encoding="utf-8"))
    assert len(found) == 9
    for words, path in found:
        assert len(words) > 20
        assert (ROOT / path).stat().st_size > 5000


def test_all_methods_seeds_images_and_cells_were_measured(results: Results) -> None:
    family = results["cells"]["method"].isin(results.methods)  # the others are rivals
    assert family.sum() == len(results.methods) * len(results.seeds) * 96
    assert results.note["images"] >= 2000
    assert [method for method in results.methods if method in published.PAPER] == list(published.PAPER)
    assert verdict(results, "Everything is measured")


def test_what_fails_stays_in_the_report(results: Results) -> None:
    text = (ROOT / "RESULTS.md").read_text(encoding="utf-8")
    listed = text.split("## What does not hold")[1].split("## Table 1")[0]
    for claim in claims(results):
        assert (claim.what in listed) is not claim.holds


@pytest.mark.parametrize(
    ("file", "column", "value", "begins"),
    [
        ("e3_gate_bode", "error_db", 0.2, "E-3: the gate's Bode plot"),
        ("e3_gate_bode", "error_degrees", 2.0, "E-3: the gate's Bode plot"),
        ("e1_summary", "t_eff_min", 0.99, "E-1: T_eff >= 1"),
        (
            "e1_summary",
            "spearman_severity_medians",
            0.5,
            "E-1: Spearman of T_eff with severity, over severity medians (Knob-IA",
        ),
        ("cost", "ratio_to_static", 1.2, "Latency of Knob-ODE against Static, width 64"),
    ],
)
def test_a_worse_number_turns_the_verdict(results: Results, file: str, column: str, value: float, begins: str) -> None:
    frame = results[file].copy()
    frame[column] = value
    results.frames[file] = frame
    assert not verdict(results, begins)


def test_a_better_number_turns_it_too(results: Results) -> None:
    frame = results["cost"].copy()
    frame["ratio_to_static"] = 1.01
    results.frames["cost"] = frame
    assert verdict(results, "Latency of Knob-ODE against Static, width 16")


def test_the_calmest_setting_keeps_within_the_lag(results: Results) -> None:
    best = calmest(results, "knob-ode + memory")
    assert best.lag <= 10
    frame = results["trade_off"]
    rivals = frame[(frame["family"] == "knob-ode + memory") & (frame["zeta"] == best.zeta)]
    mine = rivals[np.isclose(rivals["omega_n"], best.omega_n)]
    assert best.flips == pytest.approx(mine["flips"].mean())


def test_readings_follow_the_numbers(results: Results) -> None:
    before = readings.cost(results)
    frame = results["cost"].copy()
    frame["ratio_to_static"] = 1.77
    results.frames["cost"] = frame
    assert "1.77" in readings.cost(results) != before


@pytest.mark.slow
def test_a_whole_run_writes_text_claims_and_pictures(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    shutil.copytree(result_tables.RESULTS, folder, ignore=shutil.ignore_patterns("figures", "claims.csv"))
    readme_copy = Path(shutil.copy(ROOT / "README.md", tmp_path / "README.md"))
    assert report.main(["--results", str(folder), "--out", str(tmp_path / "R.md"), "--readme", str(readme_copy)]) == 0
    assert "](results/figures/e1.png)" in (tmp_path / "R.md").read_text(encoding="utf-8")
    assert (folder / "claims.csv").read_bytes() == (result_tables.RESULTS / "claims.csv").read_bytes()
    assert len(list((folder / "figures").glob("*.png"))) == 9


def test_a_missing_file_is_named_with_its_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report.main(["--results", str(tmp_path), "--out", str(tmp_path / "R.md")]) == 1
    assert "python -m train." in capsys.readouterr().err
    assert not (tmp_path / "R.md").exists()


def test_spread_and_tables_by_hand() -> None:
    assert Spread(0.6, 0.02**0.5).show(2, 100) == "60.00 ± 14.14"
    assert Spread(0.5, np.nan).show(1) == "0.5"
    assert Spread(np.nan, np.nan).show(1) == "-"
    assert markdown(["a", "b"], [["x", "1"]]) == "| a | b |\n|---|---:|\n| x | 1 |"
    assert number(float("nan")) == "-"
    assert number(1.005, 1) == "1.0"


def test_the_papers_numbers_agree_with_each_other() -> None:
    """Table 1 prints Err-C = 100 - Avg-C; the latency ratio that we compare with is 4.41 / 3.48."""
    assert [round(100 - row.avg_c, 2) for row in published.PAPER.values()] == [28.75, 29.55, 27.48, 28.38, 28.51]
    assert round(published.PAPER["knob-ode"].latency_ms / published.PAPER["static"].latency_ms, 2) == 1.27


def test_the_choice_that_is_shown_is_the_rules_and_the_history_is_the_protocols(results: Results) -> None:
    text = "\n".join(choices.section(results))
    frame = result_tables.read(result_tables.RESULTS / "choice.csv")
    chosen = choose.choice(frame.to_dict("records"))
    assert f"| **{chosen}**, chosen |" in text and text.count(", chosen |") == 1
    assert "| attentive memory as such |" in text and "## " not in text.partition("Not every choice")[2]
    lower = frame.copy()
    lower.loc[lower["variant"] == "the paper's heads", "nll"] = 0.1
    results.frames["choice"] = lower
    assert "| **the paper's heads**, chosen |" in "\n".join(choices.section(results))


def test_where_ours_wins_for_sure_where_within_chance_and_where_not() -> None:
    def row(model: str, delay: float, name: str, flips: float, less: float, high: float) -> dict[str, object]:
        return {"model": model, "delay": delay, "filter": name, "excess_flips": flips, "ours_less": less,
                "ours_less_high": high}  # fmt: skip

    frame = pd.DataFrame([
        row("knob-ode-s0", 1.0, "attentive", 1.0, 0, 0),
        row("knob-ode-s0", 1.0, "hmm", 0.9, 0.1, 0.2), row("knob-ode-s1", 1.0, "hmm", 1.2, -0.2, -0.1),
        row("knob-ode-s0", 2.0, "hmm", 0.9, -0.1, 0.1), row("knob-ode-s1", 2.0, "hmm", 0.9, -0.2, -0.1),
        row("knob-ode-s0", 2.0, "cusum", 1.9, 0.5, 0.6),  # not the best rival: says nothing
        row("knob-ode-s0", 4.0, "hmm", 0.9, -0.3, -0.1), row("knob-ode-s1", 4.0, "hmm", 0.9, -0.3, -0.1),
    ])  # fmt: skip
    sure, below, rest = filters.against_the_best(frame)
    assert sure.endswith("at a delay of 4 frames.") and below.startswith("At 2 it has fewer in all seeds, but not")
    assert rest == "It does not have fewer at 1 (seed 0)."
    assert filters.against_the_best(frame[frame["delay"] == 4.0]) == [sure]


def test_the_paper_s_recipe_stands_beside_ours_and_is_left_out_where_it_was_not_measured(
    results: Results, tmp_path: Path
) -> None:
    parts = paper_recipe.section(results)
    rows = [line.split(" | ") for line in parts[2].splitlines() if line.startswith("| Knob-ODE")]
    assert [row[1] for row in rows] == ["the paper, width 64", "its recipe, width 16", "ours, width 16"]
    paper, theirs, ours = (float(row[3]) for row in rows)
    assert paper == published.PAPER["knob-ode"].avg_c
    assert f"{ours - theirs:+.1f}" in parts[3]
    assert " of 15 runs measured" in parts[1]
    assert paper_recipe.section(Results(tmp_path)) == []


def test_imagenet_stands_in_the_report_where_it_was_measured(results: Results, tmp_path: Path) -> None:
    columns = "model,corruption,severity,n,accuracy,nll,brier,ece,ece_deb"
    cells = ["net,clean,0,9,0.9,0.5,0,0,0.01", "net,fog,1,9,0.8,1,0,0,0.02", "net,fog,5,9,0.4,3,0,0,0.04"]
    cells += ["net,snow,1,9,0.2,2,0,0,0.05", "net,spatter,1,9,0.1,9,0,0,0.9"]  # the last is not one of the fifteen
    assert rivals.imagenet_section(Results(tmp_path)) == []
    (tmp_path / "imagenet.csv").write_text("\n".join([columns, *cells]) + "\n")
    table = rivals.imagenet_section(Results(tmp_path))[-1]
    assert table.splitlines()[-1] == "| net | 9 | 90.0 | 40.0 | 0.500 | 2.000 | 0.010 | 0.040 |"
