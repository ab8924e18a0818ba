"""Temperature scaling finds the temperature that made the labels, and never moves an answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from knob_core import metrics
from knob_core.metrics import temperature_scaling


def drawn(temperature: float, n: int = 40_000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Logits whose labels are drawn from softmax(z / temperature)."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 3, (n, 5))
    p = metrics.softmax(z / temperature)
    return z, (p.cumsum(-1) < rng.random((n, 1))).sum(-1).clip(0, 4)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.5])
def test_the_temperature_that_made_the_labels_is_found(temperature: float) -> None:
    assert temperature_scaling.fit(*drawn(temperature)) == pytest.approx(temperature, rel=0.02)


@given(seed=st.integers(0, 2**16), scale=st.floats(0.1, 5))
def test_no_temperature_is_better(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    z, labels = rng.normal(0, scale, (50, 4)), rng.integers(0, 4, 50)
    z[np.arange(50), labels] += scale

    def loss(t: float) -> float:
        return metrics.nll(metrics.softmax(temperature_scaling.apply(z, t)), labels)

    low, high = temperature_scaling.T_LIMITS
    rival = minimize_scalar(lambda log_t: loss(np.exp(log_t)), bounds=(np.log(low), np.log(high)), method="bounded")
    assert loss(temperature_scaling.fit(z, labels)) <= rival.fun + 1e-9


def test_limits_where_no_temperature_is_best() -> None:
    z = np.array([[2.0, 0.0], [0.0, 1.0]])
    assert temperature_scaling.fit(z, np.array([0, 1])) == temperature_scaling.T_LIMITS[0]
    assert temperature_scaling.fit(z, np.array([1, 0])) == temperature_scaling.T_LIMITS[1]


def test_answers_stay() -> None:
    z, _ = drawn(1.0, 100)
    assert (temperature_scaling.apply(z, 3.0).argmax(-1) == z.argmax(-1)).all()


@pytest.mark.parametrize(
    ("z", "labels"),
    [
        (np.zeros((3, 2)), np.zeros(2, int)),
        (np.zeros((0, 2)), np.zeros(0, int)),
        (np.zeros((2, 2)), np.array([0, 2])),
        (np.array([[np.nan, 0.0]]), np.array([0])),
        (np.zeros((1, 2)), np.array([0.0])),
    ],
)
def test_bad_input(z: np.ndarray, labels: np.ndarray) -> None:
    with pytest.raises(ValueError):
        temperature_scaling.fit(z, labels)


@pytest.mark.parametrize("temperature", [0.0, -1.0, float("inf"), float("nan")])
def test_bad_temperature(temperature: float) -> None:
    with pytest.raises(ValueError, match="temperature"):
        temperature_scaling.apply(np.zeros((1, 2)), temperature)
