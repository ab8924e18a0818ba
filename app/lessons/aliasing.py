"""Lesson: aliasing. What flickers faster than half the frame rate comes back disguised as something slow."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Goal, Lesson, Values
from app.lessons.lesson_knobs import FRAME_RATE, OMEGA_N, ZETA
from knob_core import gate, theory

LAMP = 12.0  # Hz
SECONDS = 3.0
SLOW = (0.1, 1.0)  # Hz: neither frozen nor quick
FOLLOWS = 0.9


def seen(frame_rate: float) -> float:
    """The frequency (Hz) at which the lamp seems to flicker."""
    return abs(LAMP - frame_rate * round(LAMP / frame_rate))


def followed(values: Values) -> float:
    """The share of that swing which the gate follows."""
    h = theory.frequency_response(values["zeta"], values["omega_n"], seen(values["frame_rate"]) / values["frame_rate"])
    return float(np.abs(h))


def goals(values: Values) -> tuple[Goal, ...]:
    apparent, share = seen(values["frame_rate"]), followed(values)
    return (
        Goal(
            "the 12 Hz lamp looks slower than 1 Hz (but not frozen)",
            f"{apparent:.1f} Hz",
            SLOW[0] <= apparent <= SLOW[1],
        ),
        Goal("and the gate follows at least 90 % of it", f"{100 * share:.0f} %", share >= FOLLOWS),
    )


def figures(values: Values) -> list[dict[str, Any]]:
    fps = values["frame_rate"]
    t = np.arange(int(SECONDS * fps) + 1) / fps  # s, one a frame
    fine = np.linspace(0, SECONDS, 1500)
    run_in = np.arange(-400, len(t)) / fps  # the gate has been watching for a while
    u = gate.run(np.sin(2 * np.pi * LAMP * run_in), values["zeta"], values["omega_n"])[0][400:]
    apparent = seen(fps)
    return [
        draw.samples_figure(
            fine,
            np.sin(2 * np.pi * LAMP * fine),
            t,
            np.sin(2 * np.pi * LAMP * t),
            u,
            title="A lamp that flickers at 12 Hz, and what the camera sees of it",
            note=(
                f"grey: the lamp; dots: the frames; blue: the gate. At {fps:.3g} frames/s the lamp seems to flicker "
                f"at {apparent:.1f} Hz"
            ),
            alt=(
                f"a 12 Hz lamp sampled at {fps:.3g} frames/s looks like {apparent:.1f} Hz; the gate follows "
                f"{followed(values):.0%} of it"
            ),
        )
    ]


LESSON = Lesson(
    id="aliasing",
    title="Aliasing and frames per second",
    short="Aliasing",
    idea=(
        "A camera sees the world in glimpses. What flickers faster than half its frame rate is not seen as quick: it "
        "comes back disguised as something slow, like the wheels that turn backwards in a film. The gate gets frames "
        "only; it cannot know, and follows the alias."
    ),
    equation=(
        r"f_{\text{seen}} = \left| f - k \cdot \mathrm{fps} \right|, \quad k = \operatorname{round}(f/\mathrm{fps})"
    ),
    plain="f seen = |f − k · fps|, k = round(f / fps)",
    units=(
        "Only what is slower than fps / 2 is seen as it is. f is in Hz (cycles per second), fps in frames per second; "
        "divided by fps, Hz become cycles/frame, which is "
        "all that the gate knows."
    ),
    task=(
        "Leave the gate alone and turn the camera's frame rate until the 12 Hz lamp looks like something slower than "
        "1 Hz, which the gate then follows."
    ),
    meaning=(
        "No knob of the gate can undo this: an alias at 0.5 Hz is a 0.5 Hz signal. Choose the frame rate, or blur in "
        "time, before the model sees the frames."
    ),
    knobs=(FRAME_RATE, ZETA, OMEGA_N),
    start={"frame_rate": 30.0, "zeta": 0.7, "omega_n": 0.4},
    goals=goals,
    figures=figures,
)
