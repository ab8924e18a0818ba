"""The table that compares settings: the present one, none, and every pin, with all measures over the whole stream.

Rows are `Compared`; a column is one measure. `order` is a column's id, with "-" before it for the largest first.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable
from typing import NamedTuple

from app.console.pins import KNOBS
from app.widgets.untrusted import spreadsheet_cell, spreadsheet_comment
from knob_core.measures.operator import OperatorMeasures
from knob_core.settings import Settings, as_dict

NOW, WITHOUT = "now", "without Knob"


class Column(NamedTuple):
    """One measure as the table writes it."""

    id: str  # of a link
    field: str  # of OperatorMeasures, or of Settings
    label: str
    help: str
    digits: int
    scale: float = 1.0


SETTING = (
    Column("zeta", "zeta", "ζ", "Damping ratio", 3),
    Column("omega_n", "omega_n", "ωₙ", "Natural frequency, radians per frame", 3),
)
MEASURES = (
    Column("excess", "excess_flips", "excess flips", "Excess flips per 100 frames", 2),
    Column("flips", "flips", "flips", "Changes of the answer per 100 frames", 2),
    Column("delay", "delay_mean", "frames to a new class", "Frames until a new class is shown, on average", 2),
    Column("median", "delay_median", "median", "The same, median", 1),
    Column("slowest", "delay_90", "slowest", "One change in ten takes at least so many frames", 1),
    Column("lag", "lag63", "lag", "Frames after a step until the gate has gone 63 %", 1),
    Column("lag95", "lag95", "lag 95 %", "Frames after a step until the gate has gone 95 %", 1),
    Column(
        "held",
        "disagreement",
        "longest disagreement",
        "Most frames in a row in which the class shown is another than the frame's own",
        0,
    ),
    Column("jitter", "jitter", "jitter", "How much confidence trembles while nothing changes", 4),
    Column("errors", "sure_wrong", "errors", "Confident errors per 100 frames", 2),
    Column("right", "accuracy", "right, %", "Frames whose answer is right", 2, 100.0),
    Column("nll", "nll", "NLL", "Negative log-likelihood of the true class, nats", 4),
    Column("ece", "ece", "ECE", "Miscalibration, debiased", 4),
    Column("sure", "confidence", "says, %", "Mean confidence of the labelled frames", 2, 100.0),
)
COLUMNS = {column.id: column for column in (*SETTING, *MEASURES)}


class Compared(NamedTuple):
    """One row: a setting and what it does to the whole stream."""

    name: str
    settings: Settings
    measures: OperatorMeasures
    id: int = -1  # of the pin, where it is one

    @property
    def pinned(self) -> bool:
        return self.id >= 0

    def value(self, column: Column) -> float:
        """NaN where there is none: a setting that is off has no knobs."""
        if column in SETTING:
            return float(getattr(self.settings, column.field)) if self.settings.on else math.nan
        return column.scale * float(getattr(self.measures, column.field))

    def text(self, column: Column) -> str:
        value = self.value(column)
        if not math.isfinite(value):
            return "–"
        return f"{value:.{column.digits}g}" if column in SETTING else f"{value:.{column.digits}f}"


def is_order(text: str) -> bool:
    """Whether rows can be ordered by it."""
    return text == "" or text.removeprefix("-") in COLUMNS


def ordered(rows: Iterable[Compared], order: str) -> list[Compared]:
    """The rows by one column; what has no number comes last. "": as they are."""
    rows = list(rows)
    if not order:
        return rows
    column, falling = COLUMNS[order.removeprefix("-")], order.startswith("-")

    def key(row: Compared) -> tuple[bool, float]:
        value = row.value(column)
        return not math.isfinite(value), (-value if falling else value) if math.isfinite(value) else 0.0

    return sorted(rows, key=key)


def measured_columns(rows: Iterable[Compared]) -> list[Column]:
    """The columns in which some row has a number."""
    rows = list(rows)
    return [column for column in COLUMNS.values() if any(math.isfinite(row.value(column)) for row in rows)]


def csv_text(rows: Iterable[Compared], title: str) -> str:
    """One line a setting: name, all that acts, and every measure in full precision; empty where there is none."""
    text = io.StringIO()
    text.write(f"# {spreadsheet_comment(title)}; measures over the whole stream\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["name", *KNOBS, "own_weights", *(column.field for column in MEASURES)])
    for row in rows:
        acting = as_dict(row.settings)
        found = (float(getattr(row.measures, column.field)) for column in MEASURES)
        writer.writerow([
            spreadsheet_cell(row.name), *(acting[name] for name in KNOBS), row.settings.weights is not None,
            *(repr(value) if math.isfinite(value) else "" for value in found),
        ])  # fmt: skip
    return text.getvalue()
