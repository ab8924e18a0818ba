"""The result tables that ship, read as they are: every number on a page is one of theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from knob_core.library import result_tables
from knob_core.library.result_tables import EVALUATE, MADE_BY, NEEDED

FOLDER = result_tables.RESULTS


class Missing(Exception):
    """A table is not there or cannot be read; the message names it and the command that makes it."""

    def __init__(self, what: str, command: str) -> None:
        super().__init__(f"{what} Make it: `{command}`")
        self.what, self.command = what, command


def table(name: str) -> pd.DataFrame:
    """A table by its name, as a copy, if it has the columns that the pages need."""
    path, command = FOLDER / f"{name}.csv", MADE_BY.get(name, EVALUATE)
    if not path.is_file():
        raise Missing(f"`{path.name}` is not in `assets/results` yet.", command)
    try:
        frame = _read(str(path), path.stat().st_mtime_ns).copy()
    except ValueError as error:
        raise Missing(f"`{path.name}` cannot be read ({error.__cause__}).", command) from error
    lacking = [column for column in NEEDED.get(name, ()) if column not in frame.columns]
    if lacking:
        raise Missing(f"`{path.name}` lacks {', '.join(lacking)}.", command)
    return frame


@st.cache_data(max_entries=32, show_spinner=False)
def _read(path: str, changed: int) -> pd.DataFrame:
    return result_tables.read(Path(path))


def note() -> dict[str, Any]:
    """What the evaluation says about itself; empty where it says nothing."""
    try:
        found = json.loads((FOLDER / "evaluation.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def changed(name: str) -> int:
    """When a table was last written, for caches; 0 where there is none."""
    path = FOLDER / f"{name}.csv"
    return path.stat().st_mtime_ns if path.is_file() else 0


def temperatures() -> dict[tuple[str, int, str, str], float]:
    """(method, seed, output, fitted on) -> T; empty where the table is missing."""
    try:
        rows = table("temperatures")
    except Missing:
        return {}
    keys = zip(rows["method"], rows["seed"].astype(int), rows["output"], rows["fitted_on"], strict=True)
    return dict(zip(keys, rows["temperature"].astype(float), strict=True))
