"""Lesson: filter the noise without losing the fog bank. Calm has a price, and the price is lag."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Values
from app.lessons.lesson_knobs import OMEGA_N, ZETA
from knob_core import gate
from knob_core.measures import stability

FRAMES, ARRIVES, LEAVES = 200, 70, 140
CLEAR, FOG, NOISE = 2.0, -2.0, 0.9  # logits


class Numbers(NamedTuple):
    """What differs from student to student."""

    seed: int  # of the noise
    calmer: float  # of the trembling without inertia, at most
    lag: float  # frames, at most


VARIANTS = (
    Numbers(7, 0.065, 5), Numbers(1, 0.12, 3.5), Numbers(2, 0.047, 7), Numbers(3, 0.085, 4), Numbers(5, 0.05, 6),
)  # fmt: skip


def weather() -> np.ndarray:
    """(FRAMES,) 0 in clear air, 1 in the fog bank."""
    t = np.arange(FRAMES)
    return ((t >= ARRIVES) & (t < LEAVES)).astype(float)


@lru_cache(maxsize=16)
def command(seed: int) -> np.ndarray:
    """A made-up command (FRAMES,): trust the sharp branch in clear air, the robust one in fog, and noise on top."""
    return CLEAR + (FOG - CLEAR) * weather() + np.random.default_rng(seed).normal(0, NOISE, FRAMES)


def opened(n: Numbers, values: Values) -> np.ndarray:
    """The gate g (FRAMES,), settled in clear air before the first frame."""
    return gate.sigmoid(gate.run(command(n.seed), values["zeta"], values["omega_n"], state=np.array([CLEAR, 0.0]))[0])


def measures(seed: int, g: np.ndarray) -> tuple[float, float]:
    """(trembling as a share of that without inertia, frames until the gate has closed by 63 %)."""
    without = gate.sigmoid(command(seed))
    trembling = stability.jitter(g, weather()) / stability.jitter(without, weather())
    return trembling, stability.lag(g[None], weather(), 0.63)


def lag_words(lag: float) -> str:
    """A lag as it is printed."""
    return f"{lag:.1f} frames" if np.isfinite(lag) else "never"


def goals(n: Numbers, values: Values) -> tuple[Goal, ...]:
    trembling, lag = measures(n.seed, opened(n, values))
    return (
        Goal(
            f"trembles at most {100 * n.calmer:g} % of what it would without inertia",
            f"{100 * trembling:.1f} %",
            trembling <= n.calmer,
        ),
        Goal(f"notices the fog bank within {n.lag:g} frames", lag_words(lag), lag <= n.lag),
    )


def figures(n: Numbers, values: Values) -> list[dict[str, Any]]:
    g = opened(n, values)
    trembling, lag = measures(n.seed, g)
    return [
        draw.tracks_figure(
            [("without inertia", "command", gate.sigmoid(command(n.seed)), "dot"), ("gate", "gate", g, "solid")],
            title="A fog bank in a noisy stream",
            span_y=(-0.02, 1.02),
            unit="gate g",
            shade=(ARRIVES, LEAVES, "fog bank"),
            note="dotted: the gate without inertia, σ(u*); blue: the gate; a made-up command with noise of 0.9 logits",
            alt=(
                f"gate over {FRAMES} frames with a fog bank from {ARRIVES} to {LEAVES}: trembling {trembling:.0%} of "
                f"that without inertia, lag {lag_words(lag)}"
            ),
        )
    ]


def words(n: Numbers) -> dict[str, object]:
    return {"percent": 100 * n.calmer}


FAMILY = Family("fogbank", VARIANTS, (ZETA, OMEGA_N), {"zeta": 0.7, "omega_n": 2.5}, goals, figures, words)
