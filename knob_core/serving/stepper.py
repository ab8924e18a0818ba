"""One batch: the backbone runs once, then every stream is stepped as its own `KnobStream` would be.

Frames of one stream in a batch are stepped one after the other; streams whose switches differ (memory, mode, weights
and the like) are stepped apart, those that differ in zeta and omega_n only together.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from knob_core import fusion
from knob_core.runtime import clock, state
from knob_core.runtime.advance import advance
from knob_core.runtime.answer import Answer as Answers
from knob_core.runtime.slew import limit, slewed
from knob_core.runtime.sources import Branch, Source, gate_of
from knob_core.serving.backbone import Backbone
from knob_core.serving.knob_control import KnobTable
from knob_core.serving.messages import Answer, Frame
from knob_core.serving.served_stream import ServedStream, Waiting
from knob_core.settings import Settings

KNOBS = ("zeta", "omega_n")
NAMES = ("label", "p_max", "g", "u", "u_star", "t_eff", "csr", "omega", "disagreement", "missing", "age", *KNOBS)
MAY_BE_UNKNOWN = ("t_eff", "csr", "u", "u_star", "p_max", "g")  # null, where a number is not finite
BY_STREAM = (*KNOBS, "frame_rate", "goals")  # may differ within a step, or do not act
SWITCHES = tuple(field.name for field in fields(Settings) if field.name not in BY_STREAM)
log = logging.getLogger(__name__)
FIRST_ROWS = 64
NO_ROW, GONE = -1, -2  # instead of a row: before the first frame, after the last


class FrameFault(str):
    """A cause that lies in the frame, not in the model."""


@dataclass(frozen=True)
class Batch:
    """What one batch gave, and what it took."""

    answers: list[tuple[Waiting, Answer]]
    causes: list[tuple[Waiting, str]]  # frames that could not be stepped, and why
    model: float  # s
    model_cpu: float  # s of this thread's own: all of it where the model has one thread
    steps: float  # s: memory, gate, answers

    @property
    def frames(self) -> int:
        return len(self.answers) + len(self.causes)


class Stepper:
    """A model, and the states of all streams as rows."""

    def __init__(self, source: Source, slew: float | None, classes: Sequence[str] | None) -> None:
        self.source, self.backbone, self.classes = source, Backbone(source), classes
        self._gate, self._slew = gate_of(source), limit(slew)
        self._rows = StateRows(lambda n, k: state.at_rest(n, k, self._gate))
        self.lock = threading.Lock()  # of the rows

    def step(self, items: Sequence[Waiting], table: KnobTable) -> Batch:
        """Frames of a batch, in order."""
        began, cpu = time.monotonic(), self._model_cpu()
        branch, causes = self.backbone([item.frame for item in items])
        computed, cpu = time.monotonic(), self._model_cpu() - cpu
        done: list[tuple[Waiting, Answer]] = []
        with self.lock:
            if branch is not None and self._rows.state is None:
                self._rows.begin(branch.z_static.shape[1])
            for places in rounds(items):
                for place in places:
                    if items[place].stream.row == GONE:
                        causes[place] = "the stream was ended meanwhile"
                good = [place for place in places if causes[place] is None]
                if branch is None:
                    for place in good:
                        causes[place] = "no frame came before, so nothing can be held"
                elif good:
                    done += self._round([items[place] for place in good], good, branch, table, causes)
        failed = [(item, cause) for item, cause in zip(items, causes, strict=True) if cause is not None]
        return Batch(done, failed, computed - began, cpu, time.monotonic() - computed)

    def _model_cpu(self) -> float:
        """Seconds of this thread, where there is a model: to ask the system for them may take longer than a step."""
        return time.thread_time() if self.backbone.takes_pictures else 0.0

    def release(self, leaving: Iterable[ServedStream]) -> None:
        """The rows of these streams are free from now on."""
        with self.lock:
            for stream in leaving:
                row, stream.row = stream.row, GONE
                if row >= 0:
                    self._rows.give(row)

    def _round(
        self, items: list[Waiting], places: list[int], branch: Branch, table: KnobTable, causes: list[str | None]
    ) -> Iterator[tuple[Waiting, Answer]]:
        """One frame each of different streams."""
        for item in items:
            if item.stream.row == NO_ROW:
                item.stream.row = self._rows.take()
        rows = np.array([item.stream.row for item in items])
        old = self._rows.read(rows)
        settings = [table.acting(item.stream.id, item.stream.group) for item in items]
        clocks = [(_or_nan(i.frame.elapsed), _or_nan(i.frame.time), s.frame_rate)
                for i, s in zip(items, settings, strict=True)]  # fmt: skip
        gap, after = clock.since_last(old, *np.array(clocks).T)
        wrong = ~clock.in_range(gap)
        for k in np.flatnonzero(wrong).tolist():
            causes[places[k]] = FrameFault(f"time makes {gap[k]:g} frames, expected {clock.ALLOWED}")
        gap = np.where(old.seen, gap, 1.0)
        groups: dict[Any, list[int]] = defaultdict(list)
        for k, chosen in enumerate(settings):
            if not wrong[k]:
                groups[tuple(getattr(chosen, name) for name in SWITCHES)].append(k)
        for members in groups.values():
            index = np.array(members)
            mine, switches = [items[k] for k in members], settings[members[0]]
            acting = [self._acting(items[k].stream, settings[k]) for k in members]
            zeta, omega_n = (np.array(column) for column in zip(*acting, strict=True))
            part = _branch_rows(branch, np.array(places)[index])
            try:
                result, new = advance(
                    state.rows(old, index), part, gap[index], after[index], (zeta, omega_n), switches, self.source
                )
            except Exception as error:  # these streams stay as they were, and their clients are told
                log.exception("%d frames could not be stepped", len(members))
                for k in members:
                    causes[places[k]] = f"the step failed: {type(error).__name__}; the service's log says more"
                continue
            self._rows.write(rows[index], new)
            for item, knobs in zip(mine, acting, strict=True):
                item.stream.knobs, item.stream.stepped = knobs, item.number
            yield from zip(mine, self._answers(mine, result, self._bare(new), table.revision), strict=True)

    def _acting(self, stream: ServedStream, settings: Settings) -> tuple[float, float]:
        wanted = settings.zeta, settings.omega_n
        return slewed(stream.knobs or wanted, wanted, self._slew)

    def _bare(self, new: state.State) -> list[int]:
        """What the last good frame of each alone says."""
        g = self._gate.without_inertia.reset(new.u_star, 1.0, 1.0)[1]
        alone = fusion.mix(new.z_static, new.z_dyn, g)
        return np.where(new.seen, alone.argmax(axis=-1), -1).tolist()

    def _answers(self, items: list[Waiting], found: Answers, bare: list[int], revision: int) -> Iterator[Answer]:
        columns = {name: getattr(found, name).tolist() for name in NAMES}
        for name in MAY_BE_UNKNOWN:
            columns[name] = [x if math.isfinite(x) else None for x in columns[name]]
        for k, item in enumerate(items):
            answer: Any = {"type": "answer", "stream": item.stream.id, "frame": item.number}
            answer.update((name, column[k]) for name, column in columns.items())
            answer["name"], answer["revision"] = self.class_name(answer["label"]), revision
            if item.frame.probabilities:
                answer["probabilities"] = found.probabilities[k].tolist()
            item.stream.ring.add(item.number, answer["g"] or 0.0, answer["p_max"] or 0.0, answer["label"], bare[k])
            yield answer

    def class_name(self, label: int) -> str | None:
        return self.classes[label] if self.classes is not None and 0 <= label < len(self.classes) else None

    # Saving; the caller holds `lock`

    def saved(self, streams: Sequence[ServedStream]) -> dict[str, np.ndarray]:
        """The states of streams that have a row, as arrays with one row each."""
        found = self._rows.read(np.array([stream.row for stream in streams], np.int64))
        return {name: getattr(found, name) for name in state.NAMES}

    def checked(self, arrays: Mapping[str, np.ndarray]) -> state.State:
        """One stream's row of what `saved` gave, every array checked."""
        shape, classes = np.shape(arrays.get("z_static", ())), self.backbone.num_classes
        if len(shape) != 2 or shape[0] != 1 or classes not in (None, shape[1]):
            raise ValueError(f"state 'z_static' has shape {shape}, expected (1, {classes or 'K'})")
        if "attentive" in arrays:  # of before version 4
            arrays = state.of_older(arrays, Settings().attentive_weights(self.source.attentive))
        return state.check(arrays, state.at_rest(*shape, self._gate), self._gate)

    def restore(self, stream: ServedStream, found: state.State) -> None:
        """Give a stream the state that `checked` gave."""
        if self._rows.state is None:
            self._rows.begin(found.num_classes)
            self.backbone.num_classes = found.num_classes
        stream.row = self._rows.take()
        self._rows.write(np.array([stream.row]), found)


class StateRows:
    """The states of streams that come and go: one row each of a `State` that grows, changed in place."""

    def __init__(self, rest: Callable[[int, int], state.State]) -> None:
        self._rest = rest  # (rows, classes) -> rows of streams that have seen nothing
        self.state: state.State | None = None  # until the number of classes is known
        self._free: list[int] = []

    def begin(self, num_classes: int) -> None:
        """The number of classes is known now."""
        self.state = self._rest(FIRST_ROWS, num_classes)
        self._free = list(range(FIRST_ROWS))[::-1]

    def take(self) -> int:
        """A row at rest."""
        assert self.state is not None, "begin() comes first"
        if not self._free:
            rows = self.state.streams
            more = self._rest(rows, self.state.num_classes)
            grown = {n: np.concatenate([getattr(self.state, n), getattr(more, n)]) for n in state.NAMES}
            self.state, self._free = state.State(**grown), list(range(rows, 2 * rows))[::-1]
        return self._free.pop()

    def give(self, row: int) -> None:
        """The row's stream has gone."""
        assert self.state is not None
        self.write(np.array([row]), self._rest(1, self.state.num_classes))
        self._free.append(row)

    def read(self, rows: np.ndarray) -> state.State:
        assert self.state is not None
        return state.rows(self.state, rows)

    def write(self, rows: np.ndarray, part: state.State) -> None:
        for name in state.NAMES:
            getattr(self.state, name)[rows] = getattr(part, name)


def rounds(items: Sequence[Waiting]) -> list[list[int]]:
    """Places in a batch: the first frames of all streams, then the second ones, and so on."""
    found: list[list[int]] = []
    counts: dict[int, int] = defaultdict(int)
    for place, item in enumerate(items):
        turn = counts[id(item.stream)]
        counts[id(item.stream)] += 1
        if turn == len(found):
            found.append([])
        found[turn].append(place)
    return found


def frames_of(frame: Frame) -> float:
    """How many frames it counts as."""
    return 1.0 if frame.elapsed is None else frame.elapsed


def _branch_rows(branch: Branch, places: np.ndarray) -> Branch:
    u_star = None if branch.u_star is None else branch.u_star[places]
    return Branch(branch.z_static[places], branch.z_dyn[places], u_star)


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value
