"""The result tables of `assets/results`: tidy CSV, the command that makes each, and the columns that readers need.

Numbers have six significant digits; a file is written whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from knob_core import files
from knob_core.assets import ASSETS

RESULTS = ASSETS / "results"
NOTE = "evaluation.json"  # what an evaluation says about itself: images, noise seed, models
EVALUATE, LIBRARY, COST, REPORT = (f"python -m train.{name}" for name in ("evaluate", "library", "cost", "report"))
CHANGE = "python -m train.change_benchmark measure"
MADE_BY = {
    **dict.fromkeys(("cells", "summary", "temperatures", "learning"), EVALUATE),
    **dict.fromkeys(("plain_rivals", "errors", "differences"), EVALUATE),
    **dict.fromkeys(("e1", "e1_summary", "e1_csr", "e1_reliability", "e2_test", "e2_rivals"), EVALUATE),
    **dict.fromkeys(("streams", "trade_off", "e3_gate_bode", "e3_stream_bode", "e3_step", "e3_step_info"), LIBRARY),
    "cost": COST,
    "flips": "python -m train.flips",
    "official": "python -m train.official_sample",
    "imagenet": "python -m train.imagenet",
    "choice": "python -m train.choose",
    "sensitivity": "python -m train.sensitivity",
    **dict.fromkeys(("change_filters", "change_ablations", "change_home", "change_groups"), CHANGE),
    **dict.fromkeys(("memory_surface", "memory_learned"), CHANGE),
    "real_streams": "python -m train.real_streams",
    "outside_models": "python -m train.outside",
    "outside_default": "python -m train.outside.unfitted",
    **dict.fromkeys(("claims", "paper", "anchors"), REPORT),
}
NEEDED = {  # table: the columns that a reader cannot do without
    "summary": ("method", "seed", "scope", "output", "accuracy", "nll", "brier", "ece", "ece_deb"),
    "cells": ("method", "seed", "corruption", "severity"),
    "cost": ("width", "method", "parameters", "macs", "latency_ms", "ratio_to_static", "ratio_q25", "ratio_q75"),
    "paper": ("method", "avg_c", "ece_deb", "latency_ms", "params_m", "gflops"),
    "anchors": ("what", "network", "avg_c", "ece"),
    "claims": ("what", "target", "measured", "holds"),
    "learning": ("method", "seed", "epoch"),
    "sensitivity": ("model", "memory", "zeta", "omega_n", "excess_flips", "delay_mean", "nll"),
    "temperatures": ("method", "seed", "output", "fitted_on", "temperature"),
}


def write(
    rows: Iterable[Mapping[str, Any]] | pd.DataFrame, path: Path, float_format: str | None = "%.6g"
) -> pd.DataFrame:
    """Write rows as CSV and give them back as they will be read; without `float_format` no digit is lost."""
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows))
    files.write_text(path, frame.to_csv(index=False, float_format=float_format, lineterminator="\n"))
    return read(path)


def read(path: Path, made_by: str = "") -> pd.DataFrame:
    """A CSV file; where it is missing or damaged, the error says which command makes it."""
    again = f"; make it: {made_by}" if made_by else ""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing{again}")
    try:
        return pd.read_csv(path)
    except ValueError as error:  # pandas' own errors and those of the encoding are ValueErrors
        raise ValueError(f"{path} cannot be read ({error}){again}") from error


def read_table(name: str, folder: Path = RESULTS) -> pd.DataFrame:
    """A table by its name, if it has the columns that its readers need."""
    if name not in MADE_BY:
        raise ValueError(f"no table is called {name!r}; known: {', '.join(MADE_BY)}")
    frame = read(folder / f"{name}.csv", MADE_BY[name])
    lacking = [column for column in NEEDED.get(name, ()) if column not in frame.columns]
    if lacking:
        raise ValueError(f"{folder / name}.csv lacks {', '.join(lacking)}; make it: {MADE_BY[name]}")
    return frame


def read_note(folder: Path = RESULTS) -> dict[str, Any]:
    """What the evaluation says about itself."""
    path = folder / NOTE
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; make it: {EVALUATE}")
    note = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(note, dict):
        raise ValueError(f"{path} holds a {type(note).__name__}, expected an object; make it: {EVALUATE}")
    return note
