"""Headers from anybody: every entry is checked, and comes out in one type."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from knob_core.serving.decode import frame_of, of_logits
from knob_core.serving.messages import Header, checked_header

ODD: list[Any] = [[], {}, None, True, [1], {"a": 1}, [[]], -1, 0, 1.5, 1e400, -1e400, 10**400, "", "x" * 500]


@pytest.mark.parametrize("name", ["elapsed", "time"])
@pytest.mark.parametrize(
    "value", [10**400, -(10**400), float("inf"), float("nan"), True, "1", None, [1]], ids=lambda value: repr(value)[:9]
)
def test_a_clock_that_is_no_finite_number_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{name} is .*, expected a finite number"):
        checked_header({"kind": "logits", name: value})


def test_whole_numbers_of_a_clock_become_floats() -> None:
    header = checked_header({"kind": "logits", "time": 2**39})
    assert type(header["time"]) is float and header["time"] == 2.0**39


@pytest.mark.parametrize("time", [1.5e308, -1.1e12, 10**13])
def test_a_time_that_no_clock_shows_is_refused(time: float) -> None:
    with pytest.raises(ValueError, match=r"time is .*, expected -1e\+12 to 1e\+12 seconds"):
        checked_header({"kind": "logits", "time": time})


@pytest.mark.parametrize("name", [*Header.__annotations__, "logits", "unknown"])
@pytest.mark.parametrize("value", ODD, ids=lambda value: repr(value)[:9])
def test_an_odd_entry_is_refused_or_taken_but_never_fails(name: str, value: Any) -> None:
    """Whatever a header or a frame in JSON has, only ValueError comes of it."""
    for read in (
        lambda: frame_of(checked_header({"kind": "raw", "shape": [1, 1, 3], name: value}), b"123"),
        lambda: frame_of(checked_header({"kind": "logits", name: value}), b"12345678"),
        lambda: of_logits({"logits": [1, 2, 3], name: value}),
        lambda: of_logits({"logits": [1, value]}),
    ):
        with contextlib.suppress(ValueError):
            read()


def test_a_dtype_that_is_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match=r"dtype is \[\], expected one of uint8"):
        checked_header({"kind": "logits", "dtype": []})
