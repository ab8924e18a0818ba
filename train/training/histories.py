"""The curves of training (E-2 over epochs) from runs/<recipe>/<method>-s<seed>/history.csv, as one tidy table."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from knob_core.library import result_tables
from knob_core.models import METHODS

FOLDER = re.compile(rf"({'|'.join(METHODS)}|static-smoothed|warm)-s(\d+)")


def gather(runs: Path) -> pd.DataFrame | None:
    """One row for each recipe, method, seed and epoch; None where there are no runs."""
    parts = []
    for path in sorted(runs.glob("*/*/history.csv")):
        match = FOLDER.fullmatch(path.parent.name)
        if match:
            part = result_tables.read(path)
            part.insert(0, "recipe", path.parent.parent.name)
            part.insert(1, "method", match[1])
            part.insert(2, "seed", int(match[2]))
            parts.append(part)
    return pd.concat(parts, ignore_index=True) if parts else None
