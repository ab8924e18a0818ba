"""Lesson: the same shape at any speed. ωₙ stretches time; with a frame rate, frames become seconds."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Goal, Lesson, Values
from app.lessons.lesson_knobs import OMEGA_N, ZETA
from knob_core import theory

FRAMES = 60
FPS = 10.0
WANTED = (1.8, 2.2)  # seconds until 90 %
OVERSHOOT = 5.0  # percent


def arrival(values: Values) -> float:
    """Seconds until 90 % of the way are made; infinite where 600 frames are too few."""
    there = np.flatnonzero(theory.step_response(values["zeta"], values["omega_n"], 600) >= 0.9)
    return float((there[0] + 1) / FPS) if len(there) else float("inf")


def goals(values: Values) -> tuple[Goal, ...]:
    seconds = arrival(values)
    overshoot = theory.step_info(theory.step_response(values["zeta"], values["omega_n"], 600), final=1.0).Overshoot
    return (
        Goal("90 % of the way after 2 seconds (1.8 to 2.2)", f"{seconds:.1f} s", WANTED[0] <= seconds <= WANTED[1]),
        Goal(f"overshoot below {OVERSHOOT:.0f} %", f"{overshoot:.2f} %", overshoot < OVERSHOOT),
    )


def figures(values: Values) -> list[dict[str, Any]]:
    u = theory.step_response(values["zeta"], values["omega_n"], FRAMES)
    return [
        draw.step_figure(
            u,
            title="The gate's way to a new level, seen by a camera with 10 frames a second",
            seconds=FPS,
            window=WANTED,
            note="blue: the gate's state u; shaded: where it is to pass the 90 % line",
            alt=f"step response over {FRAMES / FPS:.0f} seconds: 90 % after {arrival(values):.1f} s",
        )
    ]


LESSON = Lesson(
    id="speed",
    title="The same shape at any speed",
    short="Speed",
    idea=(
        "ζ decides the shape of the movement, ωₙ how quickly it is run through: half the ωₙ, the same curve in twice "
        "the time. The gate counts frames; only your camera knows how many of them make a second."
    ),
    equation=(
        r"u(t) = f_\zeta(\omega_n t), \qquad \omega_n\,[\mathrm{rad/s}] = \omega_n\,[\mathrm{rad/frame}] \times "
        r"\mathrm{frames/s}"
    ),
    plain="u(t) = f_ζ(ωₙ t);  ωₙ in rad/s = ωₙ in rad/frame × frames/s",
    units="Here the camera gives 10 frames/s, so ωₙ = 0.4 rad/frame is 4 rad/s.",
    task="Turn ωₙ until the gate has made 90 % of its way after about 2 seconds, without overshooting by 5 % or more.",
    meaning=(
        "Another camera, another frame rate: divide the ωₙ that you liked by the ratio of the frame rates, and leave "
        "ζ alone."
    ),
    knobs=(ZETA, OMEGA_N),
    start={"zeta": 0.7, "omega_n": 0.4},
    goals=goals,
    figures=figures,
)
