"""What the README tells people to type works as it stands."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest
import torch

from knob_core import checkpoint, models
from knob_core import settings as settings_file
from knob_core.runtime import KnobStream
from knob_core.settings import Settings

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


class Camera:
    """Five frames of an ordinary camera, blue first, and then nothing."""

    def __init__(self, number: int) -> None:
        self.left = 5

    def read(self) -> tuple[bool, np.ndarray | None]:
        self.left -= 1
        frame = np.random.default_rng(self.left + 1).integers(0, 256, (48, 64, 3), dtype=np.uint8)
        return self.left >= 0, frame if self.left >= 0 else None


def block(word: str) -> str:
    found = [text for text in BLOCKS if word in text]
    assert len(found) == 1, f"the README has {len(found)} examples with {word}"
    return found[0]


def test_the_camera_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "cv2", types.SimpleNamespace(VideoCapture=Camera))
    checkpoint.save(models.build("knob-ode", 4), tmp_path / "assets/checkpoints/knob-ode-s0.safetensors")
    settings_file.save(Settings(zeta=1.5), tmp_path / "knob.toml")
    names: dict[str, object] = {}
    exec(block("VideoCapture"), names)
    assert len(capsys.readouterr().out.splitlines()) == 5
    stream = names["stream"]
    assert isinstance(stream, KnobStream) and stream.zeta == 1.5


def test_the_example_with_your_own_model():
    rng = np.random.default_rng(0)
    labels = np.arange(10) % 4
    logits = rng.normal(0, 2, (10, 50, 4)) + 3 * np.eye(4)[labels][:, None]
    names = {
        "model": torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(75, 4)),
        "cameras": [torch.rand(3, 3, 5, 5) for _ in range(6)],
        "logits": logits,
        "labels": labels,
    }
    exec(block("wrap.classifier"), names)
    assert names["answer"].probabilities.shape == (3, 4)
    assert (names["stream"].zeta, names["stream"].omega_n) == names["found"].knobs
    assert names["found"].flips < names["found"].flips_before / 3


def test_commands_and_files_that_are_named_exist():
    root = Path(__file__).parents[1]
    for module in re.findall(r"python -m ([\w.]+)", README):
        if module.startswith("train."):
            path = root / module.replace(".", "/")
            assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module
    for path in re.findall(r"\]\((?!http|#)([^)]+)\)", README):
        if not path.startswith("assets/screenshots/"):
            assert (root / path).exists(), path
