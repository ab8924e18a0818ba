"""How the gate of a stream answers, measured for the console's panels: step response, and test tones.

Steps are put on a scale and tones are fitted as in probe E-3 (`knob_core.probes.dynamics`); a panel shows the mean over
the stream's steps. Tones are sent through the gate in the stream's own noise: u*(t) = A sin(2 pi f t) + noise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from knob_core import metrics
from knob_core.probes.dynamics import followed_steps, mean_tone, tone

TONES = np.geomspace(0.004, 0.45, 11)  # cycles/frame
TONE_FRAMES = 1000  # fitted, after as many again to settle


@dataclass(frozen=True)
class StepAnswer:
    """The normalised answer to the stream's steps, from the first frame of the new level on."""

    median: np.ndarray  # (n,)
    low: np.ndarray  # (n,) first quartile over paths
    high: np.ndarray  # (n,) third quartile
    count: int  # steps averaged


@dataclass(frozen=True)
class ToneAnswer:
    """Gain and phase at each frequency, mean and standard error over the paths."""

    freq: np.ndarray  # (F,) cycles/frame
    gain_db: np.ndarray  # (F,)
    gain_sem: np.ndarray  # (F,) dB
    phase: np.ndarray  # (F,) degrees
    phase_sem: np.ndarray  # (F,) degrees


def step_answer(
    u: np.ndarray, u_star: np.ndarray, severity: np.ndarray, resting: np.ndarray | None = None
) -> StepAnswer | None:
    """How u (R, T) follows the steps that severity makes in u_star (R, T); None where it makes none.

    `resting` (R, T): where u rests under its command, if not at the command itself (Reset Mode: u).
    """
    answers = [step.y for step in followed_steps(u, u_star, severity, resting)]
    if not answers:
        return None
    n = min(answer.shape[1] for answer in answers)
    mean = np.mean([answer[:, :n] for answer in answers], axis=0)  # (R, n)
    low, median, high = metrics.quartiles(mean)
    return StepAnswer(median, low, high, len(answers))


def command_noise(u_star: np.ndarray) -> np.ndarray:
    """What the pictures' noise does to the command: u_star less what all paths share and each path's own level."""
    shared = u_star.mean(axis=0, keepdims=True)
    return u_star - shared - (u_star - shared).mean(axis=1, keepdims=True)


def tone_answer(
    run: Callable[[np.ndarray], np.ndarray], noise: np.ndarray, amplitude: float, freq: np.ndarray = TONES
) -> ToneAnswer:
    """Send test tones, in the noise (R, T) of a stream, through `run` (last axis time) and fit what comes out."""
    total = 2 * TONE_FRAMES
    t = np.arange(total)
    background = np.tile(noise, (1, -(-total // noise.shape[1])))[:, :total]  # (R, N)
    x = amplitude * np.sin(2 * np.pi * freq[:, None, None] * t) + background  # (F, R, N)
    y = run(x)[..., TONE_FRAMES:]
    found = mean_tone(np.stack([tone(part, f, TONE_FRAMES) for part, f in zip(y, freq, strict=True)]) / amplitude)
    return ToneAnswer(
        freq=freq,
        gain_db=20 * np.log10(found.size),
        gain_sem=found.gain_sem,
        phase=np.degrees(np.unwrap(np.angle(found.mean))),
        phase_sem=found.phase_sem,
    )
