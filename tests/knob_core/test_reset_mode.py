"""Reset Mode over many predictions is fusion and metrics, only quicker."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from knob_core import fusion, gate, metrics, reset_mode
from knob_core.branches import Branches
from knob_core.methods import METHODS
from knob_core.reset_mode import PIECE, Predictions
from knob_core.response import respond
from knob_core.settings import Settings


def made(cells: int = 3, samples: int = 200, classes: int = 10, seed: int = 0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    z_static, z_dyn = (rng.normal(0, s, (cells, samples, classes)).astype(np.float32) for s in (1.5, 4.0))
    labels = rng.integers(0, classes, samples)
    z_dyn[:, np.arange(samples), labels] += 3
    return z_static, z_dyn, rng.normal(0, 2, (cells, samples)).astype(np.float32), labels


def prepared(**sizes: int) -> tuple[Predictions, tuple[np.ndarray, ...]]:
    arrays = made(**sizes)
    return reset_mode.prepare(*arrays), arrays


@pytest.mark.parametrize("samples", [1, 200, PIECE // 2, PIECE // 2 + 1])  # of 3 cells: within, at and over a piece
@pytest.mark.parametrize("zeta, omega_n", [(0.05, 0.02), (0.7, 0.4), (0.2, 3.0)])
def test_it_equals_fusion_and_metrics(samples: int, zeta: float, omega_n: float) -> None:
    predictions, (z_static, z_dyn, u_star, labels) = prepared(samples=samples)
    g = reset_mode.reset_gate(predictions.u_star, "knob-ode", zeta, omega_n)
    np.testing.assert_allclose(g, gate.sigmoid(u_star.ravel() * gate.reset_gain(zeta, omega_n)), rtol=2e-6)
    fused = reset_mode.fuse_all(predictions, g)
    flat = [z.reshape(-1, 10).astype(np.float64) for z in (z_static, z_dyn)]
    wanted = fusion.diagnose(*flat, g.astype(np.float64))
    p, y = metrics.softmax(wanted.z_fuse), np.tile(labels, 3)
    np.testing.assert_allclose(fused.confidence, p.max(-1), rtol=2e-5)
    near = np.sort(wanted.z_fuse, -1)
    clear = near[:, -1] - near[:, -2] > 1e-4  # a tie may fall either way in float32
    assert (fused.correct == (p.argmax(-1) == y))[clear].all()
    np.testing.assert_allclose(fused.csr[clear], wanted.csr[clear], atol=1e-5)
    np.testing.assert_allclose(fused.t_eff[clear], wanted.t_eff[clear], rtol=2e-2)
    np.testing.assert_allclose(fused.nll, -np.log(p[np.arange(len(y)), y]), atol=2e-5, rtol=2e-5)
    np.testing.assert_allclose(fused.brier.mean(), metrics.brier(p, y), atol=2e-6)
    found = reset_mode.scores(fused)
    assert found.ece_deb == pytest.approx(metrics.ece_debiased(p, y), abs=1e-5)
    assert found.accuracy == pytest.approx(metrics.accuracy(p, y), abs=1.5 / len(y))
    assert (predictions.agree == fusion.agreement(*flat)).all()
    assert (fused.t_eff >= 1).all() and (fused.csr <= 1).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("on", [True, False])
def test_the_gate_is_the_streams_gate_in_reset_mode(method: str, on: bool) -> None:
    _, (z_static, z_dyn, u_star, _) = prepared()
    stream = Branches(z_static, z_dyn, u_star, np.zeros(3, np.int64), np.zeros(200, np.float32))
    wanted, _ = respond(stream, Settings(zeta=0.4, omega_n=0.9, on=on, mode="reset"), method)
    g = reset_mode.reset_gate(u_star.ravel(), method, 0.4, 0.9, on)
    np.testing.assert_allclose(g, wanted.g.ravel(), atol=1e-6)


def test_a_temperature_divides_the_logits() -> None:
    predictions, (z_static, z_dyn, _, labels) = prepared()
    g = np.full(len(predictions), 0.3, np.float32)
    fused = reset_mode.fuse_all(predictions, g, 1.7)
    p = metrics.softmax(fusion.fuse(z_static, z_dyn, 0.3).reshape(-1, 10).astype(np.float64) / 1.7)
    y = np.tile(labels, 3)
    np.testing.assert_allclose(fused.confidence, p.max(-1), rtol=2e-5)
    assert reset_mode.scores(fused).nll == pytest.approx(metrics.nll(p, y), abs=1e-5)
    assert reset_mode.scores(fused).brier == pytest.approx(metrics.brier(p, y), abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 99), samples=st.integers(1, 90), levels=st.integers(1, 40), bins=st.integers(1, 20))
@example(seed=0, samples=18, levels=4, bins=19)  # fewer samples than bins, and not fifteen bins
def test_all_cells_at_once_are_each_cell_alone(seed: int, samples: int, levels: int, bins: int) -> None:
    """Also with many equal confidences, which no bin may part, and with fewer samples than bins."""
    rng = np.random.default_rng(seed)
    confidence = (rng.integers(0, levels, (4, samples)) / levels).astype(np.float32)
    correct = rng.random((4, samples)) < confidence
    accuracy, ece = reset_mode.cell_scores(confidence, correct, bins)
    for cell in range(4):
        table = metrics.reliability_table(confidence[cell], correct[cell], bins)
        assert ece[cell] == pytest.approx(table.ece_debiased(), abs=1e-9)
        assert accuracy[cell] == pytest.approx(correct[cell].mean())


def test_wrong_shapes_are_named() -> None:
    z_static, z_dyn, u_star, labels = made()
    with pytest.raises(ValueError, match=r"\(3, 200, 10\), \(3, 200, 9\)"):
        reset_mode.prepare(z_static, z_dyn[..., :9], u_star, labels)
    with pytest.raises(ValueError, match="labels must be"):
        reset_mode.prepare(z_static, z_dyn, u_star, labels + 10)
    with pytest.raises(ValueError, match="method is 'spring'"):
        reset_mode.reset_gate(u_star.ravel(), "spring", 0.7, 0.4)


def test_huge_commands_shut_and_open_the_gate_without_a_warning() -> None:
    with np.errstate(all="raise", under="ignore"):
        g = reset_mode.reset_gate(np.array([-1e4, 0, 1e4], np.float32), "knob-ode", 0.7, 3.0)
    np.testing.assert_allclose(g, [0, 0.5, 1])
