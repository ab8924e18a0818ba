"""How a refusal calls a file, and what it says where a library cannot read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager


def short(name: str) -> str:
    """A name from outside as a refusal says it: printable, and no longer than one can read."""
    return repr(name if len(name) <= 80 else f"{name[:50]}...{name[-25:]}")[1:-1]


def listed(names: Sequence[str], most: int = 5) -> str:
    """The first of many names from outside."""
    shown = ", ".join(f"'{short(each)}'" for each in names[:most])
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")


@contextmanager
def readable(name: str, expected: str) -> Iterator[None]:
    """Any error of a library is a refusal of this file; the library's own words may tell of this machine."""
    try:
        yield
    except (MemoryError, ImportError):
        raise
    except Exception as error:
        raise ValueError(f"{name} is damaged, cut short or of another kind; save it again as {expected}") from error
