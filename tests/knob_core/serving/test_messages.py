"""Frames from anybody: every entry is checked, and comes out in one type."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest

from knob_core.serving.decode import BadFrame, Header, Logits, frame_of, of_text, opened, typed
from knob_core.serving.messages import Header as Given
from knob_core.serving.messages import pack

ODD: list[Any] = [[], {}, None, True, [1], {"a": 1}, [[]], -1, 0, 1.5, 10**400, "", "x" * 500]


@pytest.mark.parametrize("name", ["elapsed", "time"])
@pytest.mark.parametrize("value", ["NaN", "1e400", "1" + 400 * "0", "-1e13", "true", '"1"', "[1]"])
def test_a_clock_that_is_no_finite_number_is_refused(name: str, value: str) -> None:
    with pytest.raises(ValueError):
        typed(Header, f'{{"kind": "logits", "{name}": {value}}}')


def test_whole_numbers_of_a_clock_become_floats() -> None:
    header = typed(Header, '{"kind": "logits", "time": 549755813888}')
    assert type(header.time) is float and header.time == 2.0**39


@pytest.mark.parametrize("name", [*Given.__annotations__, "logits", "unknown"])
@pytest.mark.parametrize("value", ODD, ids=lambda value: repr(value)[:9])
def test_an_odd_entry_is_refused_or_taken_but_never_fails(name: str, value: Any) -> None:
    """Whatever a header or a frame in JSON has, only ValueError comes of it."""
    raw: Any = {"kind": "raw", "shape": [1, 1, 3], name: value}
    for read in (
        lambda: frame_of(*opened(pack(raw, b"123")), lambda picture: picture),
        lambda: frame_of(*opened(pack({**raw, "kind": "logits"}, b"12345678")), lambda picture: picture),
        lambda: typed(Logits, json.dumps({"logits": [1, 2, 3], name: value})),
        lambda: of_text(json.dumps({"type": "logits", "logits": [1, value]})),
    ):
        with contextlib.suppress(ValueError):
            read()


def test_an_error_has_the_number_where_that_can_be_read() -> None:
    for text, number in (('"number": 7, "evil": 1', 7), ('"number": 0.5', None), ('"number": 7, "logits": ["a"]', 7)):
        with pytest.raises(BadFrame) as bad:
            of_text(f'{{"type": "logits", {text}}}')
        assert bad.value.number == number
