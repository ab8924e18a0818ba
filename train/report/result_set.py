"""All result files, read once, and the few ways in which the report condenses them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from knob_core.library import result_files

MADE_BY = {
    "cells": "python -m train.evaluate",
    "summary": "python -m train.evaluate",
    "temperatures": "python -m train.evaluate",
    "e1": "python -m train.evaluate",
    "e1_summary": "python -m train.evaluate",
    "e1_reliability": "python -m train.evaluate",
    "e2_test": "python -m train.evaluate",
    "learning": "python -m train.evaluate",
    "cost": "python -m train.cost",
    "streams": "python -m train.library",
    "trade_off": "python -m train.library",
    "e3_gate_bode": "python -m train.library",
    "e3_stream_bode": "python -m train.library",
    "e3_step": "python -m train.library",
    "e3_step_info": "python -m train.library",
}
NAMES = {
    "static": "Static",
    "attention": "Attention",
    "knob-ia": "Knob-IA",
    "ode-lite": "ODE-Lite",
    "knob-ode": "Knob-ODE",
}
GATED = ("knob-ia", "ode-lite", "knob-ode")


class Results:
    """The result files of a folder, as data frames."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.frames: dict[str, pd.DataFrame] = {}

    def __getitem__(self, name: str) -> Any:  # a DataFrame; its stubs take every cell for a date, a text ...
        if name not in self.frames:
            self.frames[name] = result_files.read(self.folder / f"{name}.csv", MADE_BY[name])
        return self.frames[name]

    @cached_property
    def note(self) -> dict[str, Any]:
        path = self.folder / "evaluation.json"
        if not path.is_file():
            raise FileNotFoundError(f"{path} is missing; make it: python -m train.evaluate")
        return json.loads(path.read_text(encoding="utf-8"))

    @cached_property
    def methods(self) -> list[str]:
        """The methods that were evaluated, in the family's order."""
        found = set(self["summary"]["method"])
        return [method for method in NAMES if method in found]

    @cached_property
    def seeds(self) -> list[int]:
        return sorted(int(seed) for seed in self["summary"]["seed"].unique())

    def over_seeds(self, method: str, output: str, scope: str, metric: str) -> Spread:
        """Mean and scatter over seeds of an average over cells."""
        frame = self["summary"]
        rows = frame[(frame["method"] == method) & (frame["output"] == output) & (frame["scope"] == scope)]
        return Spread.of(rows[metric].to_numpy())


@dataclass(frozen=True)
class Spread:
    """A mean over seeds and the standard deviation of one seed."""

    mean: float
    std: float  # NaN for a single seed

    @classmethod
    def of(cls, values: np.ndarray) -> Spread:
        values = np.asarray(values, np.float64)
        if not len(values):
            return cls(np.nan, np.nan)
        return cls(float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else np.nan)

    def show(self, digits: int, scale: float = 1.0) -> str:
        if np.isnan(self.mean):
            return "-"
        text = f"{scale * self.mean:.{digits}f}"
        return text if np.isnan(self.std) else f"{text} ± {scale * self.std:.{digits}f}"


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """A table; the first column to the left, numbers to the right."""
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def number(value: float, digits: int = 2) -> str:
    """A number, or a dash where there is none."""
    return "-" if value is None or not np.isfinite(value) else f"{value:.{digits}f}"
