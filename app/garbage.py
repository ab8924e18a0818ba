"""Streamlit collects garbage after every rerun: what was loaded for good must not be walked each time."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def freeze() -> None:
    """All that lives now stays: after a collection, so that nothing dead stays with it."""
    gc.collect()
    gc.freeze()


@contextmanager
def loading(module: str) -> Iterator[None]:
    """Import a large module in this block; the first time, all that it brings is frozen."""
    first_time = module not in sys.modules
    yield
    if first_time:
        freeze()
