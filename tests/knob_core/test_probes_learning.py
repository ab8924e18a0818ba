"""E-2: advantages against finite differences, AUC against scikit-learn's definition, errors against resampling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knob_core import fusion, metrics
from knob_core.probes import learning


def ce(z: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return -metrics.log_softmax(z)[np.arange(len(labels)), labels]


def samples(n: int = 400, seed: int = 0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    z_static, z_dyn = rng.normal(0, 2, (2, n, 6))
    return z_static, z_dyn, rng.uniform(0.05, 0.95, n), rng.integers(0, 6, n)


def test_auc_by_hand() -> None:
    assert learning.auc([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]) == 0.75
    assert learning.auc([1, 1, 1], [0, 1, 1]) == 0.5  # ties count half
    assert np.isnan(learning.auc([1, 2], [1, 1]))


@given(seed=st.integers(0, 2**32 - 1))
def test_auc_is_the_chance_that_a_positive_beats_a_negative(seed: int) -> None:
    rng = np.random.default_rng(seed)
    score, positive = rng.integers(0, 5, 30).astype(float), rng.random(30) < 0.4
    if positive.all() or not positive.any():
        return
    pairs = score[positive][:, None] - score[~positive]
    assert learning.auc(score, positive) == pytest.approx(((pairs > 0) + 0.5 * (pairs == 0)).mean())


def test_auc_error_is_the_scatter_over_new_samples() -> None:
    rng = np.random.default_rng(0)
    aucs, errors = [], []
    for _ in range(400):
        positive = rng.random(200) < 0.3
        score = rng.normal(positive * 1.0, 1.0)
        aucs.append(learning.auc(score, positive))
        errors.append(learning.auc_error(score, positive))
    assert np.mean(errors) == pytest.approx(np.std(aucs), rel=0.15)
    assert np.isnan(learning.auc_error([1.0, 2.0, 3.0], [1, 0, 0]))


def test_oracle_advantage_is_the_lower_loss() -> None:
    z_static, z_dyn, _, labels = samples()
    assert (learning.oracle_advantage(z_static, z_dyn, labels) == (ce(z_dyn, labels) < ce(z_static, labels))).all()


def test_gradient_advantage_is_the_sign_of_the_slope() -> None:
    z_static, z_dyn, g, labels = samples()
    loss = lambda gate: ce(fusion.fuse(z_static, z_dyn, gate), labels)  # noqa: E731
    slope = (loss(g + 1e-6) - loss(g - 1e-6)) / 2e-6
    clear = np.abs(slope) > 1e-4
    assert clear.sum() > 300
    assert (learning.gradient_advantage(z_static, z_dyn, g, labels) == (slope < 0))[clear].all()


def test_a_gate_that_knows_is_told_from_one_that_does_not() -> None:
    z_static, z_dyn, g, labels = samples(2000)
    better = learning.oracle_advantage(z_static, z_dyn, labels)
    knowing = learning.gate_advantage(z_static, z_dyn, np.where(better, 0.6, 0.4), labels)
    blind = learning.gate_advantage(z_static, z_dyn, g, labels)
    assert knowing.auc_oa["all"] == 1.0
    assert abs(blind.auc_oa["all"] - 0.5) < 4 * blind.auc_oa_error["all"]
    assert knowing.polarisation == pytest.approx(0.1)
    assert knowing.saturated == 0.0


def test_subsets_share_the_samples_out() -> None:
    found = learning.gate_advantage(*samples())
    assert tuple(found.share) == learning.SUBSETS == tuple(found.auc_oa) == tuple(found.auc_gca_error)
    assert found.share["all"] == 1.0
    assert found.share["dyn_margin_larger"] + found.share["static_margin_larger"] == pytest.approx(1.0)


def test_saturation_counts_both_ends() -> None:
    z_static, z_dyn, _, labels = samples(4)
    assert learning.gate_advantage(z_static, z_dyn, np.array([0.0, 0.5, 0.5, 0.99]), labels).saturated == 0.5
