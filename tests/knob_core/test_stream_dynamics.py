"""Measured answers lie on theory: the step on the stream's own steps, test tones in the stream's own noise."""

from __future__ import annotations

import numpy as np
import pytest

from knob_core import gate, theory
from knob_core import stream_dynamics as sd
from knob_core.probes import dynamics


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


def test_the_panel_and_the_probe_measure_one_step_alike() -> None:
    u_star, severity = commands()
    u, _ = gate.run(u_star, 0.7, 0.4)
    answer = sd.step_answer(u, u_star, severity)
    probes = dynamics.step_probes(u, u_star, severity, 0.7, 0.4)
    assert answer is not None and len(probes) == answer.count
    one = sd.step_answer(u[:, :240], u_star[:, :240], severity[:240])
    assert one is not None
    np.testing.assert_array_equal(one.median, probes[0].median)
    np.testing.assert_array_equal(one.high, probes[0].high)


def test_in_reset_mode_a_step_goes_its_share_of_the_way() -> None:
    u_star, severity = commands(noise=0.0)
    gain = float(gate.reset_gain(0.7, 0.4))
    answer = sd.step_answer(gain * u_star, u_star, severity, resting=gain * u_star)
    assert answer is not None
    np.testing.assert_allclose(answer.median, gain, rtol=1e-9)


def test_the_panel_and_the_probe_fit_one_tone_alike() -> None:
    freq = np.array([0.02, 0.1])
    answer = sd.tone_answer(lambda x: 0.5 * x, np.zeros((3, 50)), 2.0, freq)
    t = np.arange(400)
    probe = dynamics.stream_bode([3 + np.tile(np.sin(2 * np.pi * f * t), (3, 1)) for f in freq], freq, 100)
    np.testing.assert_allclose(answer.gain_db, 20 * np.log10(probe.amplitude), atol=1e-9)  # both are halved
    np.testing.assert_allclose(answer.phase, probe.phase, atol=1e-6)
