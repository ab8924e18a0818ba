"""The trade-off curve: dominated settings do not count, and between two settings it is a straight line."""

from __future__ import annotations

import numpy as np
import pytest

from knob_core.tuning import front

DELAY = np.array([3.0, 1.0, 2.0, 1.5, 4.0])
FLIPS = np.array([1.0, 5.0, 2.0, 6.0, 1.5])  # 1.5 and 4 frames are beaten in both


def test_the_front_leaves_out_what_is_beaten_in_both() -> None:
    assert front.front(DELAY, FLIPS).tolist() == [1, 2, 0]
    assert front.front(np.array([1.0, 1.0, 1.0]), np.array([2.0, 1.0, 1.0])).tolist() == [1]


def test_between_two_settings_by_hand() -> None:
    between = front.at_delay(DELAY, FLIPS, [0.5, 1.0, 1.25, 2.5, 3.0, 9.0])
    assert between.mix(FLIPS).tolist() == [5, 5, 4.25, 1.5, 1, 1]
    assert between.mix(DELAY).tolist() == [1, 1, 1.25, 2.5, 3, 3]
    two_quantities = np.stack([FLIPS, 10 * FLIPS])
    assert between.mix(two_quantities)[1].tolist() == [50, 50, 42.5, 15, 10, 10]


def test_one_setting_is_everywhere() -> None:
    assert front.at_delay([1.0], [7.0], [0.5, 1, 2]).mix(np.array([7.0])).tolist() == [7, 7, 7]


def test_distance_from_what_is_reached() -> None:
    e = np.e
    assert np.allclose(front.off_range([1.0, 2.0], [1 / e, 1, 1.5, 2, 2 * e]), [1, 0, 0, 0, 1])


def test_what_is_not_a_number_is_named() -> None:
    with pytest.raises(ValueError, match="finite"):
        front.at_delay([1.0, np.nan], [1.0, 2.0], [1.0])
