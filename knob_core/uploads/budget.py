"""What reading one upload may cost: seconds, decoded bytes, and as long as nobody cancels it.

Every reader takes a Budget and asks it between members, row groups, blocks of lines and frames, before each is decoded.
What takes much memory waits for its turn: one such file at a time in this process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from knob_core.uploads.limits import MAX_DECODED, MAX_SECONDS, short

LARGE = threading.Lock()  # held by the one large file that is being read
PATIENCE = 0.1  # s between two looks at the clock while another one holds it


class Stopped(ValueError):
    """The file may be good: reading it cost too much, or was cancelled."""


@dataclass
class Budget:
    """The clock starts when it is made."""

    seconds: float = MAX_SECONDS
    decoded: int = MAX_DECODED  # bytes
    cancelled: Callable[[], bool] | None = None
    spent: int = field(default=0, init=False)  # bytes
    has_turn: bool = field(default=False, init=False)
    started: float = field(default_factory=time.monotonic, init=False)

    @property
    def seconds_left(self) -> float:
        return self.seconds - (time.monotonic() - self.started)

    def check(self, name: str) -> None:
        """Stop here if time is up or nobody waits any more."""
        self._require_wanted(name)
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

    def _require_wanted(self, name: str) -> None:
        if self.cancelled is not None and self.cancelled():
            raise Stopped(f"{name}: reading was cancelled")

    def wait_for_turn(self, name: str) -> None:
        """Ask before much memory is taken, inside `turns`; the clock stands still meanwhile."""
        self.check(name)
        began = time.monotonic()
        while not self.has_turn:
            self._require_wanted(name)
            if time.monotonic() - began > self.seconds:
                raise Stopped(f"{name}: other large files were read for {self.seconds:g} s, please try again later")
            self.has_turn = LARGE.acquire(timeout=PATIENCE)
        self.started += time.monotonic() - began

    @contextmanager
    def turns(self) -> Iterator[None]:
        """Whoever waited for a turn in here has none afterwards."""
        try:
            yield
        finally:
            if self.has_turn:
                self.has_turn = False
                LARGE.release()


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
