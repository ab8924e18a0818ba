"""E-1: T_eff >= 1 and CSR <= 1 whatever the logits, by hand where it can be, and rising where branches drift apart."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from knob_core.probes import temperature


def drifting(n: int = 3000, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Two branches that agree when clean and drift apart with severity: the case that the paper describes."""
    rng = np.random.default_rng(seed)
    severity = rng.integers(0, 6, n)
    labels = rng.integers(0, 10, n)
    z = rng.normal(0, 0.5, (n, 10))
    z[np.arange(n), labels] += 4.0
    noise = rng.normal(0, 1, (2, n, 10)) * (0.15 + 0.5 * severity[:, None])
    return z + 0.4 * noise[0], 1.5 * z + 1.6 * noise[1], rng.uniform(0.2, 0.8, n), severity, labels


def test_one_sample_by_hand() -> None:
    z_static, z_dyn = np.array([[2.0, 0.0]]), np.array([[4.0, 0.0]])
    probe = temperature.temperature_probe(z_static, z_dyn, np.array([0.5]), np.array([3]))
    row = probe.row(3.0)
    assert row.count == 1
    assert np.isclose(row.t_eff.median, 4 / 3)
    logistic = lambda m: 1 / (1 + np.exp(-m))  # noqa: E731
    assert np.isclose(row.csr.median, logistic(3) / logistic(4))
    assert row.top2_preserved == 1.0
    assert np.isnan(probe.spearman_medians)  # one severity tells nothing
    assert probe.row(3.0, "disagree").count == 0
    assert np.isnan(probe.row(3.0, "disagree").csr_mean)


def test_temperature_rises_with_severity_and_more_on_disagreement() -> None:
    z_static, z_dyn, g, severity, _ = drifting()
    probe = temperature.temperature_probe(z_static, z_dyn, g, severity)
    assert probe.spearman_medians >= 0.9
    assert probe.spearman_samples > 0.2
    for level in (3.0, 5.0):
        agree, disagree = probe.row(level, "agree"), probe.row(level, "disagree")
        assert agree.count + disagree.count == probe.row(level).count
        assert disagree.csr_mean < agree.csr_mean < 1
        assert disagree.csr_sem > 0


@given(seed=st.integers(0, 2**32 - 1), scale=st.floats(0.01, 100))
def test_bounds_hold_on_any_logits(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    z_static, z_dyn = rng.normal(0, scale, (2, 40, 5))
    probe = temperature.temperature_probe(z_static, z_dyn, rng.random(40), rng.integers(1, 6, 40))
    assert probe.t_eff_min >= 1
    assert probe.csr_max <= 1


def test_a_fused_tie_does_not_spoil_the_quartiles() -> None:
    z_static, z_dyn = np.array([[1.0, 0], [3, 0], [3, 0]]), np.array([[0.0, 1], [1, 0], [1, 0]])
    row = temperature.temperature_probe(z_static, z_dyn, np.full(3, 0.5), np.ones(3)).row(1.0)
    assert np.isclose(row.t_eff.q25, 1.5)
    assert np.isfinite(row.t_eff.median)


def test_reliability_shares_the_samples_out() -> None:
    z_static, z_dyn, g, _, labels = drifting()
    tables = temperature.reliability_by_subset(z_static, z_dyn, g, labels)
    counts = {name: int(table.counts.sum()) for name, table in tables.items()}
    assert counts["all"] == len(labels) == counts["agree"] + counts["disagree"]
    mean = {name: table.counts @ table.accuracy / table.counts.sum() for name, table in tables.items()}
    assert mean["disagree"] < mean["agree"]


def test_an_empty_subset_is_left_out() -> None:
    z = np.eye(4)
    assert set(temperature.reliability_by_subset(z, z, np.full(4, 0.5), np.arange(4))) == {"all", "agree"}
