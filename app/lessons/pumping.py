"""Lesson: turning a knob can pump energy into the paper's state [u, du/dt], and cannot into ours, [u, (du/dt)/ωₙ]."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Lesson, Prediction, Values
from app.lessons.lesson_knobs import RHYTHM, ZETA
from knob_core import gate, theory

FRAMES = 200
RATIO = 3.0  # the knob goes to and fro between omega_n and a third of it
MOST = 1e300  # what is drawn and printed at most


class Numbers(NamedTuple):
    """What differs from student to student."""

    omega_n: float  # rad/frame, the upper of the two positions
    low: float  # wanted growth, times
    high: float


VARIANTS = (
    Numbers(0.6, 1e2, 1e4), Numbers(0.3, 1e2, 1e4), Numbers(1.0, 1e4, 1e6), Numbers(0.2, 1e1, 1e3),
    Numbers(0.45, 1e3, 1e5),
)  # fmt: skip


def turned(n: Numbers, values: Values) -> np.ndarray:
    """(FRAMES,) where the knob stands: to and fro every `rhythm` frames."""
    each = max(1, round(values["rhythm"]))
    high = (np.arange(FRAMES) // each) % 2 == 0
    return np.where(high, n.omega_n, n.omega_n / RATIO)


def both(n: Numbers, values: Values) -> tuple[np.ndarray, np.ndarray]:
    """|u| (FRAMES,) in the paper's coordinates and in ours: let go at u = 1, command 0, only the knob moves."""
    omega_n, still, start = turned(n, values), np.zeros(FRAMES), np.array([1.0, 0.0])
    paper, _ = theory.run_paper_coordinates(still, values["zeta"], omega_n, state=start)
    ours, _ = gate.run(still, values["zeta"], omega_n, state=start)
    return np.minimum(np.abs(paper), MOST), np.abs(ours)


def goals(n: Numbers, values: Values) -> tuple[Goal, ...]:
    paper, ours = both(n, values)
    return (
        Goal(
            f"the paper's gate grows {n.low:,.0f} to {n.high:,.0f} times",
            _times(paper.max()),
            bool(n.low <= paper.max() <= n.high),
        ),
        Goal("ours, under the same turns, never passes its start", _times(ours.max()), bool(ours.max() <= 1)),
    )


def figures(n: Numbers, values: Values) -> list[dict[str, Any]]:
    paper, ours = both(n, values)
    omega_n, each = turned(n, values), max(1, round(values["rhythm"]))
    most = f"over {FRAMES} frames: at most {{}} its start"
    turns = f"ωₙ goes between {n.omega_n:.3g} and {n.omega_n / RATIO:.3g} rad/frame every {each} frames"
    return [
        draw.growth_figure(
            "paper",
            paper,
            omega_n,
            (n.low, n.high),
            title="The paper's state: u and du/dt",
            span=6,
            note=f"{turns} (purple); the command is 0; shaded: where the peak is wanted",
            alt="size of the paper's u " + most.format(_times(paper.max())),
        ),
        draw.growth_figure(
            "ours",
            ours,
            omega_n,
            None,
            title="Ours: u and (du/dt) / ωₙ",
            span=6,
            note="the same turns of the same knobs",
            alt="size of our u " + most.format(_times(ours.max())),
        ),
    ]


def _times(value: float) -> str:
    return f"{value:.2f} times" if value < 1000 else f"{value:.1e} times"


def build(n: Numbers) -> Lesson:
    return Lesson(
        id="pumping",
        title="Why turning a knob can pump energy, and why ours cannot",
        short="Pumping",
        minutes=10,
        aim="explain why a knob that is turned in rhythm can make a system run away, and what prevents it.",
        idea=(
            "A child on a swing crouches and rises in rhythm and goes higher without a push: the child's legs do work, "
            "and that work becomes the swing's energy. A hand that turns a knob to and fro can do the same. In the "
            "coordinates of the paper, u and du/dt, raising ωₙ stiffens the spring while it is stretched, and so puts "
            "energy in; lowering it while the gate is fast takes less out. In ours the speed is kept in units of ωₙ: "
            "a turn changes nothing that is stored, and u² + v² can only fall, however the knob is turned."
        ),
        equation=(
            r"v = \dot u/\omega_n: \qquad \frac{d}{dt}\left(u^2 + v^2\right) = -4\,\zeta\,\omega_n\,v^2 \;\le\; 0 "
            r"\qquad (u^\star = 0)"
        ),
        plain="v = u' / ωₙ:  d/dt (u² + v²) = −4 ζ ωₙ v² ≤ 0  (u* = 0)",
        units=(
            "u in logits; ωₙ in rad/frame; the rhythm n in frames between two turns. The command is 0 throughout: all "
            "that moves is the knob."
        ),
        validity=(
            "The equation is that of the spring without gaps; for the sampled gate the same holds exactly, from frame "
            "to frame, for every ζ ≥ 0 and ωₙ > 0. With constant knobs both coordinates are one and the same system: "
            "the difference is in the turning alone."
        ),
        prediction=Prediction(
            "The command is 0 and the damping small. Only ωₙ is turned to and fro, in the best rhythm, for 200 frames. "
            "What becomes of the gate in the paper's coordinates?",
            right=2,
            choices=("it dies away", "it keeps swinging as it was", "it grows more than tenfold"),
            why="Every turn in the right moment puts energy in: the work of whoever turns the knob.",
        ),
        task=(
            f"ωₙ goes to and fro between {n.omega_n:g} and {n.omega_n / RATIO:.2g}. Turn the damping down and find a "
            f"rhythm at which turning alone makes the paper's gate grow {n.low:,.0f} to {n.high:,.0f} times. Watch "
            "what ours does under the same turns."
        ),
        hints=(
            "Turn ζ down to 0.02 or so, and try rhythms from short to long. Where does the left curve climb?",
            "The best moment is a quarter of a swing; a quarter takes π/2 divided by ωₙ, longer in the slow half.",
            f"The rhythm lies between a quarter of a quick swing, {np.pi / 2 / n.omega_n:.1f} frames, and of a slow "
            f"one, {np.pi * RATIO / 2 / n.omega_n:.1f}. ζ then sets how far it grows: finer with Shift.",
        ),
        meaning=(
            "A safety valve must not explode because somebody turned it. This is why Knob keeps [u, v], and why you "
            "may turn its knobs while it runs."
        ),
        knobs=(RHYTHM, ZETA),
        start={"rhythm": 20.0, "zeta": 0.5},
        goals=partial(goals, n),
        figures=partial(figures, n),
    )


FAMILY = Family("pumping", VARIANTS, build)
