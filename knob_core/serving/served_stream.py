"""One stream of a service: what waits, what was answered, and its last frames for whoever watches."""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from knob_core.serving.messages import Answer, Frame, History, Reply
from knob_core.wrap.probabilities import ProbabilityCount

HISTORY = 300  # frames
RATE_OVER = 3.0  # s that the shown frame rate is smoothed over
RECENT = 16  # replies that a client which comes back is sent again

Sink = Callable[[Reply], None]
Policy = Literal["newest", "refuse"]
POLICIES = ("newest", "refuse")
NAMES = ("frame", "g", "p_max", "label", "bare")


class Waiting(NamedTuple):
    """A frame that has not been in a batch yet."""

    stream: ServedStream
    frame: Frame
    number: int
    sink: Sink | None  # None: the stream's socket, whichever it is by then
    arrived: float  # s, monotonic


class Ring:
    """The last HISTORY frames; flips are counted as they come and go: a listing asks for them of every stream."""

    def __init__(self) -> None:
        self.count = 0
        self._rows = np.zeros((HISTORY, len(NAMES)))
        self._flips = {"label": 0, "bare": 0}

    def add(self, *row: float) -> None:
        """In the order of NAMES."""
        place = self.count % HISTORY
        if self.count >= HISTORY:
            self._count_flips(place, (place + 1) % HISTORY, -1)  # the oldest frame gives its place to the new one
        self._rows[place] = row
        if self.count:
            self._count_flips((place - 1) % HISTORY, place, 1)
        self.count += 1

    def _count_flips(self, earlier: int, later: int, change: int) -> None:
        for name in self._flips:
            column = NAMES.index(name)
            if self._rows[earlier, column] != self._rows[later, column]:
                self._flips[name] += change

    def rows(self) -> np.ndarray:
        """(n, 5), oldest first."""
        if self.count <= HISTORY:
            return self._rows[: self.count]
        return np.roll(self._rows, -(self.count % HISTORY), axis=0)

    def since(self, frame: int = 0) -> History:
        rows = self.rows()
        columns = rows[rows[:, 0] > frame].T
        whole = ("frame", "label", "bare")
        return {n: (c.astype(int) if n in whole else c).tolist() for n, c in zip(NAMES, columns, strict=True)}  # type: ignore[return-value]

    def flips(self, name: str) -> float | None:
        """Changes of the answer per 100 frames."""
        pairs = min(self.count, HISTORY) - 1
        return 100.0 * self._flips[name] / pairs if pairs > 0 else None


@dataclass(eq=False)
class ServedStream:
    """All but the state itself, which is a row of `StateRows`."""

    id: str
    group: str
    policy: Policy
    origin: Literal["new", "memory", "snapshot"] = "new"  # of the state, for the next hello
    resumed: Literal["new", "memory", "snapshot"] = "new"  # as the last hello said
    saved_at: float | None = None  # Unix time of the snapshot that it came from
    life: str = field(
        default_factory=lambda: secrets.token_hex(8)
    )  # tells streams of one id apart that came after another
    row: int = -1  # none before the first frame
    accepted: int = 0  # last number that was taken from the client
    taken: int = 0  # last number that went into a batch
    stepped: int = 0  # last number that is in the state
    lost: float = 0.0  # frames that were dropped before the next one
    waiting: deque[Waiting] = field(default_factory=deque)
    queued: bool = False  # among those that a batch is gathered from
    sink: Sink | None = None  # of the socket that is open
    seen: float = field(default_factory=time.monotonic)  # last sign of life
    knobs: tuple[float, float] | None = None  # where the slew limit lets them be
    settled: int = 0  # last number that was in a batch and has its reply: an answer, or a refusal
    last: Answer | None = None
    probabilities: ProbabilityCount = field(default_factory=ProbabilityCount)  # that were sent as logits
    recent: deque[tuple[int, Reply]] = field(default_factory=lambda: deque(maxlen=RECENT))
    ring: Ring = field(default_factory=Ring)
    answered: int = 0
    dropped: int = 0
    refused: int = 0
    rate: float = 0.0  # frames/s, smoothed
    shown: int | None = None  # last label, for counting flips
    left: tuple[int, int] = (-1, 0)  # (label that was left last, at which number)
    picture: np.ndarray | None = None  # (h, w, 3) uint8, small
    noted: float = 0.0  # s, monotonic: last answer

    def keep_replies_up_to(self, number: int) -> None:
        """Forget the replies to later frames."""
        kept = [item for item in self.recent if item[0] <= number]
        self.recent.clear()
        self.recent.extend(kept)

    def note(self, now: float) -> None:
        """One more frame was answered."""
        self.answered += 1
        passed, self.noted = max(now - self.noted, 1e-3), now
        self.rate += (1.0 / passed - self.rate) * min(1.0, passed / RATE_OVER)
