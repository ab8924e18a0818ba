"""All result files, read once, and the few ways in which the report condenses them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from knob_core.library import benchmark, result_tables
from knob_core.library.benchmark import METHODS as NAMES
from knob_core.methods import GATED

__all__ = ["NAMES", "Results", "Spread", "markdown", "number"]


class Results:
    """The result files of a folder, as data frames."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.frames: dict[str, pd.DataFrame] = {}

    def __getitem__(self, name: str) -> Any:  # a DataFrame; its stubs take every cell for a date, a text ...
        if name not in self.frames:
            self.frames[name] = result_tables.read_table(name, self.folder)
        return self.frames[name]

    @cached_property
    def note(self) -> dict[str, Any]:
        return result_tables.read_note(self.folder)

    @cached_property
    def methods(self) -> list[str]:
        """The methods that were evaluated, in the order of `knob_core.methods`."""
        found = set(self["summary"]["method"])
        return [method for method in NAMES if method in found]

    @cached_property
    def gated(self) -> list[str]:
        """Those of them with a gate."""
        return [method for method in GATED if method in self.methods]

    @cached_property
    def seeds(self) -> list[int]:
        return sorted(int(seed) for seed in self["summary"]["seed"].unique())

    def over_seeds(self, method: str, output: str, scope: str, metric: str) -> Spread:
        """Mean and scatter over seeds of an average over cells."""
        found = benchmark.over_seeds(self["summary"], output, scope).set_index("method").reindex([method])
        return Spread(float(found[f"{metric}_mean"].iloc[0]), float(found[f"{metric}_std"].iloc[0]))


@dataclass(frozen=True)
class Spread:
    """A mean over seeds and the standard deviation of one seed."""

    mean: float
    std: float  # NaN for a single seed

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
