"""Parameters and the unit cube: there and back, on every scale."""

from __future__ import annotations

import pytest

from knob_core.rivals import RIVALS
from knob_core.rivals.base import Range
from knob_core.tuning import space


@pytest.mark.parametrize(
    ("span", "middle"),
    [
        (Range(0.01, 1.0, "log"), 0.1),
        (Range(1e-3, 1 - 1e-3, "logit"), 0.5),
        (Range(-1.0, 3.0, "linear"), 1.0),
        (Range(1, 49, "int"), 7),
    ],
)
def test_ends_and_middle(span: Range, middle: float) -> None:
    assert [space.value(c, span) for c in (0, 0.5, 1)] == pytest.approx([span.low, middle, span.high])
    assert space.place(middle, span) == pytest.approx(0.5)
    assert (space.place(span.low / 2 - 9, span), space.place(span.high * 2, span)) == pytest.approx((0, 1))


def test_whole_numbers_are_whole() -> None:
    assert {type(space.value(c / 7, Range(1, 41, "int"))) for c in range(8)} == {int}


@pytest.mark.parametrize("name", RIVALS)
def test_every_place_gives_allowed_parameters(name: str) -> None:
    kind = RIVALS[name]
    for c in (0.0, 1 / 3, 1.0):
        kind(**space.values([c] * len(kind.PARAMETERS), kind.PARAMETERS))


def test_a_place_outside_is_named() -> None:
    with pytest.raises(ValueError, match=r"c must lie in \[0, 1\], got 1.5"):
        space.value(1.5, Range(0, 1, "linear"))
