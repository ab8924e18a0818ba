"""The operator's measures, on streams small enough to count by hand."""

from __future__ import annotations

import math
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from knob_core import gate, metrics
from knob_core.branches import Branches
from knob_core.measures import stability as sm
from knob_core.response import respond
from knob_core.settings import Settings


def test_flips_by_hand() -> None:
    assert sm.flips(np.array([[1, 1, 2, 2, 1]])) == 50.0  # two changes in four steps
    assert sm.flips(np.array([[1, 1, 1], [1, 2, 1]])) == 50.0  # none, and two in two
    assert math.isnan(sm.flips(np.array([[3]])))


@given(hnp.arrays(int, st.tuples(st.integers(1, 4), st.integers(2, 30)), elements=st.integers(0, 3)))
def test_flips_are_a_share(predicted: np.ndarray) -> None:
    assert 0 <= sm.flips(predicted) <= 100
    assert sm.flips(predicted) == sm.flips(predicted[:, ::-1])
    assert (sm.flips(predicted) == 0) == (predicted == predicted[:, :1]).all()


def test_steady_begins_when_severity_has_held() -> None:
    severity = np.array([1.0] * 5 + [4.0] * 5)
    np.testing.assert_array_equal(np.flatnonzero(sm.steady(severity, after=3)), [3, 4, 8, 9])


def test_jitter_ignores_what_happens_at_a_step() -> None:
    severity = np.repeat([1.0, 5.0], 40)
    p = np.where(np.arange(80) % 2, 0.6, 0.5)[None]
    p[0, 40:] += 0.3  # a jump, which is no jitter
    assert sm.jitter(p, severity) == pytest.approx(0.1)
    assert sm.jitter(p, np.linspace(0, 5, 80)) == pytest.approx((78 * 0.1 + 0.2) / 79)  # never steady: all frames


def test_steps_need_a_sudden_change_that_holds() -> None:
    severity = np.r_[np.full(30, 1.0), np.full(30, 5.0), np.full(5, 2.0), np.full(40, 2.0)]
    assert sm.steps(severity) == [(30, 60), (60, 105)]
    assert sm.steps(np.linspace(0, 5, 200)) == []
    assert sm.steps(np.r_[np.full(30, 1.0), np.full(4, 5.0), np.full(30, 1.0)]) == [(34, 64)]


@pytest.mark.parametrize(("fraction", "frames"), [(0.63, 9), (0.95, 28)])
def test_lag_of_an_exponential(fraction: float, frames: int) -> None:
    """1 - 0.9^(t+1) passes 63 % at t = 9 and 95 % at t = 28."""
    severity = np.repeat([1.0, 5.0], 100)
    path = np.r_[np.zeros(100), 1 - 0.9 ** np.arange(1, 101)][None]
    assert abs(sm.lag(path, severity, fraction) - frames) <= 1


def test_lag_of_the_gate_is_theory_s() -> None:
    severity = np.r_[np.full(120, 1.0), np.full(120, 5.0)]
    rng = np.random.default_rng(0)
    command = np.where(severity > 3, -2.0, 2.0) + rng.normal(0, 0.2, (20, 240))
    u, _ = gate.run(command, 0.7, 0.2)
    step, _ = gate.run(np.ones(120), 0.7, 0.2)
    assert abs(sm.lag(u, severity) - np.argmax(step >= 0.63)) <= 1
    assert sm.lag(command, severity) == 0


def test_after_a_short_stretch_lag_counts_from_where_the_path_stands() -> None:
    """Four bad frames let 1 - 0.9^t fall by a third only; back up, 63 % of that third takes as long as of anything."""
    severity = np.r_[np.full(60, 1.0), np.full(4, 5.0), np.full(60, 1.0)]
    path = np.ones(124)
    for t in range(60, 124):
        path[t] = path[t - 1] + 0.1 * ((0.0 if severity[t] > 3 else 1.0) - path[t - 1])
    assert abs(sm.lag(path[None], severity) - 9) <= 1
    assert sm.level_begins(severity, 64) == 60
    assert sm.level_begins(severity, 60) == 0


def test_lag_says_nothing_where_nothing_moved() -> None:
    severity = np.repeat([1.0, 5.0], 60)
    noise = np.random.default_rng(0).normal(0, 1, (10, 120))
    assert math.isnan(sm.lag(noise, severity))
    assert math.isnan(sm.lag(noise, np.full(120, 2.0)))


def test_sure_and_wrong_by_hand() -> None:
    p, correct = np.array([0.95, 0.95, 0.5, 0.91]), np.array([True, False, False, False])
    assert sm.sure_and_wrong(p, correct) == 50.0


def stream() -> Branches:
    rng = np.random.default_rng(3)
    z = rng.normal(0, 2, (2, 6, 90, 10))
    return Branches(*z, rng.normal(0, 1, (6, 90)), np.arange(6), np.repeat([1.0, 5.0, 1.0], 30))


def test_measure_is_the_sum_of_its_parts() -> None:
    b = stream()
    r, _ = respond(b, Settings())
    m = sm.measure(b, r)
    labels = np.repeat(b.labels, 90)
    flat = r.probabilities.reshape(-1, 10)
    assert m.flips == sm.flips(r.predicted)
    assert m.jitter == sm.jitter(r.p_max, b.severity)
    assert m.accuracy == pytest.approx(metrics.accuracy(flat, labels))
    assert m.nll == pytest.approx(metrics.nll(flat, labels))
    assert m.ece == pytest.approx(metrics.ece_debiased(flat, labels))
    assert m.ece_floor == pytest.approx(metrics.noise_floor(flat.max(-1), debiased=True))


def test_paths_without_a_label_count_where_they_can() -> None:
    b = stream()
    r, _ = respond(b, Settings())
    unknown = Branches(b.z_static, b.z_dyn, b.u_star, np.full(6, -1), b.severity)
    m = sm.measure(unknown, r)
    assert m.flips == sm.measure(b, r).flips
    assert math.isnan(m.accuracy) and math.isnan(m.ece) and math.isnan(m.nll)


def test_memory_buys_calm() -> None:
    """The point of static memory: fewer flips on a noisy stream, at the price of lag."""
    rng = np.random.default_rng(0)
    z = rng.normal(0, 1.5, (8, 300, 10))
    z[:, :, 4] += 2.0
    b = Branches(z, z + rng.normal(0, 0.5, z.shape), np.full((8, 300), -2.0), np.full(8, 4), np.full(300, 3.0))
    raw, calm = (
        sm.measure(b, respond(b, s)[0]) for s in (Settings(on=False), Settings(zeta=1.0, omega_n=0.2, memory="plain"))
    )
    assert raw.flips > 3 * calm.flips
    assert calm.accuracy > raw.accuracy


def test_one_label_a_frame_is_the_same_as_one_a_path_where_they_agree() -> None:
    b = stream()
    r, _ = respond(b, Settings())
    by_frame = replace(b, labels=np.repeat(b.labels[:, None], 90, 1), severity=np.tile(b.severity, (6, 1)))
    for first in (0, 20):
        one, other = (asdict(sm.measure(x, r, first=first)) for x in (by_frame, b))
        assert one == pytest.approx(other, rel=1e-12, nan_ok=True)


def test_labels_that_change_on_the_way() -> None:
    """Right for the first two frames, then the class changes and the answer does not; one frame is unknown."""
    p = np.array([[[0.8, 0.2]] * 5])
    found = sm.quality(p, p.max(-1), p.argmax(-1), np.array([[0, 0, 1, 1, -1]]))
    assert found.accuracy == 0.5
    assert found.nll == pytest.approx(-(np.log(0.8) + np.log(0.2)) / 2)
    assert sm.quality(p, np.full((1, 5), 0.95), p.argmax(-1), np.array([[0, 0, 1, 1, -1]])).sure_wrong == 50.0
    assert math.isnan(sm.quality(p, p.max(-1), p.argmax(-1), np.full((1, 5), -1)).accuracy)


def test_jitter_where_each_path_has_a_severity_of_its_own() -> None:
    severity = np.stack([np.full(40, 2.0), np.linspace(0, 5, 40)])  # steady from frame 10 on, and never
    np.testing.assert_array_equal(sm.steady(severity).sum(axis=1), [30, 0])
    p = np.where(np.arange(40) % 2, 0.6, 0.5) * np.array([[1.0], [1.5]])
    assert sm.jitter(p, severity) == pytest.approx(0.1)


def test_lag_needs_one_severity_for_all_paths() -> None:
    severity = np.repeat([1.0, 5.0], 100)
    path = np.r_[np.zeros(100), 1 - 0.9 ** np.arange(1, 101)][None].repeat(2, axis=0)
    assert sm.lag(path, np.stack([severity, severity])) == sm.lag(path, severity)
    assert math.isnan(sm.lag(path, np.stack([severity, severity[::-1]])))
