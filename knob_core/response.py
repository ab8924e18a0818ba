"""What a stream becomes under a setting: gate, fusion and confidence of every frame.

u = gate(u*), g = sigmoid(u), z_fuse = g z_dyn + (1-g) z_static, p_max = max softmax(z_fuse / temperature).
What is remembered (`knob_core.memories`) stands between the branches and the answer.
The state goes in and comes out, so frames may come all at once or one by one, with other knobs every time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from knob_core import gates, methods, metrics
from knob_core.branches import Branches
from knob_core.gates import Gate
from knob_core.memories import PLAIN, Attentive, Inputs, Memory
from knob_core.metrics.temperature_scaling import tempered
from knob_core.settings import Settings


@dataclass(frozen=True)
class ResponseState:
    """Where the gate and the memories of every path stand after a frame."""

    gate: np.ndarray | None = None  # (R, 2) as [u, v], or (R,) as g for the first-order gate
    memory: np.ndarray | None = None  # (R, K, 2) of plain memory
    attentive: np.ndarray | None = None  # (R, K + 1, 2)


@dataclass(frozen=True)
class Response:
    """Every frame of every path under one setting."""

    u: np.ndarray  # (R, T)
    g: np.ndarray  # (R, T) in (0, 1)
    probabilities: np.ndarray  # (R, T, K)
    p_max: np.ndarray  # (R, T)
    predicted: np.ndarray  # (R, T) class


def respond(
    branches: Branches,
    settings: Settings,
    method: str = methods.DEFAULT,
    state: ResponseState | None = None,
    attentive: Attentive | None = None,
    reset_reference: float | None = None,
) -> tuple[Response, ResponseState]:
    """Run the stream from `state` (None: at rest) with the knobs held still.

    Given a state (at first `ResponseState()`), gate and memories go on behind switches, as in `knob_core.runtime`;
    for a whole stream at once that would be work for nothing. `attentive` and `reset_reference` belong to the model:
    its weights (the settings' own come first), and the form of its Reset Mode (`knob_core.gates`).
    """
    kind, knobs = methods.get(method).gate.normalised(reset_reference), (settings.zeta, settings.omega_n)
    u, g, gate_state = _gate(kind, branches.u_star, settings, state)
    g_now = kind.without_inertia.reset(branches.u_star, *knobs)[1]
    frames = Inputs(branches.z_static, branches.z_dyn, branches.u_star, g, g_now)
    acting = settings.acting_memory(attentive)
    remembered = acting.run(frames, *knobs, state=_past(acting, state))
    after = {acting.name: remembered.state}
    if state is not None:
        for other in (PLAIN, settings.attentive_weights(attentive)):
            if other.name not in after:
                after[other.name] = other.run(frames, *knobs, state=_past(other, state)).state
    probabilities = metrics.softmax(tempered(remembered.z, settings.temperature))  # (R, T, K)
    response = Response(u, remembered.g, probabilities, probabilities.max(axis=-1), probabilities.argmax(axis=-1))
    return response, ResponseState(gate_state, after.get(PLAIN.name), after.get(Attentive.name))


def gate_alone(
    u_star: np.ndarray, settings: Settings, method: str = methods.DEFAULT, reset_reference: float | None = None
) -> np.ndarray:
    """u (R, T) of the gate from rest, as in `respond`, without the answers that it leads to."""
    return _gate(methods.get(method).gate.normalised(reset_reference), u_star, settings, None).u


def _past(memory: Memory, state: ResponseState | None) -> np.ndarray | None:
    """What this kind of memory has seen so far."""
    return {PLAIN.name: state.memory, Attentive.name: state.attentive}.get(memory.name) if state else None


def _gate(kind: Gate, u_star: np.ndarray, settings: Settings, state: ResponseState | None) -> gates.Moved:
    """(u, g, the running gate's state)."""
    knobs = (settings.zeta, settings.omega_n)
    acts = settings.on and settings.mode == "continuous"
    moved = gates.Moved(u_star, u_star, None)
    if acts or state is not None:
        moved = kind.run(u_star, *knobs, state=state.gate if state else None)
    if acts:
        return moved
    return gates.Moved(*(kind if settings.on else kind.without_inertia).reset(u_star, *knobs), moved.state)
