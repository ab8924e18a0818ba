"""Lesson: the same shape at any speed. ωₙ stretches time, and the camera says how long a frame is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Values
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


def words(n: Numbers) -> dict[str, object]:
    now = arrival(n, START)
    return {
        "now": now, "twice": 2 * now, "now_frames": now * n.fps, "answer": arrival(n, START | {"omega_n": 0.2}),
        "near": 0.2 * now, "rad_s": 0.4 * n.fps, "frame": 1 / n.fps, "frames": n.seconds * n.fps,
    }  # fmt: skip


FAMILY = Family("speed", VARIANTS, (ZETA, OMEGA_N), START, goals, figures, words)
