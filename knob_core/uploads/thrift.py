"""Read chosen fields of a struct in Thrift's compact protocol, in which parquet files describe themselves.

A struct is a row of fields (number, type, value) up to a 0 byte; whole numbers are zigzag varints. What to keep is told
by a `Wanted`: {field: (type, what to keep in it)}. Everything else is skipped without being held. A wanted field that
comes twice or with another type is refused: another reader could take the other one.
Protocol: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
Wanted = dict[int, tuple[int, Any]]  # Any: Wanted of a struct, or of the structs in a list; None for numbers
FIXED = {TRUE: 0, FALSE: 0, BYTE: 1, DOUBLE: 8}  # bytes; in a struct the type of a truth is its value
MOST_DEPTH = 16  # structs and lists in each other
OFTEN = 4096  # elements of a list between two looks at the clock


class Reader:
    """A place in the bytes, which moves on as they are read."""

    def __init__(self, content: bytes, at: int, check: Callable[[], None] = lambda: None) -> None:
        self.content, self.at, self.check = content, at, check

    def struct(self, wanted: Wanted, depth: int = 0) -> dict[int, Any]:
        """{field: value} of what is wanted, up to the struct's end."""
        found: dict[int, Any] = {}
        field = 0
        while (head := self.byte()) != 0:
            field = field + (head >> 4) if head >> 4 else self.zigzag()
            kind, inner = head & 15, None
            if field in wanted:
                expected, inner = wanted[field]
                if kind != expected or field in found:
                    raise ValueError(f"the header has field {field} twice or with another type")
            value = self.value(kind, inner, depth)
            if field in wanted:
                found[field] = value
        return found

    def value(self, kind: int, wanted: Wanted | None, depth: int) -> Any:
        if kind in FIXED or kind == BINARY:
            size = FIXED[kind] if kind in FIXED else self.varint()  # which moves `at` on, too
            self.at += size
            return None
        if kind in (I16, I32, I64):
            return self.zigzag()
        if kind in (STRUCT, LIST, SET):
            if depth >= MOST_DEPTH:
                raise ValueError("the header is nested too deeply")
            return self.struct(wanted or {}, depth + 1) if kind == STRUCT else self.sequence(wanted, depth + 1)
        raise ValueError(f"the header holds type {kind}")

    def sequence(self, wanted: Wanted | None, depth: int) -> list[Any] | None:
        head = self.byte()
        kind, size = head & 15, head >> 4 if head >> 4 < 15 else self.varint()
        if size > len(self.content) - self.at:
            raise ValueError(f"the header has a list of {size:,} elements, which do not fit into it")
        kept = []
        for i in range(size):
            if i % OFTEN == 0:
                self.check()
            if kind in (TRUE, FALSE):
                self.at += 1
            else:
                value = self.value(kind, wanted, depth)
                if wanted is not None:
                    kept.append(value)
        return kept if wanted is not None else None

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
