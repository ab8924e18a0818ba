"""Lesson: filter the noise without losing the fog bank. Calm has a price, and the price is lag."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Family, Goal, Lesson, Prediction, Values
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


def build(n: Numbers) -> Lesson:
    return Lesson(
        id="fogbank",
        title="Filter the noise, keep the fog bank",
        short="Fog bank",
        minutes=10,
        aim="trade calm against lag, and name the price of each.",
        idea=(
            "The command trembles with every noisy frame; then a real fog bank comes and stays for seventy frames. "
            "Frame by frame, nobody can tell the one from the other. A gate with inertia can: what lasts gets through, "
            "what does not is smoothed away. Too much inertia, and it sleeps through the fog."
        ),
        equation=(
            r"\text{trembling} \propto \omega_n^{3/2}, \qquad "
            r"\text{lag} \approx \frac{2\,\zeta}{\omega_n}\ \text{frames}"
        ),
        plain="trembling ∝ ωₙ^(3/2), lag ≈ 2 ζ / ωₙ frames",
        units=(
            "The gate g is between 0 (robust branch) and 1 (sharp branch); lag is in frames until 63 % of the way; "
            "trembling is the mean change from frame to frame."
        ),
        validity=(
            "Both are rules of thumb for ωₙ below 1 and ζ from 0.5 to 2, and for noise that is new in every frame. The "
            "cards show what is measured on these 200 frames, of which one noise is drawn once: another would move "
            "them by a few percent."
        ),
        prediction=Prediction(
            "You halve ωₙ. By the rules of thumb beside, the lag doubles. What happens to the trembling?",
            right=1,
            choices=("it stays as it is", "it falls to about a third", "it falls to about a half"),
            why="It goes with ωₙ to the power 3/2, and 0.5 to that power is 0.35: calm is bought at a good price.",
        ),
        task=(
            f"Turn both knobs until the gate trembles at most {100 * n.calmer:g} % of what it would without inertia, "
            f"and still notices the fog bank within {n.lag:g} frames."
        ),
        hints=(
            "Turn ωₙ down until the trembling is low enough. Is it still in time?",
            "Late, but calm: turn ζ down a little, which makes the gate quicker. Below 0.5 it begins to ring.",
            "Good places are near ζ = 0.65; then find ωₙ with fine steps (Shift).",
        ),
        meaning=(
            "This is the operator's bargain: every turn towards calm costs frames. The console shows both numbers "
            "while you turn."
        ),
        knobs=(ZETA, OMEGA_N),
        start={"zeta": 0.7, "omega_n": 2.5},
        goals=partial(goals, n),
        figures=partial(figures, n),
    )


FAMILY = Family("fogbank", VARIANTS, build)
