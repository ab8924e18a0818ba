"""Headers from anybody: every entry is checked, and comes out in one type."""

from __future__ import annotations

from typing import Any

import pytest

from knob_core.serving.messages import checked_header


@pytest.mark.parametrize("name", ["elapsed", "time"])
@pytest.mark.parametrize(
    "value", [10**400, -(10**400), float("inf"), float("nan"), True, "1", None, [1]], ids=lambda value: repr(value)[:9]
)
def test_a_clock_that_is_no_finite_number_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{name} is .*, expected a finite number"):
        checked_header({"kind": "logits", name: value})


def test_whole_numbers_of_a_clock_become_floats() -> None:
    header = checked_header({"kind": "logits", "time": 2**60})
    assert type(header["time"]) is float and header["time"] == 2.0**60
