"""The paper's recipe at pocket width: what is finished is measured, and the table says how much that is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from knob_core import data
from knob_core.library import result_tables
from tests.helpers import tiny_family
from train import evaluate, paper_pocket
from train.report import paper_recipe, plots
from train.report.result_set import Results

SOME = ("--count", "4", "--only", "fog")


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two finished runs, and one that goes on."""
    images, labels, _ = data.load_sample()
    monkeypatch.setattr(data, "load_cifar10", lambda root, split: (images, labels))
    monkeypatch.setattr(evaluate, "HELD_OUT_COUNT", 40)
    tiny_family.write(tmp_path / "tiny")
    for name in ("static-s0", "knob-ode-s0"):
        folder = tmp_path / "runs" / "paper-pocket" / name
        folder.mkdir(parents=True)
        shutil.copyfile(tmp_path / "tiny" / f"{name}.safetensors", folder / "final.safetensors")
    columns = [f"auc_{advantage}_{subset}" for advantage in ("oa", "gca") for subset in plots.SUBSETS]
    lines = [",".join(["epoch", *columns, "polarisation"])] + [f"{e},{'0.6,' * 8}0.1" for e in range(3)]
    (tmp_path / "runs" / "paper-pocket" / "knob-ode-s0" / "history.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "runs" / "paper-pocket" / "ode-lite-s0").mkdir()
    return tmp_path / "runs"


def results(tmp_path: Path) -> Path:
    """A folder of results to write into: what the table takes from elsewhere is what ships."""
    for name in ("summary", "cost", "e1_summary", "e2_test"):
        (tmp_path / "results").mkdir(exist_ok=True)
        shutil.copyfile(result_tables.RESULTS / f"{name}.csv", tmp_path / "results" / f"{name}.csv")
    return tmp_path / "results"


def test_it_says_how_many_there_are(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert paper_pocket.main(["--runs", str(runs), "--only-say"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("2 of 15 runs are finished; not yet: attention-s0, knob-ia-s0, ode-lite-s0, static-s1")
    assert len(paper_recipe.RUNS) == 15


def test_what_is_finished_is_measured_and_stands_beside_the_paper(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(paper_recipe, "SCOPE", "1 of 19")
    folder = results(tmp_path)
    paper_pocket.work(paper_pocket.parse(["--runs", str(runs), "--results", str(folder)]), SOME)
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert [row[1] for row in rows].count("the paper, width 64") == 5
    mine = [row for row in rows if row[1] == "its recipe, width 16"]
    assert [row[0] for row in mine] == ["| Static", "| Knob-ODE"]
    theirs = Results(folder / "paper-pocket")
    frame = theirs["summary"].query("method == 'knob-ode' and output == 'fused' and scope == '1 of 19'")
    assert mine[1][3:7] == [
        f"{100 * frame['accuracy'].item():.2f}", f"{100 - 100 * frame['accuracy'].item():.2f}",
        f"{frame['ece_deb'].item():.4f}", f"{frame['nll'].item():.4f}",
    ]  # fmt: skip
    assert paper_recipe.progress(theirs).startswith("2 of 15 runs measured; not yet: attention-s0")
    assert "picture" in paper_recipe.section(Results(folder), "picture")
    assert len(plots.paper_gate(Results(folder)).axes) == 2  # one gated method, and its Π
