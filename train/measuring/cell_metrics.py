"""One row for each method, seed, corruption and severity: how right and how rightly sure every output is.

Outputs: fused (Reset Mode, the paper's tables), settled (the gate of a stream at rest), static, dyn; and fused and
settled with a temperature on top, fitted on held-out clean images or on the four training corruptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from knob_core import gate, metrics
from knob_core.corruptions import NAMES, TEST, TRAINING
from knob_core.data import Labels
from knob_core.metrics import temperature_scaling
from train.measuring.branch_cache import BranchCache
from train.measuring.branch_outputs import BranchArrays, Member
from train.measuring.cell_images import HELD_OUT, CellPixels, HeldOutPixels

METRICS = ("accuracy", "nll", "brier", "ece", "ece_deb")
FITTED_ON = dict(zip(("clean", "corrupted"), HELD_OUT, strict=True))
SCOPES = {"all 19": NAMES, "standard 15": TEST, "training 4": TRAINING, "clean": ("clean",)}


def logits(member: Member, branches: BranchArrays) -> dict[str, NDArray[np.float32]]:
    """Every output (N, K) of a model; a single branch has but one."""
    outputs = branches.outputs()
    found = {"fused": member.model.logits(outputs, "reset").detach().numpy()}
    if member.gated:
        found["settled"] = member.model.logits(outputs, "settled").detach().numpy()
        found |= {"static": branches.z_static, "dyn": branches.z_dyn}
    return found


def measure(z: NDArray, labels: Labels) -> dict[str, float]:
    p = metrics.softmax(z.astype(np.float64))
    table = metrics.reliability_table(p, labels)
    values = (
        metrics.accuracy(p, labels),
        metrics.nll(p, labels),
        metrics.brier(p, labels),
        table.ece(),
        table.ece_debiased(),
    )
    return dict(zip(METRICS, values, strict=True))


def temperatures(member: Member, cache: BranchCache, pixels: HeldOutPixels) -> dict[tuple[str, str], float]:
    """(output, fitted on) -> T, for what a model finally says."""
    found = {}
    for fitted_on, unit in FITTED_ON.items():
        (branches,) = cache.load(member, unit)
        labels = pixels.labels[pixels.order(unit)]
        for output, z in logits(member, branches).items():
            if output in ("fused", "settled"):
                found[output, fitted_on] = temperature_scaling.fit(z, labels)
    return found


def rows(
    member: Member, cache: BranchCache, pixels: CellPixels, fitted: dict[tuple[str, str], float]
) -> Iterator[dict[str, Any]]:
    """The 96 rows of a model: clean, then corruption by corruption."""
    for unit in pixels.units:
        for severity, branches in zip(pixels.severities(unit), cache.load(member, unit), strict=True):
            row: dict[str, Any] = {"method": member.method, "seed": member.seed}
            row |= {"corruption": unit, "severity": severity, "n": len(pixels.labels)}
            found = logits(member, branches)
            for (output, fitted_on), temperature in fitted.items():
                found[f"{output}_t_{fitted_on}"] = temperature_scaling.apply(found[output], temperature)
            if member.gated:
                row |= {"u_star_mean": float(branches.u_star.mean()), "gate_mean": _gate_mean(branches)}
            for output, z in found.items():
                row |= {f"{output}_{name}": value for name, value in measure(z, pixels.labels).items()}
            yield row


def _gate_mean(branches: BranchArrays) -> float:
    """Of the settled gate, sigmoid(u*)."""
    return float(gate.sigmoid(branches.u_star.astype(np.float64)).mean())


def summarise(cells: pd.DataFrame) -> pd.DataFrame:
    """Means over severities, then over corruptions, one row for each method, seed, output and set of corruptions.

    A set that was measured in part goes by what it holds: "3 of 19".
    """
    outputs = [name.removesuffix("_accuracy") for name in cells.columns if name.endswith("_accuracy")]
    found = []
    for (method, seed), part in cells.groupby(["method", "seed"], sort=False):
        for scope, names in _scopes(set(part["corruption"])).items():
            chosen = part[part["corruption"].isin(names)]
            means = chosen.groupby("corruption").mean(numeric_only=True).mean()
            for output in outputs:
                values = {name: means[f"{output}_{name}"] for name in METRICS}
                if not np.isnan(values["accuracy"]):
                    found.append({"method": method, "seed": seed, "scope": scope, "output": output, **values})
    return pd.DataFrame(found)


def _scopes(measured: set[str]) -> dict[str, tuple[str, ...]]:
    whole = {scope: names for scope, names in SCOPES.items() if measured.issuperset(names)}
    some = tuple(name for name in NAMES if name in measured)
    return whole if "all 19" in whole else {f"{len(some)} of {len(NAMES)}": some, **whole}
