"""The model of a service: a checkpoint, an ONNX file, a function of one's own, or none where clients send logits."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import NamedTuple

from knob_core import wrap
from knob_core.runtime.sources import GatedSource, Source, source_of

LOGITS = "logits"


class Model(NamedTuple):
    """A source with what people call it and its classes."""

    source: Source
    name: str
    classes: tuple[str, ...] | None  # names, where the model has them


def load(what: str, device: str = "auto") -> Model:
    """`what`: a shipped model's name, a checkpoint or .onnx file, `module:function`, or "logits:K" for K classes."""
    kind, _, classes = what.partition(":")
    if kind == LOGITS:
        source = wrap.classifier()
        if classes:
            if not classes.isdecimal() or int(classes) < 2:
                raise ValueError(f"model is {what!r}, expected logits:K with 2 classes or more")
            source.num_classes = int(classes)
        return Model(source, LOGITS, None)
    if what.endswith(".onnx"):
        from knob_core.serving.onnx_source import OnnxSource

        onnx = OnnxSource(Path(what))
        return Model(onnx, Path(what).stem, onnx.classes)
    if ":" in what and not Path(what).exists():
        return Model(_own(what), what, None)
    gated = source_of(what, device)
    assert isinstance(gated, GatedSource)
    return Model(gated, Path(what).stem, gated.model.classes)


def _own(what: str) -> Source:
    """A function: frames (N, H, W, 3) uint8 -> logits (N, K), or a source; found from the current folder on."""
    module, _, name = what.partition(":")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"model is {what!r}, expected module:function that can be imported: {error}") from error
    if isinstance(found, Source):
        return found
    return wrap.classifier(found)
