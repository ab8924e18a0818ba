"""What is known of a service that is watched: its streams, the chosen one's last frames, its knobs; as of when.

`refresh` asks anew, and never raises: where the service does not answer, what was known stays, marked as old.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.widgets.knobs import within
from knob_core import methods
from knob_core.client.service import Service, ServiceError
from knob_core.settings import Settings

SHOWN = ("zeta", "omega_n", "on", "memory", "mode", "frame_rate")  # knobs that the page has a control for, or says
MOST_FRAMES = 10_000  # of a history
MOST_CLASSES = np.iinfo(np.int16).max  # of a history's numbers
MOST_STREAMS = 2_000  # in table and menu, which go to the browser anew every second
LONGEST_ID = 64  # characters, as a service allows


@dataclass(frozen=True)
class Scope:
    """Whose knobs are turned: all streams', a group's, or one stream's."""

    group: str = ""
    stream: str = ""

    @property
    def words(self) -> str:
        return f"stream {self.stream} only" if self.stream else f"group {self.group}" if self.group else "all streams"


@dataclass(frozen=True)
class History:
    """The last frames of the chosen stream, oldest first; all (T,)."""

    frame: np.ndarray
    g: np.ndarray
    p_max: np.ndarray
    label: np.ndarray
    bare: np.ndarray  # label without Knob

    @classmethod
    def read(cls, table: Any) -> History:
        """Of a reply; numbers that are not known are NaN or -1."""
        names = ("frame", "g", "p_max", "label", "bare")
        columns = [
            table[name] if isinstance(table, dict) and isinstance(table.get(name), list) else [] for name in names
        ]
        length = min(MOST_FRAMES, *map(len, columns))
        floats = (np.array([known(x) for x in column[:length]]) for column in columns)
        frame, g, p_max, label, bare = floats
        return cls(frame, g, p_max, *(_classes(x) for x in (label, bare)))


@dataclass
class WatchedService:
    """One service, and what it last said."""

    service: Service
    about: dict[str, Any] = field(default_factory=dict)  # model, classes, your role
    streams: list[dict[str, Any]] = field(default_factory=list)  # StreamInfo
    unlisted: int = 0  # streams that there is no room for
    knobs: dict[str, Any] = field(default_factory=dict)  # KnobState
    chosen: str = ""  # id of the stream that is looked at
    detail: dict[str, Any] = field(default_factory=dict)  # StreamInfo of the chosen one
    history: History = field(default_factory=lambda: History.read({}))
    picture: bytes | None = None
    problem: str = ""  # why the last refresh failed
    seen_at: float = 0.0  # when the service last answered, Unix time

    @property
    def lost(self) -> bool:
        return bool(self.problem)

    @property
    def operator(self) -> bool:
        """The token may turn the knobs."""
        return self.about.get("role") == "operator"

    @property
    def method(self) -> str:
        """The served model's, as `knob_core.methods` knows it; the default where the service does not say."""
        found = self.about.get("method")
        return found if isinstance(found, str) and found in methods.METHODS else methods.DEFAULT

    @property
    def classes(self) -> list[str]:
        names = self.about.get("classes")
        return [str(name)[:40] for name in names[:MOST_CLASSES]] if isinstance(names, list) else []

    @property
    def revision(self) -> int:
        found = self.knobs.get("revision")
        return found if isinstance(found, int) and not isinstance(found, bool) else 0

    def ids(self) -> list[str]:
        return [str(row.get("stream")) for row in self.streams]

    def groups(self) -> list[str]:
        found = {row["group"] for row in self.streams if isinstance(row.get("group"), str)}
        return sorted(group for group in found if 0 < len(group) <= LONGEST_ID)

    def look_at(self, stream: str) -> None:
        """Choose a stream; what is known of another must not stand under its name, so it is forgotten."""
        if stream != self.chosen:
            self.chosen, self.detail, self.history, self.picture = stream, {}, History.read({}), None

    def refresh(self) -> None:
        """Ask for everything that is shown."""
        try:
            self.about = self.service.about()
            self.knobs = dict(self.service.knobs())
            rows: Any = self.service.streams()
            listed = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
            whole = [row for row in listed if isinstance(row.get("stream"), str) and len(row["stream"]) <= LONGEST_ID]
            self.streams = whole[:MOST_STREAMS]
            self.streams += [row for row in whole[MOST_STREAMS:] if row["stream"] == self.chosen][:1]
            self.unlisted = len(whole) - len(self.streams)
            if self.chosen not in self.ids():
                self.look_at(self.ids()[0] if self.streams else "")
            if self.chosen:
                self.detail = dict(self.service.stream(self.chosen))
                self.history = History.read(self.detail.get("history"))
                self.picture = self.service.picture(self.chosen) if self.detail.get("picture") else None
            self.problem, self.seen_at = "", time.time()
        except ServiceError as error:
            self.problem = str(error)
        except KeyError as error:
            self.problem = f"{self.service.url} answers, but without {error}"

    def settings(self, scope: Scope) -> Settings:
        """The knobs that act on a scope: its own changes over its group's over those for all."""
        groups, streams = _table(self.knobs.get("groups")), _table(self.knobs.get("streams"))
        group = scope.group
        if scope.stream:
            group = next((str(row.get("group", "")) for row in self.streams if row.get("stream") == scope.stream), "")
        own = (self.knobs.get("all"), groups.get(group), streams.get(scope.stream))
        table = {name: value for part in own for name, value in _table(part).items()}
        try:
            return within(Settings(**{name: table[name] for name in SHOWN if name in table}))[0]
        except (TypeError, ValueError, OverflowError):  # a service of another version
            return Settings()


def known(value: Any) -> float:
    """A number of a reply that can be drawn; NaN for anything else."""
    try:
        found = float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return math.nan
    return found if abs(found) < 1e15 else math.nan


def _classes(x: np.ndarray) -> np.ndarray:
    """Numbers of classes; -1 for what is none."""
    return np.where((x >= -1) & (x <= np.iinfo(np.int16).max), x, -1.0).astype(np.int16)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
