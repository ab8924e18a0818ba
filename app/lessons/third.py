"""Lesson: would a third order help? The paper's open question: the gate of the method Third order, its lag turned."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Lesson, Prediction, Values
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


def build(n: Numbers) -> Lesson:
    return Lesson(
        id="third",
        title="Would a third order help?",
        short="Third order",
        minutes=12,
        aim="say against which disturbance a gate of higher order helps, and against which it does not.",
        idea=(
            "From first order (an EMA) to second order (our gate) trembling was halved at the same lag. The paper "
            "leaves open whether more would help. Try it: before the gate stands one more low-pass, a third pole at r "
            "times ωₙ. At r = 20 it is too quick to matter, and you have the second-order gate; near r = 1 it counts "
            "as much as the other two."
        ),
        equation=r"H_3(z) = H(z)\,\frac{\alpha}{1 - (1-\alpha)\,z^{-1}}, \qquad \alpha = 1 - e^{-r\,\omega_n}",
        plain="H₃(z) = H(z) · α / (1 − (1 − α) z⁻¹), α = 1 − exp(−r ωₙ)",
        units=(
            "ωₙ in rad/frame, r in units of ωₙ; lag in frames until 63 % of the way; gain in dB: −40 dB is a "
            "hundredth. Beyond its poles H₃ falls by 60 dB a decade, H by 40."
        ),
        validity=(
            "All curves are the sampled gate's own; with r = 1 it is the gate of the method Third order. However the "
            "knobs are turned, the lag's way to go and the spring's swing together never grow. It overshoots "
            "differently than ζ alone says; the words beside the dials speak of the second-order part."
        ),
        prediction=Prediction(
            "At the same lag, against noise that is new in every frame: how much less does the best third-order gate "
            "tremble than the best second-order one?",
            right=2,
            choices=("half as much", "a quarter less", "about the same"),
            why=(
                "Measured on the streams of the fog bank, at lags from 3 to 8 frames, the two are within 7 % of each "
                "other, now this one ahead, now that; from first to second order it was half. Against one flicker far "
                "above ωₙ, as here, the third order gains 9 to 15 dB."
            ),
        ),
        task=(
            f"A lamp flickers once in {n.flicker:g} frames. Bring it down to {db(n.level)} with a lag of at most "
            f"{n.lag} frames and at most {OVERSHOOT:.0f} % overshoot. Try with r = 20 first: it cannot be done. Then "
            "bring the third pole in."
        ),
        hints=(
            "With r = 20, turn ωₙ until the lag is just allowed; note the level of the flicker.",
            "Turn r to 1: the flicker falls, and the lag grows. Turn ωₙ up until the lag is allowed again.",
            f"Near ζ = 0.55, r = 1 and ωₙ = {2.48 / n.lag:.3g} all three are met; ζ is for the overshoot.",
        ),
        meaning=(
            "A higher order is worth its cost against a known, fast flicker. Against random noise it brings nothing "
            "that the second order does not have; what helps there is to know when to listen, as attentive memory does."
        ),
        knobs=(THIRD, ZETA, OMEGA_N),
        start={"third": 20.0, "zeta": 0.7, "omega_n": 0.4},
        goals=partial(goals, n),
        figures=partial(figures, n),
    )


FAMILY = Family("third", VARIANTS, build)
