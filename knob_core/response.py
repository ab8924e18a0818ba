"""What a stream becomes under a setting: gate, fusion and confidence of every frame.

u = gate(u*), g = sigmoid(u), z_fuse = g z_dyn + (1-g) z_static, p_max = max softmax(z_fuse).
With static memory z_static is passed through the same recursion first, starting from what the first frame shows.
The state goes in and comes out, so frames may come all at once or one by one, with other knobs every time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from knob_core import fusion, gates, methods, metrics
from knob_core.branches import Branches
from knob_core.gates import Gate
from knob_core.memories import PLAIN
from knob_core.settings import Settings

DYNAMICS = {key: method.gate.name if method.gate.inertia else "none" for key, method in methods.METHODS.items()}


@dataclass(frozen=True)
class State:
    """Where the gate (and the memory) of every path stands after a frame."""

    gate: np.ndarray | None = None  # (R, 2) as [u, v], or (R,) as g for the first-order gate
    memory: np.ndarray | None = None  # (R, K, 2)


@dataclass(frozen=True)
class Response:
    """Every frame of every path under one setting."""

    u: np.ndarray  # (R, T)
    g: np.ndarray  # (R, T) in (0, 1)
    probabilities: np.ndarray  # (R, T, K)
    p_max: np.ndarray  # (R, T)
    predicted: np.ndarray  # (R, T) class


def respond(
    branches: Branches, settings: Settings, method: str = "knob-ode", state: State | None = None
) -> tuple[Response, State]:
    """Run the stream from `state` (None: at rest) with the knobs held still.

    Given a state (a fresh one is State()), gate and memory go on behind their switches, as in `knob_core.runtime`;
    for a whole stream at once that would be work for nothing.
    """
    u, g, gate_state = _gate(methods.get(method).gate, branches.u_star, settings, state)
    z_static, memory = branches.z_static, None
    remembers = settings.on and settings.memory and settings.mode == "continuous"
    if remembers or state is not None:
        before = state.memory if state else None
        remembered, memory = PLAIN.run(z_static, settings.zeta, settings.omega_n, before)
        z_static = remembered if remembers else z_static
    z_fuse = fusion.fuse(z_static, branches.z_dyn, g)  # (R, T, K)
    probabilities = metrics.softmax(z_fuse)
    response = Response(u, g, probabilities, probabilities.max(axis=-1), probabilities.argmax(axis=-1))
    return response, State(gate_state, memory)


def _gate(kind: Gate, u_star: np.ndarray, settings: Settings, state: State | None) -> gates.Moved:
    """(u, g, the running gate's state)."""
    knobs = (settings.zeta, settings.omega_n)
    acts = settings.on and settings.mode == "continuous"
    moved = gates.Moved(u_star, u_star, None)
    if acts or state is not None:
        moved = kind.run(u_star, *knobs, state=state.gate if state else None)
    if acts:
        return moved
    return gates.Moved(*(kind if settings.on else kind.without_inertia).reset(u_star, *knobs), moved.state)
