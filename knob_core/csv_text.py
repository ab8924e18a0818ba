"""CSV text from anybody: one definition for logits, labels and severities.

UTF-8 with or without a byte-order mark; cells between commas, semicolons or tabs, whichever the first line has outside
quotes (a .tsv file has tabs, if any), in quotes where needed; rows of nothing but empty cells are skipped. Split by
Python's csv module; `csv_columns` reads large tables of numbers with the same result.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

DELIMITERS = (",", ";", "\t")
QUOTED = re.compile(rb'"[^"]*"')
BLANK = b' \t\v\f\n,;"'  # what a row without content consists of
BLOCK = 1 << 20  # bytes that are decoded at once
LONGEST = 1 << 17  # characters of a cell, by Python's csv module: a delimiter stands before that
MOST_QUOTED = 100_000  # delimiters of one line, where quotes may hide some


@dataclass(frozen=True)
class CsvText:
    """A text that was checked: UTF-8 without byte-order mark and NUL, every line ends in \\n."""

    name: str  # how refusals call it
    content: bytes
    delimiter: str
    check: Callable[[], None]  # raises when reading has to stop
    lines_before: int = 0  # where `content` is a part of the whole

    def where(self, line: int) -> str:
        """`line` as a refusal says it."""
        return f"{self.name}, line {line}" if self.name else f"line {line}"


def opened(name: str, content: bytes, check: Callable[[], None] = lambda: None) -> CsvText:
    """Check the encoding and find the delimiter; `check` is called while rows are read, and may raise."""
    label = name or "the file"
    content = content.removeprefix(codecs.BOM_UTF8)
    _require_utf8(label, content)
    if b"\0" in content:
        raise ValueError(f"{label} holds NUL bytes, so it is no text; expected a CSV file")
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    start = len(content) - len(content.lstrip(BLANK))
    line = content[content.rfind(b"\n", 0, start) + 1 : content.find(b"\n", start) % (len(content) + 1)]
    marks = ("\t", *DELIMITERS) if name.lower().endswith(".tsv") else DELIMITERS
    bare = QUOTED.sub(b"", line[:LONGEST])
    delimiter = next((mark for mark in marks if mark.encode() in bare), ",")
    return CsvText(name, content, delimiter, check)


def _require_utf8(label: str, content: bytes) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    for at in range(0, len(content), BLOCK):  # not at once: as a str, a text may take four times its bytes
        waiting = len(decoder.getstate()[0])
        try:
            decoder.decode(content[at : at + BLOCK], final=at + BLOCK >= len(content))
        except UnicodeDecodeError as error:
            place = at - waiting + error.start
            raise ValueError(f"{label} is not UTF-8 text: byte {content[place]:#04x} at {place}") from error


def rows(text: CsvText, most_columns: int, exactly: bool = False) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of every row that is not empty, one at a time; a line with more cells is refused unsplit."""
    lines = _Lines(text, most_columns, exactly)
    reader = csv.reader(lines, delimiter=text.delimiter, strict=True)
    try:
        for row in reader:
            lines.cells = 0
            cells = [cell.strip() for cell in row]
            if any(cells):
                yield text.lines_before + reader.line_num, cells
    except csv.Error as error:
        line = text.lines_before + reader.line_num
        raise ValueError(f"{text.where(line)} is not CSV: {str(error)[:80]}") from error


class _Lines:
    """Line after line, as `csv.reader` asks for them; quotes may spread one row over many."""

    def __init__(self, text: CsvText, most_columns: int, exactly: bool) -> None:
        self.text, self.most_columns, self.exactly = text, most_columns, exactly
        self.cells = 0  # of the row so far; whoever takes a row sets it back
        self._lines = enumerate(io.BytesIO(text.content), text.lines_before + 1)

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        number, line = next(self._lines)
        text, most = self.text, self.most_columns
        if number % 1000 == 0:
            text.check()
        cells = line.count(text.delimiter.encode()) + 1
        if self.exactly and not self.cells and cells != most and b'"' not in line and line.strip(BLANK):
            raise ValueError(f"{text.where(number)} has {cells:,} cells, expected {most}")
        self.cells += cells
        if self.cells > max(most, MOST_QUOTED if self.exactly else 0):
            raise ValueError(f"{text.where(number)} has {self.cells:,} cells, expected at most {most:,}")
        return line.decode()


def number_of(cell: str) -> float | None:
    """The number a cell holds, None where it holds something else."""
    try:
        return float(cell)
    except ValueError:
        return None
