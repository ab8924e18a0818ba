"""Errors over pictures: by hand, by simulation, and against the naive error where samples are independent."""

from __future__ import annotations

import numpy as np
import pytest

from knob_core.metrics import clustered


def test_a_mean_by_hand() -> None:
    found = clustered.mean([1.0, 2.0, 6.0])
    assert found.value == 3
    assert found.error == pytest.approx(np.std([1, 2, 6], ddof=1) / np.sqrt(3))
    low, high = found.interval
    assert (low + high) / 2 == pytest.approx(3)
    assert found.sign == 1 and low > 0
    assert clustered.mean([-1.0, 1.5]).sign == 0 and clustered.mean([-2.0, -2.1]).sign == -1


def test_unequal_counts_weigh_the_pictures() -> None:
    found = clustered.mean([2.0, 0.0, 9.0], [2, 0, 3])
    assert found.value == pytest.approx(11 / 5)
    residuals = np.array([2 - 2 * 2.2, 0, 9 - 3 * 2.2])
    assert found.error == pytest.approx(np.sqrt(1.5 * (residuals**2).sum()) / 5)
    assert np.isnan(clustered.mean([0.0, 0.0], [0, 0]).value)


def test_copies_of_a_picture_add_no_certainty() -> None:
    """A hundred cells of each picture that say the same: the naive error would be ten times too small."""
    values = np.random.default_rng(0).normal(size=400)
    cells = np.repeat(values[:, None], 100, 1)
    assert clustered.mean(cells.sum(1), 100).error == pytest.approx(clustered.mean(values).error)


def test_the_error_is_the_spread_of_repeated_draws() -> None:
    draw = np.random.default_rng(1)
    found = []
    for _ in range(400):
        own = draw.normal(size=(200, 1))
        found.append(clustered.mean((own + draw.normal(size=(200, 8))).mean(1)))
    spread = np.std([estimate.value for estimate in found])
    assert np.mean([estimate.error for estimate in found]) == pytest.approx(spread, rel=0.1)
    covered = np.mean([low <= 0 <= high for low, high in (e.interval for e in found)])
    assert covered == pytest.approx(0.95, abs=0.03)


def test_the_jackknife_of_a_mean_is_the_sandwich_with_one_picture_a_group() -> None:
    values = np.random.default_rng(2).normal(size=60)
    without = clustered.left_out(lambda kept: values[kept].mean(), 60, groups=60)
    found = clustered.jackknife(values.mean(), without)
    assert found.error == pytest.approx(clustered.mean(values).error)
    fewer = clustered.jackknife(values.mean(), clustered.left_out(lambda kept: values[kept].mean(), 60))
    assert fewer.error == pytest.approx(found.error, rel=0.5)


def test_groups_hold_neighbours_apart_and_everyone_once() -> None:
    group = clustered.group_of(45)
    assert len(set(group)) == 20
    assert (np.diff(group) != 0).all()
    seen = clustered.left_out(lambda kept: np.isin(np.arange(45), kept), 45)
    assert (seen.sum(0) == 19).all()


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match=r"sums must be \(N,\)"):
        clustered.mean(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="at least 2 pictures"):
        clustered.group_of(1)
    with pytest.raises(ValueError, match=r"without must be \(G,\)"):
        clustered.jackknife(0.0, [1.0])
