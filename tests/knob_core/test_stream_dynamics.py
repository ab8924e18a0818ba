"""Measured answers lie on theory: the step on the stream's own steps, test tones in the stream's own noise."""

from __future__ import annotations

import numpy as np
import pytest

from knob_core import gate, theory
from knob_core import stream_dynamics as sd


def commands(paths: int = 12, noise: float = 0.3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    severity = np.repeat([1.0, 5.0, 1.0], 120)
    rng = np.random.default_rng(seed)
    return 2.0 - 0.8 * severity + rng.normal(0, noise, (paths, 360)), severity


@pytest.mark.parametrize(("zeta", "omega_n"), [(0.2, 0.4), (0.7, 0.4), (1.0, 0.3), (2.0, 0.5)])
def test_step_answer_lies_on_theory(zeta: float, omega_n: float) -> None:
    u_star, severity = commands()
    u, _ = gate.run(u_star, zeta, omega_n)
    answer = sd.step_answer(u, u_star, severity)
    assert answer is not None and answer.count == 2
    ideal = theory.step_response(zeta, omega_n, 120)
    assert np.abs(answer.median[:60] - ideal[:60]).max() < 0.08
    assert (answer.low <= answer.median).all() and (answer.median <= answer.high).all()
    assert abs(theory.step_info(answer.median, final=1.0).RiseTime - theory.step_info(ideal, final=1.0).RiseTime) <= 2


def test_no_step_no_answer() -> None:
    u_star, _ = commands()
    assert sd.step_answer(u_star, u_star, np.linspace(0, 5, 360)) is None
    assert sd.step_answer(np.ones((2, 360)), np.ones((2, 360)), np.repeat([1.0, 5.0, 1.0], 120)) is None


@pytest.mark.parametrize(("zeta", "omega_n"), [(0.3, 0.4), (0.7, 0.4), (1.5, 0.15)])
def test_tones_lie_on_theory_within_their_error_bars(zeta: float, omega_n: float) -> None:
    u_star, _ = commands()
    answer = sd.tone_answer(lambda x: gate.run(x, zeta, omega_n)[0], sd.command_noise(u_star), 1.0)
    h = theory.frequency_response(zeta, omega_n, answer.freq)
    gain, phase = 20 * np.log10(np.abs(h)), np.degrees(np.unwrap(np.angle(h)))
    heard = gain > -40
    assert (np.abs(answer.gain_db - gain) <= 4 * answer.gain_sem + 0.02)[heard].all()
    assert (np.abs(answer.phase - phase) <= 4 * answer.phase_sem + 0.2)[heard].all()
    assert (answer.gain_sem > 0).all()


def test_without_noise_tones_are_theory() -> None:
    answer = sd.tone_answer(lambda x: gate.run(x, 0.7, 0.4)[0], np.zeros((2, 100)), 1.0)
    h = theory.frequency_response(0.7, 0.4, answer.freq)
    np.testing.assert_allclose(answer.gain_db, 20 * np.log10(np.abs(h)), atol=1e-3)
    np.testing.assert_allclose(answer.phase, np.degrees(np.unwrap(np.angle(h))), atol=1e-2)
    np.testing.assert_allclose(answer.gain_sem, 0, atol=1e-9)


def test_command_noise_has_no_level_and_nothing_shared() -> None:
    u_star, _ = commands()
    noise = sd.command_noise(u_star + np.arange(12)[:, None])
    np.testing.assert_allclose(noise.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(noise.mean(axis=1), 0, atol=1e-12)
    assert noise.std() == pytest.approx(0.3, rel=0.1)
