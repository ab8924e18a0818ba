"""Lesson: who turned my knob? A frame that contradicts the memory turns ωₙ up by itself: attentive memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons import change_streams
from app.lessons.calm import first_stream, spec_goals
from app.lessons.change_streams import Followed, Streams
from app.lessons.lesson import Family, Goal, Values
from app.lessons.lesson_knobs import ATTENTION, OMEGA_N
from knob_core import gate
from knob_core.memories import Attentive

ZETA = 1.0
TAU, EPS = 1.0, 0.002  # how frame and memory are compared


class Numbers(NamedTuple):
    """What differs from student to student."""

    streams: int  # which set of six
    delay: float  # frames, at most
    flips: float  # excess flips per 100 frames, at most


VARIANTS = (Numbers(0, 2, 0.85), Numbers(1, 4, 0.35), Numbers(3, 1.5, 1.35), Numbers(4, 1.5, 0.45), Numbers(5, 3, 0.55))


def measured(n: Numbers, values: Values) -> tuple[Streams, Followed, np.ndarray]:
    """The streams, how attentive memory follows them, and the share of the new frame (SET, T)."""
    of = change_streams.streams(n.streams)
    memory = Attentive(a=0.0, b=values["attention"], d=0.0, tau=TAU, eps=EPS, t_0=0.0, f=0.0)
    found = memory.run_logits(of.z, ZETA, values["omega_n"])
    return of, change_streams.followed(of, found.z), share_of(found.omega)


def share_of(omega: np.ndarray) -> np.ndarray:
    """The part of its way to the frame that the memory makes at omega (...), from rest."""
    return np.asarray(gate.reset_gain(ZETA, omega))


def goals(n: Numbers, values: Values) -> tuple[Goal, ...]:
    return spec_goals(measured(n, values)[1], n.delay, n.flips)


def figures(n: Numbers, values: Values) -> list[dict[str, Any]]:
    of, found, share = measured(n, values)
    cuts = of.cuts_of_first
    near = np.concatenate([share[0, cut : cut + 3] for cut in cuts]).mean() if len(cuts) else 0.0
    return [
        first_stream(of, found, span=12, height=240),
        draw.share_figure(
            share[0],
            cuts,
            title="How much of each new frame is believed",
            note="blue: the share of the new frame in the memory; dotted: the cuts. Who turns the knob at a cut?",
            alt=f"share of the new frame: on average {share[0].mean():.0%}, in the three frames after a cut {near:.0%}",
            height=220,
        ),
    ]


FAMILY = Family("attention", VARIANTS, (ATTENTION, OMEGA_N), {"attention": 0.0, "omega_n": 0.4}, goals, figures)
