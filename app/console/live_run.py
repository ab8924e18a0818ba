"""Live mode: frames arrive one by one and the knobs act on the running state; a turn never resets it.

The screen is swept like an oscilloscope's: frame t of the run is drawn at t mod T, over what was there a sweep ago.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

import numpy as np

from app.console.shown_stream import ShownStream
from knob_core.branches import Branches
from knob_core.memories import Memory
from knob_core.response import Response
from knob_core.settings import HOME, Settings


@dataclass
class LiveRun:
    """A run in progress: its state, and the last T frames of every path."""

    MOST_AT_ONCE = 64  # frames caught up in one go
    ONE_TURN = 8  # frames: changes nearer to each other are one turn of the knob

    playing: bool = True
    due: int = 0  # frames asked for and not yet run
    t: int = 0  # frames run so far
    state: Memory | None = None
    response: Response | None = None  # (R, T) with NaN where nothing has arrived yet
    omega_n: np.ndarray | None = None  # (T,) where the knob stood at each frame on the screen
    turns: list[tuple[int, Settings]] = field(default_factory=list)  # (frame, setting from there on)

    def advance(self, stream: ShownStream, settings: Settings) -> None:
        """Run the frames that are due with the knobs where they are now."""
        paths, frames, classes = stream.branches.z_static.shape
        if self.response is None or self.omega_n is None or self.response.g.shape != (paths, frames):
            self.response, self.omega_n = blank(paths, frames, classes), np.full(frames, settings.omega_n)
            self.state, self.t, self.turns = None, 0, []
        acting = replace(settings, goals=HOME.goals, frame_rate=HOME.frame_rate)
        if self.turns and self.turns[-1][0] == self.t:
            self.turns.pop()  # turned again before a frame came: no frame has seen that setting
        if not self.turns or self.turns[-1][1] != acting:
            self.turns.append((self.t, acting))
        while self.due > 0:
            start = self.t % frames
            count = min(self.due, frames - start)
            due = stream.branches.at(slice(start, start + count))
            now, self.state = stream.go_on(due, settings, self.state or stream.at_rest())
            for part_ in fields(Response):
                getattr(self.response, part_.name)[:, start : start + count] = getattr(now, part_.name)
            self.omega_n[start : start + count] = settings.omega_n
            self.t += count
            self.due -= count
        while len(self.turns) > 1 and self.turns[1][0] <= self.t - frames:
            self.turns.pop(0)  # swept over; the first one that is left is the setting at the screen's beginning

    def window(self, branches: Branches, response: Response | None = None) -> tuple[Branches, Response]:
        """The frames on the screen in the order in which they arrived, for measuring; of `response` where given."""
        response = response or self.response
        assert response is not None
        frames = branches.z_static.shape[1]
        if self.t <= frames:
            return branches.at(slice(self.t)), part(response, np.arange(self.t))
        order = (np.arange(frames) + self.t) % frames
        return branches.at(order), part(response, order)

    def gap(self, frames: int) -> np.ndarray:
        """(T,) bool: a few frames ahead of the newest one, left blank on a swept screen to show where it is drawn."""
        blank_here = np.zeros(frames, bool)
        if self.t > frames:
            blank_here[np.arange(self.t, self.t + max(2, frames // 60)) % frames] = True
        return blank_here

    def spans(self, frames: int) -> list[tuple[int, int]]:
        """(first, last) frame on the screen of every turn; the first entry of `turns` is the start and no turn.

        Changes of the setting with few frames between them are one turn.
        """
        found: list[tuple[int, int]] = []
        for t in (t for t, _ in self.turns[1:] if t > self.t - frames):
            place = t % frames
            if found and 0 <= place - found[-1][1] <= self.ONE_TURN:
                found[-1] = (found[-1][0], place)
            else:
                found.append((place, place))
        return found


def blank(paths: int, frames: int, classes: int) -> Response:
    """A screen on which nothing has been drawn."""
    empty = np.full((paths, frames), np.nan)
    return Response(
        empty.copy(),
        empty.copy(),
        empty.copy(),
        np.full((paths, frames, classes), np.nan),
        empty.copy(),
        np.full((paths, frames), -1),
    )


def part(response: Response, order: np.ndarray) -> Response:
    """Some frames of a response."""
    return Response(*(getattr(response, field.name)[:, order] for field in fields(Response)))
