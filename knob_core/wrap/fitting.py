"""Fit the command u* and the knobs of a wrapped model on a small labelled set of streams.

min over w and (zeta, omega_n) of the mean NLL of z_fuse + RIDGE |w - w_0|^2. As u = gate(features . w) is linear in w,
the features are filtered once per knob position. Knobs slower than `max_lag` are left out: where labels never change,
the likelihood alone would ask for an endless memory.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from knob_core import gate
from knob_core.measures.stability import flips
from knob_core.memories import PLAIN
from knob_core.wrap.command import Command, features, observe

RIDGE = 1e-3
ZETAS = (0.5, 0.7, 1.0, 1.5)
OMEGAS = tuple(np.geomspace(0.05, 3.0, 16))  # rad/frame
LAG_FRAMES = 400


@dataclass(frozen=True)
class Fit:
    """What was found, and what it bought on the streams it was fitted on."""

    command: Command
    zeta: float
    omega_n: float  # rad/frame
    nll: float  # of the fused answer, nats
    nll_before: float  # of the dynamic branch, frame by frame
    flips: float  # changes of the predicted class per 100 frames
    flips_before: float
    lag: float  # frames until memory has made 63 % of a step

    @property
    def knobs(self) -> tuple[float, float]:
        """zeta, omega_n, as `knob_core.wrap` takes them."""
        return self.zeta, self.omega_n


def fit(
    z_static: np.ndarray,  # (R, T, K); of a single classifier, its logits
    z_dyn: np.ndarray | None,  # (R, T, K), or None for a single classifier
    labels: np.ndarray,  # (R,) or (R, T)
    max_lag: float = 5.0,  # frames
    start: Command | None = None,
) -> Fit:
    """Weights of the command and the best pair of knobs; memory is on."""
    z_static = np.asarray(z_static, np.float64)
    z_dyn = z_static if z_dyn is None else np.asarray(z_dyn, np.float64)
    target = _checked(z_static, z_dyn, labels)
    allowed = [(zeta, float(omega_n)) for zeta in ZETAS for omega_n in OMEGAS if lag(zeta, omega_n) <= max_lag]
    if not allowed:
        raise ValueError(f"max_lag is {max_lag!r}, expected at least {min(lag(z, OMEGAS[-1]) for z in ZETAS)} frames")
    start = start or Command()
    inputs = features(observe(z_static, start), z_dyn)  # (R, T, 4)
    weights = np.asarray(start.weights)
    middle = allowed[len(allowed) // 2]
    weights, _ = _weights(_Streams(z_static, z_dyn, inputs, target, *middle), weights)
    score = {knobs: _Streams(z_static, z_dyn, inputs, target, *knobs).nll(weights)[0] for knobs in allowed}
    zeta, omega_n = min(score, key=score.__getitem__)
    streams = _Streams(z_static, z_dyn, inputs, target, zeta, omega_n)
    weights, nll = _weights(streams, weights)
    predicted = streams.fused(weights)[0].argmax(-1)
    return Fit(
        command=replace(start, weights=tuple(weights.tolist())),
        zeta=zeta,
        omega_n=omega_n,
        nll=nll,
        nll_before=float(_nll(z_dyn, target).mean()),
        flips=flips(predicted),
        flips_before=flips(z_dyn.argmax(-1)),
        lag=lag(zeta, omega_n),
    )


def lag(zeta: float, omega_n: float, fraction: float = 0.63) -> float:
    """Frames until a step has been followed to `fraction`; infinite beyond LAG_FRAMES."""
    y, _ = gate.run(np.ones(LAG_FRAMES), zeta, omega_n)
    return float(np.argmax(y >= fraction)) if (y >= fraction).any() else np.inf


class _Streams:
    """Everything that does not change with the weights: memory and filtered features at one position of the knobs."""

    def __init__(
        self,
        z_static: np.ndarray,
        z_dyn: np.ndarray,
        inputs: np.ndarray,
        target: np.ndarray,
        zeta: float,
        omega_n: float,
    ) -> None:
        self.z_memory, _ = PLAIN.run(z_static, zeta, omega_n)
        self.difference = z_dyn - self.z_memory  # (R, T, K)
        self.inputs, _ = gate.run(inputs, zeta, omega_n, axis=1)  # (R, T, 4)
        self.target = target

    def fused(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        g = gate.sigmoid(self.inputs @ weights)  # (R, T)
        return self.z_memory + g[..., None] * self.difference, g

    def nll(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Mean NLL and its gradient in the weights."""
        z, g = self.fused(weights)
        loss = _nll(z, self.target)
        p = np.exp(z - z.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        towards = (p * self.difference).sum(-1) - np.take_along_axis(self.difference, self.target[..., None], -1)[
            ..., 0
        ]
        slope = towards * g * (1 - g)  # dNLL/du, (R, T)
        return float(loss.mean()), np.einsum("rt,rtf->f", slope, self.inputs) / slope.size


def _weights(streams: _Streams, start: np.ndarray) -> tuple[np.ndarray, float]:
    """The best weights at this position of the knobs, and their NLL."""
    from scipy.optimize import minimize

    def objective(weights: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = streams.nll(weights)
        away = weights - start
        return value + RIDGE * float(away @ away), slope + 2 * RIDGE * away

    best = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 60}).x
    return best, streams.nll(best)[0]


def _nll(z: np.ndarray, target: np.ndarray) -> np.ndarray:
    top = z.max(-1)
    total = top + np.log(np.exp(z - top[..., None]).sum(-1))
    return total - np.take_along_axis(z, target[..., None], -1)[..., 0]


def _checked(z_static: np.ndarray, z_dyn: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Labels as (R, T)."""
    if z_static.ndim != 3 or z_static.shape != z_dyn.shape or (np.array(z_static.shape) < (1, 2, 2)).any():
        raise ValueError(
            f"z_static and z_dyn have shapes {z_static.shape} and {z_dyn.shape}, "
            "expected one shape (R, T, K) with R >= 1, T >= 2 and K >= 2: the knobs are fitted on streams"
        )
    if not (np.isfinite(z_static).all() and np.isfinite(z_dyn).all()):
        raise ValueError("z_static and z_dyn have values that are not finite")
    paths, frames, classes = z_static.shape
    target = np.asarray(labels)
    if target.dtype.kind not in "iu" or target.shape not in ((paths,), (paths, frames)):
        raise ValueError(
            f"labels are {target.dtype} of shape {target.shape}, expected integers ({paths},) or ({paths}, {frames})"
        )
    if target.min() < 0 or target.max() >= classes:
        raise ValueError(f"labels lie in [{target.min()}, {target.max()}], expected [0, {classes - 1}]")
    return np.broadcast_to(target if target.ndim == 2 else target[:, None], (paths, frames))
