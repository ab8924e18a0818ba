"""Where N streams stand after a frame: everything that a restart needs to go on bit for bit.

Gate x = [u, v] per stream (first order: [g, 0]), memories and observer [m, v] per class, and the last good frame's
branch outputs, which are held through a gap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from knob_core._arrays.checks import as_array
from knob_core.gates import Gate
from knob_core.memories import PLAIN, UNFITTED
from knob_core.settings import MODES, Settings

if TYPE_CHECKING:  # `knob_core.wrap` imports `sources`, and that this package
    from knob_core.wrap.command import Command

LARGEST = 1e120  # size of a number: what follows from logits of at most 1e100 lies far below
LEAST = {"bend": 0.0, "age": 0.0}  # where it is not -LARGEST
PACKED = ("off", "plain", "attentive")  # kinds of memory as `pack` numbers them; 0 and 1 were false and true


@dataclass(frozen=True)
class State:
    """All float64 but `seen`; K' is K where the command needs an observer, else 0."""

    gate: np.ndarray  # (N, 2), or as many as the kind of gate keeps
    memory: np.ndarray  # (N, K, 2) of plain memory
    attentive: np.ndarray  # (N, K + 1, 2)
    bend: np.ndarray  # (N,) of the weights that `attentive` was kept with: what its numbers mean
    observer: np.ndarray  # (N, K', 2)
    z_static: np.ndarray  # (N, K) held
    z_dyn: np.ndarray  # (N, K) held
    u_star: np.ndarray  # (N,) held
    seen: np.ndarray  # (N,) bool: at least one good frame
    age: np.ndarray  # (N,) frames since the last good one
    time: np.ndarray  # (N,) s, NaN where no time was given

    @property
    def streams(self) -> int:
        return len(self.seen)

    @property
    def num_classes(self) -> int:
        return self.z_static.shape[1]


NAMES = tuple(field.name for field in fields(State))


def at_rest(streams: int, num_classes: int, rest: tuple[float, ...], observed: bool) -> State:
    """Nothing seen; `rest` is the state of a gate at rest."""
    classes = (streams, num_classes)
    return State(
        gate=np.tile(rest, (streams, 1)),
        memory=PLAIN.at_rest(*classes),
        attentive=UNFITTED.at_rest(*classes),
        bend=np.zeros(streams),
        observer=np.zeros((streams, num_classes if observed else 0, 2)),
        z_static=np.zeros(classes),
        z_dyn=np.zeros(classes),
        u_star=np.zeros(streams),
        seen=np.zeros(streams, bool),
        age=np.zeros(streams),
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


def with_attentive(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """A state of version 1, which knew no attentive memory: it goes on from where plain memory stands."""
    memory = np.asarray(arrays.get("memory", ()))
    if memory.ndim != 3 or memory.shape[2] != 2 or memory.dtype.kind != "f":
        return arrays
    return {**arrays, "attentive": np.pad(memory * [1.0, 0.0], ((0, 0), (0, 1), (0, 0)))}


def with_bend(arrays: Mapping[str, np.ndarray], bend: float) -> dict[str, np.ndarray]:
    """A state of version 2, which does not say its memories' bend: they are taken as the weights that act keep them."""
    return {"bend": np.full(np.shape(arrays.get("z_static", ()))[:1], bend), **arrays}


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
    counts = ("'attentive' in its last row", taken["attentive"][:, -1], 0.0, LARGEST)
    for what, x, least, most in (("'gate'", taken["gate"][:, 0], *gate.within), counts):
        if (wrong := (x < least) | (x > most)).any():
            raise ValueError(f"state {what} has the value {x[wrong][0]}, expected [{least:g}, {most:g}]")
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


def require_command(packed: Any, command: Command | None) -> None:
    """A state goes on under the command that it was made with."""
    found, own = np.asarray(packed), np.empty(0) if command is None else command.packed()
    if found.dtype.kind != "f" or found.shape != own.shape or not np.array_equal(found, own):
        kept = found.tolist() if found.dtype.kind == "f" and found.size <= 10 else f"{found.dtype} {found.shape}"
        raise ValueError(f"state was made with the command {kept}, expected this stream's, {own.tolist()}")


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
