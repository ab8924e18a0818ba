"""Uploaded tables: CSV and parquet, one row a frame, as named arrays.

Columns `stream`, `label`, `severity`, `u_star` are what they say; z_static_* and z_dyn_* are two branches; otherwise
every other column is a class. Rows of one stream follow each other in time; all streams have as many.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from knob_core.uploads.limits import MAX_CLASSES, MAX_UNPACKED, MAX_VALUES, short

Columns = dict[str, np.ndarray]
OWN = {"stream": "stream", "label": "labels", "labels": "labels", "severity": "severity", "u_star": "u_star"}
IGNORED = ("frame", "t", "time", "", "index", "Unnamed: 0", "__index_level_0__")  # rows are in order already
MOST_COLUMNS = 2 * MAX_CLASSES + len(OWN) + len(IGNORED)


def read_csv(name: str, content: bytes) -> dict[str, np.ndarray]:
    """UTF-8, commas; a first line of words, or 0, 1, 2 ..., is the header; without one every column is a class."""
    try:
        content.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not UTF-8 text: byte {content[error.start]:#04x} at {error.start}") from error
    lines = _lines(content)
    top, first = next(lines, (0, ""))
    if not top:
        raise ValueError(f"{name} is empty")
    columns = first.count(",") + 1  # counted before it is split: a line may be a bomb, too
    if columns > MOST_COLUMNS:
        raise ValueError(f"{name} has {columns:,} columns, expected at most {MAX_CLASSES:,} classes")
    header = [cell.strip().strip('"') for cell in first.split(",")]
    most = content.count(b"\n") + content.count(b"\r") - content.count(b"\r\n") + 1
    if most * columns > MAX_VALUES:
        raise ValueError(f"{name} has {most * columns:,} cells, expected at most {MAX_VALUES:,}")
    counted = header == [str(i) for i in range(columns)]  # pandas' names of nameless columns
    numeric = all(_is_number(cell) for cell in header) and not counted
    names = [f"class {i}" for i in range(columns)] if numeric else header
    values, rows = np.empty((most, columns)), 0
    for number, line in chain([(top, first)] if numeric else [], lines):
        where = f"{name}, line {number}"
        if (cells := line.count(",") + 1) != columns:
            raise ValueError(f"{where} has {cells:,} cells, expected {columns}")
        try:
            values[rows] = [float(cell) for cell in line.split(",")]
        except ValueError:
            wrong = next(cell for cell in line.split(",") if not _is_number(cell))
            raise ValueError(f"{where} holds {wrong[:40]!r}, expected a number") from None
        rows += 1
    return arrange(name, dict(zip(names, values[:rows].T, strict=True)), columns)


def read_parquet(name: str, content: bytes) -> dict[str, np.ndarray]:
    """Flat columns of numbers; counts and types are judged from the file's footer before any page is read."""
    try:
        import pyarrow  # type: ignore[import-untyped]
        from pyarrow import parquet
    except ImportError as error:
        raise ValueError(f"{name}: parquet needs pyarrow ({error}); CSV and npz do not") from error
    try:
        file = parquet.ParquetFile(io.BytesIO(content))
        rows, columns = file.metadata.num_rows, file.metadata.num_columns
        if rows * columns > MAX_VALUES or columns > MOST_COLUMNS:
            raise ValueError(f"{name} has {rows:,} x {columns:,} cells, expected at most {MAX_VALUES:,}")
        groups = (file.metadata.row_group(i) for i in range(file.metadata.num_row_groups))
        if (total := sum(group.total_byte_size for group in groups)) > MAX_UNPACKED:
            raise ValueError(f"{name} would unpack to {total:,} bytes, expected at most {MAX_UNPACKED:,}")
        for field in file.schema_arrow:
            if not (pyarrow.types.is_floating(field.type) or pyarrow.types.is_integer(field.type)):
                raise ValueError(f"{name}: column '{short(field.name)}' is {field.type}, expected numbers")
        table = file.read(use_threads=False)
        data = {key: table.column(key).to_numpy().astype(np.float64) for key in table.column_names}
    except (pyarrow.ArrowException, OSError, KeyError, OverflowError) as error:
        raise ValueError(f"{name} is damaged, cut short, or no parquet file ({str(error)[:120]})") from error
    return arrange(name, data, columns)


def arrange(name: str, columns: Columns, count: int) -> dict[str, np.ndarray]:
    """Columns (rows,) as the arrays of a stream."""
    if len(columns) != count:
        raise ValueError(f"{name} has two columns of one name")
    if not columns or not len(next(iter(columns.values()))):
        raise ValueError(f"{name} has no rows")
    own = {OWN[key]: x for key, x in columns.items() if key in OWN}
    rest = {key: x for key, x in columns.items() if key not in OWN and key not in IGNORED}
    for key, x in {**own, **rest}.items():
        if not np.isfinite(x).all():
            row = int(np.flatnonzero(~np.isfinite(x))[0])
            raise ValueError(f"{name}: column '{short(key)}' is {x[row]} in row {row + 1}, expected finite numbers")
    static = [x for key, x in rest.items() if key.startswith("z_static_")]
    dyn = [x for key, x in rest.items() if key.startswith("z_dyn_")]
    split = _splitter(name, own.pop("stream", None))
    arrays: dict[str, Any] = {key: split(x) for key, x in own.items() if key != "severity"}
    if "severity" in own:
        each = split(own["severity"])  # (R, T)
        if (each != each[:1]).any():
            raise ValueError(f"{name}: severity differs between streams, expected one schedule for all")
        arrays["severity"] = each[0]
    if static or dyn:
        if len(static) != len(dyn) or len(static) + len(dyn) != len(rest):
            raise ValueError(
                f"{name} has {len(static)} z_static_*, {len(dyn)} z_dyn_* and "
                f"{len(rest) - len(static) - len(dyn)} other columns, expected as many of the first two and no others"
            )
        return {**arrays, "z_static": split(np.stack(static, -1)), "z_dyn": split(np.stack(dyn, -1))}
    if len(rest) < 2:
        raise ValueError(f"{name} has {len(rest)} columns of logits, expected at least 2 classes")
    return {**arrays, "logits": split(np.stack(list(rest.values()), -1))}


def _splitter(name: str, stream: np.ndarray | None) -> Any:
    """A function from rows (n, ...) to streams (R, T, ...)."""
    if stream is None:
        return lambda x: x[None]
    order = np.argsort(stream, kind="stable")
    ids, counts = np.unique(stream, return_counts=True)
    if counts.min() != counts.max():
        short, long = ids[counts.argmin()], ids[counts.argmax()]
        raise ValueError(
            f"{name}: stream {short:g} has {counts.min()} frames and stream {long:g} has {counts.max()}, "
            "expected as many in each"
        )
    return lambda x: x[order].reshape(len(ids), counts[0], *x.shape[1:])


def _lines(content: bytes) -> Iterator[tuple[int, str]]:
    """(number, line) of every line that is not blank, one at a time."""
    text = io.TextIOWrapper(io.BytesIO(content), "utf-8-sig")
    return ((number, line) for number, line in enumerate(text, 1) if line.strip())


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
