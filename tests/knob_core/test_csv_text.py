"""CSV text: any delimiter, quotes, line ends and blank rows; what is no text is refused with its place."""

from __future__ import annotations

import pytest

from knob_core.csv_text import decoded, rows


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_the_first_row_says_what_is_between_cells(mark: str, end: str):
    text = end.join(["", mark, f'"a, b"{mark}c', f" 1{mark}2 ", ""])
    assert list(rows("", text)) == [(3, ["a, b", "c"]), (4, ["1", "2"])]


def test_a_tsv_file_has_tabs_where_it_has_any():
    assert list(rows("a.tsv", "a,b\tc\n")) == [(1, ["a,b", "c"])]
    assert list(rows("a.tsv", "a,b\n")) == [(1, ["a", "b"])]


@pytest.mark.parametrize(
    ("content", "cause"),
    [(b"\xff\xfea", "a.csv is not UTF-8 text .byte 0xff at 0.; save"), (b"a,\0", "a.csv holds NUL")],
)
def test_what_is_no_text_is_refused_with_its_place(content: bytes, cause: str):
    with pytest.raises(ValueError, match=cause):
        decoded("a.csv", content)


def test_a_quote_that_is_not_closed_is_refused_by_its_line():
    with pytest.raises(ValueError, match=r"a.csv, line 2 is not CSV .*; close its quotes"):
        list(rows("a.csv", 'a,b\n"1,2'))
