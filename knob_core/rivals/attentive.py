"""Our own attentive memory as a filter of logits, so that it is tuned and compared as its rivals are.

Equations: `knob_core.memories.attentive`. Only omega_n is turned between calm and alert; the output temperature is the
tuner's, so the weights that shape it (t_0 to t_3) stay out. By default the brake is full, and what is remembered is a
mean of probabilities near the arithmetic one (pool).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from knob_core.memories import Attentive
from knob_core.rivals.base import Filter, Floats, Range


class AttentiveState(NamedTuple):
    x: np.ndarray  # (R, K + 1, 2)


@dataclass(frozen=True)
class AttentiveMemory(Filter):
    """Memory and eye in the answer; `u` is a network's command, which a single classifier does not have."""

    omega_n: float
    zeta: float = 1.0
    b: float = 5.0
    c: float = 1.0
    d: float = 2.0
    tau: float = 1.4
    eps: float = 0.01
    eye: float = 0.35
    brake: float = 1.0
    clip: float = 1e-3
    pool: float = 0.75
    u_mean: float = 0.0
    u_scale: float = 1.0

    NAME: ClassVar = "attentive memory"
    PARAMETERS: ClassVar = {
        "omega_n": Range(0.001, 4.0, "log"),
        "zeta": Range(0.3, 3.0, "log"),
        "b": Range(0.0, 8.0, "linear"),
        "c": Range(0.0, 3.0, "linear"),
        "d": Range(0.0, 6.0, "linear"),
        "tau": Range(0.3, 3.0, "log"),
        "eps": Range(1e-4, 0.3, "log"),
        "eye": Range(0.0, 0.7, "linear"),
    }
    SWEEP: ClassVar = "omega_n"

    def __post_init__(self) -> None:
        self._require("omega_n", 0, above=True)
        self._require("zeta", 0)

    @property
    def weights(self) -> Attentive:
        """As the runtime takes them."""
        turn = {name: getattr(self, name) for name in ("b", "c", "d", "tau", "eps", "u_mean", "u_scale")}
        return Attentive(a=0.0, brake=self.brake, eye=self.eye, clip=self.clip, pool=self.pool, **turn)

    def _run(self, z: Floats, state: AttentiveState | None, u: Floats | None) -> tuple[Floats, AttentiveState]:
        memory = self.weights
        u = None if u is None else memory.command(u)
        found = memory.run_logits(z, self.zeta, self.omega_n, None if state is None else state.x, u)
        return found.z, AttentiveState(found.state)


@dataclass(frozen=True)
class AttentiveSingle(AttentiveMemory):
    """The same for a classifier without a command: c = 0."""

    c: float = 0.0

    NAME: ClassVar = "attentive memory without u*"
    PARAMETERS: ClassVar = {name: span for name, span in AttentiveMemory.PARAMETERS.items() if name != "c"}


@dataclass(frozen=True)
class AttentiveFirstOrder(AttentiveMemory):
    """m <- m + g (z - m): so much damping that v has no say, and omega_n larger by twice that."""

    zeta: float = 100.0

    NAME: ClassVar = "attentive memory of first order"
    PARAMETERS: ClassVar = {
        **{name: span for name, span in AttentiveMemory.PARAMETERS.items() if name != "zeta"},
        "omega_n": Range(0.2, 800.0, "log"),
    }
