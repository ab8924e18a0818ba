"""Lesson: resonance. A lightly damped gate answers one rhythm with more than it was given."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Lesson, Prediction, Values
from app.lessons.lesson_knobs import OMEGA_N, ZETA
from knob_core import gate, theory

FRAMES = 160
LOUDEST = 99.0  # times: what is shown at most; without damping it would be infinite


class Numbers(NamedTuple):
    """What differs from student to student."""

    period: int  # frames in which the lamp sways once
    times: float  # wanted swing, in units of the command's

    @property
    def freq(self) -> float:
        """Cycles/frame."""
        return 1 / self.period


VARIANTS = (Numbers(20, 2), Numbers(12, 2.5), Numbers(32, 2), Numbers(16, 3), Numbers(25, 2.5))


def swing(n: Numbers, values: Values) -> float:
    """How many times larger the gate's swing is than the command's, once it has settled."""
    with np.errstate(divide="ignore"):
        found = float(np.abs(theory.frequency_response(values["zeta"], values["omega_n"], n.freq)))
    return found if np.isfinite(found) else LOUDEST


def goals(n: Numbers, values: Values) -> tuple[Goal, ...]:
    found = swing(n, values)
    shown = f"{found:.2f} times" if found < LOUDEST else f"more than {LOUDEST:.0f} times"
    return (
        Goal(f"the gate swings at least {n.times:g} times as far as its command", shown, found >= n.times),
        Goal("and settles: ζ is at least 0.02", f"ζ = {values['zeta']:.3g}", values["zeta"] >= 0.02),
    )


def figures(n: Numbers, values: Values) -> list[dict[str, Any]]:
    command = np.sin(2 * np.pi * n.freq * np.arange(FRAMES))
    u, _ = gate.run(command, values["zeta"], values["omega_n"])
    freq = np.geomspace(0.004, 0.499, 160)
    with np.errstate(divide="ignore"):
        gain = np.minimum(np.abs(theory.frequency_response(values["zeta"], values["omega_n"], freq)), LOUDEST)
    return [
        draw.tracks_figure(
            [("command", "command", command, "dot"), ("gate", "gate", u, "solid")],
            title=f"A lamp that sways every {n.period} frames",
            span=7,
            span_y=(-4.5, 4.5),
            unit="u, logits",
            note="dotted: the command u*; blue: where the gate is, u",
            alt=f"command and gate over {FRAMES} frames: the gate swings {swing(n, values):.2f} times as far",
        ),
        draw.gain_figure(
            freq,
            gain,
            marks={"the lamp": n.freq},
            title="Gain at every frequency",
            span=5,
            bars=[(n.freq, 20 * np.log10(n.times), "above")],
            note="the curve is to pass through the shaded bar at the lamp's frequency",
            alt=f"gain over frequency: {20 * np.log10(swing(n, values)):.1f} dB at the lamp",
        ),
    ]


def build(n: Numbers) -> Lesson:
    return Lesson(
        id="resonance",
        title="Resonance",
        short="Resonance",
        minutes=8,
        aim="find the rhythm that a gate amplifies, and say which damping amplifies none.",
        idea=(
            "Push a swing in its own rhythm and it goes higher and higher. So does a lightly damped gate when "
            "something in the picture, a lamp, a wave, a rotor, sways in the rhythm of ωₙ: it answers with more than "
            "it was given. How many times more is called the **gain**."
        ),
        equation=(
            r"\left|H\right|_{\max} = \frac{1}{2\,\zeta\sqrt{1-\zeta^2}} \quad\text{at}\quad \omega = "
            r"\omega_n\sqrt{1 - 2\zeta^2}, \qquad \zeta < \tfrac{1}{\sqrt 2}"
        ),
        plain="|H| max = 1 / (2 ζ √(1 − ζ²)) at ω = ωₙ √(1 − 2 ζ²), for ζ < 1/√2",
        units=(
            f"The lamp sways once in {n.period} frames: {n.freq:.3g} cycles/frame, or 2π times that, "
            f"{2 * np.pi * n.freq:.3f} rad/frame. Gain in dB is 20 log₁₀ of the ratio: twice is 6 dB."
        ),
        validity=(
            "There is a peak only for ζ < 1/√2 ≈ 0.707; above that the gain falls from the start, and the formula says "
            "nothing. It is that of the spring without gaps: the sampled gate's peak is 1 % higher at ωₙ = 0.3, 3 % at "
            "0.5 and 12 % at 1. The left figure begins at rest; the gain is what is reached after a while."
        ),
        prediction=Prediction(
            "At which damping ζ does the gate answer no rhythm at all with more than it was given?",
            right=2,
            choices=("ζ = 0.1", "ζ = 0.4", "ζ = 0.8"),
            why="From ζ = 1/√2, about 0.71, on there is no peak: no frequency comes out larger than it went in.",
        ),
        task=f"Turn both knobs until the gate swings at least {n.times:g} times as far as the command does.",
        hints=(
            "Turn ζ down first, to 0.15 or so: the curve on the right gets a peak.",
            "Now move the peak: ωₙ shifts it to the left and right. It has to stand on the lamp's frequency.",
            f"ωₙ in rad/frame is about 2π divided by the lamp's period of {n.period} frames.",
        ),
        meaning=(
            "If your stream has a rhythm, keep ωₙ away from it, or ζ above 0.71: then no frequency is amplified by "
            "more than 1 %, as long as ωₙ is at most 1."
        ),
        knobs=(ZETA, OMEGA_N),
        start={"zeta": 0.7, "omega_n": 0.1},
        goals=partial(goals, n),
        figures=partial(figures, n),
    )


FAMILY = Family("resonance", VARIANTS, build)
