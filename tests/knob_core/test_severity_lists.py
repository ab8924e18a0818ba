"""A list of severities from outside is taken whole, or refused with the place and the cause."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knob_core.schedules.lists import MAX_BYTES, MAX_LISTED, from_csv, from_list


@given(st.lists(st.floats(0, 5), min_size=1, max_size=50))
def test_what_was_written_is_read(values: list[float]) -> None:
    assert from_list(values).tolist() == values
    assert from_csv("\n".join(map(repr, values))).tolist() == values
    table = "frame,Severity \r\n" + "".join(f"{t},{value!r}\r\n" for t, value in enumerate(values))
    assert from_csv("\ufeff".encode() + table.encode()).tolist() == values


@pytest.mark.parametrize(
    ("content", "values"),
    [
        ("severity\n1\n2.5\n", [1, 2.5]),
        ("s(t)\n1\n\n2\n\n", [1, 2]),  # any header over a single column
        ("t;severity;note\n0;3;fog\n1;4;\n", [3, 4]),
        ("severity\tt\n5\t0\n", [5]),
        ('"severity","t"\n"1e0","0"\n', [1]),
    ],
)
def test_layouts_that_are_understood(content: str, values: list[float]) -> None:
    assert from_csv(content).tolist() == values
    assert from_csv(content.encode()).tolist() == values


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        ("", "empty"),
        ("\n \n", "empty"),
        ("severity\n", "nothing below"),
        ("1\nnan\n", "line 2: 'nan'"),
        ("1\n2\ninf", "line 3: 'inf'"),
        ("1\n-0.1", "line 2: '-0.1' is not a severity, a number in"),
        ("1\n5.1", "line 2: '5.1'"),
        ("1\ntwo", "line 2: 'two'"),
        ("frame,level\n0,1\n", "2 columns .*'frame', 'level'.* none is headed 'severity'"),
        ("0,1\n1,2\n", "2 columns"),
        ("frame,severity\n0,1\n1\n", "line 3 has 1 columns, the first has 2"),
        ("frame,severity\n0,\n", "line 2: ''"),
        ('severity\n"1\n2', "not CSV"),
        ("severity\n" + "9" * 10_000, r"'9{40}\.\.\.'"),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "not UTF-8"),
        (b"1\n\x00\n", "NUL"),
        (b"PK\x03\x04\x14\x00", "NUL"),
        (b"1\n" * (MAX_BYTES // 2 + 1), f"at most {MAX_BYTES}"),
        (b"1\n" * (MAX_LISTED + 2), f"more than {MAX_LISTED}"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_cause(content: bytes | str, cause: str) -> None:
    with pytest.raises(ValueError, match=cause) as caught:
        from_csv(content)
    assert len(str(caught.value)) < 300


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200)))
def test_anything_else_is_a_value_error(content: bytes | str) -> None:
    try:
        s = from_csv(content)
    except ValueError as error:
        assert str(error)
    else:
        assert len(s) and ((s >= 0) & (s <= 5)).all()


@pytest.mark.parametrize("values", [[], [None], ["fog"], [[1, 2]], [float("nan")], [5.01], [-1e-9], [10**400], [1j]])
def test_lists_that_are_refused(values: list) -> None:
    with pytest.raises(ValueError, match="severit"):
        from_list(values)


def test_lists_without_end_are_refused() -> None:
    with pytest.raises(ValueError, match="too many"):
        from_list(itertools.repeat(1.0))
    assert len(from_list(np.ones(MAX_LISTED))) == MAX_LISTED
