"""Garbage collector settings. Streamlit collects garbage after every rerun; with torch loaded that takes 200 ms.

Objects that stay for good (modules, models, caches) are excluded from collection, so that it walks only what is new.
What is excluded is never collected, so a session that lived at that time would stay for good, with its uploads: all
that was excluded is looked at again when large modules have come, and when a session is over (`lifespan`).
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_one_at_a_time = threading.Lock()


def freeze() -> None:
    """Remove what is dead, also of what was excluded before, then exclude all that lives."""
    with _one_at_a_time:
        gc.unfreeze()
        gc.collect()
        gc.freeze()


@contextmanager
def loading(module: str) -> Iterator[None]:
    """Import a large module in this block; the first time, all that it brings is excluded from collection."""
    first_time = module not in sys.modules
    yield
    if first_time:
        freeze()
