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


def pictures() -> Engine:
    mean = wrap.classifier(lambda frames: np.asarray(frames, np.float64).mean((1, 2)))
    return Engine(mean, limits=Limits(), name="mean", classes=("red", "green", "blue"))
