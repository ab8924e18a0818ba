"""Our own memory as a filter of logits, so that it is tuned and compared as its rivals are (`knob_core.knob`).

Only omega_n is turned between calm and alert; the output temperature is the tuner's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from knob_core.memories import Attentive, Memory
from knob_core.rivals.base import Filter, Floats, Range


@dataclass(frozen=True)
class AttentiveMemory(Filter):
    """Memory and frame in the answer, for a single classifier's logits."""

    omega_n: float
    zeta: float = 1.0
    b: float = 4.0
    d: float = 5.0
    tau: float = 1.2
    eps: float = 0.0023
    f: float = 0.3

    NAME: ClassVar = "attentive memory"
    PARAMETERS: ClassVar = {
        "omega_n": Range(0.001, 4.0, "log"),
        "zeta": Range(0.3, 3.0, "log"),
        "b": Range(0.0, 8.0, "linear"),
        "d": Range(0.0, 8.0, "linear"),
        "tau": Range(0.3, 3.0, "log"),
        "f": Range(0.0, 0.7, "linear"),
    }
    SWEEP: ClassVar = "omega_n"

    def __post_init__(self) -> None:
        self._require("omega_n", 0, above=True)
        self._require("zeta", 0)

    @property
    def weights(self) -> Attentive:
        """As the runtime takes them."""
        turn = {name: getattr(self, name) for name in ("b", "d", "tau", "eps", "f")}
        return Attentive(a=-0.75 * self.d, t_0=0.0, **turn)

    def _run(self, z: Floats, state: Memory | None, u: Floats | None) -> tuple[Floats, Memory]:
        found = self.weights.run_logits(z, self.zeta, self.omega_n, state)
        return found.z, found.state
