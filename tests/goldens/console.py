"""A seeded visitor at the console: 100 actions without memory and 100 with all kinds, and the updates they bring.

Recorded apart: words, read-outs and pins; and the figures of scope and panels, each array by six numbers. The counters
that order messages are left out: `_Visitor` alone knows them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import made_streams
import numpy as np

from app.console.console_controller import ConsoleController
from app.console.console_state import ConsoleState
from app.console.shown_stream import ShownStream
from app.figures.bode_plot import UNITS
from app.figures.packed import unpack
from knob_core.settings import Settings

ACTIONS = 100
PANELS = ("step", "bode", "poles", "reliability", "spring", "compare")
COUNTERS = {"seq", "epoch", "turn", "pin_presses", "runs", "view"}


class _Visitor:
    """Sends whole requests as the browser does, and remembers what it has sent."""

    def __init__(self, memory: str) -> None:
        self.console = ConsoleController(ConsoleState(settings=Settings(memory=memory)))
        self.controls: dict[str, Any] = {"memory": memory}
        self.view: dict[str, Any] = {"panel": "step"}
        self.sent = self.frames = 0

    def show(self, stream: ShownStream) -> None:
        self.console.state.change_stream()
        self.console.show(stream, 1)
        self.controls |= {"live": False, "playing": False}

    def send(self, controls: dict[str, Any], view: dict[str, Any]) -> dict[str, Any]:
        """One request and its update; a turn of the knobs begins anew each time."""
        state, self.sent = self.console.state, self.sent + 1
        commands = [*controls.pop("commands", []), *([{"act": "begin"}] if "zeta" in controls else [])]
        if (frames := controls.pop("frames", self.frames)) > self.frames:
            commands.append({"act": "frames", "count": frames - self.frames})
            self.frames = frames
        pressed = view.pop("commands", [])
        self.controls |= controls
        self.view |= view
        request = {
            "controls": {**self.controls, "seq": self.sent, "epoch": state.epoch, "commands": commands},
            "view": {**self.view, "seq": self.sent, "epoch": state.view_epoch, "commands": pressed},
        }
        update = self.console.update(request, self.sent)
        values = update["controls"]["values"]  # the browser obeys them where Python moved the knobs
        self.controls |= {name: values[name] for name in ("zeta", "omega_n", "on", "memory", "mode", "live")}
        self.view["temperature"] = state.settings.temperature
        return update


def _actions(rng: np.random.Generator, memories: list[str], number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """(controls, view) that change, drawn at random."""

    def pick(values: Any) -> Any:
        return list(values)[rng.integers(len(values))]

    knobs = {"zeta": float(np.exp(rng.uniform(-3.5, 1.3))), "omega_n": float(np.exp(rng.uniform(-4.5, 1.3)))}
    goals = {"delay": float(rng.uniform(0, 5)), "accuracy": float(rng.uniform(50, 100))}
    pin = {
        "act": pick(("draw", "rename", "turn", "remove")),
        "pin": int(rng.integers(3)),
        "to": f"p{number}",
    }
    choices: list[tuple[float, Callable[[], tuple[dict[str, Any], dict[str, Any]]]]] = [
        (0.25, lambda: (knobs, {})),
        (0.25, lambda: ({}, {"panel": pick(PANELS), "wide": bool(rng.integers(2))})),
        (0.08, lambda: ({"memory": pick(memories)}, {})),
        (0.06, lambda: ({"mode": pick(("continuous", "reset"))}, {})),
        (0.05, lambda: ({"on": pick((True, True, True, False))}, {})),
        (0.06, lambda: ({}, {"unit": pick(UNITS), "frame_rate": pick((5.0, 25.0))})),
        (0.05, lambda: ({}, {"temperature": float(rng.uniform(0.5, 2))})),
        (0.02, lambda: ({}, {"commands": [{"act": "fit"}]})),
        (0.05, lambda: ({}, {"goals": pick((goals, {}))})),
        (0.06, lambda: ({"commands": [{"act": "pin"}]}, {})),
        (0.05, lambda: ({}, {"commands": [pin], "sort": pick(("", "flips", "-right"))})),
        (0.07, lambda: ({"live": bool(rng.integers(4)), "playing": True, "frames": 10 * number}, {})),
    ]  # fmt: skip
    shares = np.array([share for share, _ in choices])
    return choices[rng.choice(len(choices), p=shares / shares.sum())][1]()


@cache
def _updates(memory: str) -> list[dict[str, Any]]:
    rng, visitor = np.random.default_rng(len(memory)), _Visitor(memory)
    streams = [
        ShownStream("step", "a step", "knob-ode", made_streams.branches(2, 3, 90), 3, 1),
        ShownStream("scenes", "scenes", "knob-ode", made_streams.scenes(3, 90), 3),
    ]
    memories = ["off"] if memory == "off" else ["attentive", "plain", "off"]
    found = []
    for i in range(ACTIONS):
        if i % (ACTIONS // 2) == 0:
            visitor.show(streams[2 * i // ACTIONS])
        found.append(_plain(visitor.send(*_actions(rng, memories, i))))
    return found


def _plain(part: Any) -> Any:
    """Without counters, and with six numbers in place of each array."""
    if isinstance(part, dict) and "bdata" in part:
        x = unpack(part).astype(float)  # type: ignore[arg-type]
        finite = x[np.isfinite(x)]
        if not len(finite):
            return [len(x), 0]
        ramp = np.linspace(0, 1, len(finite))
        numbers = (finite[0], finite[-1], finite.mean(), np.sqrt((finite**2).mean()), (ramp * finite).mean())
        return [len(finite), *(float(f"{value:.9g}") for value in numbers)]
    if isinstance(part, dict):
        return {name: _plain(value) for name, value in part.items() if name not in COUNTERS}
    if isinstance(part, (list, tuple)):
        return [_plain(value) for value in part]
    return float(f"{part:.9g}") if isinstance(part, float) else part


def words(memory: str) -> dict[str, Any]:
    """What is read: words, read-outs, film strip, pins."""
    names = ("stream_id", "caption", "film", "readouts")
    return {
        str(i): {**update["controls"], **{name: update["display"][name] for name in names}}
        for i, update in enumerate(_updates(memory))
    }


def figures(memory: str) -> dict[str, Any]:
    """What is drawn: scope and panels."""
    names = ("scope", "panel", "side_panels")
    return {str(i): {name: update["display"][name] for name in names} for i, update in enumerate(_updates(memory))}
