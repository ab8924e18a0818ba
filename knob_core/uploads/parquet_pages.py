"""What a parquet file will be decoded to, told from the headers of its pages and not from its footer alone.

The footer lists row groups, each with a chunk of every column; a chunk is a row of pages, each with a header:
    FileMetaData {3: rows, 4: [RowGroup {1: [ColumnChunk {3: {5: values, 9: data at, 11: dictionary at}}], 3: rows}],
                  8: encryption, where there is some}
    PageHeader   {1: type, 2: uncompressed size, 3: compressed size, 5, 7 or 8: {1: number of values}}
Walking them decodes nothing, so that a limit can be checked before memory is taken.
Format: https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from knob_core.uploads.thrift import I32, I64, LIST, STRUCT, Reader, Wanted

MAGIC, SEALED = b"PAR1", b"PARE"
DATA, DICTIONARY, DATA_V2 = 0, 2, 3  # page types that hold values
COUNTED_IN = {DATA: 5, DICTIONARY: 7, DATA_V2: 8}  # which field of the header says how many
COUNT: Wanted = {1: (I32, None)}
PAGE: Wanted = {
    1: (I32, None),
    2: (I32, None),
    3: (I32, None),
    5: (STRUCT, COUNT),
    7: (STRUCT, COUNT),
    8: (STRUCT, COUNT),
}
CHUNK: Wanted = {3: (STRUCT, {5: (I64, None), 9: (I64, None), 11: (I64, None)})}
FOOTER: Wanted = {8: (STRUCT, None), 3: (I64, None), 4: (LIST, {1: (LIST, CHUNK), 3: (I64, None)})}


class Encrypted(ValueError):
    """The file, or some of its columns, cannot be read without a key."""


@dataclass(frozen=True)
class Chunk:
    """All pages of one column in one row group."""

    values: int  # in data pages
    size: int  # bytes, uncompressed, of all pages
    largest: int  # number of values in the largest page, a dictionary's too


@dataclass(frozen=True)
class RowGroup:
    """What the footer says of one."""

    rows: int
    columns: tuple[tuple[int, int], ...]  # (byte at which the first page begins, values) of each


def footer_size(content: bytes) -> int:
    """Bytes of the footer."""
    if content[-4:] == SEALED:
        raise Encrypted
    if len(content) < 12 or content[-4:] != MAGIC:
        raise ValueError("it does not end as one")
    return struct.unpack("<I", content[-8:-4])[0]


def row_groups(content: bytes, check: Callable[[], None]) -> tuple[int, list[RowGroup]]:
    """(rows of the file, row groups), as the footer has them."""
    start = len(content) - 8 - footer_size(content)
    found = Reader(content[max(start, 0) : -8], 0, check).struct(FOOTER)
    if 8 in found:
        raise Encrypted
    groups = []
    for group in found[4]:
        chunks = [chunk[3] for chunk in group[1]]
        groups.append(RowGroup(group[3], tuple((_start(chunk[9], chunk.get(11, 0)), chunk[5]) for chunk in chunks)))
    return found[3], groups


def _start(data: int, dictionary: int) -> int:
    return dictionary if 0 < dictionary < data else data


def walk(content: bytes, at: int, values: int, check: Callable[[], None]) -> Chunk:
    """The pages from byte `at` on, until they hold `values` values."""
    found = size = largest = 0
    while found < values:
        check()
        reader = Reader(content, at, check)
        header = reader.struct(PAGE)
        if not {1, 2, 3} <= header.keys():
            raise ValueError(f"the page at byte {at} has no header")
        kind, full, packed = (header[i] for i in (1, 2, 3))
        count = header.get(COUNTED_IN[kind], {}).get(1, -1) if kind in COUNTED_IN else 0
        if min(count, full, packed) < 0 or reader.at + packed > len(content):
            raise ValueError(f"the page at byte {at} does not fit into the file")
        found += 0 if kind == DICTIONARY else count
        size, largest = size + full, max(largest, count)
        at = reader.at + packed
    return Chunk(found, size, largest)
