"""Read an uploaded parquet table: flat columns of numbers, and labels as numbers or names.

Neither rows nor sizes in the footer are believed: the header of every page is read first (`parquet_pages`).
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

from knob_core.csv_columns import IGNORED, NUMBER, TEXT, Words
from knob_core.uploads import parquet_pages
from knob_core.uploads.budget import Budget, Stopped
from knob_core.uploads.limits import MAX_CLASSES, MAX_FOOTER, MAX_NAME, MAX_UNPACKED, MAX_VALUES, said, short
from knob_core.uploads.tables import MOST_COLUMNS, Table, kinds_of

BATCH = 65_536  # rows
DAMAGE = (OSError, LookupError, OverflowError, TypeError, ValueError, NotImplementedError)


def read_table(name: str, content: bytes, budget: Budget) -> Table:
    """Counts, sizes and types are checked before a page is decoded. `parquet_process` runs this in its own process."""
    try:
        import pyarrow  # type: ignore[import-untyped]
        from pyarrow import parquet
    except ImportError as error:
        raise ValueError(f"{name}: parquet needs pyarrow, which is not installed; CSV and npz do not") from error
    try:
        if (size := parquet_pages.footer_size(content)) > MAX_FOOTER:
            raise _Refused(f"has a footer of {size:,} bytes, expected at most {MAX_FOOTER:,}")
        file = parquet.ParquetFile(io.BytesIO(content), thrift_string_size_limit=MAX_FOOTER, pre_buffer=False)
        kinds = _kinds(pyarrow, file.schema_arrow)
        rows = _require_pages(content, len(kinds), lambda: budget.check(name))
        budget.spend(name, 8 * rows * len(kinds))
        labels = [key for key, kind in kinds.items() if kind == TEXT]
        file = parquet.ParquetFile(
            io.BytesIO(content), thrift_string_size_limit=MAX_FOOTER, pre_buffer=False, read_dictionary=labels
        )  # a long name that stands in every row is then held once
        return _table(file, kinds, rows, lambda: budget.check(name))
    except Stopped:
        raise
    except _Refused as error:
        raise ValueError(f"{name} {error}") from error
    except parquet_pages.Encrypted as error:
        raise ValueError(f"{name} is encrypted, expected a table that can be read without a key") from error
    except (pyarrow.ArrowException, *DAMAGE) as error:
        if "DictAccumulator" in str(error):  # good labels, which pyarrow does not read with each name held once
            cause = "has labels packed in a way that is not read, expected plain or dictionary encoding"
            raise ValueError(f"{name} {cause}") from error
        raise ValueError(f"{name} is damaged, cut short, or no parquet file ({said(error)})") from error


class _Refused(Exception):
    """A cause of our own, without the file's name."""


def _kinds(pyarrow: Any, schema: Any) -> dict[str, str]:
    """{heading: what the column holds}."""
    if len(schema) > MOST_COLUMNS:
        raise _Refused(f"has {len(schema):,} columns, expected at most {MAX_CLASSES:,} classes")
    kinds = {}
    for field, kind in zip(schema, kinds_of(schema.names), strict=True):
        type_ = field.type
        if pyarrow.types.is_dictionary(type_):
            type_ = type_.value_type
        number = pyarrow.types.is_floating(type_) or pyarrow.types.is_integer(type_)
        text = pyarrow.types.is_string(type_) or pyarrow.types.is_large_string(type_)
        if field.name in kinds:
            raise _Refused(f"has two columns of one name, '{short(field.name)}'")
        if not number and not (text and kind == TEXT) and (kind != IGNORED or pyarrow.types.is_nested(type_)):
            raise _Refused(f"has a column '{short(field.name)}' of {str(field.type)[:40]}, expected numbers")
        kinds[field.name] = NUMBER if kind == TEXT and number else kind
    return kinds


def _require_pages(content: bytes, columns: int, check: Callable[[], None]) -> int:
    """The number of rows, after every page's own header was compared with the footer and the limits.

    The footer is read by ourselves: pyarrow ends the process when it is asked for a column whose statistics are wrong.
    """
    declared, groups = parquet_pages.row_groups(content, check)
    rows = size = 0
    for group in groups:
        rows += group.rows
        if group.rows < 0 or rows * columns > MAX_VALUES:
            raise _Refused(f"has {rows:,} x {columns:,} cells, expected at most {MAX_VALUES:,}")
        if len(group.columns) != columns:
            raise _Refused(f"has {len(group.columns)} columns in a row group, and {columns} in its schema")
        for number, (start, values) in enumerate(group.columns, 1):
            chunk = parquet_pages.walk(content, start, values, check)
            if not chunk.values == values == group.rows:
                raise _Refused(
                    f"has {chunk.values:,} values in column {number} where its footer says {group.rows:,} rows"
                )
            size += chunk.size
            if chunk.largest > MAX_VALUES or size > MAX_UNPACKED:
                raise _Refused(f"would unpack to {size:,} bytes, expected at most {MAX_UNPACKED:,}")
    if rows != declared:
        raise _Refused(f"has {rows:,} rows where its footer says {declared:,}")
    return rows


def _table(file: Any, kinds: dict[str, str], rows: int, check: Callable[[], None]) -> Table:
    names, unused = (tuple(key for key, kind in kinds.items() if kind == wanted) for wanted in (NUMBER, IGNORED))
    words = [key for key, kind in kinds.items() if kind == TEXT]
    numbers, at = np.empty((rows, len(names))), 0
    known: dict[str, int] = {}
    codes = [np.empty(0, np.int64)]
    for batch in file.iter_batches(BATCH, columns=[*names, *words], use_threads=False):
        check()
        for i, key in enumerate(names):
            numbers[at : at + len(batch), i] = batch.column(key).to_numpy(zero_copy_only=False)
        for key in words:
            codes.append(_codes(batch.column(key), known))
        at += len(batch)
    labels = Words(np.concatenate(codes), tuple(known)) if words else None
    return Table(names, numbers[:at], labels, unused=unused)


def _codes(column: Any, known: dict[str, int]) -> np.ndarray:
    """The texts of one batch as their numbers in `known`, which grows; (rows,). A null is the empty text."""
    column = column if hasattr(column, "dictionary") else column.dictionary_encode()
    texts = [*column.dictionary.to_pylist(), None]
    longest = max((len(text) for text in texts if text), default=0)
    if longest > MAX_NAME:
        raise _Refused(f"has a label of {longest:,} characters, expected at most {MAX_NAME:,}")
    places = np.array([known.setdefault((text or "").strip(), len(known)) for text in texts])
    if len(known) > MAX_CLASSES + 2:
        raise _Refused(f"has {len(known):,} different labels, expected at most {MAX_CLASSES:,}")
    return places[column.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)]
