"""Lesson: resonance. A lightly damped gate answers one rhythm with more than it was given."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Goal, Lesson, Values
from app.lessons.lesson_knobs import OMEGA_N, ZETA
from knob_core import gate, theory

PERIOD = 20  # frames
FREQ = 1 / PERIOD  # cycles/frame
FRAMES = 160
TIMES = 2.0


def swing(values: Values) -> float:
    """How many times larger the gate's swing is than the command's, once it has settled."""
    return float(np.abs(theory.frequency_response(values["zeta"], values["omega_n"], FREQ)))


def goals(values: Values) -> tuple[Goal, ...]:
    found = swing(values)
    return (Goal("the gate swings at least twice as far as its command", f"{found:.2f} times", found >= TIMES),)


def figures(values: Values) -> list[dict[str, Any]]:
    command = np.sin(2 * np.pi * FREQ * np.arange(FRAMES))
    u, _ = gate.run(command, values["zeta"], values["omega_n"])
    freq = np.geomspace(0.004, 0.499, 160)
    gain = np.abs(theory.frequency_response(values["zeta"], values["omega_n"], freq))
    return [
        draw.tracks_figure(
            [("command", "command", command, "dot"), ("gate", "gate", u, "solid")],
            title="A lamp that sways every 20 frames",
            span=7,
            span_y=(-4.5, 4.5),
            unit="u, logits",
            note="dotted: the command u*; blue: the gate's state u",
            alt=f"command and gate over {FRAMES} frames: the gate swings {swing(values):.2f} times as far",
        ),
        draw.gain_figure(
            freq,
            gain,
            marks={"the lamp": FREQ},
            title="Gain at every frequency",
            span=5,
            bars=[(FREQ, 20 * np.log10(TIMES), "above")],
            note="the curve is to pass through the shaded bar at the lamp's frequency",
            alt=f"gain over frequency: {20 * np.log10(swing(values)):.1f} dB at the lamp",
        ),
    ]


LESSON = Lesson(
    id="resonance",
    title="Resonance",
    short="Resonance",
    idea=(
        "Push a swing in its own rhythm and it goes higher and higher. So does a lightly damped gate when something "
        "in the picture, a lamp, a wave, a rotor, sways in the rhythm of ωₙ: it answers with more than it was given."
    ),
    equation=(
        r"\left|H\right|_{\max} \approx \frac{1}{2\,\zeta\sqrt{1-\zeta^2}} \quad\text{at}\quad \omega = "
        r"\omega_n\sqrt{1 - 2\zeta^2}"
    ),
    plain="|H| max ≈ 1 / (2 ζ √(1 − ζ²)) at ω = ωₙ √(1 − 2 ζ²)",
    units=(
        "The lamp sways once in 20 frames: 0.05 cycles/frame, or 2π · 0.05 = 0.314 rad/frame. Gain in dB is 20 log₁₀ "
        "of the ratio: twice is 6 dB."
    ),
    task="Turn both knobs until the gate swings at least twice as far as the command does.",
    meaning="If your stream has a rhythm, keep ωₙ away from it, or ζ above 0.7: then no frequency is amplified.",
    knobs=(ZETA, OMEGA_N),
    start={"zeta": 0.7, "omega_n": 0.1},
    goals=goals,
    figures=figures,
)
