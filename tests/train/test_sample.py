"""The shipped sample can be made again, byte for byte in its pixels and list."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from knob_core import data
from knob_core.data import load_sample
from knob_core.data.layouts import write_grid
from train import sample
from train.sample import choose, main


def test_first_of_every_class_in_order() -> None:
    labels = np.arange(5000) * 7 % 10
    chosen = choose(labels)
    assert (chosen == np.arange(1000)).all()
    labels[:10] = 3  # seven of each other class are missed and come later
    assert np.bincount(labels[choose(labels)]).tolist() == [100] * 10


def test_made_again_it_is_the_same(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped, listing = load_sample(), (data.SAMPLE / "sample.json").read_bytes()
    monkeypatch.setattr(sample, "write_grid", partial(write_grid, method=0))  # quick instead of small, as lossless
    assert main(["--data", str(shared), "--out", str(tmp_path)]) == 0
    assert (tmp_path / "sample.json").read_bytes() == listing
    monkeypatch.setattr(data, "SAMPLE", tmp_path)
    assert all((a == b).all() for a, b in zip(load_sample(), shipped, strict=True))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["images.webp", "sample.json"]


def test_without_data_it_says_how_to_have_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--data", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    assert "Three ways" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
