"""Uploaded tables: CSV and parquet, one row a frame, as named arrays.

Columns `stream`, `label`, `severity`, `u_star` are what they say; z_static_* and z_dyn_* are two branches; otherwise
every other column is a class. Rows of one stream follow each other in time; all streams have as many.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from knob_core.uploads.limits import MAX_CLASSES, MAX_VALUES

Columns = dict[str, np.ndarray]
OWN = {"stream": "stream", "label": "labels", "labels": "labels", "severity": "severity", "u_star": "u_star"}
IGNORED = ("frame", "t", "time")  # rows are in order already


def read_csv(name: str, content: bytes) -> dict[str, np.ndarray]:
    """UTF-8, commas; a first line of words is the header, without one every column is a class."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not UTF-8 text: byte {content[error.start]:#04x} at {error.start}") from error
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise ValueError(f"{name} is empty")
    header = [cell.strip().strip('"') for cell in lines[0].split(",")]
    if len(header) > 2 * MAX_CLASSES + len(OWN) + len(IGNORED):
        raise ValueError(f"{name} has {len(header):,} columns, expected at most {MAX_CLASSES:,} classes")
    if len(lines) * len(header) > MAX_VALUES:
        raise ValueError(f"{name} has {len(lines) * len(header):,} cells, expected at most {MAX_VALUES:,}")
    numeric = all(_is_number(cell) for cell in header)
    names = [f"class {i}" for i in range(len(header))] if numeric else header
    rows = lines if numeric else lines[1:]
    values = np.empty((len(rows), len(names)))
    for i, line in enumerate(rows):
        cells = line.split(",")
        where = f"{name}, line {i + (1 if numeric else 2)}"
        if len(cells) != len(names):
            raise ValueError(f"{where} has {len(cells)} cells, expected {len(names)}")
        try:
            values[i] = [float(cell) for cell in cells]
        except ValueError:
            wrong = next(cell for cell in cells if not _is_number(cell))
            raise ValueError(f"{where} holds {wrong[:40]!r}, expected a number") from None
    return arrange(name, dict(zip(names, values.T, strict=True)), len(names))


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
        if rows * columns > MAX_VALUES or columns > 2 * MAX_CLASSES + len(OWN) + len(IGNORED):
            raise ValueError(f"{name} has {rows:,} x {columns:,} cells, expected at most {MAX_VALUES:,}")
        for field in file.schema_arrow:
            if not (pyarrow.types.is_floating(field.type) or pyarrow.types.is_integer(field.type)):
                raise ValueError(f"{name}: column {field.name!r} is {field.type}, expected numbers")
        table = file.read(use_threads=False)
        data = {key: table.column(key).to_numpy().astype(np.float64) for key in table.column_names}
    except (pyarrow.ArrowException, OSError, KeyError, OverflowError) as error:
        raise ValueError(f"{name} is damaged, cut short, or no parquet file ({error})") from error
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
            raise ValueError(f"{name}: column {key!r} is {x[row]} in row {row + 1}, expected finite numbers")
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


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
