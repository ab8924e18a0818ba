"""The result tables that ship, read as they are: every number on a page is one of theirs."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import streamlit as st

from knob_core.paths import ASSETS

FOLDER = ASSETS / "results"
EVALUATE = "python -m train.evaluate"


class Missing(Exception):
    """A table is not there or cannot be read; the message names it and the command that makes it."""


def table(name: str, command: str = EVALUATE) -> pd.DataFrame:
    """A table by its name, as a copy."""
    path = FOLDER / f"{name}.csv"
    if not path.is_file():
        raise Missing(f"`{path.name}` is not in `assets/results` yet. Make it: `{command}`")
    try:
        return _read(str(path), path.stat().st_mtime_ns).copy()
    except (ValueError, UnicodeDecodeError, pd.errors.ParserError) as error:
        raise Missing(f"`{path.name}` cannot be read ({error}). Make it anew: `{command}`") from error


@st.cache_data(max_entries=32, show_spinner=False)
def _read(path: str, changed: int) -> pd.DataFrame:
    return pd.read_csv(path)


def columns(frame: pd.DataFrame, name: str, wanted: tuple[str, ...], command: str = EVALUATE) -> pd.DataFrame:
    """The table, if it has the columns that a page needs."""
    lacking = [column for column in wanted if column not in frame.columns]
    if lacking:
        raise Missing(f"`{name}.csv` lacks {', '.join(lacking)}. Make it anew: `{command}`")
    return frame


def note(name: str = "evaluation", command: str = EVALUATE) -> dict[str, Any]:
    """What a run of the evaluation says about itself."""
    path = FOLDER / f"{name}.json"
    if not path.is_file():
        raise Missing(f"`{path.name}` is not in `assets/results` yet. Make it: `{command}`")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Missing(f"`{path.name}` cannot be read ({error}). Make it anew: `{command}`") from error
    return found if isinstance(found, dict) else {}


def temperatures() -> dict[tuple[str, int, str, str], float]:
    """(method, seed, output, fitted on) -> T; empty where the table is missing."""
    try:
        rows = columns(table("temperatures"), "temperatures", ("method", "seed", "output", "fitted_on", "temperature"))
    except Missing:
        return {}
    keys = zip(rows["method"], rows["seed"].astype(int), rows["output"], rows["fitted_on"], strict=True)
    return dict(zip(keys, rows["temperature"].astype(float), strict=True))
