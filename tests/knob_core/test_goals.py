"""Goals: met and missed, by how much, in words."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from knob_core import goals
from knob_core.goals import KINDS, Goals, verdict
from knob_core.measures.change import ChangeMeasures


def test_every_goal_limits_a_measure_that_exists() -> None:
    assert {kind.measure for kind in KINDS.values()} <= set(ChangeMeasures.__dataclass_fields__)


def test_met_and_missed_in_words() -> None:
    assert verdict("excess_flips", 1.0, 0.8).words == "met: 0.8, wanted at most 1"
    missed = verdict("accuracy", 0.9, 0.836)
    assert (missed.met, missed.words) == (False, "missed by 6.4 %: 83.6 %, wanted at least 90 %")
    assert missed.shortfall == pytest.approx(0.064 / 0.005)


def test_the_limit_itself_is_met() -> None:
    assert verdict("delay", 3.0, 3.0).met
    assert verdict("accuracy", 0.9, 0.9).met


def test_what_a_stream_cannot_tell_is_not_met() -> None:
    found = verdict("delay", 3.0, math.nan)
    assert not found.met
    assert found.shortfall == math.inf
    assert found.words == "not measurable here; wanted at most 3"


def test_only_goals_that_ask_are_judged_in_the_tables_order() -> None:
    measures = SimpleNamespace(accuracy=0.95, excess_flips=2.0)
    found = list(Goals(accuracy=0.9, excess_flips=1).verdicts(measures))
    assert [(v.name, v.met) for v in found] == [("excess_flips", False), ("accuracy", True)]
    assert not Goals()
    assert Goals(delay=0)


@pytest.mark.parametrize("wrong", [math.nan, -1, True, "3"])
def test_a_wrong_limit_is_refused_by_name(wrong: object) -> None:
    with pytest.raises(ValueError, match="goal delay is"):
        goals.from_dict({"delay": wrong})
