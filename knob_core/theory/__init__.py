"""What the gate does in theory: regime, poles, step and frequency response, bandwidth; the same for the EMA.

H(z) = k h (1 + z^-1) / (1 + (2k (zeta + h) - 2) z^-1 + (1 - 2 k zeta) z^-2),  h = omega_n dt / 2 (`knob_core.gate`)
     = h^2 (1 + p) / (h^2 + 2 zeta h p + p^2),  p = j tan(theta / 2),  theta = 2 pi f dt
The factor 1 + p is the only trace of the step: the paper feeds the newest u_star alone, not Tustin's mean of two.
Frequencies are cycles per unit of dt's time (per frame where dt = 1); knobs broadcast.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from knob_core._arrays import checks as check
from knob_core._arrays.checks import Knob
from knob_core.ema import ema_alpha
from knob_core.gate import run
from knob_core.theory.paper_coordinates import run_paper_coordinates
from knob_core.theory.step_info import StepInfo, step_info

__all__ = [
    "Poles",
    "Resonance",
    "StepInfo",
    "bandwidth",
    "continuous_frequency_response",
    "continuous_step_response",
    "ema_bandwidth",
    "ema_frequency_response",
    "ema_pole",
    "ema_step_response",
    "frequency_response",
    "poles",
    "regime",
    "resonance",
    "run_paper_coordinates",
    "step_info",
    "step_response",
]

CRITICAL = 0.05  # how near to 1 a damping ratio counts as critical: nobody sees an overshoot of 0.007 %


@dataclass(frozen=True)
class Poles:
    """A gate's P poles in the s plane (rad per time) and in the z plane, (..., P) complex; the slowest one first."""

    s: np.ndarray
    z: np.ndarray


@dataclass(frozen=True)
class Resonance:
    """Where |H| is largest (cycles per time) and how large it is there (1 and 0 Hz where nothing is amplified)."""

    freq: np.ndarray
    gain: np.ndarray


def regime(zeta: float) -> str:
    """undamped, underdamped, critical or overdamped."""
    zeta = check.knob("zeta", zeta, 0.0, above=False)
    if np.ndim(zeta):
        raise ValueError(f"zeta must be one number, got shape {np.shape(zeta)}")
    if zeta == 0:
        return "undamped"
    if abs(zeta - 1) <= CRITICAL + 1e-9:  # 0.95 is a hair further from 1 than 0.05
        return "critical"
    return "underdamped" if zeta < 1 else "overdamped"


def poles(zeta: Knob, omega_n: Knob, dt: Knob = 1.0) -> Poles:
    """s = omega_n (-zeta +- sqrt(zeta^2 - 1)), and Tustin's image z = (1 + s dt/2) / (1 - s dt/2) of both."""
    zeta, omega_n, dt = np.broadcast_arrays(*check.knobs(zeta, omega_n, dt))
    root = np.sqrt((zeta - 1) * (zeta + 1) + 0j)  # imaginary below 1
    far = -(zeta + root)
    near = np.where(root.real > 0, 1 / far, np.conj(far))  # the product is 1: no cancellation when overdamped
    s = omega_n[..., None] * np.stack([near, far], -1)
    half = s * dt[..., None] / 2
    return Poles(s, (1 + half) / (1 - half))


def step_response(zeta: Knob, omega_n: Knob, n: int, dt: Knob = 1.0) -> np.ndarray:
    """The gate's u over n frames for u_star = 1 from rest, (..., n). Frame i is where the ODE is at (i + 1) dt."""
    n = check.whole_number("n", n, 1)
    zeta, omega_n, dt = (k if k.ndim == 0 else k[..., None] for k in check.knobs(zeta, omega_n, dt))
    return run(np.ones(n), zeta, omega_n, dt)[0]


def continuous_step_response(zeta: float, omega_n: float, t: Knob) -> np.ndarray:
    """u(t) of the ODE for u_star = 1 from rest, t >= 0 of any shape: 1 - e^{-zeta w} (cos(d w) + zeta sin(d w) / d)."""
    zeta, omega_n, _ = check.knobs(zeta, omega_n, 1.0)
    w = omega_n * np.asarray(t, np.float64)
    if not (w >= 0).all():
        raise ValueError(f"t must be finite and >= 0, got {np.min(t)}")
    if abs(zeta - 1) < 1e-7:  # first order in d^2 = 1 - zeta^2 is good to 1e-12 here, and the others divide by d
        d2 = (1 - zeta) * (1 + zeta)
        return 1 - np.exp(-zeta * w) * (1 - d2 * w**2 / 2 + zeta * w * (1 - d2 * w**2 / 6))
    if zeta < 1:
        d = np.sqrt((1 - zeta) * (1 + zeta))
        return 1 - np.exp(-zeta * w) * (np.cos(d * w) + zeta * np.sin(d * w) / d)
    d = np.sqrt((zeta - 1) * (zeta + 1))
    slow, fast = 1 / (zeta + d), zeta + d
    return 1 - (fast * np.exp(-slow * w) - slow * np.exp(-fast * w)) / (2 * d)


def frequency_response(zeta: Knob, omega_n: Knob, freq: Knob, dt: Knob = 1.0) -> np.ndarray:
    """H at freq, complex: abs is the gain, angle the phase. Above 1 / (2 dt) it repeats, as all sampled systems do."""
    zeta, omega_n, dt = check.knobs(zeta, omega_n, dt)
    half = np.pi * np.asarray(freq, np.float64) * dt  # theta / 2
    h, c, s = omega_n * dt / 2, np.cos(half), np.sin(half)
    return h**2 * c * (c + 1j * s) / ((h * c) ** 2 - s**2 + 2j * zeta * h * s * c)


def continuous_frequency_response(zeta: Knob, omega_n: Knob, freq: Knob) -> np.ndarray:
    """Of the ODE itself: 1 / (1 - r^2 + 2 j zeta r), r = 2 pi freq / omega_n."""
    zeta, omega_n, _ = check.knobs(zeta, omega_n, 1.0)
    r = 2 * np.pi * np.asarray(freq, np.float64) / omega_n
    return 1 / (1 - r**2 + 2j * zeta * r)


def bandwidth(zeta: Knob, omega_n: Knob, dt: Knob = 1.0) -> np.ndarray:
    """The frequency at which the power has fallen to half (-3 dB): |H|^2 = 1/2 is a quadratic in tan^2(theta / 2)."""
    zeta, omega_n, dt = check.knobs(zeta, omega_n, dt)
    h2 = (omega_n * dt / 2) ** 2
    p = 2 * zeta**2 - 1 - h2
    root = np.sqrt(p**2 + 1)
    tan2 = h2 * np.where(p > 0, 1 / (root + np.abs(p)), root - p)
    return np.arctan(np.sqrt(tan2)) / (np.pi * dt)


def resonance(zeta: Knob, omega_n: Knob, dt: Knob = 1.0) -> Resonance:
    """The peak of |H|: there is one above 0 Hz where 2 zeta^2 < 1 + h^2 / 2."""
    zeta, omega_n, dt = check.knobs(zeta, omega_n, dt)
    h2 = (omega_n * dt / 2) ** 2
    excess = np.maximum(h2 * (h2 + 2 - 4 * zeta**2), 0)
    tan2 = excess / (1 + np.sqrt(1 + excess))
    freq = np.arctan(np.sqrt(tan2)) / (np.pi * dt)
    with np.errstate(divide="ignore"):  # undamped, the peak is infinite
        gain = np.sqrt(h2**2 * (1 + tan2) / ((h2 - tan2) ** 2 + 4 * zeta**2 * h2 * tan2))
    return Resonance(freq, gain)


def ema_pole(omega_n: Knob, dt: Knob = 1.0) -> np.ndarray:
    """Its only pole in the z plane, 1 - alpha = exp(-omega_n dt)."""
    return 1 - ema_alpha(omega_n, dt)


def ema_step_response(omega_n: float, n: int, dt: float = 1.0) -> np.ndarray:
    """g over n frames for g_star = 1 from 0, (n,): 1 - exp(-omega_n dt (i + 1)), the ODE's own values."""
    n = check.whole_number("n", n, 1)
    _, omega_n, dt = check.knobs(0.0, omega_n, dt)
    return -np.expm1(-omega_n * dt * np.arange(1, n + 1))


def ema_frequency_response(omega_n: Knob, freq: Knob, dt: Knob = 1.0) -> np.ndarray:
    """alpha / (1 - (1 - alpha) z^-1) at freq, complex."""
    alpha = ema_alpha(omega_n, dt)
    return alpha / (1 - (1 - alpha) * np.exp(-2j * np.pi * np.asarray(freq, np.float64) * dt))


def ema_bandwidth(omega_n: Knob, dt: Knob = 1.0) -> np.ndarray:
    """Half power: sin(theta / 2) = alpha / (2 sqrt(1 - alpha)). Infinite where the EMA never falls so low."""
    alpha = ema_alpha(omega_n, dt)
    with np.errstate(divide="ignore", invalid="ignore"):
        sine = alpha / (2 * np.sqrt(1 - alpha))
        return np.where(sine <= 1, np.arcsin(np.minimum(sine, 1)) / (np.pi * dt), np.inf)
