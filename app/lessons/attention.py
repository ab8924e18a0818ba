"""Lesson: who turned my knob? A frame that contradicts the memory turns ωₙ up by itself: attentive memory."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons import change_streams
from app.lessons.calm import WHERE, first_stream, spec_goals
from app.lessons.change_streams import Followed, Streams
from app.lessons.lesson import Family, Goal, Lesson, Prediction, Values
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


def build(n: Numbers) -> Lesson:
    return Lesson(
        id="attention",
        title="Who turned my knob?",
        short="Attention",
        minutes=12,
        aim="explain how evidence in a frame can turn ωₙ, and why that beats any fixed setting.",
        idea=(
            "In the last lesson calm and quick were one trade, because ωₙ was the same for every frame. But most "
            "frames only confirm what was seen, and a few contradict it. **Attentive memory** lets the frame turn the "
            "operator's own knob: a frame that contradicts the memory turns ωₙ up for this one frame, one that "
            f"confirms leaves it down. {WHERE}"
        ),
        equation=(
            r"\begin{gathered} \omega = \omega_n\, e^{\,b\,\ell} \\ \ell = \max(0,\, -\log[K e\, \langle p_m, "
            r"p_z\rangle + 1 - e]),\;\; e = (1-\varepsilon)^2 \end{gathered}"
        ),
        plain="ω = ωₙ exp(b ℓ);  ℓ = max(0, −log[K e <p_m, p_z> + 1 − e]), e = (1 − ε)²",
        units=(
            "ℓ (nats) is the evidence that the content changed: large where the classes that the memory believes in, "
            "p_m, and those of the frame, p_z, have little in common; K = 10 classes, ε = 0.002. b, the attention, is "
            "yours; ζ is 1."
        ),
        validity=(
            "Turning ωₙ in every frame is safe for the reason of the lesson on pumping: no sequence of knob positions "
            "can make this recursion run away. The console's memory has two more inputs (how certain a frame is, and "
            "the network's command) and weights that were fitted; here you are the fit. Measured on six streams, some "
            "35 cuts."
        ),
        prediction=Prediction(
            "With attention b = 0 the memory is as slow at a cut as anywhere. You turn b up, and leave ωₙ low. What "
            "happens?",
            right=1,
            choices=(
                "delay falls, and the flips rise as much as if ωₙ had been turned up",
                "delay falls, and the flips hardly rise",
                "nothing: ωₙ alone decides",
            ),
            why=(
                "At a cut frame and memory have nothing in common, so ωₙ is turned up just there; a noisy frame of the "
                "same picture still agrees with the memory in part, and turns it little."
            ),
        ),
        task=(
            f"Turn attention b and ωₙ until the mean delay is at most {n.delay:g} frames with at most {n.flips:g} "
            "excess flips per 100: more than any fixed ωₙ can do on these streams."
        ),
        hints=(
            "Leave b at 0 first and try ωₙ alone: how near do you come?",
            "Now turn ωₙ down until it is calm, and far too late. Then turn b up and watch the lower figure.",
            "Settings with b between 1 and 6 and ωₙ between 0.04 and 0.25 are worth a try; both finely.",
        ),
        meaning=(
            "You set how calm the model is where nothing happens; the evidence decides when that no longer holds. On "
            "the console this is the memory called attentive, and the curve named gate is this share of the new frame."
        ),
        knobs=(ATTENTION, OMEGA_N),
        start={"attention": 0.0, "omega_n": 0.4},
        goals=partial(goals, n),
        figures=partial(figures, n),
    )


FAMILY = Family("attention", VARIANTS, build)
