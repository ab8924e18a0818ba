"""Knob: one damped spring between a classifier and its answer. NumPy only: this file can be copied into any project.

    knob = Knob(zeta=1.0, omega_n=0.4)
    p = knob(logits)                      # (K,) or (N, K): one frame of one stream, or of N; probabilities come back

    z  = g z_dyn + (1 - g) z_static,  g = sigmoid(u)         the frame; a single classifier gives z itself and has no u
    p  = softmax((z + o) / tau)                              o: offset of each class
    q  = 1 - H(p) / log K                                    how certain the frame is
    l  = max(0, -log[K (1-eps)^2 <m, p> + 1 - (1-eps)^2])    evidence that the content changed: a log Bayes factor
    w  = omega_n exp(a + b l + d q + s_k),  k = argmax m     the natural frequency that acts; s: hold of each class
    h  = min(w dt / 2, zeta + sqrt(zeta^2 + 1)),   G = 2 / (1/h + 2 zeta + h),   e = y - x
    x <- x + G (v + h e),   v <- (1 - G h) [v + G (e - (2 zeta + h) v)],   x = [u, m], towards y = [u_star, p]
    answer: m^exp(t_0), normalised; then (1 - f) of it + f p, as far as that leaves its class on top

q and l are those of the frame by itself, mixed with sigmoid(u_star); then u moves, and m follows the p that the new g
gives. This is Tustin's form of x'' + 2 zeta w x' + w^2 x = w^2 y with v = x'/w: in these coordinates no sequence of
knobs can add energy. One gain serves all classes, so sum m = 1 and sum v = 0 always: the memory is a distribution, but
for overshoot. A row with a NaN is a frame that did not come: the last one is held, without evidence.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

# Of a model of which nothing is known: at home hardly slower than the model alone.
SAFE: dict[str, Any] = {"a": 2.0, "b": 2.0, "d": 0.0, "tau": 1.0, "eps": 0.05, "t_0": 0.0, "f": 0.4, "o": (), "s": ()}
FLOOR = 1e-9  # a probability that a swinging memory falls below counts as this much
KEPT = 0.95  # part of the way to a tie that the frame may take the answer
TINY, DRIVE = 1e-300, 700.0  # keep logarithms and exponentials finite


def softmax(z: np.ndarray) -> np.ndarray:
    """Over the last axis."""
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def mixed(z_static: np.ndarray, z_dyn: np.ndarray | None, u: np.ndarray) -> np.ndarray:
    """z (N, K): one branch as it is, or two under the gate sigmoid(u)."""
    if z_dyn is None:
        return z_static
    g = np.exp(-np.logaddexp(0.0, -u))[:, None]
    return g * z_dyn + (1 - g) * z_static


def shared(answer: np.ndarray, p: np.ndarray, f: float) -> np.ndarray:
    """(1 - s) answer + s p, each (N, K): s is f, or less where the answer's class would not stay on top."""
    top = answer.argmax(-1)[:, None]
    ahead = np.take_along_axis(answer, top, -1) - answer
    against = p - np.take_along_axis(p, top, -1)
    tie = np.where(against > 0, ahead / np.where(against > 0, ahead + against, 1.0), 1.0)
    s = np.minimum(f, KEPT * tie.min(-1, keepdims=True))
    return (1 - s) * answer + s * p


class Knob:
    """Turn `zeta` and `omega_n` at any time; `weights` say how frames turn omega_n by themselves."""

    def __init__(self, zeta: float = 1.0, omega_n: float = 0.4, *, settings: str | None = None, **weights: Any) -> None:
        unknown = weights.keys() - SAFE.keys()
        if unknown:
            raise TypeError(f"Knob has no weight {sorted(unknown)[0]!r}, expected some of {', '.join(SAFE)}")
        self.weights, self.temperature = {**SAFE, **weights}, 1.0
        for name in ("o", "s"):
            self.weights[name] = tuple(float(x) for x in self.weights[name])
        self.zeta, self.omega_n = zeta, omega_n
        if settings is not None:
            self._read(settings)
        self.reset()

    def reset(self) -> None:
        """Forget every frame; the next one begins a new stream."""
        self.state: dict[str, np.ndarray] = {}

    def __call__(self, logits: Any, z_dyn: Any = None, u_star: Any = None, dt: float = 1.0) -> np.ndarray:
        """Probabilities (K,) or (N, K) of the next frame; of a model with two branches give z_static, z_dyn, u_star."""
        z = np.asarray(logits, np.float64)
        two = None if z_dyn is None else np.asarray(z_dyn, np.float64)
        u = np.zeros(z.shape[:-1]) if u_star is None else np.asarray(u_star, np.float64)
        if z.ndim not in (1, 2) or z.shape[-1] < 2 or (two is None) != (u_star is None):
            raise ValueError(
                f"logits have shape {z.shape}, expected (K,) or (N, K) with K >= 2; u_star goes with z_dyn"
            )
        single = z.ndim == 1
        if single:
            z, two, u = z[None], None if two is None else two[None], u[None]
        if not self.state:
            self._begin(*z.shape)
        if z.shape != self.state["z_static"].shape:
            before = self.state["z_static"].shape
            raise ValueError(f"logits have shape {z.shape}, expected {before} as before, or `reset()`")
        p = self._frame(z, two, u, dt)
        return p[0] if single else p

    def run(self, logits: Any) -> np.ndarray:
        """All frames of a recording (T, K), or of R recordings (R, T, K), from where the last frame left off."""
        z = np.asarray(logits, np.float64)
        return np.stack([self(z[..., t, :]) for t in range(z.shape[-2])], axis=-2)

    def _begin(self, streams: int, classes: int) -> None:
        held = {name: np.zeros((streams, classes)) for name in ("z_static", "z_dyn")}
        spring = {"gate": np.zeros((streams, 2)), "memory": np.zeros((streams, classes, 2))}  # [x, v] each
        self.state = {**spring, **held, "u_star": np.zeros(streams), "seen": np.zeros(streams, bool)}

    def _frame(self, z_static: np.ndarray, z_dyn: np.ndarray | None, u_star: np.ndarray, dt: float) -> np.ndarray:
        """One frame of N streams."""
        w, x = self.weights, self.state
        lost = np.isnan(z_static).any(-1) | np.isnan(u_star) | (z_dyn is not None and np.isnan(z_dyn).any(-1))
        if lost.any():
            z_static, u_star = np.where(lost[:, None], x["z_static"], z_static), np.where(lost, x["u_star"], u_star)
            z_dyn = None if z_dyn is None else np.where(lost[:, None], x["z_dyn"], z_dyn)
        first, seen = ~lost & ~x["seen"], ~lost | x["seen"]
        classes = z_static.shape[1]
        offsets = np.asarray(w["o"]) if len(w["o"]) else 0.0
        p = softmax((mixed(z_static, z_dyn, u_star) + offsets) / w["tau"])
        m = np.where(first[:, None], p, x["memory"][..., 0])
        q = 1 + (p * np.log(np.maximum(p, TINY))).sum(-1) / math.log(classes)
        told = (1 - w["eps"]) ** 2  # how likely frame and memory both tell the content
        same = classes * told * (m * p).sum(-1) + 1 - told
        l = np.where(lost, 0.0, np.maximum(0.0, -np.log(np.maximum(same, TINY))))  # noqa: E741
        hold = np.asarray(w["s"])[m.argmax(-1)] if len(w["s"]) else 0.0
        drive = np.clip(w["a"] + w["b"] * l + w["d"] * q + hold, -DRIVE, DRIVE)
        zeta, cap = self.zeta, self.zeta + math.hypot(self.zeta, 1.0)
        h = np.minimum(0.5 * self.omega_n * dt * np.exp(drive), cap)  # (N,)
        gain = 2 / (1 / h + 2 * zeta + h)

        def follow(x: np.ndarray, v: np.ndarray, y: np.ndarray, h: np.ndarray, gain: np.ndarray) -> Any:
            e = y - x
            return x + gain * (v + h * e), (1 - gain * h) * (v + gain * (e - (2 * zeta + h) * v))

        u, u_v = x["gate"].T
        if z_dyn is not None:
            u, u_v = follow(u, u_v, u_star, h, gain)
            p = softmax((mixed(z_static, z_dyn, u) + offsets) / w["tau"])
            m = np.where(first[:, None], p, m)
        memory = np.stack(follow(m, x["memory"][..., 1], p, h[:, None], gain[:, None]), -1)
        held = z_static if z_dyn is None else z_dyn
        gate = np.stack([u, u_v], -1) * seen[:, None]
        memory *= seen[:, None, None]
        self.state = {
            "gate": gate,
            "memory": memory,
            "z_static": z_static,
            "z_dyn": held,
            "u_star": u_star,
            "seen": seen,
        }
        m = np.maximum(memory[..., 0], FLOOR)
        answer = (m / m.max(-1, keepdims=True)) ** math.exp(w["t_0"])
        answer = shared(answer / answer.sum(-1, keepdims=True), p, w["f"]) ** (1 / self.temperature)
        return np.where(seen[:, None], answer / answer.sum(-1, keepdims=True), 1 / classes)

    def _read(self, path: str) -> None:
        """Take knobs, kind of memory, temperature and weights from a settings file."""
        import tomllib

        with open(path, "rb") as file:  # noqa: PTH123 (a path or a string)
            table = tomllib.load(file)
        self.zeta, self.omega_n = float(table.get("zeta", self.zeta)), float(table.get("omega_n", self.omega_n))
        self.temperature = float(table.get("temperature", 1.0))
        found = table.get("attentive", {})
        if unknown := set(found) - set(SAFE):
            raise ValueError(f"{path} has the weights {', '.join(sorted(unknown))}, expected some of {', '.join(SAFE)}")
        self.weights.update(found)
        memory = table.get("memory", "attentive") if table.get("on", True) else "off"
        if memory == "plain":
            self.weights.update(a=0.0, b=0.0, d=0.0, s=())
        elif memory != "attentive":
            self.weights.update(a=100.0, b=0.0, d=0.0, s=(), tau=1.0, t_0=0.0, f=0.0, o=())  # the frame as it is
