"""Columns of a CSV text as arrays: what `csv_text.rows` and float() give, by pandas' compiled parser.

The text is read in blocks of whole lines. A block that pandas may read otherwise, or not at all, is given to `rows`,
which names the wrong cell.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from knob_core.csv_text import CsvText, number_of, rows

BLOCK = 1 << 20  # bytes that are parsed at once
MAX_BLOCK = 1 << 22  # for wide tables
NUMBER, TEXT, IGNORED = "number", "text", "ignored"  # what a column holds
NAN = ["nan", "NaN"]
DOUBTFUL = re.compile(rb'true|false|[^,;\t\n "]"[^,;\t\n "]', re.IGNORECASE)  # pandas reads 1 for true, 34 for "3"4


@dataclass(frozen=True)
class Words:
    """A column of text: row i holds texts[codes[i]]."""

    codes: np.ndarray  # (rows,) int64; any shape where it is no column
    texts: tuple[str, ...]  # each different text once


def read_columns(
    text: CsvText, kinds: Sequence[str], header: int, most_texts: int
) -> tuple[np.ndarray, dict[int, Words]]:
    """Numbers (rows, n) of NUMBER columns and words of TEXT columns, from below the line `header` (0: none) on."""
    block_reader = _BlockReader(kinds, most_texts)
    numbers, count = np.empty((text.content.count(b"\n") + 1, len(block_reader.numeric))), 0  # more rows than there are
    for part in _blocks(text, header):
        text.check()
        block = block_reader.read(part)
        numbers[count : count + len(block)] = block
        count += len(block)
    codes, known = block_reader.codes, block_reader.known
    return numbers[:count], {i: Words(np.concatenate(codes[i]), tuple(known[i])) for i in known}


def _blocks(text: CsvText, header: int) -> Iterator[CsvText]:
    """The text below the header in parts of whole lines."""
    content, at, line = text.content, 0, header
    for _ in range(header):
        at = content.find(b"\n", at) + 1 or len(content)
    width = (content.find(b"\n", at) + 1 or len(content)) - at
    size = min(max(BLOCK, 256 * width), MAX_BLOCK)
    while at < len(content):
        end = content.find(b"\n", at + size) + 1 or len(content)
        block = content[at:end]
        yield replace(text, content=block if block.endswith(b"\n") else block + b"\n", lines_before=line)
        at, line = end, line + block.count(b"\n")


class _BlockReader:
    """Reads block after block of a table whose columns are known; keeps the words, returns the numbers."""

    def __init__(self, kinds: Sequence[str], most_texts: int) -> None:
        self.kinds, self.most_texts = kinds, most_texts
        self.numeric = [i for i, kind in enumerate(kinds) if kind == NUMBER]
        self.worded = [i for i, kind in enumerate(kinds) if kind == TEXT]
        self.known: dict[int, dict[str, int]] = {i: {} for i in self.worded}
        self.codes: dict[int, list[np.ndarray]] = {i: [np.empty(0, np.int64)] for i in self.worded}

    def read(self, text: CsvText) -> np.ndarray:
        """Numbers (rows, n) of one block."""
        if _regular(text, len(self.kinds)) and not DOUBTFUL.search(text.content):
            try:
                return self._compiled(text)
            except (ValueError, IndexError):  # pandas' ParserError, or a block of blank lines with ignored columns
                pass  # the exact reader says which cell it is
        return self._exact(text)

    def _compiled(self, text: CsvText) -> np.ndarray:
        import pandas as pd

        options: dict[str, Any] = {"dtype": np.float64, "na_values": NAN}
        if len(self.numeric) < len(self.kinds):  # by column, which takes longer where there are thousands
            each = dict.fromkeys(self.numeric, np.float64) | dict.fromkeys(self.worded, object)
            options = {"dtype": each, "na_values": dict.fromkeys(self.numeric, NAN), "usecols": sorted(each)}
        frame = pd.read_csv(
            io.BytesIO(text.content), sep=text.delimiter, header=None, names=list(range(len(self.kinds))),
            index_col=False, keep_default_na=False, encoding="utf-8", engine="c", low_memory=False, **options,
        )  # fmt: skip
        numbers = (frame[self.numeric] if self.worded else frame).to_numpy(np.float64)
        self._keep(text, {i: frame[i].tolist() for i in self.worded})
        return numbers

    def _exact(self, text: CsvText) -> np.ndarray:
        columns, numbers = len(self.kinds), []
        words: dict[int, list[str]] = {i: [] for i in self.worded}
        for line, cells in rows(text, columns, exactly=True):
            if len(cells) != columns:
                raise ValueError(f"{text.where(line)} has {len(cells):,} cells, expected {columns}")
            numbers.append([_number(text, line, cells[i]) for i in self.numeric])
            for i in self.worded:
                words[i].append(cells[i])
        self._keep(text, words)
        return np.array(numbers, np.float64).reshape(-1, len(self.numeric))

    def _keep(self, text: CsvText, words: dict[int, list[str]]) -> None:
        for i, column in words.items():
            known = self.known[i]
            self.codes[i].append(np.array([known.setdefault(word.strip(), len(known)) for word in column], np.int64))
            if len(known) > self.most_texts:
                raise ValueError(
                    f"{text.name}: column {i + 1} has {len(known):,} different words, "
                    f"expected at most {self.most_texts:,}"
                )


def _regular(text: CsvText, columns: int) -> bool:
    """Every line that is not blank has as many cells: said by counting bytes, without a loop over lines."""
    if len(text.content) > 2 * MAX_BLOCK:
        return False  # one line is as long as a block
    b = np.frombuffer(text.content, np.uint8)
    outside = np.cumsum(b == ord('"'), dtype=np.int32) % 2 == 0
    ends = np.flatnonzero((b == ord("\n")) & outside)
    if not len(ends) or ends[-1] != len(b) - 1:
        return False  # a quote is not closed
    marks = np.cumsum((b == ord(text.delimiter)) & outside, dtype=np.int32)[ends]
    solid = np.cumsum(b > ord(" "), dtype=np.int32)[ends]
    cells, blank = np.diff(marks, prepend=0) + 1, np.diff(solid, prepend=0) == 0
    return bool(((cells == columns) | blank).all())


def _number(text: CsvText, line: int, cell: str) -> float:
    number = number_of(cell)
    if number is None:
        raise ValueError(f"{text.where(line)} holds {cell[:40]!r}, expected a number")
    return number
