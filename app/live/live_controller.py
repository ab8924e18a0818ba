"""The Live page's controller: one message of the browser in, one update out, as the console's.

A turn is sent to the service at most five times a second and when the knob is released. What somebody else turns moves
the dials here too, unless one is held.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from app.console.console_state import ConsoleState
from app.console.protocol import Constants, ControlsUpdate
from app.console.setting_words import describe, regime
from app.live import live_display
from app.live.watched_service import SHOWN, Scope, WatchedService
from app.widgets import controls
from knob_core.client.service import Service, ServiceError
from knob_core.settings import Settings

PACE = 0.2  # s between two turns that are sent while a knob is held


@dataclass
class LiveController:
    """One visitor's view of one service."""

    watched: WatchedService
    scope: Scope = field(default_factory=Scope)
    state: ConsoleState = field(default_factory=ConsoleState)
    revision: int = 0  # of the knobs that the dials show
    before: int = 0  # revision before this visitor's first turn; 0: nothing to take back
    problem: str = ""  # why the last turn was refused
    sent_at: float = 0.0

    def refresh(self) -> None:
        """Ask the service, and let the dials follow what others turned."""
        with self.state.lock:
            self.watched.refresh()
            self._keep_to_one_stream()
            if not self.watched.lost and self.state.released and self.watched.revision != self.revision:
                self._follow()

    def look_at(self, stream: str) -> None:
        """Another stream is looked at from now on."""
        with self.state.lock:
            self.watched.look_at(stream)
            self._keep_to_one_stream()

    def turn_of(self, scope: Scope) -> None:
        """The dials are another scope's from now on."""
        with self.state.lock:
            if scope != self.scope:
                self.scope = scope
                self._follow()

    def scopes(self) -> list[Scope]:
        """What the knobs can turn; a group that lost its last stream stays while it is the present one."""
        groups = {*self.watched.groups(), self.scope.group} - {""}
        return [Scope(), *(Scope(group=name) for name in sorted(groups)), Scope(stream=self.watched.chosen)]

    def constants(self) -> Constants:
        """What no knob changes; sent when the component is mounted."""
        return {"controls": controls.constants(transport=False), "sheet": {}}

    def update(self, request: Mapping[str, Any], answer: int) -> dict[str, Any]:
        """The parts of an Update; nothing in `request` is trusted."""
        state = self.state
        with state.lock:
            if "controls" in request:
                state.apply_controls(request["controls"])
            self._send()
            kind, words = regime(state.settings, self.watched.method)
            around: ControlsUpdate = {
                "seq": state.seq, "epoch": state.epoch, "values": state.values(),
                "regime": kind, "words": self.problem or words, "pinned": "",
            }  # fmt: skip
            sheet = live_display.update(self.watched, describe(state.settings), around["seq"])
        return {"controls": around, "sheet": {**sheet, "runs": [0, answer]}}

    def take_back(self) -> None:
        """All knobs as they were before this visitor's first turn, unless somebody else has turned since."""
        with self.state.lock:
            self._ask(lambda service: service.revert(self.before, if_revision=self.revision))
            if not self.problem:
                self.before = 0
            self._follow()

    def _keep_to_one_stream(self) -> None:
        """Knobs that turn one stream alone turn the one that is looked at, and never all of them instead."""
        chosen = self.watched.chosen
        if self.scope.stream and chosen and self.scope.stream != chosen:
            self.scope = Scope(stream=chosen)
            self.state.epoch += 1  # a knob that is held was meant for the other stream
            self._follow()

    def _send(self) -> None:
        """Send what the dials show, where it is new and its time has come."""
        known, wanted = self.watched.settings(self.scope), self.state.settings
        changes = {name: getattr(wanted, name) for name in SHOWN if getattr(wanted, name) != getattr(known, name)}
        due = self.state.released or time.monotonic() - self.sent_at >= PACE
        if not changes or not due or not self.revision:
            return
        if not self.watched.operator:
            self.problem = "Your token may watch, and not turn: the service's operator token turns."
            self._follow()
            return
        if self.watched.lost:  # to ask all the same would take until the request's deadline
            self.problem = f"Not turned: {self.watched.problem}."
            self._follow()
            return
        self.before = self.before or self.revision
        group, stream = self.scope.group or None, self.scope.stream or None
        self._ask(lambda service: service.turn(group=group, stream=stream, **changes))
        self.sent_at = time.monotonic()
        if self.problem:
            self._follow()

    def _ask(self, turn: Callable[[Service], Mapping[str, Any]]) -> None:
        try:
            self.watched.knobs = dict(turn(self.watched.service))
            self.revision, self.problem = self.watched.revision, ""
        except ServiceError as error:
            self.problem = f"Not turned: {error}."

    def _follow(self) -> None:
        """The dials show what the service has."""
        found = self.watched.settings(self.scope)
        self.revision = self.watched.revision
        if _shown(found) != _shown(self.state.settings):
            self.state.set_from_python(replace(found, goals=self.state.settings.goals))


def _shown(settings: Settings) -> tuple[Any, ...]:
    return tuple(getattr(settings, name) for name in SHOWN)
