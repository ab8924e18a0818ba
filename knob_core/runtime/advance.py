"""One frame of many streams: from branch outputs and a state to an answer and the next state.

gate, memory and fusion as `knob_core.response` does over a whole stream. Nothing is changed in place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from knob_core import fusion, gates, metrics
from knob_core._arrays import ruled_out
from knob_core.gates import NO_GATE, Gate
from knob_core.memories import Frames, Memory, Remembered
from knob_core.response import tempered
from knob_core.runtime.answer import Answer
from knob_core.runtime.sources import Branch, Source, gate_of
from knob_core.runtime.state import State
from knob_core.settings import Settings


def advance(
    old: State,
    branch: Branch,
    elapsed: np.ndarray,  # (N,) frames
    clock: np.ndarray,  # (N,) s
    knobs: tuple[Any, Any],  # zeta, omega_n that act on this frame: for all streams, or (N,) each
    settings: Settings,  # for its switches
    source: Source,
) -> tuple[Answer, State]:
    """Rows that are not finite hold their last good frame; the memory goes on while it is switched off."""
    kind, acting = gate_of(source), settings.acting_memory(source.attentive)
    z_static = np.array(ruled_out.finite(branch.z_static), np.float64)  # (N, K)
    z_dyn = np.array(ruled_out.finite(branch.z_dyn), np.float64) if kind.gated else z_static
    u_star = np.array(branch.u_star, np.float64)
    good = np.isfinite(z_static.sum(-1) + z_dyn.sum(-1) + u_star)  # (N,)
    whole = bool(good.all())
    if not whole:
        z_static, z_dyn = np.where(good[:, None], z_static, old.z_static), np.where(good[:, None], z_dyn, old.z_dyn)
        u_star = np.where(good, u_star, old.u_star)
    now, held = Frames(z_static, z_dyn, u_star), Frames(old.z_static, old.z_dyn, old.u_star)
    if acting is not None:
        found = acting.advance(now, held, elapsed, ~good, kind, *knobs, old.spring)
    else:
        found = _without_memory(now, held, elapsed, good, kind, knobs, settings, source, old)
    seen = found.state.seen
    p = tempered(found.probabilities, settings.temperature)
    alone = z_static if not kind.gated else fusion.mix(z_static, z_dyn, kind.without_inertia.reset_g(u_star, *knobs))
    label = np.where(seen, p.argmax(-1), -1)
    apart = np.where(seen & (alone.argmax(-1) != label), old.apart + 1, 0)
    nothing = np.zeros(len(good)) if whole else np.where(seen, 0.0, np.nan)
    t_eff, csr = fusion.shrinkage(z_static, z_dyn, found.g) if kind.gated else (nothing + 1, nothing + 1)
    age = np.zeros(len(good)) if whole else np.where(good, 0.0, np.where(old.seen, old.age + elapsed, 0.0))
    zeta, omega_n = knobs
    answer = Answer(
        p, label, p.max(-1), found.g, found.u, u_star.copy(), found.omega, t_eff + nothing, csr + nothing, apart.copy(),
        ~good, age.copy(), zeta, omega_n,
    )  # fmt: skip
    return answer, State(found.state.gate, found.state.classes, z_static, z_dyn, u_star, seen, age, apart, clock)


def _without_memory(
    now: Frames, held: Frames, elapsed: np.ndarray, good: np.ndarray, kind: Gate, knobs: tuple[Any, Any],
    settings: Settings, source: Source, old: State,
) -> Remembered:  # fmt: skip
    """The paper's answer. The gate and the memory go on whatever their switches say."""
    moved = kind.advance(gates.Frame(now.u_star, held.u_star, elapsed), *knobs, old.gate)
    u, g = moved.u, moved.g
    if not (settings.on and settings.mode == "continuous"):
        u, g = (kind if settings.on else kind.without_inertia).reset(now.u_star, *knobs)
    z = fusion.mix(now.z_static, now.z_dyn, g)
    none = np.zeros(len(u))
    shown, before = Frames(z, z, none), Frames(held.z_static, held.z_static, none)
    rest = Memory(np.zeros((len(u), 0)), old.memory, old.seen)
    weights = settings.attentive_weights(source.attentive)
    after = weights.advance(shown, before, elapsed, ~good, NO_GATE, *knobs, rest).state
    omega = np.broadcast_to(np.asarray(knobs[1], np.float64), u.shape)
    return Remembered(metrics.softmax(z), u, g, omega, after._replace(gate=moved.state))
