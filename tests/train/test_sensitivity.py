"""The parameter sweep: equal to the measures one by one, of material for choosing only, and a section of the report."""

from __future__ import annotations

import json
from pathlib import Path

import change_branches
import numpy as np
import pytest

from knob_core import branches, cli
from knob_core.library import result_tables
from knob_core.measures.change import measure
from knob_core.response import respond
from knob_core.runtime.sources import source_of
from knob_core.settings import Settings
from train import sensitivity
from train.report import sensitivity as section
from train.report.result_set import Results


def made(path: Path, split: str = "validation", seed: int = 0) -> Path:
    streams = change_branches.made_up(4, 60, 10, seed)
    about = json.dumps({"split": split, "kind": "mixed", "model": "knob-ode-s0"})
    branches.save(streams, path, "float32", about=np.array(about))
    return path


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Of two files of one model."""
    files = [str(made(tmp_path / f"{seed}.npz", seed=seed)) for seed in (0, 1)]
    out = tmp_path / "results" / "sensitivity.csv"
    assert sensitivity.main([*files, "--out", str(out)]) == 0
    return out


def test_a_row_is_what_the_model_does_at_that_setting(table: Path, tmp_path: Path) -> None:
    frame = result_tables.read(table)
    assert len(frame) == len(sensitivity.ZETAS) * len(sensitivity.OMEGAS) and set(frame["model"]) == {"knob-ode-s0"}
    both = sensitivity.together([branches.load(tmp_path / f"{seed}.npz") for seed in (0, 1)])
    weights = source_of("knob-ode-s0").attentive
    bare = respond(both, Settings(on=False))[0].predicted
    for row in frame.iloc[[0, 77, 167]].itertuples():
        settings = Settings(zeta=float(row.zeta), omega_n=float(row.omega_n))
        wanted = measure(both, respond(both, settings, attentive=weights)[0], bare)
        assert row.excess_flips == pytest.approx(wanted.excess_flips, rel=1e-5)
        assert row.nll == pytest.approx(wanted.nll, rel=1e-4) and row.accuracy == pytest.approx(
            wanted.accuracy, rel=1e-5
        )


def test_home_half_and_double_are_in_the_table(table: Path) -> None:
    frame = result_tables.read(table)
    for zeta, omega_n in ((1.0, 0.4), (0.5, 0.4), (2.0, 0.4), (1.0, 0.2), (1.0, 0.8)):
        assert (np.isclose(frame["zeta"], zeta) & np.isclose(frame["omega_n"], omega_n)).sum() == 1


def test_test_streams_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = made(tmp_path / "test.npz", split="test")
    assert sensitivity.main([str(path), "--out", str(tmp_path / "x.csv")]) == 1
    assert "split 'test', expected validation or pairs" in capsys.readouterr().err
    assert not (tmp_path / "x.csv").exists()


def test_the_report_has_a_table_of_every_measure_and_a_figure(table: Path) -> None:
    pytest.importorskip("matplotlib")
    from train.report import plots

    results = Results(table.parent)
    text = "\n".join(section.section(results, "![maps](sensitivity.png)"))
    assert text.count("\n| ") >= 12 and "home" in text and "ω_n × 2" in text and "Of all steps to a larger ζ" in text
    assert len(plots.sensitivity_maps(results).axes) == 12  # six maps, each with its scale
    assert section.section(Results(table.parent / "nothing"), "") == []


def test_directions_by_hand(table: Path) -> None:
    frame = result_tables.read(table)
    frame["rising"] = np.log(frame["zeta"])
    assert section.monotone(frame, "rising", "zeta") == (1.0, 0.0)
    assert section.monotone(frame, "rising", "omega_n") == (0.0, 0.0)


def test_the_shipped_table_is_read_and_knob_has_the_command() -> None:
    frame = result_tables.read_table("sensitivity")
    assert set(frame["memory"]) == {"attentive"} and frame.notna().all().all()
    assert cli.COMMANDS["sensitivity"].module == "train.sensitivity"


def test_another_file_is_named_with_what_is_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = tmp_path / "wrong.npz"
    np.save(tmp_path / "array.npy", np.zeros(3))
    for content in (b"no such thing", b"PK\x03\x04 cut short", (tmp_path / "array.npy").read_bytes()):
        wrong.write_bytes(content)
        assert sensitivity.main([str(wrong), "--out", str(tmp_path / "x.csv")]) == 1
        said = capsys.readouterr().err
        assert f"{wrong} is not a file of streams, expected an .npz of python -m train.change_streams" in said
