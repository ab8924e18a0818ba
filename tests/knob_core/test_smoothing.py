"""Smoothing of probabilities: still a distribution, calmer, and exact where it can be checked by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knob_core import metrics
from knob_core.rivals import smoothing


def noisy(paths: int = 3, frames: int = 80, classes: int = 4, seed: int = 0) -> np.ndarray:
    return metrics.softmax(np.random.default_rng(seed).normal(0, 2, (paths, frames, classes)))


def test_ema_by_hand() -> None:
    p = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    omega = -np.log(0.25)  # three quarters of the new frame
    assert np.allclose(smoothing.ema(p, omega), [[1, 0], [0.25, 0.75], [0.0625, 0.9375]])


def test_one_euro_by_hand() -> None:
    p = np.array([[1.0, 0.0], [0.0, 1.0]])
    cutoff = 1 / (2 * np.pi)  # alpha = 1/2, and the speed does not count
    assert np.allclose(smoothing.one_euro(p, cutoff, 0.0), [[1, 0], [0.5, 0.5]])


def test_one_euro_without_beta_is_an_ema() -> None:
    cutoff = 0.05
    alpha = 1 / (1 + 1 / (2 * np.pi * cutoff))
    assert np.allclose(smoothing.one_euro(noisy(), cutoff, 0.0), smoothing.ema(noisy(), -np.log1p(-alpha)))


def test_beta_follows_a_jump_sooner() -> None:
    p = np.zeros((60, 2))
    p[:30, 0] = p[30:, 1] = 1.0
    slow, fast = (smoothing.one_euro(p, 0.01, beta)[35, 1] for beta in (0.0, 1.0))
    assert fast > slow + 0.2


@given(seed=st.integers(0, 2**16), omega=st.floats(0.01, 5), cutoff=st.floats(1e-3, 0.5), beta=st.floats(0, 2))
def test_what_comes_out_is_a_distribution_that_moves_less(seed: int, omega: float, cutoff: float, beta: float) -> None:
    p = noisy(seed=seed)
    for smooth in (smoothing.ema(p, omega), smoothing.one_euro(p, cutoff, beta)):
        assert smooth.shape == p.shape
        assert np.allclose(smooth.sum(-1), 1)
        assert smooth.min() >= 0
        assert np.allclose(smooth[:, 0], p[:, 0])
        assert np.abs(np.diff(smooth, axis=1)).sum() <= np.abs(np.diff(p, axis=1)).sum()


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: smoothing.ema(np.ones(3), 0.5), "shape"),
        (lambda: smoothing.ema(np.full((4, 2), 1.5), 0.5), "1.5"),
        (lambda: smoothing.ema(np.full((4, 2), np.nan), 0.5), "probabilities"),
        (lambda: smoothing.ema(noisy(), 0.0), "omega_n"),
        (lambda: smoothing.one_euro(noisy(), 0.0, 0.1), "min_cutoff"),
        (lambda: smoothing.one_euro(noisy(), 0.1, -1.0), "beta"),
        (lambda: smoothing.one_euro(noisy(), 0.1, 0.1, float("nan")), "d_cutoff"),
        (lambda: smoothing.one_euro(np.ones((0, 2)), 0.1, 0.1), "empty"),
    ],
)
def test_bad_input_is_named(call: object, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        call()  # type: ignore[operator]
