"""Lesson: why a low ωₙ is a low-pass filter. Slow changes pass, quick ones do not."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Values
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


def words(n: Numbers) -> dict[str, object]:
    return {"middle": 2 * np.pi * np.sqrt(n.freq.prod())}


FAMILY = Family("lowpass", VARIANTS, (ZETA, OMEGA_N), {"zeta": 0.7, "omega_n": 2.5}, goals, figures, words)
