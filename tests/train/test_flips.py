"""The command: every model and perturbation, the mean over perturbations, the same numbers again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from knob_core import data, perturbations
from knob_core.library import result_tables
from knob_core.methods import METHODS
from tests.helpers import tiny_family
from train import flips


@pytest.mark.slow
def test_every_model_and_perturbation_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images, labels, _ = data.load_sample()
    monkeypatch.setattr(data, "load_cifar10", lambda root, split: (images, labels))
    tiny_family.write(tmp_path / "checkpoints")
    command = [str(tmp_path / "checkpoints"), "--count", "3", "--first", "50", "--out"]
    assert flips.main([*command, str(tmp_path / "a.csv")]) == 0
    frame = result_tables.read(tmp_path / "a.csv")
    assert len(frame) == len(METHODS) * (len(perturbations.NAMES) + 1)
    for _, part in frame.groupby("method"):
        value = part.set_index("perturbation")["flip_probability"]
        assert value["mean"] == pytest.approx(np.mean([value[name] for name in perturbations.NAMES]), abs=1e-5)
        assert part["flip_probability"].between(0, 1).all()
    assert flips.main([*command, str(tmp_path / "b.csv")]) == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert flips.main([*command, str(tmp_path / "c.csv"), "--first", "7"]) == 2
