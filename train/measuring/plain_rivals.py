"""The plainest things that could explain what a gate achieves, each with its one choice made on held-out images.

    constant    z_static + c (z_dyn - z_static), one c for all inputs; cross-entropy is convex in c
    better      the branch with the lower cross-entropy, alone
Both choices look at held-out training images under the four training corruptions, as a temperature does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from knob_core import fusion, metrics
from knob_core.data import Labels
from train.measuring.branch_outputs import BranchArrays

BRANCHES = ("static", "dyn")


@dataclass(frozen=True)
class PlainRivals:
    constant: float  # the gate, in [0, 1]
    better: str  # one of BRANCHES

    def logits(self, branches: BranchArrays) -> dict[str, NDArray]:
        """By the name of the output, (N, K)."""
        g = np.full(len(branches.u_star), self.constant, np.float32)
        alone = branches.z_static if self.better == "static" else branches.z_dyn
        return {"constant": fusion.mix(branches.z_static, branches.z_dyn, g), "better": alone}


def choose(branches: BranchArrays, labels: Labels) -> PlainRivals:
    """From branch outputs of held-out images."""
    from scipy.optimize import minimize_scalar

    z_static, z_dyn = (z.astype(np.float64) for z in (branches.z_static, branches.z_dyn))

    def loss(c: float) -> float:
        return float(metrics.cross_entropy(z_static + c * (z_dyn - z_static), labels).mean())

    found = minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-6})
    return PlainRivals(float(found.x), BRANCHES[int(loss(1.0) < loss(0.0))])
