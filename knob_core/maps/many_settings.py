"""Every measure of a set of streams at many settings of the knobs: the ordinary response, setting by setting."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np

from knob_core import methods
from knob_core._arrays import checks as check
from knob_core.branches import Branches
from knob_core.measures.change import measure_against
from knob_core.measures.truth import truth
from knob_core.memories import Attentive
from knob_core.response import respond
from knob_core.settings import Settings

PIECE = 8  # settings at a time: one piece of work of a map


class ManySettings:
    """One set of streams, ready to be measured at any knobs. Threads may share it."""

    def __init__(
        self,
        branches: Branches,
        settings: Settings | None = None,
        method: str = methods.DEFAULT,
        attentive: Attentive | None = None,
        same_class: bool = True,
        reset_reference: float | None = None,
    ) -> None:
        """`settings` says all but the knobs: memory, mode, weights.

        `attentive` are the model's own weights, `reset_reference` the form of its Reset Mode (`knob_core.gates`).
        """
        z_static, z_dyn = (np.ascontiguousarray(z, np.float64) for z in (branches.z_static, branches.z_dyn))
        self.branches, self.settings = replace(branches, z_static=z_static, z_dyn=z_dyn), settings or Settings()
        self.model = {"method": method, "attentive": attentive, "reset_reference": reset_reference}
        bare = respond(branches, Settings(on=False), method)[0].predicted
        self.known = truth(branches.frame_labels, bare, branches.content, same_class)

    @property
    def frames(self) -> int:
        """Of all streams together."""
        return self.branches.u_star.size

    def measure(self, zeta: np.ndarray, omega_n: np.ndarray) -> dict[str, np.ndarray]:
        """Every measure of `ChangeMeasures` at S settings, each (S,)."""
        zeta, omega_n = (np.ascontiguousarray(x, np.float64) for x in (zeta, omega_n))
        check.knobs(zeta, omega_n, 1.0)
        if zeta.ndim != 1 or zeta.shape != omega_n.shape or not len(zeta):
            raise ValueError(f"zeta and omega_n have shapes {zeta.shape}, {omega_n.shape}, expected one (S,), S >= 1")
        rows = [self._at(*knobs) for knobs in zip(zeta.tolist(), omega_n.tolist(), strict=True)]
        return {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def _at(self, zeta: float, omega_n: float) -> dict[str, float]:
        settings = replace(self.settings, zeta=zeta, omega_n=omega_n)
        response, _ = respond(self.branches, settings, **self.model)  # type: ignore[arg-type]
        return asdict(measure_against(self.known, response))
