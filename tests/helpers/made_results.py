"""Made-up result tables with the columns of the real ones: for tests only, nothing of it ships."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from app.console.stream_choice import CORRUPTION_NAMES
from app.results.benchmark_tables import METHODS, METRICS, OUTPUTS
from app.results.learning_curves import SUBSETS
from knob_core import methods
from knob_core.methods import GATED

TRAINING = ("speckle_noise", "gaussian_blur", "spatter", "saturate")
SEEDS = (0, 1, 2)


def cells() -> pd.DataFrame:
    """One row a method, seed, corruption and severity."""
    rng = np.random.default_rng(0)
    rows = []
    for method in METHODS:
        for seed in SEEDS:
            for name in ("clean", *CORRUPTION_NAMES):
                for severity in (0,) if name == "clean" else (1, 2, 3, 4, 5):
                    row = {"method": method, "seed": seed, "corruption": name, "severity": severity, "n": 2000}
                    for output in OUTPUTS if method in GATED else ("fused", "fused_t_clean", "fused_t_corrupted"):
                        for metric in METRICS:
                            row[f"{output}_{metric}"] = (
                                rng.uniform(0.6, 0.9) if metric == "accuracy" else rng.uniform(0.02, 0.2)
                            )
                    rows.append(row)
    return pd.DataFrame(rows)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Means over severities, then over corruptions."""
    scopes = {
        "all 19": CORRUPTION_NAMES,
        "standard 15": [name for name in CORRUPTION_NAMES if name not in TRAINING],
        "training 4": TRAINING,
        "clean": ["clean"],
    }
    rows = []
    for (method, seed), part in table.groupby(["method", "seed"], sort=False):
        for scope, names in scopes.items():
            means = part[part["corruption"].isin(names)].groupby("corruption").mean(numeric_only=True).mean()
            for output in OUTPUTS:
                values = {metric: means[f"{output}_{metric}"] for metric in METRICS}
                if not np.isnan(values["accuracy"]):
                    rows.append({"method": method, "seed": seed, "scope": scope, "output": output, **values})
    return pd.DataFrame(rows)


def learning() -> pd.DataFrame:
    """Curves that rise."""
    rng = np.random.default_rng(1)
    rows = []
    for method in (*METHODS, "warm"):
        for seed in SEEDS:
            for epoch in range(9):
                part = epoch / 8
                row: dict[str, float | str | int] = {"recipe": "pocket", "method": method, "seed": seed, "epoch": epoch}
                row |= {"clean_accuracy": 0.5 + 0.4 * part, "loss": 2 - part}
                if method in GATED:
                    for subset in SUBSETS:
                        row[f"auc_oa_{subset}"] = 0.5 + 0.27 * part + rng.normal(0, 0.01)
                        row[f"auc_gca_{subset}"] = 0.5 + 0.21 * part + rng.normal(0, 0.01)
                    row |= {"polarisation": 0.02 + 0.1 * part, "saturated": 0.0}
                    row |= {"gate_clean": 0.5 + 0.25 * part, "gate_corrupted": 0.5 - 0.1 * part}
                if method in GATED and "zeta" in methods.METHODS[method].gate.knobs:
                    row |= {"zeta": 0.9 - 0.2 * part, "omega_n": 1 - 0.3 * part}
                rows.append(row)
    return pd.DataFrame(rows)


def write(folder: Path) -> Path:
    """All tables that the pages read."""
    folder.mkdir(parents=True, exist_ok=True)
    table = cells()
    frames = {"cells": table, "summary": summary(table), "learning": learning()}
    rng = np.random.default_rng(2)
    frames["cost"] = pd.DataFrame(
        [
            {
                "width": width, "method": method, "parameters": 1000 * width**2 + i, "macs": 140_000 * width**2 + i,
                "latency_ms": 2.0 + i, "ratio_to_static": 1 + 0.02 * i, "ratio_q25": 1 + 0.01 * i,
                "ratio_q75": 1 + 0.03 * i, "rounds": 10, "threads": 1, "device": "cpu",
            }
            for width in (16, 64)
            for i, method in enumerate(METHODS)
        ]
    )  # fmt: skip
    frames["paper"] = pd.DataFrame(
        [
            {"method": m, "avg_c": 70 + i, "ece_deb": 0.1 + i / 99, "latency_ms": 3 + i, "params_m": 12, "gflops": 0.5}
            for i, m in enumerate(METHODS)
        ]
    )  # fmt: skip
    frames["anchors"] = pd.DataFrame(
        [
            {"what": "made-up training", "network": "ResNet-18", "avg_c": 74.5, "ece": 0.16},
            {"what": "another", "network": "WRN-28-10", "avg_c": np.nan, "ece": 0.015},
        ]
    )
    frames["claims"] = pd.DataFrame(
        [
            {"what": "a made-up claim", "target": ">= 1", "measured": "2", "holds": True},
            {"what": "another made-up claim", "target": ">= 1", "measured": "0", "holds": False},
        ]
    )
    frames["temperatures"] = pd.DataFrame(
        [
            {"method": m, "seed": s, "output": o, "fitted_on": on, "temperature": rng.uniform(0.8, 1.6)}
            for m in METHODS
            for s in SEEDS
            for o in (("fused", "settled") if m in GATED else ("fused",))
            for on in ("clean", "corrupted")
        ]
    )
    for name, frame in frames.items():
        frame.to_csv(folder / f"{name}.csv", index=False, float_format="%.6g")
    note = {"images": 2000, "pixels": "made up", "models": {f"{m}-s{s}": {} for m in METHODS for s in SEEDS}}
    (folder / "evaluation.json").write_text(json.dumps(note))
    return folder
