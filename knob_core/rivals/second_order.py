"""Second-order memory of the logits: the gate's own recursion, once per class, without attention.

m'' + 2 zeta omega_n m' + omega_n^2 m = omega_n^2 z, discretised as in `knob_core.gate`, from [m, v] = [z_0, 0].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from knob_core import gate
from knob_core.rivals.base import Filter, Floats, Range


class SecondOrderState(NamedTuple):
    x: Floats  # (R, K, 2) = [m, v]
    zi: Floats  # (R, K, 2) the compiled filter's own delays, see `gate.SpringState`; NaN where it was not used


@dataclass(frozen=True)
class SecondOrder(Filter):
    """answer = m; zeta damps, omega_n is the speed in rad/frame."""

    omega_n: float
    zeta: float = 1.0

    NAME: ClassVar = "second-order memory"
    KNOWN_AS: ClassVar = "a low-pass of second order"
    PARAMETERS: ClassVar = {"omega_n": Range(0.05, 4.0, "log"), "zeta": Range(0.2, 3.0, "log")}
    SWEEP: ClassVar = "omega_n"

    def __post_init__(self) -> None:
        self._require("omega_n", 0, above=True)
        self._require("zeta", 0)

    def _run(self, z: Floats, state: SecondOrderState | None, u: Floats | None) -> tuple[Floats, SecondOrderState]:
        x = np.stack([z[:, 0], np.zeros_like(z[:, 0])], -1) if state is None else state.x
        first = x.view(gate.SpringState)
        first.zi = None if state is None else state.zi
        m, end = gate.run(z, self.zeta, self.omega_n, state=first, axis=1)
        zi = getattr(end, "zi", None)
        return m, SecondOrderState(np.asarray(end), np.full(end.shape, np.nan) if zi is None else zi)
