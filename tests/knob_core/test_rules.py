"""The counting rules of practice: two speeds with offsets, hysteresis with hold, debounce; each by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from filter_examples import changing_logits

from knob_core import metrics
from knob_core.rivals.debounce import Debounce
from knob_core.rivals.hysteresis import Hysteresis
from knob_core.rivals.moving_average import EmaOfProbabilities
from knob_core.rivals.two_speeds import TwoSpeeds


def shown(filter_: object, p: list[float]) -> list[int]:
    """The class shown for a stream of two classes, p being the second one's probability."""
    second = np.array(p)
    z = np.log(np.stack([1 - second, second], -1))[None]
    return filter_.run(z)[0].argmax(-1)[0].tolist()  # type: ignore[attr-defined]


def test_two_speeds_rise_and_fall_by_their_own_shares() -> None:
    filter_ = TwoSpeeds(omega=math.log(2), slower=0.5)  # half of the way up, 1 - sqrt(1/2) of it down
    answer, state = filter_.run(np.log(np.array([[[0.9, 0.1], [0.1, 0.9]]])))
    up, down = 0.1 + 0.5 * 0.8, 0.9 - (1 - math.sqrt(0.5)) * 0.8
    assert np.allclose(state.m, [[down, up]])
    assert np.allclose(np.exp(answer[0, 1]), np.array([down, up]) / (down + up))


def test_with_one_speed_and_no_offset_it_is_an_average() -> None:
    z, _ = changing_logits()
    assert np.allclose(TwoSpeeds(omega=0.4, slower=1.0).run(z)[0], EmaOfProbabilities(omega=0.4).run(z)[0])


@pytest.mark.parametrize(
    "filter_", [TwoSpeeds(omega=0.4, offsets=(1.0, 0.0, -2.0)), Hysteresis(2, offsets=(1.0, 0.0, -2.0))]
)
def test_an_offset_is_added_to_the_logits_of_its_class(filter_: TwoSpeeds | Hysteresis) -> None:
    z, _ = changing_logits(classes=3)
    plain = type(filter_)(**{**vars(filter_), "offsets": ()})
    assert np.array_equal(filter_.run(z)[0], plain.run(z + np.array([1.0, 0.0, -2.0]))[0])
    with pytest.raises(ValueError, match="offsets has 3 numbers, expected one for each of 2 classes"):
        filter_.run(z[..., :2])


def test_hysteresis_waits_for_both_thresholds_and_for_the_hold() -> None:
    rule = Hysteresis(hold=1, enter=0.7, leave=0.35)
    assert shown(rule, [0.1, 0.6, 0.68, 0.71, 0.4, 0.32, 0.2]) == [0, 0, 0, 1, 1, 1, 0]
    held = Hysteresis(hold=3, enter=0.5, leave=0.5)
    assert shown(held, [0.1, 0.9, 0.1, 0.1, 0.1, 0.9]) == [0, 1, 1, 1, 0, 0]  # three frames of 1, then it may go


def test_hysteresis_gives_no_probabilities() -> None:
    z, _ = changing_logits()
    answer, _ = Hysteresis(hold=3).run(z)
    assert set(np.unique(answer)) == {0.0, 1.0} and (answer.sum(-1) == 1).all()


def test_debounce_counts_the_frames_own_answers() -> None:
    in_a_row = Debounce(window=3, share=1.0)
    assert shown(in_a_row, [0.1, 0.9, 0.9, 0.1, 0.9, 0.9, 0.9, 0.1]) == [0, 0, 0, 0, 0, 0, 1, 1]
    two_of_three = Debounce(window=3, share=2 / 3)
    assert shown(two_of_three, [0.1, 0.9, 0.1, 0.9, 0.1, 0.1]) == [0, 0, 0, 1, 0, 0]


def test_debounce_of_one_frame_is_the_frame() -> None:
    z, _ = changing_logits()
    answer, _ = Debounce(window=1).run(z)
    assert np.array_equal(answer.argmax(-1), metrics.softmax(z).argmax(-1))
