"""Lesson: beat the filter. Attentive memory against EMA, CUSUM and a Bayesian filter, on the same streams."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from app.figures import lesson_figures as draw
from app.lessons import change_streams
from app.lessons.calm import first_stream
from app.lessons.change_streams import Followed, Streams
from app.lessons.lesson import Family, Goal, Values
from app.lessons.lesson_knobs import OMEGA_N, ZETA
from knob_core.memories import Attentive
from knob_core.rivals import ChangePoint, Cusum, EmaOfLogits
from knob_core.rivals.base import Filter

# Defaults but for the one parameter that trades calm against quick: set to a mean delay of 1.5 to 1.7 frames over
# thirty-six other streams of the same kind.
OPPONENTS: dict[str, Filter] = {
    "EMA": EmaOfLogits(0.45),
    "CUSUM": Cusum(4.0),
    "Bayes": ChangePoint(0.004),
}
# Made from the 36 streams without their labels: `knob_core.fitting.listening.home`.
WEIGHTS = Attentive(a=-3.725, b=2.0, d=4.966, tau=0.971, eps=0.01, t_0=0.0, f=0.4)
SPAN = (4.0, 6.5)  # ends of the figure: frames, flips


class Numbers(NamedTuple):
    """What differs from student to student."""

    streams: int  # which set of six


VARIANTS = (Numbers(0), Numbers(5), Numbers(3), Numbers(4), Numbers(1))


def measured(n: Numbers, values: Values) -> tuple[Streams, Followed]:
    """The streams, and how our memory follows them."""
    of = change_streams.streams(n.streams)
    found = WEIGHTS.run_logits(of.z, values["zeta"], values["omega_n"])
    return of, change_streams.followed(of, found.z)


@lru_cache(maxsize=change_streams.SETS)
def opponents(streams: int) -> dict[str, Followed]:
    """How the three follow them; no knob acts on that."""
    of = change_streams.streams(streams)
    return {name: change_streams.filtered(of, opponent) for name, opponent in OPPONENTS.items()}


def goals(n: Numbers, values: Values) -> tuple[Goal, ...]:
    found = measured(n, values)[1]
    return tuple(
        Goal(
            f"beat {name}: fewer flips than {other.flips:.2f}, delay at most {other.delay:.2f}",
            f"{found.flips:.2f}, {found.delay:.2f} frames",
            found.flips < other.flips and found.delay <= other.delay,
        )
        for name, other in opponents(n.streams).items()
    )


def figures(n: Numbers, values: Values) -> list[dict[str, Any]]:
    of, found = measured(n, values)
    others = opponents(n.streams)
    points = {name: ("severity", other.delay, other.flips) for name, other in others.items()}
    points["ours"] = ("gate", found.delay, found.flips)
    best = min(o.delay for o in others.values()), min(o.flips for o in others.values())
    return [
        first_stream(of, found, span=7),
        draw.trade_off_figure(
            points,
            best,
            SPAN,
            title="Ours against three others",
            note="shaded: calmer and no later than all three; cross: yours",
            alt=f"ours: delay {found.delay:.2f} frames, excess flips {found.flips:.2f}; "
            + ", ".join(f"{name} {other.delay:.2f} and {other.flips:.2f}" for name, other in others.items()),
            span=5,
        ),
    ]


FAMILY = Family("rivals", VARIANTS, (ZETA, OMEGA_N), {"zeta": 1.0, "omega_n": 0.05}, goals, figures)
