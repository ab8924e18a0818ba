"""Lesson: why a low ωₙ is a low-pass filter. Slow changes pass, quick ones do not."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Lesson, Prediction, Values
from app.lessons.lesson_knobs import OMEGA_N, ZETA
from knob_core import gate, theory

KEEP, STOP = 1.0, -20.0  # dB: how far the drift may be off; how far the flicker must be down
FRAMES = 160


class Numbers(NamedTuple):
    """What differs from student to student: frames in one cycle of the drift, and of the flicker."""

    drift: float
    flicker: float

    @property
    def freq(self) -> np.ndarray:
        """(drift, flicker) in cycles/frame."""
        return 1 / np.array([self.drift, self.flicker])


VARIANTS = (Numbers(100, 8), Numbers(50, 4), Numbers(200, 16), Numbers(30, 3), Numbers(300, 30))


def gains(n: Numbers, values: Values) -> tuple[float, float]:
    """(drift, flicker) in dB."""
    h = np.abs(theory.frequency_response(values["zeta"], values["omega_n"], n.freq))
    drift, flicker = 20 * np.log10(np.maximum(h, 1e-9))
    return float(drift), float(flicker)


def db(value: float) -> str:
    """A level as it is printed."""
    return f"{value:.1f} dB".replace("-", "−")


def goals(n: Numbers, values: Values) -> tuple[Goal, ...]:
    drift, flicker = gains(n, values)
    return (
        Goal("drift kept: within 1 dB of all of it", db(drift), abs(drift) <= KEEP),
        Goal("flicker cut to a tenth: −20 dB", db(flicker), flicker <= STOP),
    )


def figures(n: Numbers, values: Values) -> list[dict[str, Any]]:
    t = np.arange(FRAMES)
    slow, quick = n.freq
    command = np.sin(2 * np.pi * slow * t) + 0.6 * np.sin(2 * np.pi * quick * t + 0.4)
    u, _ = gate.run(command, values["zeta"], values["omega_n"])
    freq = np.geomspace(0.002, 0.499, 160)
    gain = np.abs(theory.frequency_response(values["zeta"], values["omega_n"], freq))
    drift, flicker = gains(n, values)
    return [
        draw.gain_figure(
            freq,
            gain,
            marks={"drift": slow, "flicker": quick},
            title="Gain at every frequency",
            span=6,
            bars=[(slow, -KEEP, "above"), (quick, STOP, "below")],
            note="the curve is to pass above the first bar and below the second",
            alt=f"gain over frequency: drift {drift:.1f} dB, flicker {flicker:.1f} dB",
        ),
        draw.tracks_figure(
            [("command", "command", command, "dot"), ("gate", "gate", u, "solid")],
            title="Drift and flicker together",
            span=6,
            span_y=(-2.2, 2.2),
            unit="u, logits",
            note="dotted: the command, a slow drift with flicker on top; blue: where the gate is",
            alt="command with drift and flicker, and the gate that follows it",
        ),
    ]


def build(n: Numbers) -> Lesson:
    return Lesson(
        id="lowpass",
        title="Why a low ωₙ is a low-pass filter",
        short="Low-pass",
        minutes=8,
        aim="place the border between what a gate follows and what it ignores.",
        idea=(
            "A heavy mass follows a slow hand and ignores a trembling one. So the gate follows what changes slowly "
            "(fog, dusk) and ignores what changes with every frame (noise, flicker). Where the border lies is what ωₙ "
            "decides."
        ),
        equation=(
            r"|H(\omega)| = \frac{1}{\sqrt{\left(1 - r^2\right)^2 + (2\,\zeta\, r)^2}}, \qquad r = \omega/\omega_n"
        ),
        plain="|H| = 1 / √((1 − r²)² + (2 ζ r)²), r = ω / ωₙ",
        units=(
            "Frequencies are in cycles/frame (times 2π: rad/frame); gain is in dB: 0 dB passes whole, −20 dB is a "
            "tenth. Beyond ωₙ it falls by 40 dB a decade."
        ),
        validity=(
            "The formula is that of the spring without gaps and good to 1 dB below 0.08 cycles/frame. The curve drawn "
            "is the sampled gate's own: it ends at 0.5 cycles/frame, the fastest that frames can show, and near that "
            "end it is up to some dB away from the formula."
        ),
        prediction=Prediction(
            "Far above ωₙ, a flicker of twice the frequency comes through how many times weaker?",
            right=2,
            choices=("as strong as before", "2 times weaker", "4 times weaker"),
            why="Gain falls with the square of the frequency, so twice as fast is a quarter: 12 dB, or 40 dB a decade.",
        ),
        task=(
            f"Turn ωₙ down until the flicker (a cycle every {n.flicker:g} frames) is cut to a tenth, while the drift "
            f"(a cycle in {n.drift:g} frames) still passes whole."
        ),
        hints=(
            "Watch the left figure: the curve must pass above the first shaded bar and below the second.",
            "If drift is amplified, ζ is too low; if it is lost, ωₙ is too low.",
            f"Try ωₙ near {2 * np.pi * np.sqrt(n.freq.prod()):.2g} rad/frame, the geometric middle of the two.",
        ),
        meaning=(
            "A moving average (an EMA) falls by 20 dB a decade, this gate by 40: for the same lag it keeps more of the "
            "fog and less of the flicker."
        ),
        knobs=(ZETA, OMEGA_N),
        start={"zeta": 0.7, "omega_n": 2.5},
        goals=partial(goals, n),
        figures=partial(figures, n),
    )


FAMILY = Family("lowpass", VARIANTS, build)
