"""A service put together from its options."""

from __future__ import annotations

import gc

from knob_core.serving import assembly, options
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
