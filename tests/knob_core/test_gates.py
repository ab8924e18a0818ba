"""Gate objects: every kind answers every question, and its answers agree with each other and with theory."""

from __future__ import annotations

import numpy as np
import pytest

from knob_core import gates, methods, theory
from knob_core.gates import FIRST_ORDER, INSTANT, NO_GATE, SECOND_ORDER, Frame

KINDS = {kind.name: kind for kind in (NO_GATE, *(method.gate for method in methods.METHODS.values()))}
ZETA, OMEGA = 0.6, 0.5
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())


def command(paths: int = 3, frames: int = 40) -> np.ndarray:
    return np.random.default_rng(0).normal(0, 2, (paths, frames))


@each_kind
def test_frames_one_by_one_are_the_run(kind: gates.Gate) -> None:
    u_star = command()
    whole = kind.run(u_star, ZETA, OMEGA)
    state, held = np.tile(kind.rest, (3, 1)), np.zeros(3)
    for t in range(u_star.shape[1]):
        moved = kind.advance(Frame(u_star[:, t], held, np.ones(3)), ZETA, OMEGA, state)
        traced = kind.frame(u_star[:, t], ZETA, OMEGA, 1.0, state)
        np.testing.assert_allclose(moved.g, whole.g[:, t], atol=1e-12)
        np.testing.assert_allclose(moved.u, whole.u[:, t], atol=1e-9)
        np.testing.assert_allclose(traced.g, moved.g, atol=1e-12)
        np.testing.assert_allclose(traced.state, moved.state, atol=1e-12)
        state, held = moved.state, u_star[:, t]


@each_kind
def test_reset_mode_is_the_first_frame_from_rest(kind: gates.Gate) -> None:
    u_star = command()
    u, g = kind.reset(u_star, ZETA, OMEGA)
    first = kind.run(u_star[..., None], ZETA, OMEGA)
    np.testing.assert_allclose(g, first.g[..., 0], atol=1e-12)
    np.testing.assert_allclose(u, first.u[..., 0], atol=1e-6)
    np.testing.assert_array_equal(kind.reset_g(u_star, ZETA, OMEGA), g)
    gain, share, rest = kind.one_step(ZETA, OMEGA)
    np.testing.assert_allclose(rest + share * (gates.sigmoid(gain * u_star) - rest), g, atol=1e-12)


@each_kind
def test_theory_is_what_the_gate_does_to_a_step_and_to_a_tone(kind: gates.Gate) -> None:
    answer = kind.step_response(ZETA, OMEGA, 50)
    if not kind.gated:
        assert np.isnan(answer).all()
        return
    np.testing.assert_allclose(kind.smooth(np.ones(50), ZETA, OMEGA) - kind.smooth(np.zeros(50), ZETA, OMEGA),
                               answer, atol=1e-12)  # fmt: skip
    t, f = np.arange(4000), 0.05
    y = kind.smooth(np.exp(2j * np.pi * f * t).real, ZETA, OMEGA)[2000:]
    gain = np.abs(np.mean(y * np.exp(-2j * np.pi * f * t[2000:]))) * 2
    assert gain == pytest.approx(abs(kind.frequency_response(ZETA, OMEGA, np.array([f]))[0]), rel=2e-3)
    corner = kind.bandwidth(ZETA, OMEGA)
    if np.isfinite(corner):
        assert abs(kind.frequency_response(ZETA, OMEGA, np.array([corner]))[0]) == pytest.approx(np.sqrt(0.5))


@each_kind
def test_switched_off_it_follows_at_once(kind: gates.Gate) -> None:
    off = kind.without_inertia
    assert off.without_inertia is off
    assert not off.inertia
    u_star = command()
    np.testing.assert_array_equal(off.run(u_star, ZETA, OMEGA).u, u_star)
    assert off.gated == kind.gated


def test_regimes_in_words() -> None:
    assert SECOND_ORDER.regime(0.2, 0.5).zone == "under"
    assert SECOND_ORDER.regime(0.98, 0.5).zone == "critical"  # Console and Lessons say the same at 0.98
    assert "never overshoots" in SECOND_ORDER.regime(2.0, 0.5).words
    assert "overshoots a change by 53 %" in SECOND_ORDER.regime(0.2, 0.1).words  # exp(-pi zeta / sqrt(1 - zeta^2))
    assert all(kind.regime(ZETA, OMEGA).zone == "" for kind in (NO_GATE, INSTANT, FIRST_ORDER))
    assert SECOND_ORDER.step_info(0.5, 0.3) is SECOND_ORDER.step_info(0.5, 0.3)  # computed once


def test_poles_are_those_of_theory() -> None:
    found = SECOND_ORDER.poles(ZETA, OMEGA)
    assert found is not None
    np.testing.assert_array_equal(found.z, theory.poles(ZETA, OMEGA).z)
    one = FIRST_ORDER.poles(np.array([0.1, 1.0, 3.0]), OMEGA)
    assert one is not None
    np.testing.assert_allclose(one.z, np.full((3, 1), np.exp(-OMEGA)))  # zeta does not act on it
    np.testing.assert_allclose(np.exp(one.s), one.z)
    assert NO_GATE.poles(ZETA, OMEGA) is INSTANT.poles(ZETA, OMEGA) is None


def test_the_table_knows_its_methods() -> None:
    paper = [key for key, method in methods.METHODS.items() if method.paper]
    assert paper == ["static", "attention", "knob-ia", "ode-lite", "knob-ode"]
    assert [key for key in methods.GATED if key in paper] == ["knob-ia", "ode-lite", "knob-ode"]
    assert methods.get("knob-ode").title == "Knob-ODE: the second-order gate"
    with pytest.raises(ValueError, match="method is 'knob', expected one of static, attention"):
        methods.get("knob")
    assert len({method.colour for method in methods.METHODS.values()}) == len(methods.METHODS)
    assert len({method.marker for method in methods.METHODS.values()}) == len(methods.METHODS)


@each_kind
def test_normalised_reset_is_the_settled_gate_at_the_trained_knobs(kind: gates.Gate) -> None:
    u_star = command()
    own = kind.normalised(float(kind.kappa(ZETA, OMEGA)))
    np.testing.assert_allclose(own.reset_g(u_star, ZETA, OMEGA), kind.without_inertia.reset_g(u_star, ZETA, OMEGA))
    np.testing.assert_array_equal(own.reset(u_star, ZETA, OMEGA)[1], own.reset_g(u_star, ZETA, OMEGA))
    np.testing.assert_array_equal(own.run(u_star, ZETA, OMEGA).g, kind.run(u_star, ZETA, OMEGA).g)  # streams: the same
    gain, share, rest = own.one_step(ZETA, 0.3)
    if kind.gated:
        expected = rest + share * (gates.sigmoid(gain * u_star) - rest)
        np.testing.assert_allclose(expected, own.reset_g(u_star, ZETA, 0.3), atol=1e-12)
    assert kind.reference is None  # the table's own object stays literal
    np.testing.assert_array_equal(own.normalised(None).reset_g(u_star, ZETA, 0.3), kind.reset_g(u_star, ZETA, 0.3))


@pytest.mark.parametrize("kind", [FIRST_ORDER, SECOND_ORDER], ids=["first", "second"])
def test_turning_does_to_the_normalised_gate_what_it_does_to_the_literal_one(kind: gates.Gate) -> None:
    """Slower knobs bring the gate nearer to 0.5, quicker ones drive it out: by the ratio of one-step gains."""
    own = kind.normalised(float(kind.kappa(ZETA, OMEGA)))
    g = [float(own.reset_g(np.array(1.0), ZETA, omega_n)) for omega_n in (0.1, 0.3, OMEGA, 1.0)]
    assert g == sorted(g) and g[0] > 0.5
    ratio = float(kind.kappa(ZETA, 0.3) / kind.kappa(ZETA, OMEGA))
    assert g[1] == pytest.approx(1 / (1 + np.exp(-ratio)))
    with pytest.raises(ValueError, match=r"reference is 0\.0, expected kappa"):
        kind.normalised(0.0)
