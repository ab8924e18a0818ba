"""E-3: does the gate of a stream move like the spring that it is meant to be?

Step: y = (u - before) / (after - before), levels from u*; rise, overshoot, settling of the mean path beside theory.
Tone: y = c + Im(a exp(2 pi j f t)) by least squares after the transient; a is gain and phase against sin(2 pi f t).
Paper, section 4.3.3. The console's live panels measure alike (`knob_core.stream_dynamics`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knob_core import gate, metrics, theory
from knob_core.measures.stability import level_begins, steps

FADED = 1e-7  # what is left of a transient before a tone is fitted
CYCLES = 8  # fitted at least
FRAMES = 400  # fitted at least
MAX_FRAMES = 400_000
MIN_MOVE = 1e-3  # of the mean command; a step that moves it less has no answer to measure
DB = 20 / np.log(10)
# The band of the settling time. A mean of noisy paths never comes to rest within the usual 2 %, and the overshoot at
# zeta = 0.7 grazes 5 %, so that a hair decides when it has settled.
SETTLING = 0.10


@dataclass(frozen=True)
class GateBode:
    """The gate alone, u* -> u, in numbers and by theory."""

    freq: NDArray[np.float64]  # (F,) cycles/frame
    measured: NDArray[np.complex128]  # (F,)
    theory: NDArray[np.complex128]  # (F,)

    @property
    def error_db(self) -> NDArray[np.float64]:
        return 20 * np.log10(np.abs(self.measured / self.theory))

    @property
    def error_degrees(self) -> NDArray[np.float64]:
        return np.degrees(np.angle(self.measured / self.theory))


@dataclass(frozen=True)
class StreamBode:
    """The whole model, s -> g: magnitude relative to the slowest tone, mean and standard error over the paths."""

    freq: NDArray[np.float64]  # (F,) cycles/frame, ascending
    amplitude: NDArray[np.float64]  # (F,) of g for one unit of severity
    gain_db: NDArray[np.float64]  # (F,) 0 at the slowest
    gain_sem: NDArray[np.float64]  # (F,) dB
    phase: NDArray[np.float64]  # (F,) degrees against the slowest
    phase_sem: NDArray[np.float64]  # (F,) degrees


@dataclass(frozen=True)
class MeanTone:
    """Complex amplitudes of R paths, averaged with their phase, at F frequencies."""

    mean: NDArray[np.complex128]  # (F,)
    size: NDArray[np.float64]  # (F,) of the mean, at least 1e-12
    gain_sem: NDArray[np.float64]  # (F,) dB
    phase_sem: NDArray[np.float64]  # (F,) degrees


@dataclass(frozen=True)
class FollowedStep:
    """One sudden change of severity, on the scale on which the command's way is 0 -> 1."""

    start: int  # first frame of the new level
    move: float  # of the mean command, after - before
    y: NDArray[np.float64]  # (R, n) the gate's state


@dataclass(frozen=True)
class StepProbe:
    """One sudden change of severity: the command's way is 0 -> 1, the gate's state follows."""

    start: int  # first frame of the new level
    move: float  # of the mean command, after - before
    low: NDArray[np.float64]  # (n,) first quartile over the paths
    median: NDArray[np.float64]  # (n,)
    high: NDArray[np.float64]  # (n,) third quartile
    mean: NDArray[np.float64]  # (n,)
    measured: theory.StepInfo  # of the mean
    theory: theory.StepInfo


def tone(y: NDArray, freq: float, start: int = 0) -> NDArray[np.complex128]:
    """a (...) of y (..., T) whose first sample is frame `start`: sin(2 pi f t) has a = 1, a quarter turn later -1j."""
    if not 0 < freq < 0.5:
        raise ValueError(f"freq is {freq!r}, expected cycles/frame in (0, 0.5)")
    y = np.asarray(y, np.float64)
    if y.ndim < 1 or y.shape[-1] < 3:
        raise ValueError(f"y has shape {y.shape}, expected at least 3 frames on the last axis")
    angle = 2 * np.pi * freq * (start + np.arange(y.shape[-1]))
    basis = np.stack([np.sin(angle), np.cos(angle), np.ones_like(angle)], -1)  # (T, 3)
    sine, cosine, _ = np.linalg.lstsq(basis, y.reshape(-1, y.shape[-1]).T, rcond=None)[0]
    return (sine + 1j * cosine).reshape(y.shape[:-1])


def gate_bode(zeta: float, omega_n: float, freq: ArrayLike, dt: float = 1.0) -> GateBode:
    """Send a pure tone through `gate.run` at each frequency (F,) and compare with theory."""
    f = np.atleast_1d(np.asarray(freq, np.float64))
    if not (f.size and (f > 0).all() and (f < 0.5).all()):  # a NaN fails, too
        raise ValueError(f"freq must lie in (0, 0.5) cycles/frame, got {f}")
    slowest = np.abs(theory.poles(zeta, omega_n, dt).z).max()
    settle = int(np.ceil(np.log(FADED) / np.log(slowest))) if slowest > 0 else 1
    measured = []
    for one in f:
        fitted = int(max(FRAMES, np.ceil(CYCLES / one)))
        if settle + fitted > MAX_FRAMES:
            raise ValueError(f"zeta {zeta:g}, omega_n {omega_n:g} and freq {one:g} need over {MAX_FRAMES} frames")
        u, _ = gate.run(np.sin(2 * np.pi * one * np.arange(settle + fitted)), zeta, omega_n, dt)
        measured.append(tone(u[settle:], one, settle))
    return GateBode(f, np.array(measured), theory.frequency_response(zeta, omega_n, f / dt, dt))


def stream_bode(paths: Sequence[NDArray], freq: ArrayLike, first: int, swing: float = 2.0) -> StreamBode:
    """Paths g (R, T) of streams with s(t) = mean + swing sin(2 pi f t), one array for each frequency (F,).

    Frames before `first` are the transient. Tones are averaged with their phase, so what the noise of the pictures adds
    to a path's amplitude averages out.
    """
    f = np.asarray(freq, np.float64)
    if f.ndim != 1 or len(f) != len(paths) or not len(f) or (np.diff(f) <= 0).any():
        raise ValueError(f"freq must be ascending, one for each of {len(paths)} streams, got {f}")
    fitted = [tone(np.asarray(g)[:, first:], one, first) for g, one in zip(paths, f, strict=True)]
    found = mean_tone(np.stack(fitted) / swing)
    return StreamBode(
        freq=f,
        amplitude=found.size,
        gain_db=20 * np.log10(found.size / found.size[0]),
        gain_sem=found.gain_sem,
        phase=np.degrees(np.unwrap(np.angle(found.mean / found.mean[0]))),
        phase_sem=found.phase_sem,
    )


def mean_tone(a: NDArray[np.complex128]) -> MeanTone:
    """Mean and standard errors of complex amplitudes a (F, R) over the paths."""
    mean = a.mean(axis=1)
    size = np.maximum(np.abs(mean), 1e-12)
    turned = a * np.exp(-1j * np.angle(mean))[:, None]  # along the mean: real is gain, imaginary is phase
    root = np.sqrt(a.shape[1])
    ddof = min(1, a.shape[1] - 1)
    return MeanTone(
        mean=mean,
        size=size,
        gain_sem=DB * turned.real.std(axis=1, ddof=ddof) / root / size,
        phase_sem=np.degrees(turned.imag.std(axis=1, ddof=ddof) / root / size),
    )


def followed_steps(
    u: NDArray, u_star: NDArray, severity: NDArray, resting: NDArray | None = None
) -> Iterator[FollowedStep]:
    """Every sudden change that severity (T,) makes in u_star (R, T), and the part of the way that u (R, T) has made.

    Before a step u is taken to rest at its command. Where it rests elsewhere, as in Reset Mode, `resting` (R, T) says
    where: y = (u - resting before) / (u_star after - u_star before), means over all frames of a level.
    """
    for start, end in steps(severity):
        before, after = slice(level_begins(severity, start), start), slice(start, end)
        level = u_star[:, before].mean(axis=1)  # (R,) the command steps at once, so every frame of a level counts
        move = float((u_star[:, after].mean(axis=1) - level).mean())
        if abs(move) >= MIN_MOVE:
            zero = level if resting is None else resting[:, before].mean(axis=1)
            yield FollowedStep(start, move, (u[:, after] - zero[:, None]) / move)


def step_probes(
    u: NDArray, u_star: NDArray, severity: NDArray, zeta: float, omega_n: float, settling: float = SETTLING
) -> list[StepProbe]:
    """Every sudden change that severity (T,) makes in u_star (R, T), and how u (R, T) follows it."""
    probes = []
    for step in followed_steps(u, u_star, severity):
        mean = step.y.mean(axis=0)
        low, median, high = metrics.quartiles(step.y)
        ideal = theory.step_response(zeta, omega_n, len(mean))
        probes.append(
            StepProbe(
                step.start, step.move, low, median, high, mean,
                theory.step_info(mean, final=1.0, settling=settling),
                theory.step_info(ideal, final=1.0, settling=settling),
            )
        )  # fmt: skip
    return probes
