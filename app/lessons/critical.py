"""Lesson: find critical damping. As quick as can be without overshoot: the two poles have just met."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Goal, Lesson, Values
from app.lessons.lesson_knobs import OMEGA_N, ZETA
from knob_core import theory

FRAMES = 60
OVERSHOOT = 0.01  # percent: what no eye sees
SLOWER = 0.03  # than critical damping, at most
THERE = 0.98


def arrival(zeta: float, omega_n: float) -> float:
    """Frames until the spring itself (not its samples) has made 98 % of its way for the first time."""
    t = np.linspace(0, 40 * max(1.0, zeta) / omega_n, 8001)
    return float(t[np.argmax(theory.continuous_step_response(zeta, omega_n, t) >= THERE)])


def goals(values: Values) -> tuple[Goal, ...]:
    zeta, omega_n = values["zeta"], values["omega_n"]
    t = np.linspace(0, 30 / omega_n, 4001)
    overshoot = 100 * max(0.0, float(theory.continuous_step_response(zeta, omega_n, t).max()) - 1)
    slower = arrival(zeta, omega_n) / arrival(1.0, omega_n) - 1
    return (
        Goal("no overshoot, not even between frames", f"{overshoot:.2f} %", overshoot < OVERSHOOT),
        Goal(
            f"at most {100 * SLOWER:.0f} % slower than the quickest",
            f"{100 * slower:+.0f} %".replace("-", "−"),
            slower <= SLOWER,
        ),
    )


def figures(values: Values) -> list[dict[str, Any]]:
    zeta, omega_n = values["zeta"], values["omega_n"]
    u = theory.step_response(zeta, omega_n, FRAMES)
    found = theory.poles(zeta, omega_n)
    return [
        draw.step_figure(
            u,
            title="The gate's way to a new level",
            note="blue: the gate's state u; grey: where it is to go. Does it pass the line, or creep?",
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


LESSON = Lesson(
    id="critical",
    title="Find critical damping",
    short="Critical",
    idea=(
        "Too little damping, and the gate overshoots; too much, and it creeps. Exactly between the two lies critical "
        "damping: the quickest way to the target that never passes it. There the two poles of the system, which swing "
        "as a pair below, meet in one point."
    ),
    equation=r"s_{1,2} = \omega_n\left(-\zeta \pm \sqrt{\zeta^2 - 1}\right), \qquad \zeta = 1:\; s_1 = s_2 = -\omega_n",
    plain="s₁,₂ = ωₙ (−ζ ± √(ζ² − 1));  at ζ = 1 both are −ωₙ",
    units="ζ has no unit; ωₙ and the poles s are in radians per frame; 1/ωₙ is a time in frames.",
    task=(
        "Turn ζ until there is no overshoot, and the gate is still as quick as that allows. Shift makes arrows and "
        "drags fine; or type a number."
    ),
    meaning=(
        "Critical damping is the preset for an operator who wants the model to react to fog at once, and never to "
        "over-react."
    ),
    knobs=(ZETA, OMEGA_N),
    start={"zeta": 0.3, "omega_n": 0.4},
    goals=goals,
    figures=figures,
)
