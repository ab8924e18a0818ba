"""Lesson: resonance. A lightly damped gate answers one rhythm with more than it was given."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Values
from app.lessons.lesson_knobs import OMEGA_N, ZETA
from knob_core import gate, theory

FRAMES = 160
LOUDEST = 99.0  # times: what is shown at most; without damping it would be infinite


class Numbers(NamedTuple):
    """What differs from student to student."""

    period: int  # frames in which the lamp sways once
    times: float  # wanted swing, in units of the command's

    @property
    def freq(self) -> float:
        """Cycles/frame."""
        return 1 / self.period


VARIANTS = (Numbers(20, 2), Numbers(12, 2.5), Numbers(32, 2), Numbers(16, 3), Numbers(25, 2.5))


def swing(n: Numbers, values: Values) -> float:
    """How many times larger the gate's swing is than the command's, once it has settled."""
    with np.errstate(divide="ignore"):
        found = float(np.abs(theory.frequency_response(values["zeta"], values["omega_n"], n.freq)))
    return found if np.isfinite(found) else LOUDEST


def goals(n: Numbers, values: Values) -> tuple[Goal, ...]:
    found = swing(n, values)
    shown = f"{found:.2f} times" if found < LOUDEST else f"more than {LOUDEST:.0f} times"
    return (
        Goal(f"the gate swings at least {n.times:g} times as far as its command", shown, found >= n.times),
        Goal("and settles: ζ is at least 0.02", f"ζ = {values['zeta']:.3g}", values["zeta"] >= 0.02),
    )


def figures(n: Numbers, values: Values) -> list[dict[str, Any]]:
    command = np.sin(2 * np.pi * n.freq * np.arange(FRAMES))
    u, _ = gate.run(command, values["zeta"], values["omega_n"])
    freq = np.geomspace(0.004, 0.499, 160)
    with np.errstate(divide="ignore"):
        gain = np.minimum(np.abs(theory.frequency_response(values["zeta"], values["omega_n"], freq)), LOUDEST)
    return [
        draw.tracks_figure(
            [("command", "command", command, "dot"), ("gate", "gate", u, "solid")],
            title=f"A lamp that sways every {n.period} frames",
            span=7,
            span_y=(-4.5, 4.5),
            unit="u, logits",
            note="dotted: the command u*; blue: where the gate is, u",
            alt=f"command and gate over {FRAMES} frames: the gate swings {swing(n, values):.2f} times as far",
        ),
        draw.gain_figure(
            freq,
            gain,
            marks={"the lamp": n.freq},
            title="Gain at every frequency",
            span=5,
            bars=[(n.freq, 20 * np.log10(n.times), "above")],
            note="the curve is to pass through the shaded bar at the lamp's frequency",
            alt=f"gain over frequency: {20 * np.log10(swing(n, values)):.1f} dB at the lamp",
        ),
    ]


def words(n: Numbers) -> dict[str, object]:
    return {"freq": n.freq, "omega": 2 * np.pi * n.freq}


FAMILY = Family("resonance", VARIANTS, (ZETA, OMEGA_N), {"zeta": 0.7, "omega_n": 0.1}, goals, figures, words)
