"""How the gate of a stream answers, measured: its step response, and its frequency response by test tones.

Step: y = (u - before) / (after - before) from every sudden change of severity on; `before` is where u stands then,
`after` where the command u* goes.
Tone: u*(t) = A sin(2 pi f t) + the stream's own noise; amplitude and phase of u by least squares at f, per path.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from knob_core.measures.stability import steps

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


def step_answer(u: np.ndarray, u_star: np.ndarray, severity: np.ndarray) -> StepAnswer | None:
    """How u (R, T) follows the steps that severity makes in u_star (R, T); None where it makes none."""
    answers = []
    for start, end in steps(severity):
        level = u[:, max(0, start - 3) : start].mean(axis=1)  # (R,)
        move = (u_star[:, start:end].mean(axis=1) - level).mean()
        if abs(move) > 1e-3:
            answers.append((u[:, start:end] - level[:, None]) / move)
    if not answers:
        return None
    n = min(answer.shape[1] for answer in answers)
    mean = np.mean([answer[:, :n] for answer in answers], axis=0)  # (R, n)
    low, median, high = np.percentile(mean, [25, 50, 75], axis=0)
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
    fitted = np.exp(-2j * np.pi * freq[:, None] * t[TONE_FRAMES:])  # (F, N)
    basis = np.stack([fitted.real, fitted.imag, np.ones_like(fitted.real)], axis=-1)  # (F, N, 3)
    cosine, sine, _ = np.moveaxis(np.linalg.pinv(basis) @ np.swapaxes(y, 1, 2), 1, 0)  # (F, R) each
    # y = a cos + b (-sin) of the fitted basis, against A sin: H = (-b + j a) / A
    h = (-sine + 1j * cosine) / amplitude
    mean = h.mean(axis=1)
    root = np.sqrt(h.shape[1])
    turned = h * np.exp(-1j * np.angle(mean))[:, None]  # along the mean: real part is gain, imaginary part is phase
    size = np.abs(mean)
    ddof = 1 if h.shape[1] > 1 else 0
    return ToneAnswer(
        freq=freq,
        gain_db=20 * np.log10(np.maximum(size, 1e-12)),
        gain_sem=20 / np.log(10) * turned.real.std(axis=1, ddof=ddof) / root / np.maximum(size, 1e-12),
        phase=np.degrees(np.unwrap(np.angle(mean))),
        phase_sem=np.degrees(turned.imag.std(axis=1, ddof=ddof) / root / np.maximum(size, 1e-12)),
    )
