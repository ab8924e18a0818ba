"""Lesson: turning a knob can pump energy into the paper's state [u, du/dt], and cannot into ours, [u, (du/dt)/ωₙ]."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Values
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


def words(n: Numbers) -> dict[str, object]:
    quarter = np.pi / 2 / n.omega_n  # frames
    return {"lower": n.omega_n / RATIO, "quick_quarter": quarter, "slow_quarter": RATIO * quarter}


FAMILY = Family("pumping", VARIANTS, (RHYTHM, ZETA), {"rhythm": 20.0, "zeta": 0.5}, goals, figures, words)
