"""What reading one upload may cost: seconds, decoded bytes, and as long as nobody cancels it.

Every reader takes a Budget and asks it between members, row groups, blocks of lines and frames, before each is decoded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from knob_core.uploads.limits import MAX_DECODED, MAX_SECONDS, short


class Stopped(ValueError):
    """The file may be good: reading it cost too much, or was cancelled."""


@dataclass
class Budget:
    """The clock starts when it is made."""

    seconds: float = MAX_SECONDS
    decoded: int = MAX_DECODED  # bytes
    cancelled: Callable[[], bool] | None = None
    spent: int = field(default=0, init=False)  # bytes
    started: float = field(default_factory=time.monotonic, init=False)

    @property
    def seconds_left(self) -> float:
        return self.seconds - (time.monotonic() - self.started)

    def check(self, name: str) -> None:
        """Stop here if time is up or nobody waits any more."""
        if self.cancelled is not None and self.cancelled():
            raise Stopped(f"{name}: reading was cancelled")
        if self.seconds_left <= 0:
            raise Stopped(f"{name} takes longer than {self.seconds:g} s to read, expected a shorter or smaller file")

    def spend(self, name: str, size: int) -> None:
        """Ask before `size` bytes are decoded."""
        self.check(name)
        self.spent += size
        if self.spent > self.decoded:
            raise Stopped(
                f"{name}: what was decoded has more than {self.decoded:,} bytes in all, "
                "expected a shorter or smaller file"
            )


UNFORESEEN = "in a way that was not foreseen"


@contextmanager
def only_value_errors(name: str) -> Iterator[None]:
    """Whatever a library raises for a file that was made to hurt it leaves as a refusal that names the file."""
    try:
        yield
    except MemoryError as error:
        raise ValueError(f"{short(name)} needs more memory than there is") from error
    except Exception as error:
        if type(error) in (ValueError, Stopped):
            raise
        raise ValueError(f"{short(name)} is damaged {UNFORESEEN} ({type(error).__name__})") from error
