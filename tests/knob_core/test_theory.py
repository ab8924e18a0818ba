"""Theory against scipy.signal, python-control, and the gate itself."""

from __future__ import annotations

import control
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import signal

from knob_core import gate, theory

KNOBS = [(zeta, omega_n) for zeta in (0.05, 0.3, 0.7071, 1.0, 3.0) for omega_n in (0.05, 0.4, 1.0, 3.0)]
FREQS = np.concatenate([[0.0], np.geomspace(1e-4, 0.5, 60)])


def transfer_function(zeta, omega_n, dt=1.0):
    a, b = gate.coefficients(zeta, omega_n, dt)
    return signal.ss2tf(a, b[:, None], a[:1], b[:1, None])  # u_t = first row of A x_{t-1} + B u_star_t


# --- regime and poles ------------------------------------------------------------------------------------------------


def test_regime():
    assert theory.regime(0) == "undamped"
    assert theory.regime(0.7) == "underdamped"
    assert theory.regime(1) == "critical"
    assert theory.regime(0.949) == "underdamped"
    assert theory.regime(0.95) == theory.regime(0.98) == theory.regime(1.05) == "critical"
    assert theory.regime(1.051) == "overdamped"
    with pytest.raises(ValueError, match="zeta must be finite and >= 0, got -1"):
        theory.regime(-1)


@pytest.mark.parametrize(("zeta", "omega_n"), [*KNOBS, (0.0, 0.4)])
@pytest.mark.parametrize("dt", [0.1, 1.0])
def test_poles_are_the_roots_and_the_eigenvalues(zeta, omega_n, dt):
    found = theory.poles(zeta, omega_n, dt)
    assert found.s.shape == found.z.shape == (2,)
    for s in found.s:
        assert abs(s**2 + 2 * zeta * omega_n * s + omega_n**2) < 1e-12 * omega_n**2 * (1 + zeta) ** 2 * 8
    a, _ = gate.coefficients(zeta, omega_n, dt)
    np.testing.assert_allclose(np.poly(found.z), np.poly(a), atol=1e-12)  # as polynomials: a double root is ill-posed
    assert np.abs(found.s[0].real) <= np.abs(found.s[1].real)


def test_poles_of_a_heavily_damped_gate_keep_their_digits():
    s = theory.poles(1e8, 1.0).s
    np.testing.assert_allclose(s.real, [-0.5e-8, -2e8], rtol=1e-12)
    np.testing.assert_array_equal(s.imag, 0)


@given(zeta=st.floats(1e-3, 1e2), omega_n=st.floats(1e-4, 1e3), dt=st.floats(1e-3, 1e2))
@settings(max_examples=150, deadline=None)
def test_poles_are_stable(zeta, omega_n, dt):
    found = theory.poles(zeta, omega_n, dt)
    assert (found.s.real < 0).all()
    assert (np.abs(found.z) < 1).all()


def test_poles_broadcast():
    found = theory.poles(np.array([[0.3], [2.0]]), np.array([0.1, 0.4, 1.0]))
    assert found.z.shape == (2, 3, 2)
    np.testing.assert_array_equal(found.z[1, 2], theory.poles(2.0, 1.0).z)


# --- step response ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("zeta", "omega_n"), [*KNOBS, (0.0, 0.4), (1 - 1e-9, 0.4), (1 + 1e-5, 0.4), (0.99999, 0.4)])
def test_continuous_step_response_is_scipys(zeta, omega_n):
    t = np.linspace(0, 20 / omega_n, 300)
    system = signal.StateSpace([[0, omega_n], [-omega_n, -2 * zeta * omega_n]], [[0], [omega_n]], [[1, 0]], [[0]])
    _, y = signal.step(system, T=t)
    np.testing.assert_allclose(theory.continuous_step_response(zeta, omega_n, t), y, atol=1e-9)


def test_continuous_step_response_is_continuous_in_zeta():
    t = np.linspace(0, 30, 200)
    for near in (1 - 2e-7, 1 - 1e-8, 1.0, 1 + 1e-8, 1 + 2e-7):
        away = theory.continuous_step_response(near, 1.0, t)
        np.testing.assert_allclose(away, theory.continuous_step_response(1.0, 1.0, t), atol=1e-6)


@pytest.mark.parametrize(("zeta", "omega_n"), KNOBS)
def test_step_response_is_scipys(zeta, omega_n):
    _, (y,) = signal.dstep((*transfer_function(zeta, omega_n), 1.0), n=200)
    np.testing.assert_allclose(theory.step_response(zeta, omega_n, 200), y[:, 0], atol=1e-10)


@pytest.mark.parametrize("zeta", [0.2, 1.0, 2.0])
def test_step_response_converges_to_the_ode_at_second_order(zeta):
    errors = []
    for dt in (0.1, 0.05, 0.025):
        n = round(10 / dt)
        t = dt * np.arange(1, n + 1)
        gap = theory.step_response(zeta, 1.0, n, dt) - theory.continuous_step_response(zeta, 1.0, t)
        errors.append(np.abs(gap).max())
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4, rel=0.1)


def test_step_response_broadcasts_knobs():
    y = theory.step_response(np.array([0.3, 0.7, 1.0]), 0.4, 50)
    assert y.shape == (3, 50)
    np.testing.assert_allclose(y[1], theory.step_response(0.7, 0.4, 50), atol=1e-13)


# --- frequency response ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("zeta", "omega_n"), KNOBS)
@pytest.mark.parametrize("dt", [0.5, 1.0])
def test_frequency_response_is_scipys(zeta, omega_n, dt):
    b, a = transfer_function(zeta, omega_n, dt)
    _, expected = signal.freqz(b[0], a, worN=2 * np.pi * FREQS * dt)
    np.testing.assert_allclose(theory.frequency_response(zeta, omega_n, FREQS, dt), expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(("zeta", "omega_n"), KNOBS)
def test_frequency_response_is_the_designs_matrix_formula(zeta, omega_n):
    a, b = gate.coefficients(zeta, omega_n)
    for f in (0.0, 0.01, 0.2, 0.5):
        expected = np.linalg.solve(np.eye(2) - a * np.exp(-2j * np.pi * f), b)[0]
        assert theory.frequency_response(zeta, omega_n, f) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(("zeta", "omega_n"), [(0.3, 0.4), (1.0, 0.4), (2.0, 1.0)])
@pytest.mark.parametrize("freq", [0.01, 0.05, 0.2])
def test_a_sine_through_the_gate_has_the_gain_and_phase_of_theory(zeta, omega_n, freq):
    t = np.arange(4000)
    u, _ = gate.run(np.sin(2 * np.pi * freq * t), zeta, omega_n)
    late = t >= 2000
    basis = np.stack([np.sin(2 * np.pi * freq * t[late]), np.cos(2 * np.pi * freq * t[late])], -1)
    in_phase, quadrature = np.linalg.lstsq(basis, u[late], rcond=None)[0]
    assert in_phase + 1j * quadrature == pytest.approx(theory.frequency_response(zeta, omega_n, freq), abs=1e-9)


def test_continuous_frequency_response_is_scipys_and_the_limit_of_small_dt():
    for zeta, omega_n in KNOBS:
        freq = omega_n / (2 * np.pi) * np.geomspace(0.01, 10, 40)
        system = ([omega_n**2], [1, 2 * zeta * omega_n, omega_n**2])
        _, expected = signal.freqresp(system, 2 * np.pi * freq)
        np.testing.assert_allclose(theory.continuous_frequency_response(zeta, omega_n, freq), expected, rtol=1e-10)
        small = theory.frequency_response(zeta, omega_n, freq, dt=1e-6)
        np.testing.assert_allclose(small, expected, rtol=1e-3)


def test_dc_gain_is_one_and_nyquist_is_silent():
    for zeta, omega_n in KNOBS:
        assert theory.frequency_response(zeta, omega_n, 0.0) == 1
        assert abs(theory.frequency_response(zeta, omega_n, 0.5)) < 1e-12


@given(zeta=st.floats(1e-3, 1e2), omega_n=st.floats(1e-3, 1e2), dt=st.floats(0.1, 10))
@settings(max_examples=200, deadline=None)
def test_power_is_halved_at_the_bandwidth_and_nowhere_below(zeta, omega_n, dt):
    f = theory.bandwidth(zeta, omega_n, dt)
    assert 0 < f < 0.5 / dt
    assert abs(theory.frequency_response(zeta, omega_n, f, dt)) == pytest.approx(np.sqrt(0.5), rel=1e-6)
    below = theory.frequency_response(zeta, omega_n, np.linspace(0, 0.999 * f, 200), dt)
    assert (np.abs(below) > np.sqrt(0.5) * (1 - 1e-9)).all()


@pytest.mark.parametrize(("zeta", "omega_n"), [(0.3, 0.01), (0.7071, 0.01), (1.0, 0.01), (3.0, 0.01)])
def test_bandwidth_of_a_slow_gate_is_python_controls(zeta, omega_n):
    system = control.tf([omega_n**2], [1, 2 * zeta * omega_n, omega_n**2])
    half_power = control.bandwidth(system, dbdrop=20 * np.log10(np.sqrt(0.5))) / (2 * np.pi)
    assert theory.bandwidth(zeta, omega_n) == pytest.approx(half_power, rel=1e-3)


@pytest.mark.parametrize(("zeta", "omega_n"), [*KNOBS, (0.05, 2.5)])
def test_resonance_is_the_largest_gain(zeta, omega_n):
    peak = theory.resonance(zeta, omega_n)
    near = np.abs(np.linspace(peak.freq - 1e-4, peak.freq + 1e-4, 2001))
    grid = np.sort(np.concatenate([np.linspace(0, 0.5, 20_001), near]))
    gains = np.abs(theory.frequency_response(zeta, omega_n, grid))
    assert peak.gain == pytest.approx(gains.max(), rel=1e-6)
    assert peak.freq == pytest.approx(grid[gains.argmax()], abs=5e-6 if peak.gain > 1 + 1e-6 else 5e-3)


def test_resonance_of_an_undamped_gate_is_infinite():
    assert theory.resonance(0.0, 0.4).gain > 1e6


# --- step_info -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zeta", [0.1, 0.5, 0.7, 1.0, 2.0])
@pytest.mark.parametrize("omega_n", [0.1, 0.4, 1.5])
@pytest.mark.parametrize("sign", [1, -3])
def test_step_info_is_python_controls(zeta, omega_n, sign):
    y = sign * theory.step_response(zeta, omega_n, 600)
    ours, theirs = theory.step_info(y), control.step_info(y, timepts=np.arange(600.0))
    for name, value in theirs.items():
        assert ours[name] == pytest.approx(value, rel=1e-9, abs=1e-9), name


def test_step_info_of_the_ode_is_the_textbooks():
    zeta, omega_n, dt = 0.3, 0.5, 1e-3
    t = dt * np.arange(100_000)
    info = theory.step_info(theory.continuous_step_response(zeta, omega_n, t), dt, final=1.0)
    damped = omega_n * np.sqrt(1 - zeta**2)
    assert info.Overshoot == pytest.approx(100 * np.exp(-np.pi * zeta / np.sqrt(1 - zeta**2)), rel=1e-4)
    assert info.PeakTime == pytest.approx(np.pi / damped, abs=2 * dt)
    critical = theory.step_info(theory.continuous_step_response(1.0, omega_n, t), dt, final=1.0)
    assert critical.Overshoot == 0
    assert critical.RiseTime == pytest.approx(3.357 / omega_n, rel=1e-3)


def test_step_info_from_another_start_is_the_same_shape_moved():
    y = theory.step_response(0.3, 0.4, 200)
    moved = theory.step_info(5 - 3 * y, start=5.0)  # falls from 5 to 2
    plain = theory.step_info(y)
    for name in ("RiseTime", "SettlingTime", "Overshoot", "Undershoot", "PeakTime"):
        assert moved[name] == pytest.approx(plain[name], rel=1e-9), name
    assert moved.SteadyStateValue == pytest.approx(2.0)
    assert moved.Peak == pytest.approx(5 - 3 * plain.Peak)


def test_step_info_says_nan_where_it_never_happens():
    info = theory.step_info(np.linspace(0, 0.8, 50), final=1.0)
    assert np.isnan([info.RiseTime, info.SettlingTime, info.SettlingMin, info.SettlingMax]).all()
    assert info.Overshoot == info.Undershoot == 0


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"y": np.zeros(5)}, "final"),
        ({"y": np.zeros((2, 5))}, "y"),
        ({"y": np.array([0.0, np.nan])}, "y"),
        ({"y": np.array([0, 1])}, "y"),
        ({"y": np.ones(5), "dt": 0}, "dt"),
        ({"y": np.ones(5), "rise": (0.9, 0.1)}, "rise"),
        ({"y": np.ones(5), "settling": 0}, "settling"),
    ],
)
def test_step_info_names_bad_input(arguments, name):
    with pytest.raises(ValueError, match=f"^{name} must"):
        theory.step_info(**arguments)


@pytest.mark.parametrize("n", [0, -1, 2.5, True])
def test_step_responses_name_bad_lengths(n):
    with pytest.raises(ValueError, match=r"n is .*, expected a whole number >= 1"):
        theory.step_response(0.7, 0.4, n)
    with pytest.raises(ValueError, match=r"n is .*, expected a whole number >= 1"):
        theory.ema_step_response(0.4, n)


@pytest.mark.parametrize("function", [theory.poles, theory.bandwidth, theory.resonance])
@pytest.mark.parametrize(("arguments", "name"), [((-1, 1), "zeta"), ((1, 0), "omega_n"), ((1, 1, 0), "dt")])
def test_bad_knobs_are_named(function, arguments, name):
    with pytest.raises(ValueError, match=f"^{name} must be finite and"):
        function(*arguments)


# --- ema -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("omega_n", [0.02, 0.4, 1.5])
@pytest.mark.parametrize("dt", [0.5, 1.0])
def test_ema_theory_is_scipys_and_the_emas(omega_n, dt):
    alpha = gate.ema_alpha(omega_n, dt)
    assert alpha == pytest.approx(1 - np.exp(-omega_n * dt))
    assert theory.ema_pole(omega_n, dt) == pytest.approx(np.exp(-omega_n * dt), rel=1e-14)
    g, _ = gate.run_ema(np.ones(100), omega_n, dt, state=0.0)
    np.testing.assert_allclose(theory.ema_step_response(omega_n, 100, dt), g, atol=1e-13)
    _, expected = signal.freqz([alpha], [1, alpha - 1], worN=2 * np.pi * FREQS * dt)
    np.testing.assert_allclose(theory.ema_frequency_response(omega_n, FREQS, dt), expected, rtol=1e-10)
    half = theory.ema_frequency_response(omega_n, theory.ema_bandwidth(omega_n, dt), dt)
    assert abs(half) == pytest.approx(np.sqrt(0.5), rel=1e-9)


def test_a_fast_ema_never_halves_the_power():
    assert theory.ema_bandwidth(3.0) == np.inf
    assert abs(theory.ema_frequency_response(3.0, 0.5)) > np.sqrt(0.5)


# --- the paper's coordinates -----------------------------------------------------------------------------------------


def papers_loop(u_star, zeta, omega_n, dt=1.0):
    """The paper's equations 3 and 4, letter by letter."""
    x, us = np.zeros(2), []
    for target, z, w in zip(
        u_star, np.broadcast_to(zeta, u_star.shape), np.broadcast_to(omega_n, u_star.shape), strict=True
    ):
        a, b = np.array([[0, 1], [-(w**2), -2 * z * w]]), np.array([0, w**2])
        inverse = np.linalg.inv(np.eye(2) - dt / 2 * a)
        x = inverse @ (np.eye(2) + dt / 2 * a) @ x + inverse @ (dt * b) * target
        us.append(x[0])
    return np.array(us), x


def test_papers_coordinates_are_the_papers_equations_with_moving_knobs():
    rng = np.random.default_rng(0)
    u_star, zeta, omega_n = rng.normal(size=60), rng.uniform(0.3, 2, 60), rng.uniform(0.2, 2, 60)
    for knobs in ((zeta, omega_n), (0.7, 0.4), (0.7, omega_n)):
        u, state = theory.run_paper_coordinates(u_star, *knobs)
        expected, x = papers_loop(u_star, *knobs)
        np.testing.assert_allclose(u, expected, rtol=1e-10)
        np.testing.assert_allclose(state, x, rtol=1e-10)


@pytest.mark.parametrize(("zeta", "omega_n"), KNOBS)
def test_papers_coordinates_are_ours_while_nobody_turns(zeta, omega_n):
    u_star = np.random.default_rng(1).normal(size=(2, 300))
    u, state = theory.run_paper_coordinates(u_star, zeta, omega_n)
    ours, (ours_state) = gate.run(u_star, zeta, omega_n)
    np.testing.assert_allclose(u, ours, atol=1e-11)
    np.testing.assert_allclose(state, np.asarray(ours_state) * [1, omega_n], atol=1e-11)
