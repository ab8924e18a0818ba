"""Attentive memory: weights of the one spring, and the spring over arrays of streams.

The equations stand in `knob_core.knob`. A frame that contradicts what has been seen turns the operator's own omega_n
up; one that confirms it leaves it down. The gate moves at the same turned omega_n, and mixes the frames that the memory
follows. Plain memory is the same with nothing that turns omega_n.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from knob_core import gaps, knob
from knob_core._arrays import checks as check
from knob_core._arrays.checks import PerStream
from knob_core.gates import NO_GATE, SECOND_ORDER, Gate
from knob_core.knob import SAFE
from knob_core.memories._loop import Constants, follow

LIMIT = 100.0  # no weight is larger in size
RANGES = {"tau": (1e-3, LIMIT), "eps": (0.0, 1.0), "f": (0.0, 1.0)}
PER_CLASS = ("o", "s")


class Frames(NamedTuple):
    """What the network gives, of all frames (R, T, ...) or of one (N, ...)."""

    z_static: np.ndarray  # (..., K)
    z_dyn: np.ndarray  # (..., K)
    u_star: np.ndarray  # (...)


class Memory(NamedTuple):
    """Where the spring of N streams stands."""

    gate: np.ndarray  # (N, S) as the kind of gate keeps it
    classes: np.ndarray  # (N, K, 2): m and v
    seen: np.ndarray  # (N,) bool: a frame has come

    def copy(self) -> Memory:
        return Memory(*(x.copy() for x in self))


class Remembered(NamedTuple):
    """The answer with memory, frame by frame."""

    probabilities: np.ndarray  # (..., K)
    u: np.ndarray  # (...)
    g: np.ndarray  # (...) sigmoid(u)
    omega: np.ndarray  # (...) the natural frequency that acted, rad/frame
    state: Memory  # after the last frame

    @property
    def z(self) -> np.ndarray:
        """(..., K) logarithms of the probabilities."""
        return np.log(self.probabilities)


@dataclass(frozen=True)
class Attentive:
    """The weights, fitted once per model; the values below are those of a model that nobody fitted."""

    a: float = SAFE["a"]  # log of omega / omega_n at a frame that confirms
    b: float = SAFE["b"]  # how strongly contradiction turns omega up
    d: float = SAFE["d"]  # how strongly a certain frame does
    tau: float = SAFE["tau"]  # temperature of the frame's distribution
    eps: float = SAFE["eps"]  # share of frames that say nothing about the content
    t_0: float = SAFE["t_0"]  # log of 1 / temperature of the answer
    f: float = SAFE["f"]  # share of the frame's own probabilities in the answer
    o: tuple[float, ...] = ()  # offset of each class; empty: 0
    s: tuple[float, ...] = ()  # hold of each class, in units of log omega; empty: 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in PER_CLASS:
                numbers = check.real_numbers(field.name, value) if len(value) else np.empty(0)
                if numbers.ndim != 1 or not (np.abs(numbers) <= LIMIT).all():
                    raise ValueError(
                        f"{field.name} is {check.shown(value)}, expected numbers in [-{LIMIT:g}, {LIMIT:g}]"
                    )
                object.__setattr__(self, field.name, tuple(numbers.tolist()))
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) <= LIMIT:
                raise ValueError(f"{field.name} is {check.shown(value)}, expected a number in [-{LIMIT:g}, {LIMIT:g}]")
            low, high = RANGES.get(field.name, (-LIMIT, LIMIT))
            if not low <= value <= high:
                raise ValueError(f"{field.name} is {value!r}, expected a number in [{low:g}, {high:g}]")
            object.__setattr__(self, field.name, float(value))

    def to_dict(self) -> dict[str, Any]:
        """For a header or a settings file."""
        return {name: list(value) if name in PER_CLASS else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, table: Any) -> Attentive:
        """Read what `to_dict` gave, from anybody."""
        known = [field.name for field in fields(cls)]
        if not isinstance(table, dict) or not set(table) <= set(known):
            odd = sorted(map(str, set(table) - set(known))) if isinstance(table, dict) else table
            raise ValueError(
                f"attentive memory has {check.shown(odd)}, expected a table of {', '.join(known)}; weights of an "
                "older form are fitted anew: knob_core.fit, or python -m train.fit_memory for a model that ships"
            )
        return cls(**table)

    @property
    def plain(self) -> Attentive:
        """The same with constant omega_n."""
        return replace(self, a=0.0, b=0.0, d=0.0, s=())

    def per_class(self, classes: int) -> tuple[np.ndarray, np.ndarray]:
        """Offsets and holds (K,) each."""
        found = [np.array(x) if x else np.zeros(classes) for x in (self.o, self.s)]
        for name, x in zip(PER_CLASS, found, strict=True):
            if len(x) != classes:
                raise ValueError(f"{name} has {len(x)} numbers, expected {classes}, one a class")
        return found[0], found[1]

    def constants(self, classes: int) -> Constants:
        """As the loop takes them."""
        told, power = (1 - self.eps) ** 2, float(np.exp(self.t_0))
        return Constants(self.a, self.b, self.d, 1 / self.tau, told, power, self.f, *self.per_class(classes))

    def run(
        self, frames: Frames, kind: Gate, zeta: Any, omega_n: Any, state: Memory | None = None, lost: Any = False
    ) -> Remembered:
        """All frames (R, T, ...) from `state`; knobs for all, per frame (T,) or (R, T); `lost` frames hold the last."""
        z_static, z_dyn = (np.ascontiguousarray(z, np.float64) for z in (frames.z_static, frames.z_dyn))
        lead, classes = z_static.shape[:2], z_static.shape[2]
        zeta, omega_n, _ = check.knobs(zeta, omega_n, 1.0)
        knobs = tuple(np.broadcast_to(np.asarray(x, np.float64), lead) for x in (zeta, omega_n, 1.0))
        state = at_rest(lead[0], classes, kind) if state is None else state.copy()
        held = (z_static[:, 0], z_dyn[:, 0], np.zeros(lead[0]), np.zeros(lead[0], np.int64))
        given = (z_static, z_dyn, np.asarray(frames.u_star, np.float64), np.broadcast_to(lost, lead))
        return self._follow(given, held, knobs, kind, state)

    def run_logits(self, z: np.ndarray, zeta: Any, omega_n: Any, state: Memory | None = None) -> Remembered:
        """The same for a single classifier's logits (R, T, K); rows with a NaN are frames that did not come."""
        z, lost = filled(np.asarray(z, np.float64))
        return self.run(Frames(z, z, np.zeros(z.shape[:2])), NO_GATE, zeta, omega_n, state, lost)

    def advance(
        self, now: Frames, held: Frames, elapsed: np.ndarray, lost: np.ndarray, kind: Gate,
        zeta: PerStream, omega_n: PerStream, state: Memory,
    ) -> Remembered:  # fmt: skip
        """One frame of N streams, `elapsed` (N,) frames after the one `held`; knobs for all or (N,)."""
        count = len(now.u_star)
        steps, dt = gaps.split(elapsed)
        knobs = tuple(np.empty((count, 1)) for _ in range(3))
        for column, x in zip(knobs, (zeta, omega_n, dt), strict=True):
            column[:, 0] = x
        before = (held.z_static, held.z_dyn, held.u_star, np.minimum(steps - 1, gaps.MOST_HELD))
        given = (now.z_static[:, None], now.z_dyn[:, None], now.u_star[:, None], lost[:, None])
        found = self._follow(given, before, knobs, kind, state.copy())
        p, u, g, omega = (x[:, 0] for x in found[:4])
        return Remembered(p, u, g, omega, found.state)

    def _follow(
        self, given: tuple[np.ndarray, ...], held: tuple[np.ndarray, ...], knobs: tuple[np.ndarray, ...],
        kind: Gate, state: Memory,
    ) -> Remembered:  # fmt: skip
        shape = given[0].shape
        answer = np.empty(shape)
        u, g, omega = (np.empty(shape[:2]) for _ in range(3))
        follow(*given, *held, *knobs, self.constants(shape[2]), kind.motion, *state, answer, u, g, omega)
        return Remembered(answer, u, g, omega, state)


UNFITTED = Attentive()


def at_rest(streams: int, classes: int, kind: Gate) -> Memory:
    """Nothing seen."""
    return Memory(np.tile(kind.rest, (streams, 1)), np.zeros((streams, classes, 2)), np.zeros(streams, bool))


def filled(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Logits (R, T, K) with rows that have a NaN replaced by the row before, and which those were (R, T)."""
    lost = np.isnan(z).any(-1)
    if not lost.any():
        return z, lost
    last = np.maximum.accumulate(np.where(lost, 0, np.arange(z.shape[1])), axis=1)
    z = np.take_along_axis(z, last[..., None], axis=1)
    return np.where(np.isnan(z).any(-1, keepdims=True), 0.0, z), lost


class Knob(knob.Knob):
    """`knob_core.knob.Knob` on the compiled loop: the same numbers, many times faster."""

    def listen(self, logits: Any, cautious: bool = False) -> str:
        """Take knobs and weights from unlabelled frames of the same model, some 300 to 1,000; what was found, in words.

        `cautious` keeps the answers at least as right as the model's own (`knob_core.fit`).
        """
        from knob_core.fitting import fit  # imports this module

        found = fit(logits)
        settings = found.cautious if cautious and found.cautious is not None else found.settings
        self.zeta, self.omega_n = settings.zeta, settings.omega_n
        if settings.weights is not None:
            self.weights = vars(settings.weights).copy()
        return found.words

    def run(self, logits: Any) -> np.ndarray:
        """All frames of a recording (T, K), or of R recordings (R, T, K), from where the last frame left off."""
        z = np.asarray(logits, np.float64)
        if z.ndim not in (2, 3) or z.shape[-1] < 2 or not z.size:
            raise ValueError(f"logits have shape {z.shape}, expected (T, K) or (R, T, K) with K >= 2")
        whole = z if z.ndim == 3 else z[None]
        if not self.state:
            self._begin(len(whole), whole.shape[2])
        x = self.state
        frames, lost = filled(np.concatenate([x["z_static"][:, None], whole], axis=1))  # zeros before any frame
        p = self._follow(frames[:, 1:], None, np.zeros(frames[:, 1:].shape[:2]), 1.0, lost[:, 1:])
        x["z_static"] = x["z_dyn"] = frames[:, -1]
        return p if z.ndim == 3 else p[0]

    def _frame(self, z_static: np.ndarray, z_dyn: np.ndarray | None, u_star: np.ndarray, dt: float) -> np.ndarray:
        two = z_static if z_dyn is None else z_dyn
        x, lost = self.state, np.isnan(z_static.sum(-1) + two.sum(-1) + u_star)
        if lost.any():
            z_static, two = (np.where(lost[:, None], x[n], z) for n, z in (("z_static", z_static), ("z_dyn", two)))
            u_star = np.where(lost, x["u_star"], u_star)
        both = None if z_dyn is None else two[:, None]
        p = self._follow(z_static[:, None], both, u_star[:, None], dt, lost[:, None])
        x["z_static"], x["z_dyn"], x["u_star"] = z_static, two, u_star
        return p[:, 0]

    def _follow(
        self, z: np.ndarray, z_dyn: np.ndarray | None, u_star: np.ndarray, dt: float, lost: np.ndarray
    ) -> np.ndarray:
        """Probabilities (R, T, K); the state moves on."""
        key = (z.shape, self.zeta, self.omega_n, dt, *self.weights.values())
        if key != self._key:
            knobs = tuple(np.full(z.shape[:2], x, np.float64) for x in (self.zeta, self.omega_n, dt))
            self._key, self._ready = key, (knobs, Attentive(**self.weights).constants(z.shape[2]))
        knobs, constants = self._ready
        x, answer = self.state, np.empty(z.shape)
        out = np.empty((3, *z.shape[:2]))
        motion = _NO_MOTION if z_dyn is None else _SPRING
        none = (x["z_static"], x["z_dyn"], x["u_star"], np.zeros(len(z), np.int64))
        state = x["gate"], x["memory"], x["seen"]
        follow(z, z if z_dyn is None else z_dyn, u_star, lost, *none, *knobs, constants, motion, *state, answer, *out)
        return answer if self.temperature == 1.0 else _tempered(answer, self.temperature)

    _key: tuple[Any, ...] = ()
    _ready: Any = None


_NO_MOTION, _SPRING = NO_GATE.motion, SECOND_ORDER.motion


def _tempered(p: np.ndarray, temperature: float) -> np.ndarray:
    warmer = p ** (1 / temperature)
    return warmer / warmer.sum(-1, keepdims=True)
