"""Lesson: make it ring. Below critical damping the gate shoots past its target and swings."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Goal, Lesson, Values
from app.lessons.lesson_knobs import OMEGA_N, ZETA
from knob_core import theory

FRAMES = 60
OVERSHOOT, CROSSINGS = 40.0, 3  # percent; times through the target


def response(values: Values) -> np.ndarray:
    """u (FRAMES,) after the command has jumped from 0 to 1."""
    return theory.step_response(values["zeta"], values["omega_n"], FRAMES)


def crossings(u: np.ndarray) -> int:
    """How often u passes 1 by 2 % or more: what an eye can see."""
    sides = np.sign(u - 1)[np.abs(u - 1) >= 0.02]
    return int(np.count_nonzero(np.diff(sides)))


def goals(values: Values) -> tuple[Goal, ...]:
    u = response(values)
    overshoot = theory.step_info(u, final=1.0).Overshoot
    return (
        Goal(f"overshoot of at least {OVERSHOOT:.0f} %", f"{overshoot:.0f} %", overshoot >= OVERSHOOT),
        Goal(f"passes its target at least {CROSSINGS} times", _often(crossings(u)), crossings(u) >= CROSSINGS),
    )


def _often(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def figures(values: Values) -> list[dict[str, Any]]:
    u = response(values)
    return [
        draw.step_figure(
            u,
            title="The gate's way to a new level",
            note="blue: the gate's state u; grey: the command u* jumps to 1 at frame 0",
            alt=f"step response over {FRAMES} frames: peak {u.max():.2f}, {crossings(u)} passes through the target",
        )
    ]


LESSON = Lesson(
    id="ring",
    title="Make it ring",
    short="Ring",
    idea=(
        "The gate is a mass on a spring with a damper. The network says where it should go (the command), the spring "
        "pulls it there, the damper slows it down. With little damping it shoots past its target, comes back, and "
        "swings: it rings."
    ),
    equation=r"\ddot u + 2\,\zeta\,\omega_n\,\dot u + \omega_n^2\,u = \omega_n^2\,u^\star",
    plain="u'' + 2 ζ ωₙ u' + ωₙ² u = ωₙ² u*",
    units=(
        "ζ (damping ratio) has no unit; ωₙ (natural frequency) is in radians per frame; u and the command u* are "
        "logits: the gate is g = σ(u)."
    ),
    task=(
        "Turn the damping ζ down until the gate overshoots by 40 % or more and passes its target at least three times."
    ),
    meaning=(
        "A ringing gate makes a model that, after every change of the light, trusts the wrong branch for a while, "
        "then the other, and back again."
    ),
    knobs=(ZETA, OMEGA_N),
    start={"zeta": 0.7, "omega_n": 0.4},
    goals=goals,
    figures=figures,
)
