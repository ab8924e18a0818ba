"""Lesson: how calm can I be before I am late? Design to a specification on streams whose picture changes."""

from __future__ import annotations

from typing import Any, NamedTuple

from app.figures import lesson_figures as draw
from app.lessons import change_streams
from app.lessons.change_streams import Followed, Streams
from app.lessons.lesson import Family, Goal, Values
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


def words(n: Numbers) -> dict[str, object]:
    return {"slow": 1.7 / n.delay, "quick": 2.5 / n.delay}


FAMILY = Family("calm", VARIANTS, (ZETA, OMEGA_N), {"zeta": 0.7, "omega_n": 3.0}, goals, figures, words)
