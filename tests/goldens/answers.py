"""300 frames of made-up logits through `respond` and `KnobStream`: every method, memory and mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from knob_core.branches import Branches
from knob_core.response import respond
from knob_core.runtime import KnobStream
from knob_core.runtime.sources import Branch
from knob_core.settings import Settings

METHODS = ("static", "attention", "knob-ia", "ode-lite", "knob-ode")  # that there were when this was recorded
FRAMES, CLASSES = 300, 4
KNOBS = {"zeta": 0.6, "omega_n": 0.3}
TURNS = {  # frame -> knobs from there on
    60: {"omega_n": 1.2}, 120: {"zeta": 0.15}, 150: {"on": False}, 170: {"on": True, "omega_n": 0.08},
    220: {"zeta": 2.5, "temperature": 1.4}, 260: {"omega_n": 2.8},
}  # fmt: skip
RESTART = 200  # the frame before which the state is written and read by another stream


def off() -> dict[str, np.ndarray]:
    """The paper's modes: no memory."""
    found: dict[str, np.ndarray] = {}
    for mode in ("continuous", "reset"):
        found |= _all(f"{mode}/off", Settings(**KNOBS, memory="off", mode=mode))
    return found | _all("knob off", Settings(**KNOBS, memory="off", on=False))


def with_memory() -> dict[str, np.ndarray]:
    """Plain and attentive memory, which act in Continuous Mode only."""
    return {
        **_all("continuous/plain", Settings(**KNOBS, memory="plain")),
        **_all("continuous/attentive", Settings(**KNOBS, memory="attentive")),
    }


def reset_answers(memory: str) -> dict[str, np.ndarray]:
    """Reset Mode remembers nothing: these are the answers of `off`, whatever memory is chosen."""
    return _all("reset/off", Settings(**KNOBS, memory=memory, mode="reset"))


def stream() -> Branches:
    """(1, T, K) logits of a class that changes now and then, in noise that comes and goes; u* falls with the noise."""
    rng = np.random.default_rng(20)
    labels = rng.integers(0, CLASSES, FRAMES)[np.cumsum(rng.random(FRAMES) < 1 / 30)]
    noise = np.repeat(rng.choice([0.5, 1.5, 3.0], FRAMES // 20), 20)
    truth = np.eye(CLASSES)[labels]
    z_static = 2.5 * truth + rng.normal(0, 0.5 + 0.3 * noise[:, None], truth.shape)
    z_dyn = 4.0 * truth + rng.normal(0, noise[:, None], truth.shape)
    u_star = 2.0 - 1.3 * noise + rng.normal(0, 0.4, FRAMES)
    return Branches(z_static[None], z_dyn[None], u_star[None], labels[None], np.zeros(FRAMES))


class Logits:
    """A source whose frames are branch outputs already, with any method's gate."""

    num_classes = CLASSES
    knobs = command = attentive = None

    def __init__(self, method: str) -> None:
        self.method = method

    def is_single(self, frames: Any) -> bool:
        return False

    def __call__(self, frames: Any) -> Branch:
        return Branch(*frames)


def _all(name: str, settings: Settings) -> dict[str, np.ndarray]:
    branches, found = stream(), {}
    for method in METHODS:
        response, _ = respond(branches, settings, method)
        whole = {"u": response.u, "g": response.g, "p": response.probabilities, "label": response.predicted}
        found |= {f"{name}/{method}/respond/{part}": array[0] for part, array in whole.items()}
        found |= {f"{name}/{method}/step/{part}": x for part, x in _step_by_step(branches, settings, method).items()}
    return found


def _step_by_step(branches: Branches, settings: Settings, method: str) -> dict[str, np.ndarray]:
    """Frame by frame with lost frames, gaps, turns, and a restart from the state."""
    running, answers = KnobStream(Logits(method), settings=settings, streams=1), []
    for t in range(FRAMES):
        if t == RESTART:
            again = KnobStream(Logits(method), settings=running.settings, streams=1)
            again.load_state_dict(running.state_dict())
            running = again
        running.turn(**TURNS.get(t, {}))
        frame = branches.z_static[:, t], branches.z_dyn[:, t], branches.u_star[:, t]
        if t % 37 == 5:
            answers.append(running.step(None))
        elif t % 41 == 7:
            answers.append(running.step((np.full_like(frame[0], np.nan), *frame[1:])))
        else:
            answers.append(running.step(frame, elapsed=3.5 if t % 43 == 9 else None))
    return {
        "g": np.array([answer.g[0] for answer in answers]),
        "p": np.array([answer.probabilities[0] for answer in answers]),
        "label": np.array([answer.label[0] for answer in answers]),
    }
