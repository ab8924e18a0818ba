"""The states of streams that come and go: one row each of a `State` that grows, changed in place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from knob_core.runtime import state
from knob_core.runtime.state import State

FIRST = 64  # rows to begin with


class StateRows:
    """Rows of a state; `rest(rows, classes)` makes rows of streams that have seen nothing."""

    def __init__(self, rest: Callable[[int, int], State]) -> None:
        self._rest = rest
        self.state: State | None = None  # until the number of classes is known
        self._free: list[int] = []

    @property
    def num_classes(self) -> int | None:
        return None if self.state is None else self.state.num_classes

    def begin(self, num_classes: int) -> None:
        """The number of classes is known now."""
        self.state = self._rest(FIRST, num_classes)
        self._free = list(range(FIRST))[::-1]

    def take(self) -> int:
        """A row at rest."""
        assert self.state is not None, "begin() comes first"
        if not self._free:
            rows = self.state.streams
            more = self._rest(rows, self.state.num_classes)
            grown = {n: np.concatenate([getattr(self.state, n), getattr(more, n)]) for n in state.NAMES}
            self.state, self._free = State(**grown), list(range(rows, 2 * rows))[::-1]
        return self._free.pop()

    def give(self, row: int) -> None:
        """The row's stream has gone."""
        assert self.state is not None
        self.write(np.array([row]), self._rest(1, self.state.num_classes))
        self._free.append(row)

    def read(self, rows: np.ndarray) -> State:
        assert self.state is not None
        return state.rows(self.state, rows)

    def write(self, rows: np.ndarray, part: State) -> None:
        for name in state.NAMES:
            getattr(self.state, name)[rows] = getattr(part, name)
