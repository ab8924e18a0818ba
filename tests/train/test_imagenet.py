"""ImageNet-C at small scale: a folder's pictures, a classifier of torchvision's, and rows that are what it says."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from knob_core._torchvision import torchvision
from knob_core.corruptions import corrupt
from knob_core.corruptions.imagenet import SIDE
from knob_core.library import result_tables
from train import imagenet

LEVELS = {"ants": 30, "bees": 120, "cats": 210}  # of a class's pictures


def write(root: Path, names: dict[str, str]) -> Path:
    """Two pictures a class, {class: its folder}, larger than 256 pixels and not square."""
    rng = np.random.default_rng(0)
    for name, place in names.items():
        (root / place).mkdir(parents=True)
        for index, size in enumerate(((300, 400, 3), (500, 260, 3))):
            pixels = np.clip(rng.normal(LEVELS[name], 20, size), 0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(root / place / f"{index}.png")
    return root


def test_folders_are_classes_by_order_or_by_number(tmp_path: Path) -> None:
    pictures, labels = imagenet.folder(write(tmp_path / "words", {name: name for name in LEVELS}), None)
    assert pictures.shape == (6, 3, SIDE, SIDE) and pictures.dtype == torch.uint8
    assert labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert pictures.float().mean((1, 2, 3)).tolist() == pytest.approx([30, 30, 120, 120, 210, 210], abs=2)
    numbered = write(tmp_path / "numbers", {"ants": "310", "bees": "309", "cats": "281"})
    assert imagenet.folder(numbered, None)[1].tolist() == [281, 281, 309, 309, 310, 310]
    assert imagenet.folder(numbered, 3)[1].tolist() == [281, 309, 310]  # of every class


def test_rows_are_what_the_classifier_says_of_corrupted_pixels(tmp_path: Path) -> None:
    pictures, labels = imagenet.folder(write(tmp_path, {name: name for name in LEVELS}), None)

    def classify(x: torch.Tensor) -> torch.Tensor:
        return -((x.mean((1, 2, 3))[:, None] * 255 - torch.tensor(list(LEVELS.values()))) ** 2) / 100

    rows = imagenet.measure(classify, pictures, labels, ["brightness"], [1, 5])
    cells = [(row["corruption"], row["severity"]) for row in rows]
    assert cells == [("clean", 0), ("brightness", 1), ("brightness", 5)]
    assert rows[0]["accuracy"] == 1.0
    bright = corrupt(pictures.float() / 255, "brightness", 5, constants="imagenet-c")
    expected = (classify(bright).argmax(1).numpy() == labels).mean()
    assert rows[2]["accuracy"] == expected < 1


def test_the_command_takes_any_model_of_torchvision(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = torchvision.models.mobilenet_v3_small().eval()
    save_file(model.state_dict(), tmp_path / "mine.safetensors")
    made = write(tmp_path / "made", {"ants": "310", "bees": "309", "cats": "281"})
    out = tmp_path / "out" / "rows.csv"
    arguments = [
        str(made),
        "--model",
        "mobilenet_v3_small",
        "--weights",
        str(tmp_path / "mine.safetensors"),
        "--device",
        "cpu",
    ]
    assert imagenet.main([*arguments, "--only", "contrast", "--severities", "3", "--out", str(out)]) == 0
    frame = result_tables.read(out)
    assert frame["corruption"].tolist() == ["clean", "contrast"] and set(frame["n"]) == {6}
    pictures, labels = imagenet.folder(made, None)
    x = torchvision.transforms.functional.normalize(pictures.float() / 255, imagenet.MEAN, imagenet.STD)
    with torch.inference_mode():
        nll = torch.nn.functional.cross_entropy(model(x), torch.from_numpy(labels)).item()
    assert frame["nll"].iloc[0] == pytest.approx(nll, rel=1e-4)
    assert nll == pytest.approx(math.log(1000), rel=0.2)  # knows nothing yet


def test_what_cannot_be_judged_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert imagenet.main([str(tmp_path)]) == 2
    assert "has no folders, expected one for each class" in capsys.readouterr().err
    made = write(tmp_path, {"ants": "1310"})
    assert imagenet.main([str(made), "--model", "mobilenet_v3_small", "--device", "cpu"]) == 2
    assert "has class 1310, mobilenet_v3_small knows 1000" in capsys.readouterr().err
    assert imagenet.main([str(made), "--model", "no-net", "--device", "cpu"]) == 2
    assert "--model no-net, --weights None: " in capsys.readouterr().err
