"""The examples of docs/serve.md, for a service that is running, and a model that they can be tried on."""

from __future__ import annotations

import re

import numpy as np

from knob_core import wrap
from knob_core.assets import ROOT
from knob_core.serving.engine import Engine, Limits

DOCS = ROOT / "docs"
GUIDE = (DOCS / "serve.md").read_text(encoding="utf-8")


def example(kind: str, word: str, url: str) -> str:
    """The guide's one example with `word` in it, for a service at `url`."""
    (found,) = [text for text in re.findall(rf"```{kind}\n(.*?)```", GUIDE, re.DOTALL) if word in text]
    address = "127.0.0.1:8600"
    assert address in found
    return found.replace(address, url.removeprefix("http://"))


class Camera:
    """Five frames of an ordinary camera, blue first, and then nothing."""

    def __init__(self, number: int) -> None:
        self.left = 5

    def read(self) -> tuple[bool, np.ndarray | None]:
        self.left -= 1
        frame = np.random.default_rng(self.left + 1).integers(0, 256, (48, 64, 3), dtype=np.uint8)
        return self.left >= 0, frame if self.left >= 0 else None


def pictures() -> Engine:
    mean = wrap.classifier(lambda frames: np.asarray(frames, np.float64).mean((1, 2)))
    return Engine(mean, limits=Limits(), name="mean", classes=("red", "green", "blue"))
