"""What a stream becomes under a setting: gate, fusion, memory and confidence of every frame.

Memory off is the paper: u = gate(u*), g = sigmoid(u), z_fuse = g z_dyn + (1-g) z_static, p = softmax(z_fuse).
With a memory the gate moves with it, as one spring (`knob_core.knob`). The answer is p^(1 / temperature), normalised.
The state goes in and comes out, so frames may come all at once or one by one, with other knobs every time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from knob_core import fusion, gates, methods, metrics
from knob_core.branches import Branches
from knob_core.gates import Gate
from knob_core.memories import Attentive, Frames, Memory, Remembered, at_rest
from knob_core.settings import Settings


@dataclass(frozen=True)
class Response:
    """Every frame of every path under one setting."""

    u: np.ndarray  # (R, T)
    g: np.ndarray  # (R, T) in (0, 1)
    omega: np.ndarray  # (R, T) the natural frequency that acted, rad/frame
    probabilities: np.ndarray  # (R, T, K)
    p_max: np.ndarray  # (R, T)
    predicted: np.ndarray  # (R, T) class

    def without(self, missing: np.ndarray | None) -> Response:
        """The same, with NaN and the class -1 where there is no frame: `Branches.missing` (R, T)."""
        if missing is None:
            return self
        gone = missing.astype(bool)
        g, omega, p_max = (np.where(gone, np.nan, x) for x in (self.g, self.omega, self.p_max))
        p = np.where(gone[..., None], np.nan, self.probabilities)
        return replace(
            self, g=g, omega=omega, p_max=p_max, probabilities=p, predicted=np.where(gone, -1, self.predicted)
        )


def respond(
    branches: Branches,
    settings: Settings,
    method: str = methods.DEFAULT,
    state: Memory | None = None,
    attentive: Attentive | None = None,
    reset_reference: float | None = None,
) -> tuple[Response, Memory]:
    """Run the stream from `state` (None: at rest) with the knobs held still.

    Given a state (at first `at_rest`), the memory goes on while it is switched off, as in `knob_core.runtime`.
    `attentive` and `reset_reference` belong to the model: its weights (the settings' own come first), and the form of
    its Reset Mode (`knob_core.gates`).
    """
    kind, knobs = methods.get(method).gate.normalised(reset_reference), (settings.zeta, settings.omega_n)
    frames = Frames(branches.z_static, branches.z_dyn, branches.u_star)
    acting = settings.acting_memory(attentive)
    if acting is not None:
        remembered = acting.run(frames, kind, *knobs, state)
    else:
        remembered = without_memory(frames, kind, settings, state, settings.attentive_weights(attentive))
    p = tempered(remembered.probabilities, settings.temperature)
    response = Response(remembered.u, remembered.g, remembered.omega, p, p.max(-1), p.argmax(-1))
    return response.without(branches.missing), remembered.state


def without_memory(
    frames: Frames, kind: Gate, settings: Settings, state: Memory | None, weights: Attentive
) -> Remembered:
    """The paper's answer; a memory that was begun follows what is shown."""
    knobs = settings.zeta, settings.omega_n
    u, g, gate = _gate(kind, frames.u_star, settings, None if state is None else state.gate)
    z = fusion.fuse(frames.z_static, frames.z_dyn, g)
    lead, classes = z.shape[:2], z.shape[2]
    after = at_rest(lead[0], classes, kind) if state is None else state
    if state is not None:
        shown = Frames(z, z, np.zeros(lead))
        after = weights.run(shown, gates.NO_GATE, *knobs, after._replace(gate=np.zeros((lead[0], 0)))).state
    omega = np.full(lead, settings.omega_n)
    return Remembered(metrics.softmax(z), u, g, omega, after if gate is None else after._replace(gate=gate))


def gate_alone(
    u_star: np.ndarray, settings: Settings, method: str = methods.DEFAULT, reset_reference: float | None = None
) -> np.ndarray:
    """u (R, T) of the gate from rest with memory off, without the answers that it leads to."""
    return _gate(methods.get(method).gate.normalised(reset_reference), u_star, settings, None).u


def tempered(p: np.ndarray, temperature: float) -> np.ndarray:
    """softmax(log p / temperature) of probabilities (..., K)."""
    return p if temperature == 1.0 else metrics.softmax(np.log(np.maximum(p, 1e-300)) / temperature)


def _gate(kind: Gate, u_star: np.ndarray, settings: Settings, state: np.ndarray | None) -> gates.Moved:
    """(u, g, the running gate's state (R, S); None where nothing runs)."""
    knobs = (settings.zeta, settings.omega_n)
    acts = settings.on and settings.mode == "continuous"
    moved = gates.Moved(u_star, u_star, None)
    if acts or state is not None:
        moved = kind.run(u_star, *knobs, state=None if state is None else kind.unpacked(state))
    packed = None if moved.state is None else kind.packed(moved.state)
    if acts:
        return gates.Moved(moved.u, moved.g, packed)
    return gates.Moved(*(kind if settings.on else kind.without_inertia).reset(u_star, *knobs), packed)
