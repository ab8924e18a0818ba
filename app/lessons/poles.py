"""Lesson: put the poles where you want them. Distance from the circle is memory, angle is pitch."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Goal, Lesson, Values
from app.lessons.lesson_knobs import OMEGA_N, ZETA
from knob_core import theory

FRAMES = 60
AIM = complex(0.72, 0.55)  # the upper of the pair, z-plane
NEAR = 0.06


def upper(values: Values) -> complex:
    """The pole with the larger imaginary part."""
    z = theory.poles(values["zeta"], values["omega_n"]).z
    return complex(z[np.argmax(z.imag)])


def goals(values: Values) -> tuple[Goal, ...]:
    z = upper(values)
    distance = abs(z - AIM)
    return (Goal(f"upper pole on the target (within {NEAR:g})", f"{distance:.2f} away", distance <= NEAR),)


def figures(values: Values) -> list[dict[str, Any]]:
    found = theory.poles(values["zeta"], values["omega_n"])
    u = theory.step_response(values["zeta"], values["omega_n"], FRAMES)
    z = upper(values)
    return [
        draw.z_plane_figure(
            found.z,
            AIM,
            NEAR,
            title="The poles in the z-plane",
            span=6,
            note=(
                "crosses: the poles; ring: the target; on the circle it would swing for ever, outside it would explode"
            ),
            alt=f"z-plane: poles at {found.z[0]:.2f} and {found.z[1]:.2f}, target at {AIM:.2f}",
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


LESSON = Lesson(
    id="poles",
    title="Put the poles where you want them",
    short="Poles",
    idea=(
        "All that the gate does from frame to frame is in two numbers, its poles. Their distance from the centre says "
        "how much is left after one frame, their angle how far the swing has turned. ζ pulls them inwards, ωₙ moves "
        "them away from the point 1."
    ),
    equation=(
        r"z = \frac{1 + s\,\Delta t/2}{1 - s\,\Delta t/2}, \qquad \text{period} = \frac{2\pi}{\arg z}\ \text{frames}"
    ),
    plain="z = (1 + s Δt/2) / (1 − s Δt/2);  period = 2π / arg z frames",
    units="z has no unit; its angle is in radians per frame; Δt is one frame.",
    task="Turn both knobs until the upper pole lies inside the target ring.",
    meaning=(
        "Whatever you turn, the poles stay inside the circle: no position of these two knobs can make the gate run "
        "away."
    ),
    knobs=(ZETA, OMEGA_N),
    start={"zeta": 0.7, "omega_n": 0.2},
    goals=goals,
    figures=figures,
)
