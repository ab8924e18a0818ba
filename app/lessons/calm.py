"""Lesson: how calm can I be before I am late? Design to a specification on streams whose picture changes."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from app.figures import lesson_figures as draw
from app.lessons import change_streams
from app.lessons.change_streams import Followed, Streams
from app.lessons.lesson import Family, Goal, Lesson, Prediction, Values
from app.lessons.lesson_knobs import OMEGA_N, ZETA
from knob_core.data import CLASSES
from knob_core.rivals import SecondOrder

SPAN = (12.0, 12.0)  # ends of the figure: frames, flips


class Numbers(NamedTuple):
    """What differs from student to student."""

    streams: int  # which set of six
    delay: float  # frames, at most
    flips: float  # excess flips per 100 frames, at most


VARIANTS = (Numbers(0, 3, 2.4), Numbers(3, 2, 3.5), Numbers(4, 4, 1.1), Numbers(5, 1.5, 2.1), Numbers(1, 5, 1.2))
WHERE = (
    "The streams are real: six times 300 frames, what a small network said about pictures that it had not been "
    "trained on, which change now and then while blur, noise, spatter or wrong colours come and go. They were computed "
    "once; your knobs act on them."
)


def measured(n: Numbers, values: Values) -> tuple[Streams, Followed]:
    """The streams, and how a plain second-order memory follows them."""
    of = change_streams.streams(n.streams)
    return of, change_streams.filtered(of, SecondOrder(values["omega_n"], values["zeta"]))


def spec_goals(found: Followed, delay: float, flips: float) -> tuple[Goal, ...]:
    """In time, and calm."""
    return (
        Goal(f"mean delay after a cut at most {delay:g} frames", f"{found.delay:.2f} frames", found.delay <= delay),
        Goal(f"excess flips at most {flips:g} per 100 frames", f"{found.flips:.2f}", found.flips <= flips),
    )


def goals(n: Numbers, values: Values) -> tuple[Goal, ...]:
    return spec_goals(measured(n, values)[1], n.delay, n.flips)


def first_stream(of: Streams, found: Followed, **words: Any) -> dict[str, Any]:
    """What the first of the six showed, and what was answered."""
    note = "dotted: what the picture shows; blue: the answer. The first of the six streams"
    alt = f"answers over {of.z.shape[1]} frames: {found.flips:.2f} excess flips per 100, delay {found.delay:.2f} frames"
    return draw.answers_figure(
        of.known.labels[0],
        found.answer[0],
        CLASSES,
        title="What is there, and what is said",
        note=note,
        alt=alt,
        **words,
    )


def figures(n: Numbers, values: Values) -> list[dict[str, Any]]:
    of, found = measured(n, values)
    bare = change_streams.followed(of, of.z)
    points = {"without Knob": ("severity", bare.delay, bare.flips), "now": ("gate", found.delay, found.flips)}
    return [
        first_stream(of, found, span=7),
        draw.trade_off_figure(
            points,
            (n.delay, n.flips),
            SPAN,
            title="Calm against quick",
            note="shaded: the specification; cross: your setting. Both axes: less is better",
            alt=f"delay {found.delay:.2f} frames, excess flips {found.flips:.2f} per 100; without Knob "
            f"{bare.delay:.2f} and {bare.flips:.2f}",
            span=5,
        ),
    ]


def build(n: Numbers) -> Lesson:
    return Lesson(
        id="calm",
        title="How calm can I be before I am late?",
        short="Calm or late",
        minutes=12,
        aim="design a setting to a specification, and say why more than one is right.",
        idea=(
            "An operator does not ask for ζ and ωₙ, but for an answer that does not flicker and is not late. Here the "
            "network's answer itself has a memory that moves as the gate did: a spring. When the picture changes (a "
            "**cut**), the answer should follow soon: the **delay**. Until then it should stay: every change that no "
            f"cut explains is an **excess flip**. {WHERE}"
        ),
        equation=(
            r"\ddot m + 2\,\zeta\,\omega_n\,\dot m + \omega_n^2\,m = \omega_n^2\,z, "
            r"\qquad \text{answer} = \arg\max m"
        ),
        plain="m'' + 2 ζ ωₙ m' + ωₙ² m = ωₙ² z;  answer = the largest m",
        units=(
            "z are the frame's own logits, one a class, m the memory of them; delay is in frames from a cut until the "
            "new answer is shown and stays for 5 frames; excess flips are per 100 frames."
        ),
        validity=(
            "What is measured is measured on these six streams, some 35 cuts: a setting that just meets the "
            "specification here may just miss it on six others. Only cuts whose new picture the network recognises in "
            "at least half of its frames count, since nobody can follow what nobody sees."
        ),
        prediction=Prediction(
            "You turn ωₙ down, towards slow. What happens to delay and flips?",
            right=0,
            choices=("later and fewer flips", "sooner and fewer flips", "later and more flips"),
            why="A slower memory averages over more frames: that takes the flicker out, and the news with it.",
        ),
        task=(
            f"Meet the specification: a mean delay of at most {n.delay:g} frames, and at most {n.flips:g} excess flips "
            "per 100 frames. There are several right answers."
        ),
        hints=(
            "Bring the cross in the right figure into the shaded corner. First turn ωₙ until the delay is just good "
            "enough.",
            "Then try ζ: what does it do to the flips at the same delay? Re-adjust ωₙ after each turn.",
            "Many settings with ζ between 0.8 and 2.5 will do. At ζ = 1.3, say, ωₙ between "
            f"{1.7 / n.delay:.2g} and {2.5 / n.delay:.2g}; finely, or typed.",
        ),
        meaning=(
            "This is the operator's work with a plain memory: a specification, a trade, and a region of settings that "
            "meet it. How far it can go is decided by the memory, not by the hand; the next lesson changes the memory."
        ),
        knobs=(ZETA, OMEGA_N),
        start={"zeta": 0.7, "omega_n": 3.0},
        goals=partial(goals, n),
        figures=partial(figures, n),
    )


FAMILY = Family("calm", VARIANTS, build)
