"""Lesson: put the poles where you want them. Distance from the circle is memory, angle is pitch."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Values
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


FAMILY = Family("poles", VARIANTS, (ZETA, OMEGA_N), {"zeta": 0.7, "omega_n": 0.2}, goals, figures)
