"""Lesson: why a low ωₙ is a low-pass filter. Slow changes pass, quick ones do not."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Goal, Lesson, Values
from app.lessons.lesson_knobs import OMEGA_N, ZETA
from knob_core import gate, theory

DRIFT, FLICKER = 0.01, 0.25  # cycles/frame: 100 frames and 4 frames a cycle
KEEP, STOP = -1.0, -20.0  # dB
FRAMES = 160


def gains(values: Values) -> tuple[float, float]:
    """(drift, flicker) in dB."""
    h = theory.frequency_response(values["zeta"], values["omega_n"], np.array([DRIFT, FLICKER]))
    drift, flicker = 20 * np.log10(np.abs(h))
    return float(drift), float(flicker)


def db(value: float) -> str:
    """A level as it is printed."""
    return f"{value:.1f} dB".replace("-", "−")


def goals(values: Values) -> tuple[Goal, ...]:
    drift, flicker = gains(values)
    return (
        Goal("drift kept: within 1 dB of all of it", db(drift), abs(drift) <= abs(KEEP)),
        Goal("flicker cut to a tenth: −20 dB", db(flicker), flicker <= STOP),
    )


def figures(values: Values) -> list[dict[str, Any]]:
    t = np.arange(FRAMES)
    command = np.sin(2 * np.pi * DRIFT * t) + 0.6 * np.sin(2 * np.pi * FLICKER * t + 0.4)
    u, _ = gate.run(command, values["zeta"], values["omega_n"])
    freq = np.geomspace(0.004, 0.499, 160)
    gain = np.abs(theory.frequency_response(values["zeta"], values["omega_n"], freq))
    drift, flicker = gains(values)
    return [
        draw.gain_figure(
            freq,
            gain,
            marks={"drift": DRIFT, "flicker": FLICKER},
            title="Gain at every frequency",
            span=6,
            bars=[(DRIFT, KEEP, "above"), (FLICKER, STOP, "below")],
            note="the curve is to pass above the first bar and below the second",
            alt=f"gain over frequency: drift {drift:.1f} dB, flicker {flicker:.1f} dB",
        ),
        draw.tracks_figure(
            [("command", "command", command, "dot"), ("gate", "gate", u, "solid")],
            title="Drift and flicker together",
            span=6,
            span_y=(-2.2, 2.2),
            unit="u, logits",
            note="dotted: the command, a slow drift with flicker on top; blue: the gate",
            alt="command with drift and flicker, and the gate that follows it",
        ),
    ]


LESSON = Lesson(
    id="lowpass",
    title="Why a low ωₙ is a low-pass filter",
    short="Low-pass",
    idea=(
        "A heavy mass follows a slow hand and ignores a trembling one. So the gate follows what changes slowly (fog, "
        "dusk) and ignores what changes with every frame (noise, flicker). Where the border lies is what ωₙ decides."
    ),
    equation=r"|H(\omega)| = \frac{1}{\sqrt{\left(1 - r^2\right)^2 + (2\,\zeta\, r)^2}}, \qquad r = \omega/\omega_n",
    plain="|H| = 1 / √((1 − r²)² + (2 ζ r)²), r = ω / ωₙ",
    units=(
        "Frequencies are in cycles/frame (times 2π: rad/frame); gain is in dB: 0 dB passes whole, −20 dB is a tenth. "
        "Beyond ωₙ it falls by 40 dB a decade."
    ),
    task=(
        "Turn ωₙ down until the flicker (a cycle every 4 frames) is cut to a tenth, while the drift (a cycle in 100 "
        "frames) still passes whole."
    ),
    meaning=(
        "An EMA falls by 20 dB a decade, this gate by 40: for the same lag it keeps more of the fog and less of the "
        "flicker."
    ),
    knobs=(ZETA, OMEGA_N),
    start={"zeta": 0.7, "omega_n": 1.5},
    goals=goals,
    figures=figures,
)
