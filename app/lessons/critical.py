"""Lesson: find critical damping. As quick as can be without overshoot: the two poles have just met."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Values
from app.lessons.lesson_knobs import OMEGA_N, ZETA
from knob_core import theory

FRAMES = 60
OVERSHOOT = 0.01  # percent: what no eye sees
SLOWER = 0.03  # than critical damping, at most
THERE = 0.98
NEAR = 0.08  # of the wanted time


class Numbers(NamedTuple):
    """What differs from student to student."""

    frames: float  # until 98 % of the way


VARIANTS = (Numbers(15), Numbers(10), Numbers(20), Numbers(25), Numbers(30))


def arrival(zeta: float, omega_n: float) -> float:
    """Frames until the spring itself (not its samples) has made 98 % of its way for the first time."""
    t = np.linspace(0, 40 * max(1.0, zeta) / omega_n, 8001)
    return float(t[np.argmax(theory.continuous_step_response(zeta, omega_n, t) >= THERE)])


def goals(n: Numbers, values: Values) -> tuple[Goal, ...]:
    zeta, omega_n = values["zeta"], values["omega_n"]
    t = np.linspace(0, 30 / omega_n, 4001)
    overshoot = 100 * max(0.0, float(theory.continuous_step_response(zeta, omega_n, t).max()) - 1)
    creeps, there = overshoot < OVERSHOOT, arrival(zeta, omega_n)
    slower = there / arrival(1.0, omega_n) - 1
    return (
        Goal("no overshoot, not even between frames", f"{overshoot:.2f} %", creeps),
        Goal(
            f"at most {100 * SLOWER:.0f} % slower than the quickest without overshoot",
            f"{100 * max(0.0, slower):.0f} % slower" if creeps else "it overshoots",
            creeps and slower <= SLOWER,
        ),
        Goal(
            f"98 % of the way after {n.frames:.0f} frames ({_span(n)})",
            f"{there:.1f} frames",
            abs(there / n.frames - 1) <= NEAR,
        ),
    )


def _span(n: Numbers) -> str:
    return f"{n.frames * (1 - NEAR):.1f} to {n.frames * (1 + NEAR):.1f}"


def figures(n: Numbers, values: Values) -> list[dict[str, Any]]:
    zeta, omega_n = values["zeta"], values["omega_n"]
    u = theory.step_response(zeta, omega_n, FRAMES)
    found = theory.poles(zeta, omega_n)
    return [
        draw.step_figure(
            u,
            title="The gate's way to a new level",
            note="blue: where the gate is; dotted: where it is to go. Does it pass the line, or creep?",
            alt=f"step response over {FRAMES} frames: peak {u.max():.2f}",
            span=7,
        ),
        draw.s_plane_figure(
            found.s,
            omega_n,
            title="Its two poles",
            note="crosses: the poles; on the dashed circle they swing, on the level line they creep",
            alt=f"pole map: poles at {found.s[0]:.2f} and {found.s[1]:.2f} rad/frame",
            span=5,
        ),
    ]


FAMILY = Family("critical", VARIANTS, (ZETA, OMEGA_N), {"zeta": 0.3, "omega_n": 0.8}, goals, figures)
