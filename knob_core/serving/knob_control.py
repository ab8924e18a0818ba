"""The knobs of a service: for all streams, for a group, for one stream; numbered, logged, and taken back.

A table is never changed, only replaced: whoever holds one sees one revision, so no frame sees half of a turn.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple

from knob_core import goals
from knob_core import settings as settings_file
from knob_core.goals import Goals
from knob_core.memories import Attentive
from knob_core.serving.decode import Whole, converted
from knob_core.serving.messages import KnobChange, Knobs, KnobState, require_id
from knob_core.settings import Settings

NAMES = tuple(entry.name for entry in fields(Settings))
KEPT = 1000  # revisions that can be gone back to, and lines of the log
log = logging.getLogger(__name__)


class Conflict(ValueError):
    """Somebody else has turned since."""


@dataclass(frozen=True)
class KnobTable:
    """All knobs of one revision."""

    revision: int
    base: Settings
    groups: Mapping[str, Mapping[str, Any]]  # changes against base
    streams: Mapping[str, Mapping[str, Any]]  # changes against the group's
    _acting: dict[tuple[str, str], Settings] = field(default_factory=dict, compare=False, repr=False)

    def acting(self, stream: str, group: str) -> Settings:
        """What acts on a stream."""
        own, shared = self.streams.get(stream), self.groups.get(group)
        if not own and not shared:
            return self.base
        key = (stream if own else "", group if shared else "")  # as many as were turned, whatever names clients send
        found = self._acting.get(key)
        if found is None:
            found = self._acting[key] = replace(self.base, **{**(shared or {}), **(own or {})})
        return found

    def to_json(self) -> KnobState:
        scopes = ({name: as_json(changes) for name, changes in scope.items()} for scope in (self.groups, self.streams))
        groups, streams = scopes
        return {"revision": self.revision, "all": knobs_json(self.base), "groups": groups, "streams": streams}


def as_json(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes with weights and goals as tables."""
    return {name: _plain(value) for name, value in changes.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Goals):
        return value.set()
    return value.to_dict() if isinstance(value, Attentive) else value


def knobs_json(settings: Settings) -> Knobs:
    return as_json(settings_file.as_dict(settings))  # type: ignore[return-value]


def from_json(changes: Any) -> dict[str, Any]:
    """Some knobs from anybody, each checked."""
    if not isinstance(changes, Mapping) or not changes:
        raise ValueError(f"knobs are {str(changes)[:80]!r}, expected an object with some of {', '.join(NAMES)}")
    unknown = sorted(str(name) for name in set(changes) - set(NAMES))
    if unknown:
        raise ValueError(f"knobs have unknown names {', '.join(unknown)[:200]}, expected some of {', '.join(NAMES)}")
    table = dict(changes)
    if table.get("weights") is not None:
        table["weights"] = Attentive.from_dict(table["weights"])
    if "goals" in table:
        table["goals"] = goals.from_dict(table["goals"])
    numbers = {name: x for name, x in table.items() if isinstance(x, int) and not isinstance(x, bool)}
    checked = Settings(**{**table, **{name: float(x) for name, x in numbers.items() if abs(x) < 1e9}})
    return {name: getattr(checked, name) for name in table}


def table_from_json(knobs: Any) -> KnobTable:
    """What `KnobTable.to_json` gave, from anybody: each name and each knob checked."""
    if not isinstance(knobs, Mapping) or not knobs.keys() >= {"revision", "all", "groups", "streams"}:
        raise ValueError(f"knobs are {str(knobs)[:80]!r}, expected an object with revision, all, groups and streams")
    groups, streams = (_scopes_from_json(name, knobs[name + "s"]) for name in ("group", "stream"))
    return KnobTable(converted(Whole, knobs["revision"]), Settings(**from_json(knobs["all"])), groups, streams)


def _scopes_from_json(what: str, table: Any) -> dict[str, dict[str, Any]]:
    if not isinstance(table, Mapping):
        raise ValueError(f"{what}s are {str(table)[:80]!r}, expected an object")
    return {require_id(what, name): from_json(changes) for name, changes in table.items()}


class Change(NamedTuple):
    """A request to change the knobs: turn some or all, take a group's or a stream's back, or go back to a revision."""

    how: Literal["turn", "release", "revert"]
    given: dict[str, Any]  # arguments of the method of `KnobControl`

    def made(self, knobs: KnobControl, by: str) -> KnobTable:
        """Raises Conflict, LookupError or ValueError where it cannot be."""
        return getattr(knobs, self.how)(by=by, **self.given)

    def to_json(self) -> dict[str, Any]:
        changes = {"changes": as_json(self.given["changes"])} if self.how == "turn" else {}
        return {"how": self.how, "given": {**self.given, **changes}}

    @staticmethod
    def from_json(table: Mapping[str, Any]) -> Change:
        given = dict(table["given"])
        if "changes" in given:
            given["changes"] = from_json(given["changes"])
        return Change(table["how"], given)


class KnobControl:
    """The present table, and the way to a new one."""

    def __init__(self, base: Settings) -> None:
        self._lock = threading.Lock()
        self.table = KnobTable(1, base, {}, {})
        self._past: OrderedDict[int, KnobTable] = OrderedDict({1: self.table})
        self.log: deque[KnobChange] = deque(maxlen=KEPT)

    def turn(
        self, changes: Mapping[str, Any], by: str, *, group: str | None = None, stream: str | None = None,
        whole: bool = False, clear: bool = False, if_revision: int | None = None,
    ) -> KnobTable:  # fmt: skip
        """Change some knobs of all, a group or a stream; `whole`: these and no others of that group or stream.

        `clear`, of a turn for all, takes every group's and stream's own knobs back.
        """
        with self._lock:
            old = self.table
            base, groups, streams = old.base, dict(old.groups), dict(old.streams)
            if stream is not None:
                streams[stream] = {**({} if whole else streams.get(stream, {})), **changes}
            elif group is not None:
                groups[group] = {**({} if whole else groups.get(group, {})), **changes}
            else:
                base = replace(base, **changes)
                groups, streams = ({}, {}) if clear else (groups, streams)
            scope = f"stream {stream}" if stream is not None else f"group {group}" if group is not None else "all"
            return self._set(base, groups, streams, by, scope, changes, if_revision)

    def release(
        self, by: str, *, group: str | None = None, stream: str | None = None, if_revision: int | None = None
    ) -> KnobTable:
        """Take a group's or a stream's own knobs back."""
        with self._lock:
            groups, streams = dict(self.table.groups), dict(self.table.streams)
            scope = f"stream {stream}" if stream is not None else f"group {group}"
            if (streams.pop(stream, None) if stream is not None else groups.pop(str(group), None)) is None:
                raise LookupError(f"{scope} has no knobs of its own")
            return self._set(self.table.base, groups, streams, by, scope, {}, if_revision)

    def revert(self, revision: int, by: str, if_revision: int | None = None) -> KnobTable:
        """All knobs as they were at a revision."""
        with self._lock:
            past = self._past.get(revision)
            if past is None:
                raise LookupError(f"revision {revision} is not known, expected {min(self._past)} to {max(self._past)}")
            scopes = dict(past.groups), dict(past.streams)
            return self._set(past.base, *scopes, by, f"revert {revision}", {}, if_revision)

    def at(self, revision: int) -> KnobTable | None:
        """A table of before, where it is still kept."""
        return self._past.get(revision)

    def restore(self, table: KnobTable) -> None:
        """Go on from a snapshot's."""
        with self._lock:
            self.table = table
            self._past = OrderedDict({table.revision: table})

    def _set(
        self, base: Settings, groups: dict[str, Any], streams: dict[str, Any], by: str, scope: str,
        changes: Mapping[str, Any], if_revision: int | None,
    ) -> KnobTable:  # fmt: skip
        old = self.table
        if if_revision is not None and if_revision != old.revision:
            raise Conflict(f"if_revision is {if_revision}, but the knobs are at revision {old.revision}")
        table = KnobTable(old.revision + 1, base, groups, streams)
        self._past[table.revision] = table
        while len(self._past) > KEPT:
            self._past.popitem(last=False)
        self.log.append(
            {"revision": table.revision, "time": time.time(), "by": by, "scope": scope, "changes": as_json(changes)}
        )
        self.table = table
        log.info(
            "knobs turned", extra={"revision": table.revision, "by": by, "scope": scope, "changes": as_json(changes)}
        )
        return table
