"""One row for each method, seed, corruption and severity: how right and how rightly sure every output is.

Outputs: fused (Reset Mode, the paper's tables), settled (the gate of a stream at rest, and Reset Mode normalised at the
trained knobs: `knob_core.gates`), static, dyn; fused and settled with a temperature on top, fitted on held-out clean
images or on the four training corruptions; and for gated models their plain rivals, a constant gate and the better
branch (`train.measuring.plain_rivals`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from knob_core import gate
from knob_core.corruptions import NAMES, TEST, TRAINING
from knob_core.metrics import temperature_scaling
from train.measuring import picture_scores, plain_rivals
from train.measuring.branch_cache import BranchCache
from train.measuring.branch_outputs import BranchArrays, Member
from train.measuring.cell_images import HELD_OUT, CellPixels, HeldOutPixels
from train.measuring.picture_scores import CellScores, PictureScores
from train.measuring.plain_rivals import PlainRivals

METRICS = ("accuracy", "nll", "brier", "ece", "ece_deb")
FITTED_ON = dict(zip(("clean", "corrupted"), HELD_OUT, strict=True))
SCOPES = {"all 19": NAMES, "standard 15": TEST, "training 4": TRAINING, "clean": ("clean",)}


@dataclass(frozen=True)
class Fitted:
    """What was chosen for one model on held-out images."""

    temperatures: dict[tuple[str, str], float]  # (output, fitted on) -> T, for what a model finally says
    plain: PlainRivals | None  # None where there is no gate


def logits(member: Member, branches: BranchArrays) -> dict[str, NDArray[np.float32]]:
    """Every output (N, K) of a model; a single branch has but one."""
    outputs = branches.outputs()
    found = {"fused": member.model.logits(outputs, "reset").detach().numpy()}
    if member.gated:
        found["settled"] = member.model.logits(outputs, "settled").detach().numpy()
        found |= {"static": branches.z_static, "dyn": branches.z_dyn}
    return found


def says(member: Member, branches: BranchArrays) -> NDArray[np.float32]:
    """What a model says of pictures one by one, (N, K): with the gate that it was trained through."""
    found = logits(member, branches)
    return found.get("settled", found["fused"])


def fit(member: Member, cache: BranchCache, pixels: HeldOutPixels) -> Fitted:
    """Temperatures, and for a gated model its constant gate and its better branch."""
    found, plain = {}, None
    for fitted_on, unit in FITTED_ON.items():
        (branches,) = cache.load(member, unit)
        labels = pixels.labels[pixels.order(unit)]
        for output, z in logits(member, branches).items():
            if output in ("fused", "settled"):
                found[output, fitted_on] = temperature_scaling.fit(z, labels)
        if member.gated and fitted_on == "corrupted":
            plain = plain_rivals.choose(branches, labels)
    return Fitted(found, plain)


def measure(
    member: Member, cache: BranchCache, pixels: CellPixels, fitted: Fitted
) -> tuple[list[dict[str, Any]], dict[str, dict[str, PictureScores]]]:
    """The 96 rows of a model, clean, then corruption by corruption; and output -> scope -> what each picture adds."""
    rows: list[dict[str, Any]] = []
    scored: dict[str, dict[str, list[CellScores]]] = {}  # output -> corruption -> one for each severity
    for unit in pixels.units:
        for severity, branches in zip(pixels.severities(unit), cache.load(member, unit), strict=True):
            row: dict[str, Any] = {"method": member.title, "seed": member.seed}
            row |= {"corruption": unit, "severity": severity, "n": len(pixels.labels)}
            if member.gated:
                row |= {"u_star_mean": float(branches.u_star.mean()), "gate_mean": _gate_mean(branches)}
            for output, z in _all_outputs(member, branches, fitted).items():
                cell = picture_scores.score(z, pixels.labels)
                scored.setdefault(output, {}).setdefault(unit, []).append(cell)
                row |= {f"{output}_{name}": value for name, value in cell.measure().items()}
            rows.append(row)
    scopes = _scopes(set(pixels.units))
    return rows, {output: picture_scores.gather(cells, scopes) for output, cells in scored.items()}


def _all_outputs(member: Member, branches: BranchArrays, fitted: Fitted) -> dict[str, NDArray]:
    found = logits(member, branches)
    for (output, fitted_on), temperature in fitted.temperatures.items():
        found[f"{output}_t_{fitted_on}"] = temperature_scaling.apply(found[output], temperature)
    return found | (fitted.plain.logits(branches) if fitted.plain is not None else {})


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
