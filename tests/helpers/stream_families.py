"""Families of labelled streams, each with one difficulty that real models have, so that no fit suits one set only."""

from __future__ import annotations

from typing import Any

import numpy as np


def stream_family(name: str, seed: int = 0, **change: Any) -> tuple[np.ndarray, np.ndarray]:
    """(logits (R, T, K), labels (R, T)) of one family."""
    return _streams(seed, **{**FAMILIES[name], **change})


FAMILIES: dict[str, dict[str, Any]] = {
    "plain": {},
    "errors last": {"rho": 0.95, "noise": 1.6},
    "errors last in two classes": {"rho": 0.99, "noise": 1.6, "classes": 2, "gap": 80},
    "unequal classes": {"classes": 2, "bias": (1.5, 0.0), "shares": (0.4, 0.6), "rho": 0.8, "gap": 80},
    "unequal classes, four": {"bias": (2.0, 0.0, 0.0, -1.0), "rho": 0.6},
    "over-confident": {"scale": 4.0, "rho": 0.9},
    "under-confident": {"scale": 0.3},
    "fast changes": {"gap": 8, "noise": 1.5},
    "fast changes, errors last": {"gap": 12, "rho": 0.9, "noise": 1.6},
    "labels do not stay": {"gap": 1, "noise": 1.2},
    "few changes": {"gap": 1500, "rho": 0.7},
    "a window of frames": {"window": 8, "rho": 0.5},
    "rare classes": {"classes": 3, "shares": (0.85, 0.1, 0.05), "noise": 1.6, "gap": 25},
    "good model": {"classes": 5, "noise": 0.8},
    "bad model": {"classes": 5, "noise": 4.0},
}


def _streams(
    seed: int,
    streams: int = 12,
    frames: int = 400,
    classes: int = 4,
    gap: float = 40,  # frames for which a class stays, on average
    rho: float = 0.3,  # how much of the noise stays from frame to frame
    noise: float = 2.0,
    signal: float = 3.0,
    scale: float = 1.0,
    bias: tuple[float, ...] = (),
    shares: tuple[float, ...] = (),
    window: int = 1,  # frames that a logit is a mean of
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = np.empty((streams, frames), int)
    for row in labels:
        t = 0
        while t < frames:
            stay = max(1, int(rng.exponential(gap))) if gap > 1 else 1
            row[t : t + stay] = rng.choice(classes, p=shares or None)
            t += stay
    seen = signal * np.eye(classes)[labels]
    if window > 1:
        before = np.concatenate([np.repeat(seen[:, :1], window, 1), seen], 1).cumsum(1)
        seen = (before[:, window:] - before[:, :-window]) / window
    errors = rng.normal(size=(streams, frames, classes))
    for t in range(1, frames):
        errors[:, t] = rho * errors[:, t - 1] + np.sqrt(1 - rho**2) * errors[:, t]
    return scale * (seen + noise * errors + (np.array(bias) if bias else 0.0)), labels
