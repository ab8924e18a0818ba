"""CSV text from anybody: one definition for logits, labels and severities.

UTF-8 with or without a byte-order mark; cells between commas, semicolons or tabs, whichever the first row has outside
quotes (a .tsv file has tabs, if any), in quotes where needed; rows of nothing but empty cells are skipped.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

BLANK = " \r\n,;\t"  # what an empty row consists of


def decoded(name: str, content: bytes) -> str:
    """The text; `name` is how a refusal calls the file, "" where that is clear."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = f"byte {content[error.start]:#04x} at {error.start}"
        raise ValueError(f"{name or 'the file'} is not UTF-8 text ({place}); save it as CSV in UTF-8") from error
    if "\0" in text:
        raise ValueError(f"{name or 'the file'} holds NUL bytes, so it is no text; expected a CSV file")
    return text


def rows(name: str, text: str) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of every row that is not empty."""
    bare = re.sub(r'"[^"]*"', "", text.lstrip(BLANK).partition("\n")[0])
    marks = "\t,;" if name.lower().endswith(".tsv") else ",;\t"
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=next((m for m in marks if m in bare), ","), strict=True
    )
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield reader.line_num, [cell.strip() for cell in cells]
    except csv.Error as error:
        raise ValueError(f"{at(name, reader.line_num)} is not CSV ({str(error)[:80]}); close its quotes") from error


def at(name: str, line: int) -> str:
    """A line as a refusal says it."""
    return f"{name}, line {line}" if name else f"line {line}"


def number_of(cell: str) -> float | None:
    """The number a cell holds, None where it holds something else."""
    try:
        return float(cell)
    except ValueError:
        return None
