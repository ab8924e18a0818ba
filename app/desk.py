"""One operator's desk: where the knobs stand, what is looked at, what was before this turn, what is pinned.

Everything that comes from the browser passes `take` and `look`, which clamp it. Hands come by two ways, in two threads
(`app.line`): who reads or moves more than one thing holds the desk's lock. No Streamlit in here.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from app.figures.bode import UNITS
from app.knobs import OMEGA_N, SPEEDS, ZETA, clamp
from app.live import Live
from app.panels import PANELS
from knob_core.measures.stability import StreamMeasures
from knob_core.settings import MODES, Settings

FPS = (0.1, 1000.0)


@dataclass(frozen=True)
class View:
    """What the visitor looks at."""

    panel: str = "step"
    unit: str = UNITS[0]


@dataclass
class Desk:
    """All of one visitor's console; it survives changes of page and of stream."""

    settings: Settings = field(default_factory=Settings)
    view: View = field(default_factory=View)
    epoch: int = 0  # raised when Python moves the knobs; the browser obeys a new epoch only
    view_epoch: int = 0
    view_seq: int = 0  # the last look that was taken
    deck: str = ""  # whose hand was taken last: every deck that is mounted has a name of its own
    seq: int = 0  # and which of that deck's
    turn: int = 0
    done: bool = True  # the hand has let go
    before: StreamMeasures | None = None  # what the read-outs were when this turn began
    now: StreamMeasures | None = None
    measured_of: str = ""  # the stream that both are of
    pin: Settings | None = None
    pins: int = 0  # how often the pin was pressed
    live: Live | None = None
    tick: int = 0
    speed: int = 10
    lock: threading.RLock = field(default_factory=threading.RLock, compare=False, repr=False)

    def push(self, settings: Settings) -> None:
        """Move the knobs from Python: a link, a settings file."""
        with self.lock:
            self.epoch += 1
            self.view_epoch += 1
            self.settings, self.before = settings, self.now
            self.tick = 0
            self.live = None

    def change_stream(self) -> None:
        """A live run belongs to the old stream, and so do the read-outs; the knobs stay where the hand has them."""
        with self.lock:
            self.epoch += self.live is not None  # the deck must stop
            self.live = self.before = self.now = None

    def values(self) -> dict[str, Any]:
        """What the deck shows when it is (re)mounted or pushed."""
        s = self.settings
        return {
            "zeta": s.zeta,
            "omega_n": s.omega_n,
            "on": s.on,
            "memory": s.memory,
            "mode": s.mode,
            "speed": self.speed,
            "turn": self.turn,  # a deck that is mounted anew goes on counting where the last one stopped
            "pin": self.pins,
            "live": self.live is not None,
        }

    def take(self, hand: object) -> None:
        """What the hand did. Hands of another epoch are stale, and so are older ones; nothing in one is trusted."""
        if hand is None:
            self.deck, self.seq, self.done = "", 0, True  # a deck that was just mounted counts from the beginning
        if not isinstance(hand, Mapping):
            return
        deck, seq = str(hand.get("deck", ""))[:32], whole(hand.get("seq"), self.seq)
        if deck == self.deck and seq < self.seq:
            return  # a newer one has come by another way
        self.deck, self.seq = deck, seq  # a hand of another epoch has its receipt, too: its deck waits for one
        if hand.get("epoch") != self.epoch:
            return
        old = self.settings
        mode = hand.get("mode")
        self.settings = replace(
            old,
            zeta=clamp(hand.get("zeta"), ZETA, old.zeta),
            omega_n=clamp(hand.get("omega_n"), OMEGA_N, old.omega_n),
            on=bool(hand.get("on", old.on)),
            memory=bool(hand.get("memory", old.memory)),
            mode=mode if mode in MODES else old.mode,
        )
        turn = whole(hand.get("turn"), self.turn)
        if turn != self.turn:
            self.turn, self.before = turn, self.now
        self.done = bool(hand.get("done", True))
        pins = whole(hand.get("pin"), self.pins)
        if pins != self.pins:
            self.pins, self.pin = pins, None if self.pin else self.settings
        speed = whole(hand.get("speed"), self.speed)
        self.speed = speed if speed in SPEEDS else self.speed
        self._play(bool(hand.get("live")), bool(hand.get("play")), whole(hand.get("tick"), self.tick))

    def _play(self, live: bool, play: bool, tick: int) -> None:
        if live and self.live is None:
            self.live, self.before, self.now, self.tick = Live(), None, None, tick
        elif not live and self.live is not None:
            self.live = self.before = self.now = None
        if self.live is not None:
            self.live.playing = play
            self.live.due = min(max(0, tick - self.tick), Live.MOST_AT_ONCE)
        self.tick = tick

    def look(self, view: object) -> None:
        """What the visitor chose to look at; older looks than the last are stale, and so are those of another epoch."""
        if not isinstance(view, Mapping) or view.get("epoch") != self.view_epoch:
            return
        seq = whole(view.get("seq"), self.view_seq)
        if seq < self.view_seq:
            return
        self.view_seq = seq
        panel, unit = view.get("panel"), view.get("unit")
        panel = panel if panel in tuple(PANELS) else self.view.panel
        self.view = View(panel, unit if unit in UNITS else self.view.unit)
        self.settings = replace(self.settings, frame_rate=clamp(view.get("fps"), FPS, self.settings.frame_rate))

    def seen(self) -> dict[str, Any]:
        """The view as the board wants it."""
        return {
            "panel": self.view.panel,
            "unit": self.view.unit,
            "fps": self.settings.frame_rate,
            "epoch": self.view_epoch,
            "seq": self.view_seq,
        }

    def measured(self, measures: StreamMeasures, stream: str) -> None:
        """Remember the read-outs of a stream; the first of them have nothing before them but themselves."""
        self.now = measures
        if self.before is None or stream != self.measured_of:
            self.before, self.measured_of = measures, stream


def whole(value: object, otherwise: int) -> int:
    """A count from outside."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31 else otherwise
