"""Lesson: filter the noise without losing the fog bank. Calm has a price, and the price is lag."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.figures import lesson_figures as draw
from app.lessons.lesson import Goal, Lesson, Values
from app.lessons.lesson_knobs import OMEGA_N, ZETA
from knob_core import gate
from knob_core.measures import stability

FRAMES, ARRIVES, LEAVES = 200, 70, 140
CLEAR, FOG, NOISE = 2.0, -2.0, 0.9  # logits
SEED = 7
CALMER, LAG = 0.08, 5.0  # of the jitter without inertia; frames


def weather() -> np.ndarray:
    """(FRAMES,) 0 in clear air, 1 in the fog bank."""
    t = np.arange(FRAMES)
    return ((t >= ARRIVES) & (t < LEAVES)).astype(float)


def command() -> np.ndarray:
    """A made-up command (FRAMES,): trust the sharp branch in clear air, the robust one in fog, and noise on top."""
    return CLEAR + (FOG - CLEAR) * weather() + np.random.default_rng(SEED).normal(0, NOISE, FRAMES)


def opened(values: Values) -> np.ndarray:
    """The gate g (FRAMES,), settled in clear air before the first frame."""
    return gate.sigmoid(gate.run(command(), values["zeta"], values["omega_n"], state=np.array([CLEAR, 0.0]))[0])


def measures(g: np.ndarray) -> tuple[float, float]:
    """(trembling as a share of that without inertia, frames until the gate has closed by 63 %)."""
    without = gate.sigmoid(command())
    trembling = stability.jitter(g, weather()) / stability.jitter(without, weather())
    return trembling, stability.lag(g[None], weather(), 0.63)


def goals(values: Values) -> tuple[Goal, ...]:
    trembling, lag = measures(opened(values))
    return (
        Goal(
            f"trembles at most {100 * CALMER:.0f} % of what it would without inertia",
            f"{100 * trembling:.0f} %",
            trembling <= CALMER,
        ),
        Goal(f"notices the fog bank within {LAG:.0f} frames", f"{lag:.1f} frames", lag <= LAG),
    )


def figures(values: Values) -> list[dict[str, Any]]:
    g = opened(values)
    trembling, lag = measures(g)
    return [
        draw.tracks_figure(
            [("without inertia", "command", gate.sigmoid(command()), "dot"), ("gate", "gate", g, "solid")],
            title="A fog bank in a noisy stream",
            span_y=(-0.02, 1.02),
            unit="gate g",
            shade=(ARRIVES, LEAVES, "fog bank"),
            note="dotted: the gate without inertia, σ(u*); blue: the gate; a made-up command with noise of 0.9 logits",
            alt=(
                f"gate over {FRAMES} frames with a fog bank from {ARRIVES} to {LEAVES}: trembling {trembling:.0%} of "
                f"that without inertia, lag {lag:.1f} frames"
            ),
        )
    ]


LESSON = Lesson(
    id="fogbank",
    title="Filter the noise, keep the fog bank",
    short="Fog bank",
    idea=(
        "The command trembles with every noisy frame; then a real fog bank comes and stays for seventy frames. Frame "
        "by frame, nobody can tell the one from the other. A gate with inertia can: what lasts gets through, what "
        "does not is smoothed away. Too much inertia, and it sleeps through the fog."
    ),
    equation=(
        r"\text{trembling} \propto \omega_n^{3/2}, \qquad \text{lag} \approx \frac{2\,\zeta}{\omega_n}\ \text{frames}"
    ),
    plain="trembling ∝ ωₙ^(3/2), lag ≈ 2 ζ / ωₙ frames",
    units=(
        "The gate g is between 0 (robust branch) and 1 (sharp branch); lag is in frames until 63 % of the way; "
        "trembling is the mean change from frame to frame."
    ),
    task=(
        "Turn both knobs until the gate trembles at most 8 % of what it would without inertia, and still notices the "
        "fog bank within 5 frames."
    ),
    meaning=(
        "This is the operator's bargain: every turn towards calm costs frames. The console shows both numbers while "
        "you turn."
    ),
    knobs=(ZETA, OMEGA_N),
    start={"zeta": 0.7, "omega_n": 2.5},
    goals=goals,
    figures=figures,
)
