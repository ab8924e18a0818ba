"""Lesson: make it ring. Below critical damping the gate shoots past its target and swings."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Values
from app.lessons.lesson_knobs import OMEGA_N, ZETA
from knob_core import theory

FRAMES = 60
CROSSINGS = 3  # times through the target


class Numbers(NamedTuple):
    """What differs from student to student."""

    low: float  # percent: wanted overshoot
    high: float


VARIANTS = (Numbers(40, 50), Numbers(30, 40), Numbers(50, 60), Numbers(60, 70))


def response(values: Values) -> np.ndarray:
    """u (FRAMES,) after the command has jumped from 0 to 1."""
    return theory.step_response(values["zeta"], values["omega_n"], FRAMES)


def crossings(u: np.ndarray) -> int:
    """How often u passes 1 by 2 % or more: what an eye can see."""
    sides = np.sign(u - 1)[np.abs(u - 1) >= 0.02]
    return int(np.count_nonzero(np.diff(sides)))


def goals(n: Numbers, values: Values) -> tuple[Goal, ...]:
    u = response(values)
    overshoot = theory.step_info(u, final=1.0).Overshoot
    return (
        Goal(f"overshoot from {n.low:.0f} to {n.high:.0f} %", f"{overshoot:.1f} %", n.low <= overshoot <= n.high),
        Goal(f"passes its target at least {CROSSINGS} times", _often(crossings(u)), crossings(u) >= CROSSINGS),
    )


def _often(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def figures(n: Numbers, values: Values) -> list[dict[str, Any]]:
    u = response(values)
    return [
        draw.step_figure(
            u,
            title="The gate's way to a new level",
            note="blue: where the gate is; dotted: where it is told to go from frame 0 on (a jump, called a step). "
            "0 is where it came from and 1 its target, not the ends of the slider",
            alt=f"step response over {FRAMES} frames: peak {u.max():.2f}, the target is passed {_often(crossings(u))}",
        )
    ]


FAMILY = Family("ring", VARIANTS, (ZETA, OMEGA_N), {"zeta": 0.7, "omega_n": 0.4}, goals, figures)
