"""How a stream is answered, measured for the console's panels: after cuts, after steps of severity, and test tones.

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
BEFORE_CUT, AFTER_CUT = 5, 40  # frames around a cut
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


@dataclass(frozen=True)
class CutAnswer:
    """The probability of the new class around the cuts of all paths, and the natural frequencies that acted."""

    first: int  # frame of the first value; 0 is the first frame of the new class
    median: np.ndarray  # (n,)
    low: np.ndarray  # (n,) first quartile over the cuts
    high: np.ndarray  # (n,) third quartile
    before: float  # the level that the median leaves
    after: float  # the level that it reaches
    count: int  # cuts

    @property
    def half_way(self) -> float:
        """Frames until the median has gone half of its way; NaN where it does not."""
        there = np.flatnonzero(self.median[-self.first :] >= (self.before + self.after) / 2)
        return float(there[0]) if len(there) and self.after > self.before else np.nan


def new_classes(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(paths, frames) at which a new class begins in labels (R, T); -1 is an unknown class."""
    path, frame = np.nonzero((np.diff(labels) != 0) & (labels[:, 1:] >= 0) & (labels[:, :-1] >= 0))
    return path, frame + 1


def cut_answer(probabilities: np.ndarray, labels: np.ndarray) -> CutAnswer | None:
    """How probabilities (R, T, K) go to the new class at the changes of labels (R, T); None where there are none.

    A cut tells until the class changes again; frames that fewer than half of the cuts reach are left out.
    """
    path, frame = new_classes(labels)
    if not len(path):
        return None
    offset = np.arange(-BEFORE_CUT, AFTER_CUT)
    place = frame[:, None] + offset  # (C, n)
    inside = (place >= 0) & (place < labels.shape[1])
    place = np.where(inside, place, 0)
    row, new = path[:, None], labels[path, frame][:, None]
    same = inside & (labels[row, place] == np.where(offset < 0, labels[path, frame - 1][:, None], new))
    ahead, behind = same[:, BEFORE_CUT:], same[:, BEFORE_CUT - 1 :: -1]
    reached = np.concatenate(
        [np.logical_and.accumulate(behind, 1)[:, ::-1], np.logical_and.accumulate(ahead, 1)], axis=1
    )
    kept = reached.sum(axis=0) >= len(path) / 2
    p = np.where(reached, probabilities[row, place, new], np.nan)[:, kept]
    low, median, high = _quartiles(p, reached[:, kept].sum(axis=0))
    first = int(offset[kept][0])
    late = median[-first:][-max(1, (len(median) + first) // 3) :]
    return CutAnswer(first, median, low, high, float(median[:-first].mean()), float(late.mean()), len(path))


def _quartiles(p: np.ndarray, known: np.ndarray) -> np.ndarray:
    """(3, n) over the rows of p (C, n) that are no NaN, `known` (n,) of each column; np.nanquantile takes a hundred
    times as long."""
    ordered = np.sort(p, axis=0)  # NaN come last
    position = np.array([[0.25], [0.5], [0.75]]) * (known - 1)
    place = position.astype(int)
    here, next_ = (np.take_along_axis(ordered, np.minimum(at, known - 1), 0) for at in (place, place + 1))
    return here + (position - place) * (next_ - here)


def acted(omega: np.ndarray, path: np.ndarray, frame: np.ndarray) -> tuple[float, float]:
    """Medians of the natural frequency that acted, omega (R, T): at some frames, and at all others."""
    there = np.zeros(omega.shape, bool)
    there[path, frame] = True
    return float(np.nanmedian(omega[there])), float(np.nanmedian(omega[~there]))


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
