"""Lesson: would a third order help? The paper's open question: the gate of the method Third order, its lag turned."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Values
from app.lessons.lesson_knobs import OMEGA_N, THIRD, ZETA
from app.lessons.lowpass import db
from knob_core.third_order import ThirdOrder

FRAMES = 60
HORIZON = 400  # frames in which the step is measured
OVERSHOOT = 10.0  # percent, at most


class Numbers(NamedTuple):
    """What differs from student to student."""

    flicker: float  # frames in one cycle
    lag: int  # frames, at most
    level: float  # dB, at most


VARIANTS = (Numbers(4, 12, -49), Numbers(3, 8, -47.5), Numbers(4, 16, -56), Numbers(5, 12, -43.5), Numbers(5, 20, -56))


def curves(values: Values, frames: int, freq: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The way after a step (T,), and |H| (F,), of the gate with its lag at r times the other poles' omega_n."""
    gate, knobs = ThirdOrder(values["third"]), (values["zeta"], values["omega_n"])
    with np.errstate(divide="ignore"):
        gain = np.abs(gate.frequency_response(*knobs, freq))
    return gate.step_response(*knobs, frames), np.minimum(gain, 1e3)


def lag(u: np.ndarray) -> int | None:
    """Frames until 63 % of a step; None where it never is."""
    there = np.flatnonzero(u >= 0.63)
    return int(there[0]) + 1 if len(there) else None


def goals(n: Numbers, values: Values) -> tuple[Goal, ...]:
    u, gain = curves(values, HORIZON, np.array([1 / n.flicker]))
    frames, overshoot, level = lag(u), 100 * max(0.0, float(u.max()) - 1), 20 * np.log10(float(gain[0]))
    return (
        Goal(
            f"lag after a step at most {n.lag} frames",
            f"{frames} frames" if frames else f"more than {HORIZON} frames",
            frames is not None and frames <= n.lag,
        ),
        Goal(f"overshoot at most {OVERSHOOT:.0f} %", f"{overshoot:.1f} %", overshoot <= OVERSHOOT),
        Goal(f"flicker down to {db(n.level)}", db(level), level <= n.level),
    )


def figures(n: Numbers, values: Values) -> list[dict[str, Any]]:
    freq = np.geomspace(0.004, 0.499, 160)
    u, gain = curves(values, FRAMES, np.append(freq, 1 / n.flicker))
    level = 20 * np.log10(float(gain[-1]))
    return [
        draw.step_figure(
            u,
            title="The gate's way to a new level",
            span=6,
            note="blue: the gate with its third pole; dotted: where it is to go",
            alt=f"step response over {FRAMES} frames: peak {u.max():.2f}, lag {lag(u) or 'more than 60'} frames",
        ),
        draw.gain_figure(
            freq,
            gain[:-1],
            marks={"flicker": 1 / n.flicker},
            bars=[(1 / n.flicker, n.level, "below")],
            low=-90.0,
            title="Gain at every frequency",
            span=6,
            note="the curve is to pass through the shaded bar at the flicker",
            alt=f"gain over frequency: {level:.1f} dB at the flicker",
        ),
    ]


def words(n: Numbers) -> dict[str, object]:
    return {"answer": 2.48 / n.lag, "overshoot": OVERSHOOT, "level_words": db(n.level)}


START = {"third": 20.0, "zeta": 0.7, "omega_n": 0.4}
FAMILY = Family("third", VARIANTS, (THIRD, ZETA, OMEGA_N), START, goals, figures, words)
