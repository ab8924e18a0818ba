"""Lesson: turning a knob can pump energy into the paper's state [u, du/dt], and cannot into ours, [u, (du/dt)/ωₙ]."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Goal, Lesson, Values
from app.lessons.lesson_knobs import OMEGA_N, RHYTHM, ZETA
from knob_core import gate, theory

FRAMES = 200
RATIO = 3.0  # the knob goes to and fro between omega_n and a third of it
TIMES = 100.0


def turned(values: Values) -> np.ndarray:
    """(FRAMES,) where the knob stands: to and fro every n frames."""
    n = max(1, round(values["rhythm"]))
    high = (np.arange(FRAMES) // n) % 2 == 0
    return np.where(high, values["omega_n"], values["omega_n"] / RATIO)


def both(values: Values) -> tuple[np.ndarray, np.ndarray]:
    """|u| (FRAMES,) in the paper's coordinates and in ours: let go at u = 1, command 0, only the knob moves."""
    omega_n, still, start = turned(values), np.zeros(FRAMES), np.array([1.0, 0.0])
    paper, _ = theory.run_paper_coordinates(still, values["zeta"], omega_n, state=start)
    ours, _ = gate.run(still, values["zeta"], omega_n, state=start)
    return np.abs(paper), np.abs(ours)


def goals(values: Values) -> tuple[Goal, ...]:
    paper, ours = both(values)
    return (
        Goal(
            f"the paper's gate grows {TIMES:.0f}-fold", f"{_times(paper.max())} its start", bool(paper.max() >= TIMES)
        ),
        Goal(
            "ours, under the same turns, never passes its start",
            f"{ours.max():.2f} times its start",
            bool(ours.max() <= 1),
        ),
    )


def figures(values: Values) -> list[dict[str, Any]]:
    paper, ours = both(values)
    omega_n, n = turned(values), max(1, round(values["rhythm"]))
    most = f"over {FRAMES} frames: at most {{}} its start"
    turns = f"ωₙ goes between {omega_n.max():.3g} and {omega_n.max() / RATIO:.3g} rad/frame every {n} frames"
    return [
        draw.growth_figure(
            "paper",
            paper,
            omega_n,
            TIMES,
            title="The paper's state: u and du/dt",
            span=6,
            note=f"{turns} (purple); the command is 0",
            alt="size of the paper's u " + most.format(_times(paper.max())),
        ),
        draw.growth_figure(
            "ours",
            ours,
            omega_n,
            TIMES,
            title="Ours: u and (du/dt) / ωₙ",
            span=6,
            note="the same turns of the same knobs",
            alt="size of our u " + most.format(_times(ours.max())),
        ),
    ]


def _times(value: float) -> str:
    if not np.isfinite(value):
        return "more than 10³⁰⁸ times"
    return f"{value:.2f} times" if value < 1000 else f"{value:.0e} times"


LESSON = Lesson(
    id="pumping",
    title="Why turning a knob can pump energy, and why ours cannot",
    short="Pumping",
    idea=(
        "A child on a swing pumps it by changing its length in rhythm, without a push. A knob that is turned to and "
        "fro does the same: in the coordinates of the paper, u and du/dt, every turn of ωₙ reads the stored speed "
        "anew, and energy appears from nowhere. In ours the speed is kept in units of ωₙ, and u² + v² can only fall, "
        "however the knob is turned."
    ),
    equation=(
        r"v = \dot u/\omega_n: \qquad \frac{d}{dt}\left(u^2 + v^2\right) = -4\,\zeta\,\omega_n\,v^2 \;\le\; 0 \qquad "
        r"(u^\star = 0)"
    ),
    plain="v = u' / ωₙ:  d/dt (u² + v²) = −4 ζ ωₙ v² ≤ 0  (u* = 0)",
    units=(
        "u in logits; ωₙ in rad/frame; the rhythm n in frames between two turns. The command is 0 throughout: all "
        "that moves is the knob."
    ),
    task=(
        "Turn the damping down and find a rhythm at which turning the knob alone blows the paper's gate up 100-fold. "
        "Watch what ours does under the same turns."
    ),
    meaning=(
        "A safety valve must not explode because somebody turned it. This is why Knob keeps [u, v], and why you may "
        "turn its knobs while it runs."
    ),
    knobs=(RHYTHM, ZETA, OMEGA_N),
    start={"rhythm": 14.0, "zeta": 0.5, "omega_n": 0.6},
    goals=goals,
    figures=figures,
)
