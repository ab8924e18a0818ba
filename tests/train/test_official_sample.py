"""Official pixels beside ours: equal pixels give no difference, other pixels give theirs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from knob_core import data
from knob_core.data import cifar10c
from knob_core.library import result_tables
from tests.helpers import tiny_family
from train import official_sample


def write_grid(path: Path, images: np.ndarray) -> None:
    """Five rows of 100 pictures, as the sample's grids are."""
    rows = images.reshape(5, 100, 3, 32, 32).transpose(0, 3, 1, 4, 2).reshape(5 * 32, 100 * 32, 3)
    Image.fromarray(rows).save(path, lossless=True)


@pytest.mark.slow
def test_equal_pixels_have_no_difference_and_others_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    images, labels, _ = data.load_sample()
    monkeypatch.setattr(data, "load_cifar10", lambda root, split: (images, labels))
    tiny_family.write(tmp_path / "checkpoints")
    (tmp_path / "grids").mkdir()
    made = [cifar10c.make(images[:100], "contrast", severity) for severity in cifar10c.SEVERITIES]
    write_grid(tmp_path / "grids" / "contrast.webp", np.stack(made))
    write_grid(tmp_path / "grids" / "fog.webp", np.zeros((5, 100, 3, 32, 32), np.uint8))
    checkpoint = str(tmp_path / "checkpoints" / "static-s0.safetensors")
    out = tmp_path / "official.csv"
    assert official_sample.main([str(tmp_path / "grids"), checkpoint, "--out", str(out)]) == 0
    rows = result_tables.read(out).set_index("corruption")
    assert rows.loc["contrast", "nll_difference"] == 0 and rows.loc["contrast", "nll_error"] == 0
    assert rows.loc["fog", "nll_difference"] != 0
    assert rows.loc["all", "own_nll"] == pytest.approx(rows.loc[["contrast", "fog"], "own_nll"].mean(), abs=1e-5)
    assert "ours less official, accuracy" in capsys.readouterr().out
    assert official_sample.main([str(tmp_path / "checkpoints"), "--out", str(out)]) == 1
    assert "no <corruption>.webp" in capsys.readouterr().err
