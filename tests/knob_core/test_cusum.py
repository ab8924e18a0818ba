"""CUSUM with reset: the alarm's frame, the memory after it, and the running mean between alarms, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from knob_core.rivals.cusum import Cusum

SURE = 60.0  # a logit that makes softmax 0 or 1 to all digits


def frames(classes: list[int], of: int = 4, logit: float = SURE) -> np.ndarray:
    return logit * (np.array(classes)[None, :, None] == np.arange(of)).astype(float)


def cusum(threshold: float, **parameters: Any) -> Cusum:
    plain = {"drift": 0.0, "temperature": 1.0, "outlier": 0.1, "length": 100.0, "suspect": 1.0}
    return Cusum(threshold, **{**plain, **parameters})


CONTRADICTION = -np.log(1 - 0.9**2)  # no agreement: 1.66 nats a frame
AGREEMENT = np.log(4 * 0.9**2 + 1 - 0.9**2)  # full agreement of 4 classes: 1.23 nats a frame


@pytest.mark.parametrize(("drift", "needed"), [(0.0, 3), (0.5, 4)])
def test_the_alarm_comes_with_the_frame_that_passes_the_threshold(drift: float, needed: int) -> None:
    threshold = 4.5
    assert (needed - 1) * (CONTRADICTION - drift) < threshold < needed * (CONTRADICTION - drift)
    z = frames([0] * 10 + [2] * 10)
    shown = cusum(threshold, drift=drift).run(z)[0].argmax(-1)[0].tolist()
    assert shown == [0] * (10 + needed - 1) + [2] * (10 - needed + 1)


def test_a_share_of_outliers_makes_one_frame_count_for_less() -> None:
    z = frames([0] * 10 + [2] * 10)
    assert 5 * -np.log(1 - 0.8**2) > 4.5 > 4 * -np.log(1 - 0.8**2)
    shown = cusum(4.5, outlier=0.2).run(z)[0].argmax(-1)[0]
    assert shown.argmax() == 10 + 5 - 1


def test_frames_that_agree_take_suspicion_away() -> None:
    two_of_three = frames([0] * 10 + [2, 2, 0] * 5)
    assert 2 * CONTRADICTION < 4.5 < 4 * CONTRADICTION - AGREEMENT
    shown = cusum(4.5, suspect=0.0).run(two_of_three)[0].argmax(-1)[0]
    assert shown[:14].tolist() == [0] * 14  # 1.66, 3.32, 2.09, 3.75
    assert shown[14] != 0  # 5.41
    one_of_three = frames([0] * 10 + [2, 0, 0] * 5)
    assert (cusum(4.5, suspect=0.0).run(one_of_three)[0].argmax(-1) == 0).all()


def test_memory_restarts_from_the_frames_that_raised_the_alarm() -> None:
    z = frames([0] * 10 + [2] * 3)
    z[0, 10:, 3] = [1.0, 2.0, 6.0]
    answer, state = cusum(4.5).run(z)
    assert np.allclose(answer[0, -1], [0, 0, SURE, 3.0])  # their mean
    assert (state.n, state.score, state.number) == (3, 0, 0)


def test_between_alarms_it_is_a_running_mean_of_at_most_length_frames() -> None:
    z = np.array([[[0.0, 0.0], [3.0, 0], [6.0, 0], [0.0, 0]]])
    mean, state = cusum(50.0).run(z)
    assert np.allclose(mean[0, :, 0], [0, 1.5, 3, 2.25])
    assert state.n == 4
    short, state = cusum(50.0, length=2.0).run(z)
    assert np.allclose(short[0, :, 0], [0, 1.5, 3.75, 1.875])  # half of each new frame
    assert state.n == 2


def test_suspects_weigh_less_in_the_mean() -> None:
    z = frames([0, 0, 0, 2])
    held, _ = cusum(50.0, suspect=0.0).run(z)
    assert np.allclose(held[0, -1], z[0, 0])
    half, state = cusum(50.0, suspect=0.5).run(z)
    assert np.allclose(half[0, -1, 2], SURE * 0.5 / 3.5)
    assert np.allclose(state.n, 3.5)


def test_at_threshold_zero_every_contradiction_is_an_alarm() -> None:
    z = frames([0, 0, 0, 2, 1, 1, 0])
    assert cusum(0.0).run(z)[0].argmax(-1)[0].tolist() == [0, 0, 0, 2, 1, 1, 0]
