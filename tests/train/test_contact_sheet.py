"""The contact sheet shows the pixels that the corruptions make."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from knob_core.data import load_sample
from knob_core.data.cifar10c import make
from train.contact_sheet import GAP, HEAD, LABEL, MARGIN, ZOOM, main, sheet


def test_cells_hold_the_corrupted_images() -> None:
    images = load_sample()[0][:2]
    page = np.asarray(sheet(images, seed=3, names=("fog", "saturate")))
    expected = make(images, "saturate", 5, seed=3)[-1].transpose(1, 2, 0).repeat(ZOOM, 0).repeat(ZOOM, 1)
    side = 32 * ZOOM
    top, right = MARGIN + HEAD + side + GAP, page.shape[1] - MARGIN
    assert (page[top : top + side, right - side : right] == expected).all()  # the last cell of the last row
    clean = images[0].transpose(1, 2, 0).repeat(ZOOM, 0).repeat(ZOOM, 1)
    assert (page[top : top + side, MARGIN + LABEL : MARGIN + LABEL + side] == clean).all()  # the first


@pytest.mark.slow
def test_the_command_writes_one_whole_picture(tmp_path: Path) -> None:
    assert main(["--out", str(tmp_path / "sheet.webp")]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["sheet.webp"]
    with Image.open(tmp_path / "sheet.webp") as page:
        assert page.height > 19 * 32 * ZOOM and page.width > 18 * 32 * ZOOM


def test_a_bad_seed_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--out", str(tmp_path / "sheet.webp"), "--seed", "-1"])
    assert caught.value.code == 2 and "seed is -1" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert main(["--out", str(tmp_path / "file" / "sheet.webp")]) == 1
    assert str(tmp_path / "file") in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
