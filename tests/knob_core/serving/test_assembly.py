"""A service put together from its options."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from knob_core import wrap
from knob_core.serving import assembly, options
from knob_core.serving.engine import Engine, Refusal
from knob_core.serving.messages import Frame
from knob_core.serving.web.service import Service


def test_what_is_loaded_for_good_is_not_walked_by_the_garbage_collector() -> None:
    """A full collection takes as long as some batches, with torch loaded: no frame shall wait for that."""
    given = options.from_table({"model": "logits:5"})
    gc.unfreeze()
    try:
        service = Service(assembly.engine_of(given))
        assembly.equip(service, None, given.snapshot_every, None)
        assert gc.get_freeze_count() > len(gc.get_objects())
        assert not service.engine.streams
    finally:
        gc.unfreeze()


@pytest.mark.parametrize("side", [32, 48])
def test_the_model_says_how_many_classes_there_are_and_no_client(side: int) -> None:
    """It is asked before the first client comes; one that takes pictures of another size, by the first picture."""

    def model(pictures: Any) -> np.ndarray:
        return pictures.reshape(-1, side * side * 3)[:, :7] / 25.0

    engine = Engine(wrap.classifier(model))
    assembly.warm_up(engine)
    assert engine.stepper.backbone.num_classes == (7 if side == 32 else None)
    told: list[Any] = []
    with pytest.raises(Refusal, match="expected 7" if side == 32 else "send a picture first"):
        engine.submit("a", Frame("logits", np.arange(3.0)), told.append)
    picture = Frame("raw", np.random.default_rng(0).integers(0, 256, (side, side, 3), np.uint8))
    for frame in (picture, Frame("logits", np.arange(7.0))):
        engine.submit("a", frame, told.append)
        engine.step_waiting()
    assert [reply["type"] for reply in told] == ["answer", "answer"]
