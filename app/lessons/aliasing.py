"""Lesson: aliasing. What flickers faster than half the frame rate comes back disguised as something slow."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Values
from app.lessons.lesson_knobs import FRAME_RATE, OMEGA_N, ZETA
from knob_core import gate, theory

SECONDS = 3.0
SLOW = (0.1, 1.0)  # Hz: neither frozen nor quick
FOLLOWS = 0.9
RUN_IN = 400  # frames that the gate has been watching for


class Numbers(NamedTuple):
    """What differs from student to student."""

    lamp: float  # Hz


VARIANTS = (Numbers(12), Numbers(17), Numbers(28), Numbers(41), Numbers(23))


def seen(n: Numbers, frame_rate: float) -> float:
    """The frequency (Hz) at which the lamp seems to flicker."""
    return abs(n.lamp - frame_rate * round(n.lamp / frame_rate))


def followed(n: Numbers, values: Values) -> float:
    """The share of that swing which the gate follows."""
    apparent = seen(n, values["frame_rate"]) / values["frame_rate"]
    with np.errstate(divide="ignore"):
        h = np.abs(theory.frequency_response(values["zeta"], values["omega_n"], apparent))
    return float(np.minimum(h, 99.0))


def goals(n: Numbers, values: Values) -> tuple[Goal, ...]:
    apparent, share = seen(n, values["frame_rate"]), followed(n, values)
    return (
        Goal(
            f"the {n.lamp:g} Hz lamp looks slower than 1 Hz (but not frozen: {SLOW[0]:g} Hz or more)",
            f"{apparent:.2f} Hz",
            SLOW[0] <= apparent <= SLOW[1],
        ),
        Goal("and the gate follows at least 90 % of it", f"{100 * share:.0f} %", share >= FOLLOWS),
    )


def figures(n: Numbers, values: Values) -> list[dict[str, Any]]:
    fps = values["frame_rate"]
    t = np.arange(int(SECONDS * fps) + 1) / fps  # s, one a frame
    fine = np.linspace(0, SECONDS, 1500)
    run_in = np.arange(-RUN_IN, len(t)) / fps
    u = gate.run(np.sin(2 * np.pi * n.lamp * run_in), values["zeta"], values["omega_n"])[0][RUN_IN:]
    apparent = seen(n, fps)
    return [
        draw.samples_figure(
            fine,
            np.sin(2 * np.pi * n.lamp * fine),
            t,
            np.sin(2 * np.pi * n.lamp * t),
            u,
            title=f"A lamp that flickers at {n.lamp:g} Hz, and what the camera sees of it",
            note=(
                f"grey: the lamp; dots: the frames; blue: the gate. At {fps:.3g} frames/s the lamp seems to flicker "
                f"at {apparent:.1f} Hz"
            ),
            alt=(
                f"a {n.lamp:g} Hz lamp sampled at {fps:.3g} frames/s looks like {apparent:.1f} Hz; the gate follows "
                f"{followed(n, values):.0%} of it"
            ),
        )
    ]


def words(n: Numbers) -> dict[str, object]:
    return {"example": n.lamp + 2, "alias": seen(n, n.lamp + 2)}


START = {"frame_rate": 30.0, "zeta": 0.7, "omega_n": 0.4}
FAMILY = Family("aliasing", VARIANTS, (FRAME_RATE, ZETA, OMEGA_N), START, goals, figures, words)
