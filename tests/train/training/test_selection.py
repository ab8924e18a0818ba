"""The guard: a choice that would look at a test corruption is refused by name."""

from __future__ import annotations

import pytest

from knob_core import corruptions
from train.training import selection


def test_training_corruptions_and_clean_pass_as_they_came() -> None:
    assert selection.require_training_corruptions(["spatter", "clean"]) == ("spatter", "clean")
    assert selection.require_training_corruptions(iter(corruptions.TRAINING)) == corruptions.TRAINING


@pytest.mark.parametrize("name", corruptions.TEST)
def test_every_test_corruption_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=rf"looking at {name} \(a test corruption\); allowed: clean, speckle_noise"):
        selection.require_training_corruptions(["saturate", name])


def test_an_unknown_name_is_refused_too() -> None:
    with pytest.raises(ValueError, match="looking at haze; allowed"):
        selection.require_training_corruptions(["haze"])


def test_leave_one_out_takes_each_once() -> None:
    splits = selection.leave_one_out()
    assert [judged for _, judged in splits] == list(corruptions.TRAINING)
    assert all(set(fitted) | {judged} == set(corruptions.TRAINING) for fitted, judged in splits)
    assert all(judged not in fitted for fitted, judged in splits)
    with pytest.raises(ValueError, match="fog"):
        selection.leave_one_out(["fog", "spatter"])
