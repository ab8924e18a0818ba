"""Frames of another size than the model's: fitted, never without a word; a model keeps its size in its checkpoint."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from knob_core import checkpoint, models
from knob_core.runtime import KnobStream
from knob_core.runtime.frame_size import MOST_SIZES, FrameSizeWarning, SizeNotice
from knob_core.runtime.frames import as_images
from knob_core.runtime.sources import GatedSource


def model(size: int = 32) -> models.GatedClassifier:
    torch.manual_seed(0)
    made = models.build("knob-ode", 4).eval()
    made.image_size = size
    return made


@pytest.mark.parametrize(
    ("shape", "words"),
    [
        ((48, 64, 3), "frames are 64 x 48 pixels: the middle 48 x 48 is shrunk to fit this model, which takes 32 x 32"),
        ((3, 64, 64), "frames are 64 x 64 pixels: they are shrunk to fit"),
        ((16, 16, 3), "frames are 16 x 16 pixels: they are enlarged to fit"),
        ((32, 40, 3), "frames are 40 x 32 pixels: the middle 32 x 32 is cut out to fit"),
    ],
)
def test_what_is_done_to_other_sizes_is_said(shape: tuple[int, ...], words: str) -> None:
    with pytest.warns(FrameSizeWarning, match=words):
        KnobStream(model()).step(np.zeros(shape, np.uint8))
    if shape[2] == 3:
        with pytest.warns(FrameSizeWarning, match=words):  # as a service takes them
            GatedSource(model(), torch.device("cpu")).prepare(np.zeros(shape, np.uint8))


def test_it_is_said_once_for_each_size_and_of_few_sizes() -> None:
    stream, frames = KnobStream(model()), np.zeros((2, 40, 40, 3), np.uint8)
    with pytest.warns(FrameSizeWarning) as said:
        for _ in range(3):
            stream.step(frames)
    assert len(said) == 1
    notice = SizeNotice((32, 32))
    with pytest.warns(FrameSizeWarning) as said:
        for side in range(33, 133):
            notice.check((side, side, 3))
    assert len(said) == MOST_SIZES  # sizes come from outside: neither the list nor the log may grow with them


def test_the_size_of_the_model_is_taken_as_it_is() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KnobStream(model()).step(np.zeros((32, 32, 3), np.uint8))
        KnobStream(model()).step(torch.zeros(2, 3, 32, 32))
        KnobStream(model(48)).step(np.zeros((48, 48, 3), np.uint8))


@pytest.mark.filterwarnings("ignore::knob_core.runtime.frame_size.FrameSizeWarning")
def test_a_model_of_another_size_gets_its_own(tmp_path: Path) -> None:
    """It was given 32 x 32 whatever it was trained on."""
    rng = np.random.default_rng(0)
    large = rng.integers(0, 256, (1, 64, 80, 3), dtype=np.uint8)
    checkpoint.save(model(48), path := tmp_path / "m.safetensors")
    source = GatedSource(checkpoint.load(path), torch.device("cpu"))
    images = as_images(large, torch.device("cpu"), (48, 48))
    with torch.inference_mode():
        wanted = model()(images).z_dyn.double().numpy()
    np.testing.assert_allclose(source(large).z_dyn, wanted, atol=1e-6)
    np.testing.assert_array_equal(source.prepare(large[0]), images[0].numpy())
    assert "image_size" not in checkpoint.read_header(_saved(model(), tmp_path))


def _saved(made: models.GatedClassifier, folder: Path) -> Path:
    checkpoint.save(made, folder / "n.safetensors")
    return folder / "n.safetensors"


@pytest.mark.parametrize("wrong", [0, -32, True, 32.0, "32", 10**6, None])
def test_a_header_with_a_strange_size_is_refused(wrong: object, tmp_path: Path) -> None:
    path = _saved(model(), tmp_path)
    header = {**checkpoint.read_header(path), "image_size": wrong}
    save_file(load_file(path), path, {"knob": json.dumps(header)})
    with pytest.raises(ValueError, match="image_size"):
        checkpoint.load(path)
