"""Result files: tidy CSV, six significant digits, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from knob_core.assets import ASSETS

RESULTS = ASSETS / "results"


def write(rows: Iterable[Mapping[str, Any]] | pd.DataFrame, path: Path) -> pd.DataFrame:
    """Write rows as CSV and give them back as they will be read."""
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows))
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    frame.to_csv(part, index=False, float_format="%.6g", lineterminator="\n")
    part.replace(path)
    return read(path)


def read(path: Path, made_by: str = "") -> pd.DataFrame:
    """A result file; where it is missing, the error says which command makes it."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing" + (f"; make it: {made_by}" if made_by else ""))
    return pd.read_csv(path)
