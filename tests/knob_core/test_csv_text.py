"""CSV text: the compiled reader gives what the csv module and float() give, or the same refusal."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from knob_core import csv_columns
from knob_core.csv_columns import IGNORED, NUMBER, TEXT, read_columns
from knob_core.csv_text import opened, rows

CELLS = st.one_of(
    st.floats().map(repr),
    st.integers(-(10**25), 10**25).map(str),
    st.sampled_from(
        ["", " 1", "2 ", "+3", "1_0", "nan", "NaN", "-inf", "Infinity", "1e400", "True", "false", "x", "0x1"]
    ),
    st.sampled_from(['"1"', '"1,5"', '""', '"', '"3"4', "1;2", "\u0661", "\xa01", "1e", "--1", "\u2212" + "1"]),
)


def definition(content: bytes, columns: int) -> list[list[float]]:
    """What a table of numbers is, in as few lines as possible."""
    lines = list(csv.reader(io.StringIO(content.decode(), newline=""), strict=True))
    full = [[cell.strip() for cell in line] for line in lines if any(cell.strip() for cell in line)]
    if any(len(line) != columns for line in full):
        raise ValueError("ragged")
    return [[float(cell) for cell in line] for line in full]


@settings(max_examples=500, deadline=None)
@given(
    st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=4), st.sampled_from(["\n", "\r\n", "\n\n"])
)
@example([["1", "True"]], "\n")
@example([['"3"4', "1"]], "\n")
def test_compiled_and_by_definition_the_same(table: list[list[str]], end: str):
    content = end.join(",".join(cells) for cells in table).encode()
    text = opened("a.csv", content)
    if text.delimiter != ",":
        return
    try:
        want = definition(text.content, 2)
    except (ValueError, csv.Error):
        with pytest.raises(ValueError, match=r"^a.csv, line \d+"):
            read_columns(text, [NUMBER] * 2, 0, 10)
        return
    numbers, _ = read_columns(text, [NUMBER] * 2, 0, 10)
    np.testing.assert_array_equal(numbers, np.array(want).reshape(-1, 2))


def test_numbers_words_and_what_is_ignored(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(csv_columns, "BLOCK", 40)  # several blocks
    monkeypatch.setattr(csv_columns, "MAX_BLOCK", 40)
    lines = [f'{i}.5,"cat, {i % 3}",note {i}' for i in range(20)]
    numbers, words = read_columns(opened("a.csv", "\n".join(["x,y,z", *lines]).encode()), [NUMBER, TEXT, IGNORED], 1, 5)
    np.testing.assert_array_equal(numbers[:, 0], np.arange(20) + 0.5)
    assert [words[1].texts[code] for code in words[1].codes] == [f"cat, {i % 3}" for i in range(20)]


def test_the_wrong_cell_is_named_whatever_block_it_is_in(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(csv_columns, "BLOCK", 10)
    monkeypatch.setattr(csv_columns, "MAX_BLOCK", 10)
    for wrong, cause in (
        ("1,two", "line 41 holds 'two'"),
        ("1,2,3", "line 41 has 3 cells, expected 2"),
        ("1", "has 1 ce"),
    ):
        content = "\n".join([*["1,2"] * 20, *[""] * 20, wrong, "3,4"]).encode()
        with pytest.raises(ValueError, match=cause):
            read_columns(opened("a.csv", content), [NUMBER] * 2, 0, 10)


def test_blocks_of_blank_lines_have_no_rows(monkeypatch: pytest.MonkeyPatch):
    """pandas ends in an IndexError at one of a table with ignored columns."""
    monkeypatch.setattr(csv_columns, "BLOCK", 40)  # several blocks
    monkeypatch.setattr(csv_columns, "MAX_BLOCK", 40)
    text = opened("a.csv", b"t,x,label\n0,1,cat\n" + b"\n" * 200 + b"1,2,dog\n")
    numbers, words = read_columns(text, [IGNORED, NUMBER, TEXT], 1, 9)
    assert numbers.tolist() == [[1.0], [2.0]] and words[2].texts == ("cat", "dog")


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_the_first_line_says_what_is_between_cells(mark: str):
    content = f"\n{mark}\na{mark}b\n1{mark}2\n".encode()
    assert list(rows(opened("", content), 9)) == [(3, ["a", "b"]), (4, ["1", "2"])]


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"\xff\xfea", "byte 0xff at 0"),
        (b"a" * (1 << 20) + "\xe9".encode("latin-1"), "byte 0xe9 at 1048576"),
        (b"a" * ((1 << 20) - 1) + "\u00e9".encode()[:1] + b"a", "byte 0xc3 at 1048575"),
        (b"a,\0", "NUL"),
    ],
)
def test_what_is_no_text_is_refused_with_its_place(content: bytes, cause: str):
    with pytest.raises(ValueError, match=cause):
        opened("a.csv", content)


def test_reading_stops_when_it_is_told_to():
    asked: list[int] = []

    def check() -> None:
        asked.append(1)
        if len(asked) == 3:
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        read_columns(opened("a.csv", b"1,2\n" * 2_000_000, check), [NUMBER] * 2, 0, 10)
    asked.clear()
    with pytest.raises(ValueError, match="stop"):
        list(rows(opened("a.csv", b"\n" * 5_000, check), 2))


def test_a_word_too_many_is_refused():
    content = "\n".join(f"1,w{i}" for i in range(12)).encode()
    with pytest.raises(ValueError, match="12 different words, expected at most 11"):
        read_columns(opened("a.csv", content), [NUMBER, TEXT], 0, 11)
