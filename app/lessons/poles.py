"""Lesson: put the poles where you want them. Distance from the circle is memory, angle is pitch."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Lesson, Prediction, Values
from app.lessons.lesson_knobs import OMEGA_N, ZETA
from knob_core import theory

FRAMES = 60
NEAR = 0.06


class Numbers(NamedTuple):
    """What differs from student to student: where the upper of the pair is wanted, z-plane."""

    real: float
    imaginary: float

    @property
    def aim(self) -> complex:
        return complex(self.real, self.imaginary)


VARIANTS = (Numbers(0.72, 0.55), Numbers(0.45, 0.6), Numbers(0.8, 0.3), Numbers(0.55, 0.3), Numbers(0.1, 0.7))


def upper(values: Values) -> complex:
    """The pole with the larger imaginary part."""
    z = theory.poles(values["zeta"], values["omega_n"]).z
    return complex(z[np.argmax(z.imag)])


def goals(n: Numbers, values: Values) -> tuple[Goal, ...]:
    distance = abs(upper(values) - n.aim)
    return (Goal(f"upper pole on the target (within {NEAR:g})", f"{distance:.2f} away", distance <= NEAR),)


def figures(n: Numbers, values: Values) -> list[dict[str, Any]]:
    found = theory.poles(values["zeta"], values["omega_n"])
    u = theory.step_response(values["zeta"], values["omega_n"], FRAMES)
    z = upper(values)
    return [
        draw.z_plane_figure(
            found.z,
            n.aim,
            NEAR,
            title="The poles in the z-plane",
            span=6,
            note=(
                "crosses: the poles; ring: the target; on the circle it would swing for ever, outside it would explode"
            ),
            alt=f"z-plane: poles at {found.z[0]:.2f} and {found.z[1]:.2f}, target at {n.aim:.2f}",
        ),
        draw.step_figure(
            u,
            title="What they do",
            span=6,
            note=f"it shrinks by {1 - abs(z):.0%} a frame"
            + (f", one swing takes {2 * np.pi / np.angle(z):.0f} frames" if z.imag > 1e-3 else ", and does not swing"),
            alt=f"step response over {FRAMES} frames: peak {u.max():.2f}",
        ),
    ]


def build(n: Numbers) -> Lesson:
    return Lesson(
        id="poles",
        title="Put the poles where you want them",
        short="Poles",
        minutes=8,
        aim="read from a pole map how fast a gate forgets and how fast it swings.",
        idea=(
            "All that the gate does from frame to frame is in two numbers, its poles. Their distance from the centre "
            "says how much is left after one frame, their angle how far the swing has turned. ζ pulls them inwards, "
            "ωₙ moves them away from the point 1."
        ),
        equation=(
            r"z = \frac{1 + s\,\Delta t/2}{1 - s\,\Delta t/2}, \qquad "
            r"\text{period} = \frac{2\pi}{\arg z}\ \text{frames}"
        ),
        plain="z = (1 + s Δt/2) / (1 − s Δt/2);  period = 2π / arg z frames",
        units="z has no unit; its angle is in radians per frame; Δt is one frame; s are the poles of lesson 2.",
        validity=(
            "This map is exact: it is how Knob computes a frame (Tustin's rule). It bends the frequency axis: a spring "
            "that would swing with ω rad/frame swings with 2 arctan(ω/2), which is 0.8 % less at 0.3 and 7 % less at 1."
        ),
        prediction=Prediction(
            "You turn the damping ζ to exactly 0. Where do the poles go?",
            right=1,
            choices=("into the centre of the circle", "onto the circle", "outside the circle"),
            why=(
                "Without damping nothing is lost from frame to frame: the distance from the centre is exactly 1, and "
                "the gate swings for ever. Try it: the dial goes down to 0."
            ),
        ),
        task="Turn both knobs until the upper pole lies inside the target ring.",
        hints=(
            "First turn ωₙ until the angle is right: the direction in which the cross lies, seen from the centre.",
            "Then turn ζ: it moves the cross towards the centre or towards the circle.",
            "Both turn a little with each other; go to and fro between them.",
        ),
        meaning=(
            "Whatever you turn, the poles stay inside the circle, or on it at ζ = 0: no position of these two knobs "
            "can make the gate run away."
        ),
        knobs=(ZETA, OMEGA_N),
        start={"zeta": 0.7, "omega_n": 0.2},
        goals=partial(goals, n),
        figures=partial(figures, n),
    )


FAMILY = Family("poles", VARIANTS, build)
