"""Severities that somebody else wrote down: a list, the text of a CSV file.

One number in [0, 5] a frame. Nothing is trusted: what does not fit is a ValueError that names the place and the cause.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from knob_core.csv_text import decoded, number_of, rows

MAX_SEVERITY = 5.0
MAX_LISTED = 100_000  # frames
MAX_BYTES = 4_000_000
COLUMN = "severity"

Severity = NDArray[np.float64]  # (n,)


def from_list(values: Iterable[float | str]) -> Severity:
    """Severities, one a frame, checked, (n,)."""
    listed = list(islice(values, MAX_LISTED + 1))
    if not 1 <= len(listed) <= MAX_LISTED:
        raise ValueError(f"the list has {'no' if not listed else 'too many'} severities, expected 1 to {MAX_LISTED}")
    try:
        s = np.array([float(value) for value in listed])
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"severities must be numbers in [0, {MAX_SEVERITY:g}]: {str(error)[:80]}") from error
    outside = np.flatnonzero(~((s >= 0) & (s <= MAX_SEVERITY)))  # NaN is outside too
    if len(outside):
        raise ValueError(f"severity {s[outside[0]]} in frame {outside[0]} is outside [0, {MAX_SEVERITY:g}]")
    return s


def from_csv(content: bytes | str) -> Severity:
    """The severities in the text of a CSV file: its only column, or the one headed `severity`; (n,)."""
    listed = _rows(content)
    if not listed:
        raise ValueError("the file is empty, expected one severity a line")
    line, first = listed[0]
    column, header = _column(first)
    s = []
    for line, row in listed[1:] if header else listed:
        if len(row) != len(first):
            raise ValueError(f"line {line} has {len(row)} columns, the first has {len(first)}")
        number = number_of(row[column])
        if number is None or not 0 <= number <= MAX_SEVERITY:
            raise ValueError(f"line {line}: {_short(row[column])} is not a severity, a number in [0, {MAX_SEVERITY:g}]")
        s.append(number)
    if not s:
        raise ValueError("the file has a header and nothing below it, expected one severity a line")
    return from_list(s)


def _rows(content: bytes | str) -> list[tuple[int, list[str]]]:
    """Line numbers and cells of the rows that are not empty."""
    if len(content) > MAX_BYTES:
        raise ValueError(f"the file has {len(content)} bytes, at most {MAX_BYTES} are read")
    text = content if isinstance(content, str) else decoded("", content)
    found = list(islice(rows("", text), MAX_LISTED + 2))
    if len(found) > MAX_LISTED + 1:
        raise ValueError(f"the file has more than {MAX_LISTED} severities")
    return found


def _column(first: list[str]) -> tuple[int, bool]:
    """Which column holds the severities, and whether the first line is a header."""
    names = [cell.lower() for cell in first]
    if COLUMN in names:
        return names.index(COLUMN), True
    if len(first) > 1:
        columns = ", ".join(_short(cell) for cell in first[:8])
        raise ValueError(f"the file has {len(first)} columns ({columns}) and none is headed {COLUMN!r}")
    return 0, number_of(first[0]) is None


def _short(cell: str) -> str:
    return repr(cell if len(cell) <= 40 else cell[:40] + "...")
