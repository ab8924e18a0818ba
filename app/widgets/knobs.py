"""The two knobs and their presets, as data: ranges, homes, words, and one sentence of help for each control."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from knob_core import theory
from knob_core.settings import HOME, Settings

ZETA = (0.05, 3.0)  # damping ratio
OMEGA_N = (0.02, 3.0)  # rad/frame
SPEEDS = (2, 5, 10, 20, 40)  # frames/s
CRITICAL = (1 - theory.CRITICAL, 1 + theory.CRITICAL)  # damping ratios that count as critical

KNOBS: list[dict[str, Any]] = [
    {
        "id": "zeta", "symbol": "ζ", "name": "damping", "low": ZETA[0], "high": ZETA[1], "home": HOME.zeta, "unit": "",
        "words": ["nervous", "calm"], "ticks": [0.05, 0.1, 0.2, 0.5, 0.7, 1, 2, 3],
        "zones": [[ZETA[0], *CRITICAL[:1], "under"], [*CRITICAL, "critical"], [*CRITICAL[1:], ZETA[1], "over"]],
        "help": "Calm or nervous: how strongly swings are damped. Below 1 the gate overshoots and rings, above 1 it "
                "creeps. Drag up or right, with Shift in finer steps; a double click goes home.",
    },
    {
        "id": "omega_n", "symbol": "ωₙ", "name": "natural frequency", "low": OMEGA_N[0], "high": OMEGA_N[1],
        "home": HOME.omega_n, "unit": "rad/frame", "words": ["slow", "alert"],
        "ticks": [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 3],
        "zones": [[0.02, 0.15, "slow"], [0.15, 1, "middle"], [1, 3, "alert"]],
        "help": "Slow or alert: how quickly the gate follows the command, in radians per frame. "
                "Drag up or right, with Shift in finer steps; a double click goes home.",
    },
]  # fmt: skip

_PRESETS = [  # id, label, zeta, omega_n, help
    ("nervous", "nervous", 0.15, 1.0, "Quick and hardly damped: overshoots and rings"),
    ("quick", "quick", 0.7, 0.8, "Quick, with a little overshoot"),
    ("balanced", "balanced", HOME.zeta, HOME.omega_n, "Critically damped, quick without overshoot: home"),
    ("conservative", "conservative", 1.4, 0.12, "Slow and over-damped: believes a change only when it lasts"),
]

HELP = {
    "attentive": "Attentive memory: the answer has inertia, but a frame that contradicts it turns ωₙ up by itself",
    "plain": "Plain memory: the robust branch remembers what it saw, with the same knobs, whatever a frame says",
    "off": "No memory: the gate as in the paper",
    "continuous": "Continuous Mode: the gate's state is kept from frame to frame",
    "reset": "Reset Mode: every frame starts from rest, as for unrelated pictures",
    "play": "Live: frames arrive one by one and the knobs act on the running state",
    "stop": "Leave live mode: see the whole stream at once",
    "speed": "Frames that arrive a second while playing",
}


def presets(trained: tuple[float, float] | None = None) -> list[dict[str, Any]]:
    """Every preset as id, label, zeta, omega_n, on, help; the trained values where they are known."""
    rows = list(_PRESETS)
    if trained:
        rows.append(("trained", "trained", *trained, "The values that training found"))
    listed = [dict(zip(("id", "label", "zeta", "omega_n", "help"), row, strict=True), on=True) for row in rows]
    return [*listed, {"id": "off", "label": "off", "on": False, "help": "Without Knob: no inertia, no memory"}]


def within(settings: Settings) -> tuple[Settings, list[str]]:
    """The setting with both knobs within the console's ranges, and a sentence for each that was not."""
    problems = []
    for name, (low, high) in (("zeta", ZETA), ("omega_n", OMEGA_N)):
        value = getattr(settings, name)
        if not low <= value <= high:
            problems.append(f"{name} = {value:g} is outside this console's [{low:g}, {high:g}] and was held there")
            settings = replace(settings, **{name: min(high, max(low, value))})
    return settings, problems
