"""What the pages of a parquet file will be decoded to, told from their own headers and not from the file's footer.

A column chunk is a row of pages, each with a header in Thrift's compact protocol:
    PageHeader {1: type, 2: uncompressed size, 3: compressed size, 5, 7 or 8: {1: number of values}}
Walking the headers decodes nothing, so that a limit can be checked before memory is taken.
Format: https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

DATA, DICTIONARY, DATA_V2 = 0, 2, 3  # page types that hold values
COUNTED_IN = {DATA: 5, DICTIONARY: 7, DATA_V2: 8}  # which field of the header says how many
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
MOST_DEPTH = 16  # structs in structs


@dataclass(frozen=True)
class Chunk:
    """All pages of one column in one row group."""

    values: int  # in data pages
    size: int  # bytes, uncompressed, of all pages
    largest: int  # number of values in the largest page, a dictionary's too


def walk(content: bytes, at: int, values: int, check: Callable[[], None]) -> Chunk:
    """The pages from byte `at` on, until they hold `values` values."""
    found = size = largest = 0
    while found < values:
        check()
        reader = _Compact(content, at)
        header = reader.struct()
        kind, full, packed = (header.get(i) for i in (1, 2, 3))
        if not isinstance(kind, int) or not isinstance(full, int) or not isinstance(packed, int):
            raise ValueError(f"the page at byte {at} has no header")
        inner = header.get(COUNTED_IN.get(kind, 0))
        count = inner.get(1) if isinstance(inner, dict) else 0 if kind not in COUNTED_IN else None
        if not isinstance(count, int) or count < 0 or full < 0 or packed < 0 or reader.at + packed > len(content):
            raise ValueError(f"the page at byte {at} does not fit into the file")
        found += 0 if kind == DICTIONARY else count
        size, largest = size + full, max(largest, count)
        at = reader.at + packed
    return Chunk(found, size, largest)


class _Compact:
    """A reader of Thrift's compact protocol that keeps numbers of 32 bits and structs, and skips the rest."""

    def __init__(self, content: bytes, at: int) -> None:
        self.content, self.at = content, at

    def struct(self, depth: int = 0) -> dict[int, object]:
        """{field: value} up to the struct's end."""
        if depth > MOST_DEPTH:
            raise ValueError("the header is nested too deeply")
        fields: dict[int, object] = {}
        field = 0
        while (head := self.byte()) != 0:
            field = field + (head >> 4) if head >> 4 else self.zigzag()
            if field in fields:  # whose reader takes the first, whose the last?
                raise ValueError(f"the header says field {field} twice")
            fields[field] = self.value(head & 15, depth)
        return fields

    def value(self, kind: int, depth: int) -> object:
        if kind in (TRUE, FALSE):
            return None  # the type is the value
        if kind in (I16, I32, I64):
            n = self.zigzag()
            return n if kind == I32 else None  # as everything we ask for is declared
        if kind == STRUCT:
            return self.struct(depth + 1)
        sizes = {BYTE: 1, DOUBLE: 8}
        if kind not in sizes and kind != BINARY:  # lists and maps are in no page header
            raise ValueError(f"the header holds type {kind}")
        size = self.varint() if kind == BINARY else sizes[kind]  # which moves `at` on, too
        self.at += size
        return None

    def zigzag(self) -> int:
        n = self.varint()
        return n >> 1 ^ -(n & 1)

    def varint(self) -> int:
        n = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            n |= (byte & 127) << shift
            if byte < 128:
                return n
        raise ValueError("the header holds a number without end")

    def byte(self) -> int:
        if not 0 <= self.at < len(self.content):
            raise ValueError("the header is cut short")
        self.at += 1
        return self.content[self.at - 1]
