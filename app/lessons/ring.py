"""Lesson: make it ring. Below critical damping the gate shoots past its target and swings."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Lesson, Prediction, Values
from app.lessons.lesson_knobs import OMEGA_N, ZETA
from knob_core import theory

FRAMES = 60
CROSSINGS = 3  # times through the target


class Numbers(NamedTuple):
    """What differs from student to student."""

    low: float  # percent: wanted overshoot
    high: float


VARIANTS = (Numbers(40, 50), Numbers(30, 40), Numbers(50, 60), Numbers(60, 70))


def response(values: Values) -> np.ndarray:
    """u (FRAMES,) after the command has jumped from 0 to 1."""
    return theory.step_response(values["zeta"], values["omega_n"], FRAMES)


def crossings(u: np.ndarray) -> int:
    """How often u passes 1 by 2 % or more: what an eye can see."""
    sides = np.sign(u - 1)[np.abs(u - 1) >= 0.02]
    return int(np.count_nonzero(np.diff(sides)))


def goals(n: Numbers, values: Values) -> tuple[Goal, ...]:
    u = response(values)
    overshoot = theory.step_info(u, final=1.0).Overshoot
    return (
        Goal(f"overshoot from {n.low:.0f} to {n.high:.0f} %", f"{overshoot:.1f} %", n.low <= overshoot <= n.high),
        Goal(f"passes its target at least {CROSSINGS} times", _often(crossings(u)), crossings(u) >= CROSSINGS),
    )


def _often(count: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def figures(n: Numbers, values: Values) -> list[dict[str, Any]]:
    u = response(values)
    return [
        draw.step_figure(
            u,
            title="The gate's way to a new level",
            note="blue: where the gate is; dotted: where it is told to go from frame 0 on (a jump, called a step). "
            "0 is where it came from and 1 its target, not the ends of the slider",
            alt=f"step response over {FRAMES} frames: peak {u.max():.2f}, the target is passed {_often(crossings(u))}",
        )
    ]


def build(n: Numbers) -> Lesson:
    return Lesson(
        id="ring",
        title="Make it ring",
        short="Ring",
        minutes=8,
        aim="say what damping does to a movement (it is the brake), and make something swing on purpose.",
        idea=(
            "A program looks at the pictures of a camera, one after the other, and says what is on them. It has two "
            "ways of looking: a sharp one for clear pictures, which sees details but is easily misled, and a robust "
            "one for bad pictures (dark or foggy ones), which sees less but is hard to mislead. The **gate** is the "
            "slider between the two. With every picture (a **frame**) the program says where the slider should be: "
            "that is the **command**. But the gate does not jump there. It moves like a weight on a spring: the spring "
            "pulls it to where the command says, and a brake, the **damper**, slows it down. With little damping it "
            "shoots past its target (it **overshoots**; how far is told in percent of the way that it had to go), "
            "comes back, and swings: it **rings**."
        ),
        equation=r"\ddot u + 2\,\zeta\,\omega_n\,\dot u + \omega_n^2\,u = \omega_n^2\,u^\star",
        plain="ü + 2 ζ ωₙ u̇ + ωₙ² u = ωₙ² u*",
        units=(
            "You do not need the equation to do this lesson. In it, u is where the gate is and u* (the command) where "
            "it should be; one dot: how fast it moves, two dots: how fast that speed changes. ζ (say: zeta), the "
            "damping, is a plain number. ωₙ (say: omega n), the natural frequency, says how fast the spring pulls, in "
            "radians per frame (rad/frame). A full swing there and back is 2π radians, about 6.3: at 0.4 rad/frame it "
            "takes some 16 frames."
        ),
        validity=(
            "The equation describes a movement without gaps; the gate moves once a frame, and the plot joins the "
            "frames by straight lines. Above ωₙ = 1 there are only a few frames to a swing, and the overshoot that "
            "you see differs from the equation's, mostly upwards."
        ),
        prediction=Prediction(
            "At the start the damping ζ is 0.7 and the gate overshoots a little. You turn ζ down. What does it do?",
            right=1,
            choices=(
                "move more slowly, and stop short of its target",
                "shoot further past its target, and swing for longer",
                "go to its target at once, without overshoot",
            ),
            why=(
                "The damper is the brake. With less of it the gate still has speed when it reaches the target, and "
                "the spring has to bring it back, again and again."
            ),
        ),
        task=(
            f"Turn the damping ζ down until the gate overshoots by {n.low:.0f} to {n.high:.0f} % and passes its target "
            "at least three times. Your setting is checked as soon as you let the dial go; when both boxes show ✓, "
            "read on below, under Why."
        ),
        hints=(
            "Drag the dial named damping downwards; or click it, and press the arrow keys. The left box above "
            "the figure shows the overshoot: too little of it, and ζ is still too high; too much, and it is too low.",
            "With Shift the steps are ten times finer; you can also type a number beside the dial.",
            "Leave ωₙ alone: it changes how fast the gate swings, and hardly how far.",
        ),
        meaning=(
            "When pictures turn bad or good again (the light changes, say), a program with a ringing gate leans too "
            "far towards one way of looking, then too far towards the other, before it settles."
        ),
        knobs=(ZETA, OMEGA_N),
        start={"zeta": 0.7, "omega_n": 0.4},
        goals=partial(goals, n),
        figures=partial(figures, n),
    )


FAMILY = Family("ring", VARIANTS, build)
