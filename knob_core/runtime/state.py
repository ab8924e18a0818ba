"""Where N streams stand after a frame: everything that a restart needs to go on bit for bit.

Gate x = [u, v] per stream (first order: [g, 0]), memory [m, v] per class, and the last good frame's branch outputs,
which are held through a gap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from knob_core import fusion, metrics
from knob_core._arrays.checks import as_array
from knob_core.gate import sigmoid
from knob_core.gates import Gate
from knob_core.memories import Attentive, Memory
from knob_core.settings import MODES, Settings

LARGEST = 1e120  # size of a number: what follows from logits of at most 1e100 lies far below
LEAST = {"age": 0.0, "apart": 0.0}  # where it is not -LARGEST
PACKED = ("off", "plain", "attentive")  # kinds of memory as `pack` numbers them; 0 and 1 were false and true


@dataclass(frozen=True)
class State:
    """All float64 but `seen`."""

    gate: np.ndarray  # (N, 2), or as many as the kind of gate keeps
    memory: np.ndarray  # (N, K, 2)
    z_static: np.ndarray  # (N, K) held
    z_dyn: np.ndarray  # (N, K) held
    u_star: np.ndarray  # (N,) held
    seen: np.ndarray  # (N,) bool: at least one good frame
    age: np.ndarray  # (N,) frames since the last good one
    apart: np.ndarray  # (N,) frames in a row whose own class was not the one shown
    time: np.ndarray  # (N,) s, NaN where no time was given

    @property
    def streams(self) -> int:
        return len(self.seen)

    @property
    def num_classes(self) -> int:
        return self.z_static.shape[1]

    @property
    def spring(self) -> Memory:
        return Memory(self.gate, self.memory, self.seen)


NAMES = tuple(field.name for field in fields(State))


def at_rest(streams: int, num_classes: int, kind: Gate) -> State:
    """Nothing seen."""
    classes = (streams, num_classes)
    return State(
        gate=np.tile(kind.rest, (streams, 1)),
        memory=np.zeros((*classes, 2)),
        z_static=np.zeros(classes),
        z_dyn=np.zeros(classes),
        u_star=np.zeros(streams),
        seen=np.zeros(streams, bool),
        age=np.zeros(streams),
        apart=np.zeros(streams),
        time=np.full(streams, np.nan),
    )


def rows(state: State, ids: np.ndarray | None) -> State:
    """The chosen streams."""
    return state if ids is None else State(**{name: getattr(state, name)[ids] for name in NAMES})


def with_rows(state: State, ids: np.ndarray | None, part: State) -> State:
    """A new state in which the chosen streams are replaced; the old one is left as it was."""
    if ids is None:
        return part
    whole = {name: getattr(state, name).copy() for name in NAMES}
    for name, array in whole.items():
        array[ids] = getattr(part, name)
    return State(**whole)


def of_older(arrays: Mapping[str, np.ndarray], weights: Attentive) -> dict[str, np.ndarray]:
    """A state of before version 4, whose memory held logits: it goes on from the frame that was held."""
    kept = {name: np.asarray(x) for name, x in arrays.items() if name not in ("attentive", "bend", "observer")}
    z_static, z_dyn, u_star = (kept.get(name, np.empty(0)) for name in ("z_static", "z_dyn", "u_star"))
    if z_static.ndim == 2 and z_static.shape == z_dyn.shape and u_star.shape == z_static.shape[:1]:
        p = metrics.softmax(fusion.mix(z_static, z_dyn, sigmoid(u_star)) / weights.tau)
        kept["memory"] = np.stack([p, np.zeros_like(p)], -1)
        kept["apart"] = np.zeros(len(p))
    return kept


def check(arrays: Mapping[str, np.ndarray], like: State, gate: Gate) -> State:
    """A state from outside: every array there, of the right shape, and numbers that a state may have."""
    if not like.streams:
        raise ValueError("state has 0 streams, expected at least 1")
    taken = {}
    for name in NAMES:
        if name not in arrays:
            raise ValueError(f"state has no {name!r}, expected {', '.join(NAMES)}")
        wanted, found = getattr(like, name), as_array(f"state {name!r}", arrays[name])
        if found.shape != wanted.shape:
            raise ValueError(f"state {name!r} has shape {found.shape}, expected {wanted.shape}")
        kinds, said = ("b", "bools") if wanted.dtype.kind == "b" else ("biuf", "numbers")
        if found.dtype.kind not in kinds:
            raise ValueError(f"state {name!r} has dtype {found.dtype}, expected {said}")
        with np.errstate(over="ignore"):
            taken[name] = found.astype(wanted.dtype)
        low, known = LEAST.get(name, -LARGEST), ~np.isnan(taken[name]) if name == "time" else True
        if (wrong := ((taken[name] >= low) & (taken[name] <= LARGEST)) != known).any():
            raise ValueError(f"state {name!r} has the value {taken[name][wrong][0]}, expected [{low:g}, {LARGEST:g}]")
    least, most = gate.within
    first = taken["gate"][:, :1]
    if (wrong := (first < least) | (first > most)).any():
        raise ValueError(f"state 'gate' has the value {first[wrong][0]}, expected [{least:g}, {most:g}]")
    return State(**taken)


def require_method(packed: Any, method: str) -> None:
    """Another method's gate keeps other numbers; older states, which name none, are taken as they are."""
    found = np.asarray(packed)
    if packed is not None and not (found.dtype == np.uint8 and np.array_equal(found, pack_method(method))):
        named = found.tobytes().decode("ascii", "replace")[:40] if found.dtype == np.uint8 else str(found)[:40]
        raise ValueError(f"state was made with the method {named!r}, expected this stream's, {method!r}")


def pack_method(method: str) -> np.ndarray:
    """Its name as bytes, since safetensors holds numbers only."""
    return np.frombuffer(method.encode(), np.uint8).copy()


def pack(now: tuple[float, float], settings: Settings) -> np.ndarray:
    """(8,) the acting zeta and omega_n, the set ones, the switches, the frame rate."""
    switches = (settings.on, PACKED.index(settings.memory), MODES.index(settings.mode))
    return np.array([*now, settings.zeta, settings.omega_n, *switches, settings.frame_rate])


def unpack(packed: Any) -> tuple[tuple[float, float], Settings]:
    """What `pack` packed, every value checked."""
    values = np.asarray(packed)
    whole = values.shape == (8,) and values.dtype.kind == "f" and np.isin(values[4:7], (0, 1, 2)).all()
    if not whole or max(values[4], values[6]) > 1:
        raise ValueError(f"state 'knobs' is {values.dtype} of shape {values.shape}, expected 8 numbers of this version")
    zeta_now, omega_now, zeta, omega_n, on, memory, mode, frame_rate = values.tolist()
    acting = Settings(zeta=zeta_now, omega_n=omega_now)  # checks the range
    settings = Settings(zeta, omega_n, bool(on), PACKED[int(memory)], MODES[int(mode)], frame_rate)
    return (acting.zeta, acting.omega_n), settings
