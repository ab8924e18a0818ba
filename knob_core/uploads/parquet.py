"""Read an uploaded parquet table: flat columns of numbers, and labels as numbers or names.

Neither rows nor sizes in the footer are believed: the header of every page is read first (`parquet_pages`).
"""

from __future__ import annotations

import io
import struct
from typing import Any

import numpy as np

from knob_core.csv_columns import IGNORED, NUMBER, TEXT, Words
from knob_core.uploads import parquet_pages
from knob_core.uploads.budget import Budget, Stopped
from knob_core.uploads.limits import MAX_CLASSES, MAX_FOOTER, MAX_UNPACKED, MAX_VALUES, said, short
from knob_core.uploads.tables import MOST_COLUMNS, Table, arrange, kind_of, require_columns
from knob_core.uploads.uploaded import Held

BATCH = 65_536  # rows
DAMAGE = (OSError, LookupError, OverflowError, TypeError, ValueError, NotImplementedError, struct.error)


def read_parquet(name: str, content: bytes, budget: Budget) -> Held:
    """Counts, sizes and types are checked before any page is decoded."""
    try:
        import pyarrow  # type: ignore[import-untyped]
        from pyarrow import parquet
    except ImportError as error:
        raise ValueError(f"{name}: parquet needs pyarrow, which is not installed; CSV and npz do not") from error
    try:
        _require_footer(content)
        file = parquet.ParquetFile(io.BytesIO(content), thrift_string_size_limit=MAX_FOOTER, pre_buffer=False)
        kinds = _kinds(pyarrow, file.schema_arrow)
        rows = _require_pages(content, file.metadata, lambda: budget.check(name))
        budget.spend(name, 8 * rows * len(kinds))
        labels = [key for key, kind in kinds.items() if kind == TEXT]
        file = parquet.ParquetFile(
            io.BytesIO(content), thrift_string_size_limit=MAX_FOOTER, pre_buffer=False, read_dictionary=labels
        )  # a long name that stands in every row is then held once
        table = _table(file, kinds, rows, lambda: budget.check(name))
    except Stopped:
        raise
    except _Refused as error:
        raise ValueError(f"{name} {error}") from error
    except (pyarrow.ArrowException, *DAMAGE) as error:
        raise ValueError(f"{name} is damaged, cut short, or no parquet file ({said(error)})") from error
    require_columns(name, list(kinds))
    return arrange(name, table)


class _Refused(Exception):
    """A cause of our own, without the file's name."""


def _require_footer(content: bytes) -> None:
    if len(content) < 12 or content[-4:] != b"PAR1":
        raise ValueError("it does not end as one")
    (size,) = struct.unpack("<I", content[-8:-4])
    if size > MAX_FOOTER:
        raise _Refused(f"has a footer of {size:,} bytes, expected at most {MAX_FOOTER:,}")


def _kinds(pyarrow: Any, schema: Any) -> dict[str, str]:
    """{heading: what the column holds}."""
    if len(schema) > MOST_COLUMNS:
        raise _Refused(f"has {len(schema):,} columns, expected at most {MAX_CLASSES:,} classes")
    kinds = {}
    for field in schema:
        kind, type_ = kind_of(field.name), field.type
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


def _require_pages(content: bytes, metadata: Any, check: Any) -> int:
    """The number of rows, after every page's own header was compared with the footer and the limits."""
    rows = size = 0
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        rows += group.num_rows
        if group.num_rows < 0 or rows * metadata.num_columns > MAX_VALUES:
            raise _Refused(f"has {rows:,} x {metadata.num_columns:,} cells, expected at most {MAX_VALUES:,}")
        for j in range(metadata.num_columns):
            column = group.column(j)
            start, dictionary = column.data_page_offset, column.dictionary_page_offset or 0
            start = dictionary if 0 < dictionary < start else start
            chunk = parquet_pages.walk(content, start, column.num_values, check)
            if not chunk.values == column.num_values == group.num_rows:
                raise _Refused(
                    f"has {chunk.values:,} values in column {j + 1} where its footer says {group.num_rows:,} rows"
                )
            size += chunk.size
            if chunk.largest > MAX_VALUES or size > MAX_UNPACKED:
                raise _Refused(f"would unpack to {size:,} bytes, expected at most {MAX_UNPACKED:,}")
    if rows != metadata.num_rows:
        raise _Refused(f"has {rows:,} rows where its footer says {metadata.num_rows:,}")
    return rows


def _table(file: Any, kinds: dict[str, str], rows: int, check: Any) -> Table:
    names = tuple(key for key, kind in kinds.items() if kind == NUMBER)
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
    return Table(names, numbers[:at], labels)


def _codes(column: Any, known: dict[str, int]) -> np.ndarray:
    """The texts of one batch as their numbers in `known`, which grows; (rows,). A null is the empty text."""
    column = column if hasattr(column, "dictionary") else column.dictionary_encode()
    texts = [*column.dictionary.to_pylist(), None]
    places = np.array([known.setdefault((text or "").strip(), len(known)) for text in texts])
    if len(known) > MAX_CLASSES + 2:
        raise _Refused(f"has {len(known):,} different labels, expected at most {MAX_CLASSES:,}")
    return places[column.indices.fill_null(len(texts) - 1).to_numpy(zero_copy_only=False)]
