"""Lesson: aliasing. What flickers faster than half the frame rate comes back disguised as something slow."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Lesson, Prediction, Values
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


def build(n: Numbers) -> Lesson:
    example = n.lamp + 2
    return Lesson(
        id="aliasing",
        title="Aliasing and frames per second",
        short="Aliasing",
        minutes=6,
        aim="say which flicker a camera cannot see as it is, and what it sees instead.",
        idea=(
            "A camera sees the world in glimpses. What flickers faster than half its frame rate is not seen as quick: "
            "it comes back disguised as something slow, like the wheels that turn backwards in a film. The disguise is "
            "called an **alias**. The gate gets frames only; it cannot know, and follows the alias."
        ),
        equation=(
            r"f_{\text{seen}} = \left| f - k \cdot \mathrm{fps} \right|, \quad "
            r"k = \operatorname{round}(f/\mathrm{fps})"
        ),
        plain="f seen = |f − k · fps|, k = round(f / fps)",
        units=(
            "Only what is slower than fps / 2 is seen as it is. f is in Hz (cycles per second), fps in frames per "
            "second; divided by fps, Hz become cycles/frame, which is all that the gate knows."
        ),
        validity=(
            "Exact for a camera whose glimpses are short. A real one has an exposure time, which blurs and weakens "
            "what flickers faster than that; it does not change the frequency that is seen."
        ),
        prediction=Prediction(
            f"A lamp flickers at {n.lamp:g} Hz, a camera takes {example:g} frames a second. At how many Hz does the "
            "lamp seem to flicker?",
            right=seen(n, example),
            unit="Hz",
            within=0.05,
            why=f"k is 1, so |{n.lamp:g} − {example:g}| = {seen(n, example):g} Hz.",
        ),
        task=(
            f"Leave the gate alone and turn the camera's frame rate until the {n.lamp:g} Hz lamp looks like something "
            "slower than 1 Hz, which the gate then follows."
        ),
        hints=(
            "The dots are all that the gate sees. When do they form a slow wave?",
            "Frame rates near the lamp's own frequency, or a half or a third of it, make it look slow.",
            "Exactly at the lamp's frequency it stands still, which does not count: go a little to the side.",
        ),
        meaning=(
            "No knob of the gate can undo this: an alias at 0.5 Hz is a 0.5 Hz signal. Choose the frame rate, or blur "
            "in time, before the model sees the frames."
        ),
        knobs=(FRAME_RATE, ZETA, OMEGA_N),
        start={"frame_rate": 30.0, "zeta": 0.7, "omega_n": 0.4},
        goals=partial(goals, n),
        figures=partial(figures, n),
    )


FAMILY = Family("aliasing", VARIANTS, build)
