"""Lesson: the same shape at any speed. ωₙ stretches time, and the camera says how long a frame is."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Lesson, Prediction, Values
from app.lessons.lesson_knobs import OMEGA_N, ZETA
from knob_core import theory

FRAMES = 60
HORIZON = 600  # frames in which 90 % must be made
OVERSHOOT = 5.0  # percent
START = {"zeta": 0.7, "omega_n": 0.4}


class Numbers(NamedTuple):
    """What differs from student to student."""

    fps: float  # frames/s
    seconds: float  # until 90 %

    @property
    def window(self) -> tuple[float, float]:
        """Seconds that count."""
        return 0.9 * self.seconds, 1.1 * self.seconds


VARIANTS = (Numbers(10, 2), Numbers(30, 1), Numbers(25, 0.5), Numbers(24, 1.5), Numbers(15, 1))


def arrival(n: Numbers, values: Values) -> float:
    """Seconds until 90 % of the way are made; infinite where HORIZON frames are too few."""
    there = np.flatnonzero(theory.step_response(values["zeta"], values["omega_n"], HORIZON) >= 0.9)
    return float((there[0] + 1) / n.fps) if len(there) else float("inf")


def goals(n: Numbers, values: Values) -> tuple[Goal, ...]:
    seconds, (low, high) = arrival(n, values), n.window
    overshoot = theory.step_info(theory.step_response(values["zeta"], values["omega_n"], HORIZON), final=1.0).Overshoot
    now = f"{seconds:.2f} s" if np.isfinite(seconds) else f"more than {HORIZON / n.fps:.0f} s"
    return (
        Goal(f"90 % of the way after {n.seconds:g} s ({low:g} to {high:g})", now, low <= seconds <= high),
        Goal(f"overshoot below {OVERSHOOT:.0f} %", f"{overshoot:.2f} %", overshoot < OVERSHOOT),
    )


def figures(n: Numbers, values: Values) -> list[dict[str, Any]]:
    u = theory.step_response(values["zeta"], values["omega_n"], FRAMES)
    return [
        draw.step_figure(
            u,
            title=f"The gate's way to a new level, seen by a camera with {n.fps:g} frames a second",
            seconds=n.fps,
            window=n.window,
            note="blue: where the gate is; shaded: when it is to pass the dashed 90 % line",
            alt=f"step response over {FRAMES / n.fps:.1f} seconds: 90 % after {arrival(n, values):.2f} s",
        )
    ]


def build(n: Numbers) -> Lesson:
    now = arrival(n, START)
    return Lesson(
        id="speed",
        title="The same shape at any speed",
        short="Speed",
        minutes=6,
        aim="set a gate's speed in seconds, for any camera.",
        idea=(
            "ζ decides the shape of the movement, ωₙ how quickly it is run through: half the ωₙ, the same curve in "
            "twice the time. The gate counts frames; only your camera knows how many of them make a second."
        ),
        equation=(
            r"u(t) = f_\zeta(\omega_n t), \qquad \omega_n\,[\mathrm{rad/s}] = \omega_n\,[\mathrm{rad/frame}] \times "
            r"\mathrm{frames/s}"
        ),
        plain="u(t) = f_ζ(ωₙ t);  ωₙ in rad/s = ωₙ in rad/frame × frames/s",
        units=f"Here the camera gives {n.fps:g} frames/s, so ωₙ = 0.4 rad/frame is {0.4 * n.fps:g} rad/s.",
        validity=(
            "The same shape at any speed is exact for the spring without gaps. The gate moves once a frame, so times "
            f"come in steps of one frame, here {1 / n.fps:.3g} s, and above ωₙ = 1 the shape itself changes."
        ),
        prediction=Prediction(
            f"With ζ = 0.7 and ωₙ = 0.4 the gate makes 90 % of its way in {now:.2f} s. You halve ωₙ to 0.2. How many "
            "seconds will it take?",
            right=arrival(n, START | {"omega_n": 0.2}),
            unit="s",
            within=0.2 * now,
            why=f"Half the ωₙ takes twice the time: about {2 * now:.2f} s.",
        ),
        task=(
            f"Turn ωₙ until the gate has made 90 % of its way after about {n.seconds:g} s, without overshooting by 5 % "
            "or more."
        ),
        hints=(
            "Leave ζ where it is: at 0.7 the overshoot is below 5 %.",
            f"{n.seconds:g} s are {n.seconds * n.fps:g} frames here. Now it takes {now * n.fps:.0f} frames.",
            "Multiply ωₙ by the ratio of those two numbers.",
        ),
        meaning=(
            "Another camera, another frame rate: divide the ωₙ that you liked by the ratio of the frame rates, and "
            "leave ζ alone."
        ),
        knobs=(ZETA, OMEGA_N),
        start=dict(START),
        goals=partial(goals, n),
        figures=partial(figures, n),
    )


FAMILY = Family("speed", VARIANTS, build)
