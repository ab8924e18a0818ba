"""The third-order gate: no turning of the knobs drives it, and it is the lag and the spring in a row."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.linalg import expm

from knob_core import gate, theory
from knob_core.ema import run_ema
from knob_core.gates import SECOND_ORDER, Frame
from knob_core.third_order import THIRD_ORDER, ThirdOrder

ZETA, OMEGA = 0.6, 0.5


def far(state: np.ndarray, command: float) -> np.ndarray:
    """F of the module's head, of states (..., 3)."""
    u, v, w = np.moveaxis(state, -1, 0)
    return np.hypot(u - w, v) + np.abs(w - command)


@pytest.mark.parametrize("span", [(0.02, 3.0), (1e-6, 1e6)], ids=["console", "any"])
@pytest.mark.parametrize("rate", [0.2, 1.0, 20.0])
def test_no_turning_of_the_knobs_drives_it(span: tuple[float, float], rate: float) -> None:
    rng = np.random.default_rng(0)
    kind, state, command = ThirdOrder(rate), rng.normal(0, 3, (200, 3)), 0.7
    before = far(state, command)
    for _ in range(300):
        zeta = rng.choice([0.0, 1e-3, 0.3, 1.0, 3.0, 50.0], 200)
        omega_n = np.exp(rng.uniform(*np.log(span), 200))
        state = kind.frame(np.full(200, command), zeta, omega_n, 1.0, state).state
        now = far(state, command)
        assert (now <= before * (1 + 1e-12) + 1e-12).all()
        before = now


def test_the_paper_s_coordinates_are_driven_by_the_same_turning() -> None:
    """What the theorem is worth: the same spring that stores du/dt grows beyond all bounds."""
    rng = np.random.default_rng(0)
    omega_n = np.exp(rng.uniform(np.log(0.02), np.log(3.0), 2000))
    u, _ = theory.run_paper_coordinates(np.zeros(2000), 0.05, omega_n, state=[1.0, 0.0])
    ours = THIRD_ORDER.run(np.zeros(2000), 0.05, omega_n, state=np.array([1.0, 0.0, 0.0])).u
    assert np.abs(u).max() > 1e6 and np.abs(ours).max() <= 1.0


@pytest.mark.parametrize("zeta", [0.1, 1.0, 30.0])
def test_no_quadratic_function_does_as_much(zeta: float) -> None:
    """At zeta = 0 a quadratic V can only be u^2 + v^2 - u w + v w + r w^2; it falls where zeta <= 4 (2 r - 1)."""

    def grows(r: float, zeta: float) -> float:
        p = np.array([[1, 0, -0.5], [0, 1, 0.5], [-0.5, 0.5, r]])
        a = np.array([[0, 1, 0], [-1, -2 * zeta, 1], [0, 0, -1.0]])
        return float(np.linalg.eigvalsh(a.T @ p + p @ a).max())

    least = 0.5 + zeta / 8
    assert grows(least, 0.0) <= 1e-12 and grows(least * 1.001, zeta) <= 1e-12 < grows(least * 0.999, zeta)


def test_it_is_the_lag_and_the_spring_in_a_row() -> None:
    x = np.random.default_rng(1).normal(0, 2, (3, 50))
    lagged, _ = run_ema(x, OMEGA, state=0.0)
    np.testing.assert_allclose(THIRD_ORDER.run(x, ZETA, OMEGA).u, gate.run(lagged, ZETA, OMEGA)[0], atol=1e-13)
    np.testing.assert_allclose(ThirdOrder(1e9).run(x, ZETA, OMEGA).u, SECOND_ORDER.run(x, ZETA, OMEGA).u, atol=1e-12)


def test_slow_knobs_follow_the_differential_equation() -> None:
    a = OMEGA / 100 * np.array([[0, 1, 0], [-1, -2 * ZETA, 1], [0, 0, -1.0]])
    u = THIRD_ORDER.step_response(ZETA, OMEGA / 100, 2000)
    exact = [1 + (expm(a * t) @ np.array([-1.0, 0.0, -1.0]))[0] for t in (200, 1000, 2000)]
    np.testing.assert_allclose(u[[199, 999, 1999]], exact, atol=5e-3)


@pytest.mark.parametrize("elapsed", [1.0, 2.0, 5.0, 3.4, 40.0])
def test_a_gap_counts_as_the_held_command(elapsed: float) -> None:
    """Streams with knobs of their own, as the memory turns them."""
    rng = np.random.default_rng(2)
    zeta, omega_n = np.array([0.3, 1.0, 2.0]), np.array([0.05, 0.4, 3.0])
    state, held, now = rng.normal(0, 1, (3, 3)), rng.normal(0, 1, 3), rng.normal(0, 1, 3)
    gap = THIRD_ORDER.advance(Frame(now, held, np.full(3, elapsed)), zeta, omega_n, state)
    count = max(1, round(elapsed))
    for t in range(count):
        state = THIRD_ORDER.frame(held if t < count - 1 else now, zeta, omega_n, elapsed / count, state).state
    np.testing.assert_allclose(gap.state, state, atol=1e-12)
    np.testing.assert_allclose(gap.u, state[:, 0], atol=1e-12)


def test_a_stream_that_is_cut_goes_on() -> None:
    x, omega_n = np.random.default_rng(3).normal(0, 2, (2, 60)), np.geomspace(0.05, 2, 60)
    for knobs in (0.4, omega_n):
        parts = (knobs, knobs) if np.ndim(knobs) == 0 else (omega_n[:25], omega_n[25:])
        whole, first = THIRD_ORDER.run(x, ZETA, knobs), THIRD_ORDER.run(x[:, :25], ZETA, parts[0])
        rest = THIRD_ORDER.run(x[:, 25:], ZETA, parts[1], state=first.state)
        np.testing.assert_allclose(np.concatenate([first.u, rest.u], -1), whole.u, atol=1e-12)


def test_both_knobs_learn() -> None:
    zeta, omega_n = (torch.tensor(value, requires_grad=True) for value in (ZETA, OMEGA))
    u_star = torch.randn(2, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).float()
    for g in (THIRD_ORDER.run(u_star, zeta, omega_n).g, THIRD_ORDER.reset_g(u_star, zeta, omega_n)):
        grads = torch.autograd.grad(g.square().sum(), (zeta, omega_n))
        assert all(torch.isfinite(grad) and grad != 0 for grad in grads)
    ours = THIRD_ORDER.run(u_star.numpy(), ZETA, OMEGA).g
    np.testing.assert_allclose(THIRD_ORDER.run(u_star, ZETA, OMEGA).g.numpy(), ours, atol=1e-6)


def test_three_poles_and_sixty_decibels_a_decade() -> None:
    found = THIRD_ORDER.poles(np.array([0.2, 2.0]), OMEGA)
    assert found is not None and found.s.shape == found.z.shape == (2, 3)
    assert (np.abs(found.z) < 1).all()
    np.testing.assert_allclose(found.s[:, 2], -OMEGA)
    low, high = np.abs(THIRD_ORDER.frequency_response(1.0, 0.01, np.array([0.01, 0.1])))
    assert 20 * np.log10(high / low) == pytest.approx(-60, abs=2)
    assert "rises in" in THIRD_ORDER.regime(1.0, 0.4).words
