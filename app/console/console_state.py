"""The state of one console: where the knobs stand, which panel is open, what was measured before, what is pinned.

Everything from the browser passes `apply_controls` and `apply_view`, which clamp it. Messages come in two threads (the
WebSocket's and Streamlit's): whoever reads or changes more than one field holds `lock`. No Streamlit in here.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from app.console.compared import is_order
from app.console.live_run import LiveRun
from app.console.measured_pins import MeasuredPins
from app.console.panels import PANELS
from app.console.pins import Pins
from app.console.protocol import ControlValues, ViewRequest
from app.figures.bode_plot import UNITS
from app.widgets.knobs import OMEGA_N, SPEEDS, ZETA
from app.widgets.untrusted import clamp, whole
from knob_core.goals import KINDS, Goals
from knob_core.measures.operator import OperatorMeasures
from knob_core.memories import KINDS as MEMORIES
from knob_core.settings import LIMITS, MODES, Settings

if TYPE_CHECKING:
    from app.console.turn_log import TurnLog

FRAME_RATES = LIMITS["frame_rate"]  # frames/s
TEMPERATURES = LIMITS["temperature"]


@dataclass(frozen=True)
class View:
    """What the visitor looks at."""

    panel: str = "step"
    unit: str = UNITS[0]
    sort: str = ""  # column of the table of pins, "-" before it for the largest first; "": as they were pinned


@dataclass
class ConsoleState:
    """All of one visitor's console; it survives changes of page and of stream."""

    settings: Settings = field(default_factory=Settings)
    view: View = field(default_factory=View)
    epoch: int = 0  # raised when Python moves the knobs: the browser takes over values of a new epoch only
    view_epoch: int = 0
    view_seq: int = 0  # sequence number of the last view that was taken
    seq: int = 0  # sequence number of the last controls that were taken
    turn: int = 0  # turns begun so far
    released: bool = True  # no knob is held
    before: OperatorMeasures | None = None  # the read-outs when this turn began
    now: OperatorMeasures | None = None
    measured_stream: str = ""  # id of the stream that both are of
    wide: bool = False  # the browser has room for further panels beside the open one
    fit_wanted: bool = False  # the button was pressed: the temperature is to be fitted to the stream on the display
    pins: Pins = field(default_factory=Pins)
    name_refused: str = ""  # why the last action could not rename a pin
    measured: MeasuredPins = field(default_factory=MeasuredPins, compare=False, repr=False)
    live: LiveRun | None = None
    speed: int = 10  # frames/s of live mode
    log: TurnLog | None = None  # the recording of turns, where the visitor asked for one
    lock: threading.RLock = field(default_factory=threading.RLock, compare=False, repr=False)

    def set_from_python(self, settings: Settings) -> None:
        """Move the knobs from Python: a link, a settings file, a fit. The browser follows because the epoch is new."""
        with self.lock:
            self.epoch += 1
            self.view_epoch += 1
            self.settings, self.before = settings, self.now
            self.live = None

    def change_stream(self) -> None:
        """Forget the live run and the read-outs of the old stream; the knobs stay where they are."""
        with self.lock:
            self.epoch += self.live is not None  # or the browser would go on playing
            self.live = self.before = self.now = None

    def apply_controls(self, controls: object) -> None:
        """Take what the browser reports; messages with an outdated sequence number or epoch are ignored."""
        if controls is None:  # a component that was just mounted has reported nothing yet
            self.released = True
        if not isinstance(controls, Mapping):
            return
        seq = whole(controls.get("seq"), self.seq)
        if seq < self.seq:
            return
        commands = read_commands(controls, seq > self.seq)
        self.seq = seq  # also of an outdated epoch: the browser waits for its number to come back
        if controls.get("epoch") != self.epoch:
            return
        old, mode, memory = self.settings, controls.get("mode"), controls.get("memory")
        self.settings = replace(
            old,
            zeta=clamp(controls.get("zeta"), ZETA, old.zeta),
            omega_n=clamp(controls.get("omega_n"), OMEGA_N, old.omega_n),
            on=bool(controls.get("on", old.on)),
            memory=memory if memory in MEMORIES else old.memory,
            mode=mode if mode in MODES else old.mode,
        )
        self.released = bool(controls.get("released", True))
        speed = whole(controls.get("speed"), self.speed)
        self.speed = speed if speed in SPEEDS else self.speed
        frames = 0
        for command in commands:
            if command.get("act") == "begin":
                self.turn, self.before = self.turn + 1, self.now
            elif command.get("act") == "pin":
                self.pins = self.pins.press(self.settings)
            elif command.get("act") == "frames":
                frames += whole(command.get("count"), 0)
        self._play(bool(controls.get("live")), bool(controls.get("playing")), frames)

    def _play(self, live: bool, playing: bool, frames: int) -> None:
        if live and self.live is None:
            self.live, self.before, self.now, frames = LiveRun(), None, None, 0
        elif not live and self.live is not None:
            self.live = self.before = self.now = None
        if self.live is not None:
            self.live.playing = playing
            self.live.due = min(frames, LiveRun.MOST_AT_ONCE)

    def apply_view(self, view: object) -> None:
        """Take what the visitor looks at; messages with an outdated sequence number or epoch are ignored."""
        if not isinstance(view, Mapping) or view.get("epoch") != self.view_epoch:
            return
        seq = whole(view.get("seq"), self.view_seq)
        if seq < self.view_seq:
            return
        commands, self.view_seq = read_commands(view, seq > self.view_seq), seq
        panel, unit = view.get("panel"), view.get("unit")
        panel = panel if panel in tuple(PANELS) else self.view.panel
        self.name_refused = self.name_refused if panel == self.view.panel else ""
        sort = view.get("sort")
        sort = sort if isinstance(sort, str) and is_order(sort) else self.view.sort
        self.view = View(panel, unit if unit in UNITS else self.view.unit, sort)
        self.wide = view.get("wide") is True
        frame_rate = clamp(view.get("frame_rate"), FRAME_RATES, self.settings.frame_rate)
        temperature = clamp(view.get("temperature"), TEMPERATURES, self.settings.temperature)
        goals = self.settings.goals if "goals" not in view else read_goals(view["goals"])
        if temperature != self.settings.temperature:
            self.before = self.now
        self.settings = replace(self.settings, frame_rate=frame_rate, temperature=temperature, goals=goals)
        for command in commands:
            if command.get("act") == "fit":
                self.fit_wanted = True
            else:
                self._act_on_pin(command)

    def _act_on_pin(self, action: Mapping[str, object]) -> None:
        """Draw, rename or remove a pin, or turn the knobs to it."""
        self.name_refused = self.pins.refusal(action)
        pin = self.pins.by_id(action.get("pin"))
        if action.get("act") == "turn" and pin is not None:
            own = self.settings
            self.set_from_python(replace(pin.settings, goals=own.goals, frame_rate=own.frame_rate))
        else:
            self.pins = self.pins.act(action)

    def set_temperature(self, temperature: float) -> None:
        """Set from Python, after a fit; the browser follows because the view's epoch is new."""
        self.view_epoch += 1
        self.fit_wanted = False
        self.settings, self.before = replace(self.settings, temperature=temperature), self.now

    def record(self, measures: OperatorMeasures, stream_id: str) -> None:
        """Keep the read-outs of a stream; the first ones are also what stood before."""
        self.now = measures
        if self.before is None or stream_id != self.measured_stream:
            self.before, self.measured_stream = measures, stream_id

    def values(self) -> ControlValues:
        """Where the controls stand, for a component that is mounted anew or obeys a new epoch."""
        s = self.settings
        return {
            "zeta": s.zeta, "omega_n": s.omega_n, "on": s.on, "memory": s.memory, "mode": s.mode,
            "speed": self.speed, "live": self.live is not None,
        }  # fmt: skip

    def view_taken(self) -> ViewRequest:
        """The view as it was taken."""
        return {
            "panel": self.view.panel, "unit": self.view.unit, "sort": self.view.sort,
            "frame_rate": self.settings.frame_rate, "temperature": self.settings.temperature, "wide": self.wide,
            "goals": {name: KINDS[name].scale * limit for name, limit in self.settings.goals.set().items()},
            "epoch": self.view_epoch, "seq": self.view_seq,
        }  # fmt: skip


def read_commands(message: Mapping[str, object], new: bool) -> list[Mapping[str, object]]:
    """The commands of a message; none where it is not new: they have been taken."""
    commands = message.get("commands")
    return [each for each in commands if isinstance(each, Mapping)] if new and isinstance(commands, list) else []


def read_goals(limits: object) -> Goals:
    """Goals from the browser, in the units that the cards show; what is no number is no goal, others are clamped."""
    if not isinstance(limits, Mapping):
        return Goals()
    found = {}
    for name, kind in KINDS.items():
        low, high = kind.bounds
        limit = clamp(limits.get(name), (kind.scale * low, kind.scale * high), math.nan) / kind.scale
        if math.isfinite(limit):
            found[name] = min(high, max(low, round(limit, 9)))
    return Goals(**found)
