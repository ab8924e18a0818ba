"""Shipping: half precision where it changes nothing, and not where it does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from knob_core import checkpoint, memories, models
from train import ship


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    torch.manual_seed(0)
    path = tmp_path / "runs" / "pocket" / "knob-ia-s2" / "final.safetensors"
    checkpoint.save(models.build("knob-ia", width=8), path, {"seed": 2, "recipe": {"name": "tiny"}})
    return path


@pytest.mark.slow
def test_a_finished_run_ships_with_its_header(finished: Path, tmp_path: Path) -> None:
    target = ship.ship(finished, tmp_path / "shipped")
    assert target.name == "knob-ia-s2.safetensors"
    header = checkpoint.read_header(target)
    assert header["recipe"] == {"name": "tiny"}
    assert header["sample_accuracy"] == pytest.approx(ship.sample_accuracy(checkpoint.load(finished)))
    assert target.stat().st_size < 0.6 * finished.stat().st_size


def test_a_model_that_half_precision_hurts_stays_home(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter((0.9, 0.8))
    monkeypatch.setattr(ship, "sample_accuracy", lambda model: next(answers))
    earlier = tmp_path / "shipped" / "knob-ia-s2.safetensors"
    checkpoint.save(models.build("knob-ia", width=8), earlier, {"seed": 2})
    before = earlier.read_bytes()
    with pytest.raises(ValueError, match=r"from 0\.900 to 0\.800; not shipped"):
        ship.ship(finished, tmp_path / "shipped", even_if_worse=True)
    assert earlier.read_bytes() == before
    assert list(earlier.parent.iterdir()) == [earlier]


def test_nothing_finished_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ship.main(["--runs", str(tmp_path)]) == 1
    assert "no finished run" in capsys.readouterr().err


def test_a_rival_that_only_stands_in_tables_does_not_ship(tmp_path: Path) -> None:
    path = tmp_path / "pocket" / "static-smoothed-s0" / "final.safetensors"
    checkpoint.save(models.build("static", width=8), path, {"seed": 0, "variant": "smoothed"})
    with pytest.raises(FileNotFoundError, match="no finished run"):
        ship.work(tmp_path / "pocket")


@pytest.mark.parametrize(
    ("ships", "says"),
    [
        ({"clean_accuracy": 0.9, "corrupted_accuracy": 0.8}, None),
        ({"clean_accuracy": 0.85, "corrupted_accuracy": 0.84}, None),
        ({"clean_accuracy": 0.9, "corrupted_accuracy": 0.81}, "validation accuracy is 0.8500, and 0.8550 ships"),
        (None, "does not tell its validation accuracy"),
    ],
)
def test_only_what_is_not_worse_replaces_what_ships(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ships: dict[str, float] | None, says: str | None
) -> None:
    monkeypatch.setattr(ship, "sample_accuracy", lambda model: 0.5)
    model, mine = checkpoint.load(finished), {"clean_accuracy": 0.9, "corrupted_accuracy": 0.8}
    checkpoint.save(model, finished, {"seed": 2, "history": mine})
    target = tmp_path / "shipped" / "knob-ia-s2.safetensors"
    checkpoint.save(model, target, {"seed": 2, "history": ships})
    before = target.read_bytes()
    if says is None:
        ship.ship(finished, target.parent)
    else:
        with pytest.raises(ship.Worse, match=says):
            ship.ship(finished, target.parent)
        assert target.read_bytes() == before
        ship.ship(finished, target.parent, even_if_worse=True)
    assert target.read_bytes() != before


def test_what_is_refused_keeps_no_other_run_from_shipping(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    second = tmp_path / "runs" / "pocket" / "static-s0" / "final.safetensors"
    second.parent.mkdir()
    second.write_bytes(b"")
    asked: list[Path] = []

    def refuses_the_first(path: Path, even_if_worse: bool) -> None:
        asked.append(path)
        if path == finished:
            raise ship.Worse(f"{path}: not shipped")

    monkeypatch.setattr(ship, "ship", refuses_the_first)
    assert ship.main(["--runs", str(tmp_path / "runs")]) == 1 and asked == [finished, second]
    assert f"{finished}: not shipped" in capsys.readouterr().err


GOOD = {"clean_accuracy": 0.9, "corrupted_accuracy": 0.8}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"history": {**GOOD, "clean_accuracy": float("nan")}}, "does not tell its validation accuracy, 0 to 1"),
        ({"history": {**GOOD, "clean_accuracy": "0.99"}}, "does not tell its validation accuracy, 0 to 1"),
        ({"recipe": {"validation": 8}}, "it was validated on 8 images, and what ships on 2000"),
        ({"recipe": None}, "it was validated on an unknown number of images, and what ships on 2000"),
        ({"recipe": {"validation": "9000"}}, "on an unknown number of images, and what ships on 2000"),
    ],
)
def test_a_doubtful_accuracy_replaces_nothing(finished: Path, tmp_path: Path, changes: dict, says: str) -> None:
    model, header = checkpoint.load(finished), {"seed": 2, "history": GOOD, "recipe": {"validation": 2000}}
    target = tmp_path / "shipped" / "knob-ia-s2.safetensors"
    checkpoint.save(model, target, header)
    checkpoint.save(model, finished, header | changes)
    before = target.read_bytes()
    with pytest.raises(ship.Worse, match=says):
        ship.ship(finished, target.parent)
    assert target.read_bytes() == before


@pytest.fixture
def with_memory(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What ships of the run: the same tensors in half precision, with a memory fitted to them."""
    monkeypatch.setattr(ship, "sample_accuracy", lambda model: 0.5)
    model, header = checkpoint.load(finished), {"seed": 2, "history": GOOD, "recipe": {"validation": 2000}}
    checkpoint.save(model, finished, header)
    model.attentive = memories.Attentive(a=-2.5)
    target = tmp_path / "shipped" / "knob-ia-s2.safetensors"
    checkpoint.save(model, target, {**header, "trained_knobs": {"zeta": 1.1, "omega_n": 0.9}}, half=True)
    return target


@pytest.mark.parametrize("even_if_worse", [False, True])
def test_a_fitted_memory_stays_with_the_same_tensors(finished: Path, with_memory: Path, even_if_worse: bool) -> None:
    before = checkpoint.read_header(with_memory)
    ship.ship(finished, with_memory.parent, even_if_worse)
    assert checkpoint.read_header(with_memory) == {**before, "sample_accuracy": 0.5}
    assert checkpoint.load(with_memory).trained_knobs == (1.1, 0.9)


def test_a_fitted_memory_is_not_dropped_with_other_tensors_without_a_word(
    finished: Path, with_memory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header, before = checkpoint.read_header(finished), with_memory.read_bytes()
    checkpoint.save(models.build("knob-ia", width=8), finished, header)  # other weights, the same accuracy
    told = (
        r"the memory of knob-ia-s2\.safetensors was fitted to other tensors and must be fitted anew: train\.fit_memory"
    )
    with pytest.raises(ship.Worse, match=told):
        ship.ship(finished, with_memory.parent)
    assert with_memory.read_bytes() == before
    ship.ship(finished, with_memory.parent, even_if_worse=True)
    assert not {"attentive", "trained_knobs"} & checkpoint.read_header(with_memory).keys()
    assert re.search(told, capsys.readouterr().out)


@pytest.mark.parametrize("seed", [None, "../../x", "0", -1, 1.5, True])
def test_a_seed_that_is_no_whole_number_is_refused(finished: Path, tmp_path: Path, seed: object) -> None:
    checkpoint.save(checkpoint.load(finished), finished, {} if seed is None else {"seed": seed})
    with pytest.raises(ValueError, match=f"final.safetensors has seed {seed!r}, expected a whole number from 0"):
        ship.ship(finished, tmp_path / "shipped")
    assert not (tmp_path / "shipped").exists()
