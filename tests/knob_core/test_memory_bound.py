"""How far attentive memory can be driven: the bounds hold for hostile logits and knobs, and are reached."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from knob_core.memories import Attentive
from knob_core.memories.attentive import largest_h
from knob_core.theory import memory_bound

PASSIVE = Attentive(a=0.0, b=0.0)  # omega_n as given: the sequence of h is the test's own
SLACK = 1.005  # of a bound that is computed on a grid of knobs


def remembered(
    z: np.ndarray, zeta: np.ndarray | float, omega_n: np.ndarray, weights: Attentive = PASSIVE
) -> np.ndarray:
    """|m| (R, T) of the first class, logits z (R, T) against a second class with -z."""
    return np.abs(weights.run_logits(np.stack([z, -z], -1), zeta, omega_n).z[..., 0])


@pytest.mark.parametrize(
    ("zeta", "published"),
    [
        (0.5, 2.618),
        (1, 2),
        *(
            pytest.param(*pair, marks=pytest.mark.slow)
            for pair in ((0.05, 20.1), (0.1, 10.15), (0.2, 5.28), (0.3, 3.73), (0.7, 2.165), (1.02, 2), (2, 2), (3, 2))
        ),
    ],
)
def test_held_damping_has_the_published_bound_and_it_is_reached(zeta: float, published: float) -> None:
    found = memory_bound.reach(zeta).m
    assert found == pytest.approx(published, rel=2e-3)
    hostile = memory_bound.worst(zeta, frames=1500)
    assert np.abs(hostile.z).max() <= 1
    m = remembered(hostile.z[None], hostile.zeta[None], hostile.omega_n[None])
    assert 0.995 * found <= m.max() <= found * (1 + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("low", "high", "published"), [(0.2, 3.0, 6.05), (0.5, 3.0, 4.86), (1.0, 3.0, 3.68)])
def test_turned_damping_goes_further_and_is_reached(low: float, high: float, published: float) -> None:
    found = memory_bound.reach(low, high).m
    assert found == pytest.approx(published, rel=3e-3)
    assert found > memory_bound.reach(low).m
    hostile = memory_bound.worst(low, high)
    assert low <= hostile.zeta.min() < hostile.zeta.max() <= high  # it does turn the knob
    m = remembered(hostile.z[None], hostile.zeta[None], hostile.omega_n[None])
    assert 0.995 * found <= m.max() <= found * SLACK


@pytest.mark.slow
@pytest.mark.parametrize(("zeta", "published"), [(1.0, 1.36), (2.0, 1.13)])
def test_a_brake_lowers_the_bound(zeta: float, published: float) -> None:
    found = memory_bound.reach(zeta, brake=1.0).m
    assert found == pytest.approx(published, rel=5e-3)
    hostile = memory_bound.worst(zeta, brake=1.0)
    m = remembered(hostile.z[None], zeta, hostile.omega_n[None], Attentive(a=0.0, b=0.0, brake=1.0))
    assert 0.99 * found <= m.max() <= found * SLACK


@pytest.mark.parametrize("zeta", [0.2, 0.5, 1.0, 2.0])
def test_a_greedy_opponent_stays_below(zeta: float) -> None:
    """Frame by frame the logit and omega_n, of 2 x 60, after which the energy is largest, or m is."""
    bound = memory_bound.reach(zeta).m
    choices = np.array(list(itertools.product((-1.0, 1.0), 2 * largest_h(zeta) * np.geomspace(0.01, 1.5, 60))))
    z, omega_n = choices[:, 0], choices[:, 1]
    for aim in (lambda m, v: m * m + v * v, lambda m, v: np.abs(m), lambda m, v: np.abs(m) + 0.5 * np.abs(v)):
        state, highest = np.zeros((1, 3, 2)), 0.0
        for _ in range(200):
            tried = PASSIVE.run_logits(np.stack([z, -z], -1)[:, None], zeta, omega_n[:, None],
                                       np.repeat(state, len(z), 0)).state  # fmt: skip
            best = int(np.argmax(aim(tried[:, 0, 0], tried[:, 0, 1])))
            state = tried[best : best + 1]
            highest = max(highest, abs(float(state[0, 0, 0])))
        assert highest <= bound * SLACK


@effort(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.floats(0.05, 3.0), st.floats(0.05, 3.0), st.floats(-20, 20), st.floats(0, 20),
    st.floats(0.5, 50),
)  # fmt: skip
def test_any_knobs_and_any_evidence_stay_below_the_proved_bound(
    seed: int, one: float, other: float, a: float, b: float, top: float
) -> None:
    low, high = sorted((one, other))
    rng = np.random.default_rng(seed)
    z = top * rng.choice([-1.0, 1.0], (8, 300))
    zeta, omega_n = rng.uniform(low, high, (8, 300)), np.exp(rng.uniform(-4, 2, (8, 300)))
    m = remembered(z, zeta, omega_n, Attentive(a=a, b=b))
    assert m.max() <= top * min(memory_bound.safe(low, high), memory_bound.safe(0.05, 3.0))
    assert m.max() <= top * 20.2  # the sharp value for 0.05 to 3


def test_the_hexagon_is_never_left_from_damping_1_021_on() -> None:
    for zeta in (1.021, 1.1, 1.5, 2.0, 3.0, 10.0):
        c = largest_h(zeta)
        corners = np.array([(0, c), (2, 0), (2, -c), (0, -c), (-2, 0), (-2, c)])
        h = c * np.linspace(1e-6, 1, 4001)[:, None, None]
        m, v, z = corners[:, 0], corners[:, 1], np.array([-1.0, 1.0])[:, None]
        k = 2 / (1 / h + 2 * zeta + h)
        after_m, after_v = m + k * (v + h * (z - m)), v + k * (z - m - (2 * zeta + h) * v)
        for name, value, limit in (("m", after_m, 2), ("v", after_v, c), ("mix", c * after_m / 2 + after_v, c)):
            assert np.abs(value).max() <= limit * (1 + 1e-12), (zeta, name)


def test_without_damping_there_is_no_bound() -> None:
    """Pushing in the direction of motion for ever: m grows with every swing."""
    frames = 4000
    h = np.full(frames, 1.0)  # a quarter of a turn a frame
    z = np.sign(np.sin(np.pi / 2 * np.arange(frames) + 0.1))
    m = remembered(z[None], 0.0, 2 * h[None])
    assert m[0, -100:].max() > 500
    with pytest.raises(ValueError, match="low"):
        memory_bound.reach(0.0)


def test_a_still_picture_never_moves_the_memory_away() -> None:
    """(m - z)^2 + v^2 cannot grow, whatever the knobs do, without damping too."""
    rng = np.random.default_rng(0)
    state = rng.normal(0, 2, (50, 4, 2))
    state[:, -1] = 0
    z = rng.normal(0, 3, (50, 3))
    energy = (state[:, :3, 0] - z) ** 2 + state[:, :3, 1] ** 2
    for _ in range(200):
        zeta, omega_n = rng.choice([0.0, 0.02, 0.5, 3.0], (50, 1)), np.exp(rng.uniform(-5, 3, (50, 1)))
        state = PASSIVE.run_logits(z[:, None], zeta, omega_n, state).state
        after = (state[:, :3, 0] - z) ** 2 + state[:, :3, 1] ** 2
        assert (after <= energy + 1e-13 * (1 + z * z)).all()  # rounding
        energy = after


def test_a_range_must_be_in_order() -> None:
    with pytest.raises(ValueError, match="high"):
        memory_bound.safe(1.0, 0.5)
