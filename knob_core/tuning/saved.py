"""Tuned filters as one JSON file: parameters, and the curve they were tuned to."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from knob_core import files
from knob_core.rivals.base import Filter
from knob_core.tuning.sweep import Curve
from knob_core.tuning.tune import Tuned

FORMAT = "knob-tuned-1"


def save(tuned: Mapping[str, Tuned], path: str | os.PathLike[str], about: Mapping[str, Any] | None = None) -> None:
    """Write filters by name, and what `about` says of them (streams, seed). The file appears whole or not at all."""
    content = {"format": FORMAT, "about": dict(about or {}), "filters": {name: _plain(t) for name, t in tuned.items()}}
    files.write_text(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


def _plain(tuned: Tuned) -> dict[str, Any]:
    curve = {field.name: getattr(tuned.curve, field.name).tolist() for field in fields(Curve)}
    if tuned.kind.SWEEP is None:
        curve["value"] = [None] * len(curve["value"])  # NaN, which JSON has no word for
    return {
        "filter": tuned.kind.__name__,
        "parameters": tuned.parameters,
        "sweep": tuned.kind.SWEEP,
        "curve": curve,
        "objective": tuned.objective,
        "evaluations": tuned.evaluations,
    }


def load(path: str | os.PathLike[str], kinds: Mapping[str, type[Filter]]) -> dict[str, Tuned]:
    """Read what `save` wrote; `kinds` says which class each name is (`rivals.RIVALS`, and ours)."""
    content = json.loads(Path(path).read_text())
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{path} is not a file of tuned filters, wanted format {FORMAT!r}")
    unknown = [
        name
        for name, plain in content["filters"].items()
        if name not in kinds or kinds[name].__name__ != plain["filter"]
    ]
    if unknown:
        raise ValueError(f"{path} has the filters {', '.join(unknown)}, known are {', '.join(kinds)}")
    return {name: _tuned(kinds[name], plain) for name, plain in content["filters"].items()}


def _tuned(kind: type[Filter], plain: dict[str, Any]) -> Tuned:
    curve = Curve(**{name: np.array(column, np.float64) for name, column in plain["curve"].items()})
    return Tuned(kind, plain["parameters"], curve, plain["objective"], plain["evaluations"])
