"""The log of turns: when which knob stood where, and what was measured then. Off unless the visitor asks for it.

It lives in the visitor's session alone, is written to no disk of the server, and is downloaded as a CSV file: one row
for every setting that was answered (also while a knob is held), for every release, change of stream, and start or end
of live mode. Floats are written in full, and every row names its stream and, in live mode, how many frames had been
run before and after: `app.console.replay_turns` computes the same figures from the file.
"""

from __future__ import annotations

import csv
import io
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields

from app.console.console_state import ConsoleState
from app.console.pins import KNOBS, acting
from app.console.shown_stream import ShownStream
from knob_core.measures.operator import OperatorMeasures
from knob_core.memories import Attentive
from knob_core.settings import Settings

TITLE = "# knob turns, version 1; times in seconds since the recording began"
MEASURES = tuple(entry.name for entry in fields(OperatorMeasures))
COLUMNS = ("time_s", "knob", "value", "held", "live_before", "live_after", "stream", *KNOBS, "weights", *MEASURES)
MOST = 20_000  # rows: more than an hour of turning without a rest
MOST_BYTES = 30_000_000  # of a file that is read


@dataclass(frozen=True)
class Turn:
    """One row."""

    time: float  # seconds since the recording began
    knob: str  # what changed: names joined by "+", or "start", "released", "stream", "live"
    value: str  # its new value, or values joined by "+"
    held: bool  # the knob was not released yet
    live: tuple[int, int] | None  # frames run before and after this answer; None: the whole stream at once
    stream: str  # ShownStream.source
    settings: Settings
    measures: OperatorMeasures | None  # None: too few frames


@dataclass
class TurnLog:
    """One recording; whoever notes holds the state's lock."""

    clock: Callable[[], float] = time.monotonic
    turns: list[Turn] = field(default_factory=list)
    on: bool = True
    full: bool = False  # some turns were not recorded
    _began: float | None = None

    def note(self, state: ConsoleState, stream: ShownStream, before: int | None) -> None:
        """Record the state after an answer, if something changed. `before`: frames that a live run had made."""
        last, own = (self.turns[-1] if self.turns else None), acting(state.settings)
        knob, value = _change(last, own, stream.source, state)
        if not self.on or not knob:
            return
        if len(self.turns) >= MOST:
            self.full = True
            return
        self._began = self.clock() if self._began is None else self._began
        live = None if state.live is None else (before or 0, state.live.t)
        now = round(self.clock() - self._began, 3)
        self.turns.append(Turn(now, knob, value, not state.released, live, stream.source, own, state.now))

    def csv_text(self) -> str:
        """The file."""
        text = io.StringIO()
        text.write(TITLE + "\n")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        for turn in list(self.turns):
            writer.writerow(_row(turn))
        return text.getvalue()


def _change(last: Turn | None, own: Settings, source: str, state: ConsoleState) -> tuple[str, str]:
    """(what changed, its new value); ("", "") where nothing did."""
    if last is None:
        return "start", ""
    if last.stream != source:
        return "stream", ""
    if (last.live is None) != (state.live is None):
        return "live", str(int(state.live is not None))
    changed = [name for name in (*KNOBS, "weights") if getattr(own, name) != getattr(last.settings, name)]
    if changed:
        values = (getattr(own, name) if name != "weights" else "other" for name in changed)
        return "+".join(changed), "+".join(str(value) for value in values)
    return ("released", "") if last.held and state.released else ("", "")


def _row(turn: Turn) -> list[str]:
    s, m = turn.settings, turn.measures
    weights = json.dumps(s.weights.to_dict()) if s.weights else ""
    live = ["", ""] if turn.live is None else [str(frames) for frames in turn.live]
    measured = [getattr(m, name) if m else math.nan for name in MEASURES]
    return [
        repr(turn.time), turn.knob, turn.value, str(int(turn.held)), *live, turn.stream,
        *(str(int(v)) if isinstance(v, bool) else str(v) for v in (getattr(s, name) for name in KNOBS)), weights,
        *(repr(float(v)) if math.isfinite(v) else "" for v in measured),
    ]  # fmt: skip


def read(content: bytes) -> list[Turn]:
    """The rows of a file from anybody; raises ValueError with the line and what is wrong with it."""
    if len(content) > MOST_BYTES:
        raise ValueError(f"the file has {len(content)} bytes, expected at most {MOST_BYTES}")
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"the file is not UTF-8 text ({error})") from error
    if not lines or lines[0] != TITLE:
        raise ValueError(f"the first line is {lines[0][:80] if lines else ''!r}, expected {TITLE!r}")
    if len(lines) > MOST + 2:
        raise ValueError(f"the file has {len(lines)} lines, expected at most {MOST + 2}")
    try:
        rows = list(csv.DictReader(lines[1:], strict=True))
    except csv.Error as error:
        raise ValueError(f"the file is not CSV ({error})") from error
    turns = []
    for number, row in enumerate(rows, 3):
        try:
            turns.append(_turn(row))
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"line {number} cannot be used: {error}") from error
    return turns


def _turn(row: dict[str, str]) -> Turn:
    if set(row) != set(COLUMNS):
        raise ValueError(f"it has the columns {', '.join(map(str, row))[:200]}, expected {', '.join(COLUMNS)}")
    live = None if row["live_before"] == "" else (int(row["live_before"]), int(row["live_after"]))
    if live is not None and not 0 <= live[0] <= live[1] <= 10_000_000:
        raise ValueError(f"live_before and live_after are {live}, expected rising numbers of frames")
    measured = {name: float(row[name]) if row[name] else math.nan for name in MEASURES}
    settings = Settings(
        zeta=float(row["zeta"]), omega_n=float(row["omega_n"]), on=bool(int(row["on"])), memory=row["memory"],
        mode=row["mode"], temperature=float(row["temperature"]),
        weights=Attentive.from_dict(json.loads(row["weights"])) if row["weights"] else None,
    )  # fmt: skip
    nothing = all(math.isnan(value) for value in measured.values())
    return Turn(
        float(row["time_s"]), row["knob"], row["value"], row["held"] == "1", live, row["stream"], settings,
        None if nothing else OperatorMeasures(**measured),
    )  # fmt: skip
