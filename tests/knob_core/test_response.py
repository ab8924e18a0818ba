"""A stream under a setting: what the parts say apart must be what they say together, at once or frame by frame."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knob_core import fusion, gate, metrics
from knob_core.branches import Branches
from knob_core.maps.many_settings import ManySettings
from knob_core.memories import UNFITTED, Frames, at_rest
from knob_core.methods import METHODS
from knob_core.response import gate_alone, respond
from knob_core.runtime import KnobStream
from knob_core.runtime.sources import gate_of, source_of
from knob_core.settings import Settings


def made(paths: int = 3, frames: int = 40, seed: int = 0) -> Branches:
    rng = np.random.default_rng(seed)
    z_static, z_dyn = rng.normal(0, 2, (2, paths, frames, 10))
    return Branches(z_static, z_dyn, rng.normal(0, 1.5, (paths, frames)), np.arange(paths), np.full(frames, 3.0))


def cut(b: Branches, start: int, end: int) -> Branches:
    z_static, z_dyn, u_star = (a[:, start:end] for a in (b.z_static, b.z_dyn, b.u_star))
    return Branches(z_static, z_dyn, u_star, b.labels, b.severity[start:end])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("settings", [Settings(zeta=0.4), Settings(on=False), Settings(mode="reset")])
def test_the_gate_alone_is_the_response_s_without_memory(method: str, settings: Settings) -> None:
    settings = replace(settings, memory="off")
    np.testing.assert_array_equal(gate_alone(made().u_star, settings, method), respond(made(), settings, method)[0].u)


def test_without_memory_it_is_the_paper() -> None:
    b, s = made(), Settings(zeta=0.5, omega_n=0.3, memory=False)
    response, _ = respond(b, s)
    u, _ = gate.run(b.u_star, 0.5, 0.3)
    np.testing.assert_array_equal(response.u, u)
    np.testing.assert_array_equal(
        response.probabilities, metrics.softmax(fusion.fuse(b.z_static, b.z_dyn, gate.sigmoid(u)))
    )
    np.testing.assert_array_equal(response.predicted, response.probabilities.argmax(-1))
    np.testing.assert_array_equal(response.p_max, response.probabilities.max(-1))


@pytest.mark.parametrize("memory", ["attentive", "plain"])
@pytest.mark.parametrize("method", METHODS)
def test_with_memory_it_is_the_one_spring(method: str, memory: str) -> None:
    b, weights = made(), UNFITTED if memory == "attentive" else UNFITTED.plain
    response, _ = respond(b, Settings(zeta=0.9, omega_n=0.2, memory=memory), method)
    wanted = weights.run(Frames(b.z_static, b.z_dyn, b.u_star), METHODS[method].gate, 0.9, 0.2)
    for name in ("u", "g", "omega", "probabilities"):
        np.testing.assert_array_equal(getattr(response, name), getattr(wanted, name))


def test_memory_of_a_still_picture_changes_nothing() -> None:
    b = made(frames=1)
    still = Branches(*(np.repeat(a, 30, 1) for a in (b.z_static, b.z_dyn, b.u_star)), b.labels, np.full(30, 1.0))
    with_memory, without = (respond(still, Settings(memory=m), "knob-ia")[0] for m in (True, False))
    np.testing.assert_allclose(with_memory.probabilities, without.probabilities, atol=1e-12)


def test_off_is_frame_by_frame() -> None:
    b = made()
    response, _ = respond(b, Settings(on=False, memory=True))
    np.testing.assert_array_equal(response.u, b.u_star)
    order = np.random.default_rng(1).permutation(b.u_star.shape[1])
    shuffled = Branches(b.z_static[:, order], b.z_dyn[:, order], b.u_star[:, order], b.labels, b.severity)
    np.testing.assert_array_equal(respond(shuffled, Settings(on=False))[0].p_max, response.p_max[:, order])


def test_reset_mode_is_one_step_from_rest() -> None:
    b = made()
    response, _ = respond(b, Settings(zeta=0.7, omega_n=1.0, mode="reset"))
    np.testing.assert_allclose(response.u, gate.reset_gain(0.7, 1.0) * b.u_star, rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("memory", [True, False])
@given(st.lists(st.integers(1, 39), max_size=5))
def test_frames_may_come_in_any_pieces(method: str, memory: bool, cuts: list[int]) -> None:
    b, s = made(), Settings(memory=memory)
    whole, _ = respond(b, s, method)
    state, pieces = at_rest(3, 10, METHODS[method].gate), []
    for start, end in zip([0, *sorted(set(cuts))], [*sorted(set(cuts)), 40], strict=True):
        piece, state = respond(cut(b, start, end), s, method, state)
        pieces.append(piece.p_max)
    np.testing.assert_allclose(np.concatenate(pieces, 1), whole.p_max, atol=1e-12)


def test_a_turn_never_resets_the_state() -> None:
    b = made(frames=80)
    _, state = respond(cut(b, 0, 40), Settings(0.2, 0.1, memory="plain"), state=None)
    after, _ = respond(cut(b, 40, 80), Settings(2.0, 0.02, memory="plain"), state=state)
    assert state.gate is not None
    np.testing.assert_allclose(after.u[:, 0], state.gate[:, 0], atol=0.2)  # slow knobs: it goes on from where it was
    restarted, _ = respond(cut(b, 40, 80), Settings(2.0, 0.02, memory="plain"))
    assert np.abs(restarted.u[:, 0] - after.u[:, 0]).max() > 0.05


def test_static_closes_the_gate() -> None:
    response, _ = respond(made(), Settings(memory=False), "static")
    np.testing.assert_array_equal(response.g, 0)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ValueError, match="method is 'magic'"):
        respond(made(), Settings(), "magic")


@pytest.mark.parametrize(
    "setting", [{}, {"memory": "plain"}, {"memory": "off"}, {"mode": "reset"}, {"on": False}], ids=str
)
def test_a_temperature_changes_how_sure_and_not_what(setting: dict[str, Any]) -> None:
    b = made()
    plain, modest = (respond(b, Settings(temperature=t, **setting))[0] for t in (1.0, 2.5))
    np.testing.assert_array_equal(plain.probabilities, respond(b, Settings(**setting))[0].probabilities)  # bit for bit
    np.testing.assert_array_equal(plain.predicted, modest.predicted)
    np.testing.assert_allclose(modest.probabilities, metrics.softmax(np.log(plain.probabilities) / 2.5), atol=1e-6)
    assert (modest.p_max < plain.p_max).all()
    np.testing.assert_array_equal(plain.g, modest.g)


def test_reset_mode_of_a_shipped_model_is_the_runtime_s() -> None:
    """Its form is the model's: one step from rest is the gate that the model was trained through."""
    source = source_of("knob-ode-s0", "cpu")
    stream = KnobStream(source, settings=Settings(mode="reset", memory="off"))
    pictures = np.random.default_rng(0).integers(0, 256, (4, 32, 32, 3), dtype=np.uint8)
    answer = stream.step(pictures)
    branch, reference = source(pictures), gate_of(source).reference
    assert reference is not None
    b = Branches(*(x[:, None] for x in branch), np.zeros(4, int), np.zeros(1))
    response, _ = respond(b, stream.settings, reset_reference=reference)
    np.testing.assert_allclose(response.g[:, 0], answer.g, atol=1e-6)
    many = ManySettings(b, stream.settings, reset_reference=reference).measure(np.array([1.0]), np.array([0.4]))
    assert many["accuracy"] == pytest.approx((answer.label == 0).mean())
