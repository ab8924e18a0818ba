"""One frame of many streams: from branch outputs and a state to an answer and the next state.

memory -> command -> gate -> fusion, each as `knob_core.response` does over a whole stream. Nothing is changed in place.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from knob_core import gates
from knob_core._arrays import ruled_out
from knob_core.gates import Gate
from knob_core.memories import PLAIN, Attentive, Gap, Inputs
from knob_core.runtime.answer import Answer, answer
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
    """Rows that are not finite hold their last good frame; memory and gate go on behind their switches."""
    branch = branch._replace(z_static=ruled_out.finite(branch.z_static), z_dyn=ruled_out.finite(branch.z_dyn))
    good = np.isfinite(branch.z_static).all(axis=1) & np.isfinite(branch.z_dyn).all(axis=1)  # (N,)
    if branch.u_star is not None:
        good &= np.isfinite(branch.u_star)
    first, seen, whole = good & ~old.seen, good | old.seen, bool(good.all())
    z_static = branch.z_static if whole else np.where(good[:, None], branch.z_static, old.z_static)  # (N, K)
    z_dyn = branch.z_dyn if whole else np.where(good[:, None], branch.z_dyn, old.z_dyn)  # (N, K)
    held = Inputs(old.z_static, old.z_dyn, old.u_star, old.u_star, old.u_star)
    gap = Gap(held, elapsed, first, ~good)
    u_star, observer = branch.u_star, old.observer
    if source.command is not None:
        watched = source.command.zeta, source.command.omega_n
        z_seen, observer = PLAIN.follow(z_static, gap, *watched, observer)
        u_star = source.command(z_seen, z_dyn)
    assert u_star is not None, "a source without a command gives u_star"
    u_star = u_star if whole else np.where(good, u_star, old.u_star)  # (N,)
    kind = gate_of(source)
    u, g, x = _gate(kind, gates.Frame(u_star, old.u_star, elapsed), knobs, settings, old.gate)
    g_now, g_held = (kind.without_inertia.reset(command, *knobs)[1] for command in (u_star, old.u_star))
    now = Inputs(z_static, z_dyn, u_star, g, g_now)
    gap = gap._replace(held=held._replace(g=g_held, g_now=g_held))
    weights = settings.attentive_weights(source.attentive)
    plain = PLAIN.advance(now, gap, *knobs, old.memory)
    attentive = weights.advance(now, gap, *knobs, weights.converted(old.attentive, old.bend))
    acting = settings.acting_memory(weights)
    remembered = {PLAIN.name: plain, Attentive.name: attentive}.get(acting.name) or acting.advance(now, gap, *knobs, x)
    age = np.zeros(len(good)) if whole else np.where(good, 0.0, np.where(old.seen, old.age + elapsed, 0.0))
    kept = (z_static.copy(), z_dyn.copy(), u_star.copy())  # what a caller does to its arrays must not reach the state
    bend = np.full(len(good), weights.bend)
    new = State(x, plain.state, attentive.state, bend, observer, *kept, seen, age.copy(), clock)
    zeta, omega_n = knobs
    said = {"u": u, "u_star": u_star, "missing": ~good, "age": age, "zeta": zeta, "omega_n": omega_n}
    return answer(remembered, seen, settings.temperature, **said), new


def _gate(kind: Gate, now: gates.Frame, knobs: tuple[Any, Any], settings: Settings, state: np.ndarray) -> gates.Moved:
    """The gate's state goes on whatever its switch says."""
    moved = kind.advance(now, *knobs, state)
    if settings.on and settings.mode == "continuous":
        return moved
    return gates.Moved(*(kind if settings.on else kind.without_inertia).reset(now.u_star, *knobs), moved.state)
