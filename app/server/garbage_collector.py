"""Garbage collector settings. Streamlit collects garbage after every rerun; with torch loaded that takes 200 ms.

Objects that stay for good (modules, models, caches) are excluded from collection, so that it walks only what is new.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def freeze() -> None:
    """Exclude all current objects from garbage collection, after a collection that removes the dead ones."""
    gc.collect()
    gc.freeze()


@contextmanager
def loading(module: str) -> Iterator[None]:
    """Import a large module in this block; the first time, all that it brings is excluded from collection."""
    first_time = module not in sys.modules
    yield
    if first_time:
        freeze()
