"""Uploaded tables, one row a frame, as named arrays.

Columns `stream`, `label` (or `y_true`), `severity`, `u_star` are what they say, in small letters or not; numbers and
times of frames are passed over, and a note says which; z_static_* and z_dyn_* are two branches; otherwise every other
column is a class, and its heading the class's name. Rows of one stream follow each other in time; all streams have as
many.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from knob_core import csv_text
from knob_core.csv_columns import IGNORED, NUMBER, TEXT, Words, read_columns
from knob_core.csv_text import number_of
from knob_core.uploads.budget import Budget
from knob_core.uploads.limits import LARGE_BYTES, MAX_CLASSES, MAX_VALUES, short
from knob_core.uploads.uploaded import Held

OWN = {
    "stream": "stream", "label": "labels", "labels": "labels", "y_true": "labels", "severity": "severity",
    "u_star": "u_star",
}  # fmt: skip
UNUSED = ("frame", "t", "time", "timestamp", "", "id", "row", "index")  # rows are in order already
PANDAS_INDEX = re.compile(r"unnamed:_\d+(\.\d+)*|__index_level_\d+__|level_\d+")
MOST_COLUMNS = 2 * MAX_CLASSES + 16  # two branches, and columns that are no class
BRANCHES = ("z_static_", "z_dyn_")
Arranged = tuple[Held, tuple[str, ...]]  # and sentences for the one who uploaded it
MANY = 10  # rows over which no logit grows from each to the next
SHOWN = 5  # headings in a note


@dataclass(frozen=True)
class Table:
    """Columns of numbers, and labels as words."""

    names: tuple[str, ...]  # of the columns of `numbers`
    numbers: np.ndarray  # (rows, columns) float64
    labels: Words | None = None  # (rows,)
    named: bool = True  # False: no header, the names are ours
    unused: tuple[str, ...] = ()  # headings of columns that were passed over


def kinds_of(headings: Sequence[str]) -> list[str]:
    """What each column holds, by its heading; t is a class where another letter stands before it."""
    letters = [heading for heading in headings if len(heading) == 1]
    return [NUMBER if heading == "t" and letters[0] != "t" else _kind(heading) for heading in headings]


def _kind(heading: str) -> str:
    plain = _plain(heading)
    unused = plain in UNUSED or PANDAS_INDEX.fullmatch(plain)
    return IGNORED if unused else TEXT if _own(heading) == "labels" else NUMBER


def _plain(heading: str) -> str:
    """Without regard to case and blanks; one letter may be a class of an alphabet."""
    return heading if len(heading) == 1 else "_".join(heading.lower().split())


def _own(heading: str) -> str | None:
    """What a column is that is no class."""
    return OWN.get(_plain(heading))


def require_columns(name: str, names: Sequence[str]) -> None:
    """Refuse headings that are there twice, also as `label` and `labels`."""
    own = [_own(heading) or heading for heading in names]
    if len(set(own)) != len(own):
        twice = Counter(own).most_common(1)[0][0]
        raise ValueError(f"{name} has two columns of one name, '{short(twice)}'")


def read_csv(name: str, content: bytes, budget: Budget) -> Arranged:
    """A first line of words, or counted from 0 or 1, is the header; without one every column is a class."""
    text = csv_text.opened(name, content, lambda: budget.check(name))
    if (most := text.content.count(b"\n") + 1) > MAX_VALUES:  # before empty ones are passed over, one by one
        raise ValueError(f"{name} has {most:,} lines, expected at most {MAX_VALUES:,}")
    line, first = _first(name, text)
    columns = len(first)
    if most * columns > MAX_VALUES:
        raise ValueError(f"{name} has {most * columns:,} cells, expected at most {MAX_VALUES:,}")
    budget.spend(name, 8 * most * columns)
    numbered = [number_of(cell) for cell in first]
    counted = numbered in ([*range(columns)], [*range(1, columns + 1)])  # pandas' names of nameless columns
    header = counted or None in numbered or _only_quoted(text, columns)
    if counted:
        first = [f"{number:g}" for number in numbered]
    if 8 * most * columns > LARGE_BYTES:
        budget.wait_for_turn(name)
    names = first if header else [f"class {i}" for i in range(columns)]
    require_columns(name, names)
    kinds = kinds_of(names)
    numbers, words = read_columns(text, kinds, line if header else 0, MAX_CLASSES + 1)
    numeric, unused = (
        tuple(heading for heading, kind in zip(names, kinds, strict=True) if kind == wanted)
        for wanted in (NUMBER, IGNORED)
    )
    return arrange(name, Table(numeric, numbers, next(iter(words.values()), None), header, unused))


def _only_quoted(text: csv_text.CsvText, columns: int) -> bool:
    """Whether the cells of the first row are in quotes, and no others."""
    start = len(text.content) - len(text.content.lstrip(csv_text.BLANK))
    return text.content.count(b'"') == 2 * columns and text.content.rfind(b'"') < text.content.find(b"\n", start)


def _first(name: str, text: csv_text.CsvText) -> tuple[int, list[str]]:
    """(line, cells) of the first row."""
    start = len(text.content) - len(text.content.lstrip(csv_text.BLANK))
    end = text.content.find(b"\n", start) % (len(text.content) + 1)
    columns = text.content.count(text.delimiter.encode(), start, end) + 1  # counted before it is split
    if columns > MOST_COLUMNS:
        raise ValueError(f"{name} has {columns:,} columns, expected at most {MAX_CLASSES:,} classes")
    found = next(csv_text.rows(text, MOST_COLUMNS), None)
    if found is None:
        raise ValueError(f"{name} is empty")
    return found


def arrange(name: str, table: Table) -> Arranged:
    """Columns as the arrays of a stream, and what is odd about them."""
    if not len(table.numbers):
        raise ValueError(f"{name} has no rows")
    require_columns(name, table.names if table.labels is None else (*table.names, "labels"))
    own = {what: table.numbers[:, i].copy() for i, key in enumerate(table.names) if (what := _own(key))}
    rest = {key: i for i, key in enumerate(table.names) if not _own(key)}
    _require_finite(name, table)
    split = _splitter(name, own.pop("stream", None))
    held: Held = {key: split(x) for key, x in own.items() if key != "severity"}
    if "labels" in own:
        held["labels"] = split(np.where(np.isnan(own["labels"]), -1, own["labels"]))
    if "severity" in own:
        each = split(own["severity"])  # (R, T)
        if (each != each[:1]).any():
            raise ValueError(f"{name}: severity differs between streams, expected one schedule for all")
        held["severity"] = each[0]
    if table.labels is not None:
        held["labels"] = replace(table.labels, codes=split(table.labels.codes))
    if any(key.startswith(BRANCHES) for key in rest):
        places = [[i for key, i in rest.items() if key.startswith(prefix)] for prefix in BRANCHES]
        names = _branch_names(name, list(rest))
        held |= {key: split(table.numbers[:, at]) for key, at in zip(("z_static", "z_dyn"), places, strict=True)}
    else:
        if len(rest) < 2:
            raise ValueError(f"{name} has {len(rest)} columns of logits, expected at least 2 classes")
        names = list(rest)
        held["logits"] = split(table.numbers[:, list(rest.values())])
    if table.named and names != [str(i) for i in range(len(names))]:
        held["classes"] = Words(np.arange(len(names)), tuple(names))
    return held, (*_passed_over(table.unused), *_growing(names, held))


def _passed_over(headings: Sequence[str]) -> list[str]:
    named = [f"'{short(heading)}'" if heading else "the one without a heading" for heading in headings]
    return [f"Columns that hold no logits, by their headings: {_some(named)}."] if named else []


def _growing(names: Sequence[str], held: Held) -> list[str]:
    """A class whose numbers only grow is likely to be something else."""
    found = []
    for z in (held.get(key) for key in ("logits", "z_static", "z_dyn")):  # (R, T, K)
        if isinstance(z, np.ndarray) and z.shape[1] >= MANY:
            likely = np.flatnonzero((z[:, 1:MANY] > z[:, : MANY - 1]).all(axis=(0, 1)))
            found += [f"'{short(names[int(k)])}'" for k in likely if (z[:, 1:, k] > z[:, :-1, k]).all()]
    return [f"The numbers of {_some(found)} only grow, and are taken as a class's logits: are they?"] if found else []


def _some(named: Sequence[str]) -> str:
    return ", ".join(named[:SHOWN]) + (f" and {len(named) - SHOWN:,} more" if len(named) > SHOWN else "")


def _branch_names(name: str, rest: list[str]) -> list[str]:
    """The classes that z_static_* and z_dyn_* name, which must be the same in the same order."""
    static, dyn = ([key.removeprefix(p) for key in rest if key.startswith(p)] for p in BRANCHES)
    if len(static) != len(dyn) or len(static) + len(dyn) != len(rest):
        raise ValueError(
            f"{name} has {len(static)} z_static_*, {len(dyn)} z_dyn_* and "
            f"{len(rest) - len(static) - len(dyn)} other columns, expected as many of the first two and no others"
        )
    for one, other in zip(static, dyn, strict=True):
        if one != other:
            raise ValueError(
                f"{name} has z_static_{short(one)} where it has z_dyn_{short(other)}, "
                "expected the same classes in the same order"
            )
    return static


def _require_finite(name: str, table: Table) -> None:
    """Only a logit may be -inf, a class that was ruled out; only a label may be missing."""
    for i, key in enumerate(table.names):
        x = table.numbers[:, i]
        bad = ~np.isfinite(x) if _own(key) else ~(x < np.inf)
        if _own(key) == "labels":
            bad &= ~np.isnan(x)
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise ValueError(f"{name}: column '{short(key)}' is {x[row]} in row {row + 1}, expected finite numbers")


def _splitter(name: str, stream: np.ndarray | None) -> Callable[[np.ndarray], np.ndarray]:
    """A function from rows (n, ...) to streams (R, T, ...)."""
    if stream is None:
        return lambda x: x[None]
    order = slice(None) if (stream[1:] >= stream[:-1]).all() else np.argsort(stream, kind="stable")
    ids, counts = np.unique(stream, return_counts=True)
    if counts.min() != counts.max():
        short, long = ids[counts.argmin()], ids[counts.argmax()]
        raise ValueError(
            f"{name}: stream {short:g} has {counts.min()} frames and stream {long:g} has {counts.max()}, "
            "expected as many in each"
        )
    return lambda x: x[order].reshape(len(ids), counts[0], *x.shape[1:])
