"""The README's examples, run with what they leave to the reader: a camera, a model. Also a script for other folders."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import torch

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
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
    """The one example with `word` in it."""
    found = [text for text in BLOCKS if word in text]
    if len(found) != 1:
        raise ValueError(f"the README has {len(found)} examples with {word!r}, expected one")
    return found[0]


def camera_example() -> dict[str, Any]:
    """The camera's loop in the current folder, which gets the settings file; its names afterwards."""
    from knob_core import settings

    settings.save(settings.Settings(zeta=1.5), Path("knob.toml"))
    before = sys.modules.get("cv2")
    sys.modules["cv2"] = types.SimpleNamespace(VideoCapture=Camera)  # type: ignore[assignment]
    try:
        names: dict[str, Any] = {}
        exec(block("VideoCapture"), names)
        return names
    finally:
        sys.modules.pop("cv2")
        if before is not None:
            sys.modules["cv2"] = before


def own_model_example() -> dict[str, Any]:
    """A linear model on small pictures, and ten streams of made-up logits to fit to; its names afterwards."""
    rng = np.random.default_rng(0)
    labels = np.arange(10) % 4
    names: dict[str, Any] = {
        "model": torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(75, 4)),
        "cameras": [torch.rand(3, 3, 5, 5) for _ in range(6)],
        "logits": rng.normal(0, 2, (10, 50, 4)) + 3 * np.eye(4)[labels][:, None],
        "labels": labels,
    }
    exec(block("wrap.classifier"), names)
    return names


if __name__ == "__main__":
    camera_example()
    own_model_example()
