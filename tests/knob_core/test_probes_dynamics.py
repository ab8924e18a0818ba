"""E-3: the gate lies on theory, a noisy step is read to the frame, and tones come back as they were sent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knob_core import gate, theory
from knob_core.probes import dynamics

FREQUENCIES = np.geomspace(0.002, 0.45, 12)
SETTINGS = [(0.7, 0.4), (1.0, 0.4), (0.1, 0.8), (3.0, 0.2), (0.7, 3.0)]


@pytest.mark.parametrize(("zeta", "omega_n"), SETTINGS)
def test_the_gate_alone_lies_on_theory(zeta: float, omega_n: float) -> None:
    bode = dynamics.gate_bode(zeta, omega_n, FREQUENCIES)
    assert np.abs(bode.error_db).max() < 0.1
    assert np.abs(bode.error_degrees).max() < 1.0


def test_the_error_would_be_seen() -> None:
    bode = dynamics.gate_bode(0.7, 0.4, FREQUENCIES)
    wrong = dynamics.GateBode(bode.freq, bode.measured, theory.frequency_response(0.72, 0.4, FREQUENCIES))
    assert np.abs(wrong.error_db).max() > 0.1


def test_frequencies_are_per_frame_whatever_dt_is() -> None:
    bode = dynamics.gate_bode(0.7, 4.0, [0.05], dt=0.1)
    assert np.allclose(bode.measured, dynamics.gate_bode(0.7, 0.4, [0.05]).measured)
    assert np.abs(bode.error_db).max() < 1e-3


@given(
    gain=st.floats(0.01, 10), phase=st.floats(-3.1, 3.1), offset=st.floats(-5, 5), f=st.floats(0.005, 0.49),
    start=st.integers(0, 1000),
)  # fmt: skip
def test_a_tone_comes_back_as_it_was_sent(gain: float, phase: float, offset: float, f: float, start: int) -> None:
    t = start + np.arange(400)
    a = dynamics.tone(offset + gain * np.sin(2 * np.pi * f * t + phase), f, start)
    assert np.allclose(a, gain * np.exp(1j * phase), atol=1e-6 * (1 + gain + abs(offset)))


def stream_paths(freq: np.ndarray, omega_n: float | None, noise: float, first: int = 100) -> list[np.ndarray]:
    """g of 40 paths whose command follows s = 3 + 2 sin(2 pi f t) in noise; omega_n None: no dynamics."""
    rng, found = np.random.default_rng(0), []
    for f in freq:
        t = np.arange(first + max(200, round(1 / f)))
        u_star = -0.5 * np.sin(2 * np.pi * f * t) + noise * rng.normal(size=(40, len(t)))
        u = u_star if omega_n is None else gate.run(u_star, 0.7, omega_n)[0]
        found.append(gate.sigmoid(u))
    return found


def test_a_stream_without_dynamics_is_flat_and_one_with_them_follows_theory() -> None:
    freq = np.array([0.0025, 0.01, 0.05, 0.2, 0.45])
    flat = dynamics.stream_bode(stream_paths(freq, None, 0.3), freq, 100)
    assert (np.abs(flat.gain_db) < 4 * np.maximum(flat.gain_sem, 0.05)).all()
    bode = dynamics.stream_bode(stream_paths(freq, 0.4, 0.3), freq, 100)
    ideal = 20 * np.log10(np.abs(theory.frequency_response(0.7, 0.4, freq)))
    error = np.abs(bode.gain_db - (ideal - ideal[0]))
    assert (error[:4] < 4 * np.maximum(bode.gain_sem[:4], 0.1)).all()
    assert bode.gain_db[-1] < flat.gain_db[-1] - 10
    assert bode.gain_db[0] == 0 == bode.phase[0]


def test_noise_does_not_pass_for_a_response() -> None:
    """Averaged without their phase, 40 paths of pure noise would show an amplitude of about 0.02."""
    rng = np.random.default_rng(1)
    bode = dynamics.stream_bode([rng.normal(0, 0.3, (40, 400))], [0.1], 0, swing=1.0)
    assert bode.amplitude[0] < 0.01


@pytest.mark.parametrize(("zeta", "omega_n"), [(0.7, 0.4), (0.3, 0.6), (1.5, 0.5)])
def test_a_noisy_step_is_read_within_a_frame(zeta: float, omega_n: float) -> None:
    rng = np.random.default_rng(0)
    severity = np.where((np.arange(240) >= 60) & (np.arange(240) < 180), 5.0, 1.0)
    u_star = 1.0 - 0.4 * severity + 0.5 * rng.normal(size=(400, 240)) + rng.normal(size=(400, 1))
    u, _ = gate.run(u_star, zeta, omega_n)
    probes = dynamics.step_probes(u, u_star, severity, zeta, omega_n)
    assert [probe.start for probe in probes] == [60, 180]
    assert [round(probe.move, 1) for probe in probes] == [-1.6, 1.6]
    for probe in probes:
        assert abs(probe.measured.RiseTime - probe.theory.RiseTime) <= 1
        assert abs(probe.measured.SettlingTime - probe.theory.SettlingTime) <= 1
        assert abs(probe.measured.Overshoot - probe.theory.Overshoot) < 3
        assert (probe.low <= probe.median).all()
        assert (probe.median <= probe.high).all()
        assert len(probe.mean) == len(probe.median)


def test_no_step_no_probe() -> None:
    quiet = np.zeros((3, 100))
    assert dynamics.step_probes(quiet, quiet, np.full(100, 2.0), 0.7, 0.4) == []


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: dynamics.tone(np.zeros(10), 0.5), "freq"),
        (lambda: dynamics.tone(np.zeros(2), 0.1), "frames"),
        (lambda: dynamics.gate_bode(0.0, 0.4, [0.1]), "zeta"),
        (lambda: dynamics.gate_bode(0.7, 1e-7, [0.1]), "frames"),
        (lambda: dynamics.gate_bode(0.7, 0.4, [0.0]), r"freq must lie in \(0, 0\.5\)"),
        (lambda: dynamics.gate_bode(0.7, 0.4, []), "freq must lie"),
        (lambda: dynamics.stream_bode([np.zeros((2, 50))] * 2, [0.2, 0.1], 0), "ascending"),
        (lambda: dynamics.stream_bode([np.zeros((2, 50))], [0.1, 0.2], 0), "ascending"),
    ],
)
def test_bad_input_is_named(call: object, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        call()  # type: ignore[operator]
