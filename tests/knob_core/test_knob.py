"""One spring: the definition, the compiled loop and a slow reference agree, and the theorem holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knob_core import fit, knob, methods, theory, wrap
from knob_core import settings as settings_file
from knob_core.branches import Branches
from knob_core.gate import sigmoid
from knob_core.gates import INSTANT, NO_GATE, SECOND_ORDER, Frame, Gate
from knob_core.knob import FLOOR, softmax
from knob_core.memories import UNFITTED, Attentive, Frames, at_rest
from knob_core.memories.attentive import Knob
from knob_core.response import respond
from knob_core.runtime import KnobStream
from knob_core.settings import Settings

pytestmark = pytest.mark.usefixtures("one_thread")

STREAMS, FRAMES, CLASSES = 3, 50, 4


def random_weights(seed: int, classes: int = CLASSES) -> Attentive:
    """Any weights, with an offset and a hold for each class."""
    rng = np.random.default_rng(seed)
    a, t_0 = rng.normal(0, 0.7, 2)
    b, d = rng.uniform(0, 3), rng.normal(0, 1)
    per_class = {name: tuple(rng.normal(0, 0.5, classes)) for name in ("o", "s")}
    return Attentive(a, b, d, rng.uniform(0.5, 2), rng.uniform(0, 0.2), t_0, rng.uniform(0, 0.6), **per_class)


def frames_of(seed: int, streams: int = STREAMS, frames: int = FRAMES, classes: int = CLASSES) -> Frames:
    """Two branches of a noisy class that changes in the middle, and a command."""
    rng = np.random.default_rng(seed)
    truth = np.arange(frames) >= frames // 2
    z = rng.normal(0, 1, (streams, frames, classes)) + 3 * np.eye(classes)[truth.astype(int)]
    return Frames(z, z + rng.normal(0, 1, z.shape), rng.normal(0, 2, (streams, frames)))


def knobs_of(seed: int, frames: int = FRAMES) -> tuple[np.ndarray, np.ndarray]:
    """Another position each frame."""
    zeta, omega_n = np.exp(np.random.default_rng(seed + 1).uniform(-3, 1, (2, frames)))
    return zeta, omega_n


def by_hand(frames: Frames, kind: Gate, w: Attentive, zeta: np.ndarray, omega_n: np.ndarray) -> dict[str, np.ndarray]:
    """Stream by stream and frame by frame: gates by `Gate.frame`, the memory as the equations stand."""
    streams, count, classes = frames.z_static.shape
    found = {"p": np.empty((streams, count, classes)), **{x: np.empty((streams, count)) for x in ("u", "g", "omega")}}
    o, s = np.array(w.o or [0.0] * classes), np.array(w.s or [0.0] * classes)
    for r in range(streams):
        gate, m, v = np.array([kind.rest]), np.zeros(classes), np.zeros(classes)
        for t in range(count):
            z_static, z_dyn, u_star = frames.z_static[r, t], frames.z_dyn[r, t], frames.u_star[r, t]
            alone = sigmoid(np.array(u_star)) if kind.gated else 0.0
            p = softmax((alone * z_dyn + (1 - alone) * z_static + o) / w.tau)
            m = p if t == 0 else m
            q = 1 + (p * np.log(p)).sum() / np.log(classes)
            l = max(0.0, -np.log(classes * (1 - w.eps) ** 2 * m @ p + 1 - (1 - w.eps) ** 2))  # noqa: E741
            turned = omega_n[t] * np.exp(w.a + w.b * l + w.d * q + s[m.argmax()])
            h = min(turned / 2, zeta[t] + np.sqrt(zeta[t] ** 2 + 1))
            gain = 2 / (1 / h + 2 * zeta[t] + h)
            u, g, gate = kind.frame(np.array([u_star]), zeta[t], 2 * h, 1.0, gate)
            if kind.inertia:
                gate = gate * (1 - gain * h * np.array(kind.brakes))
            p = softmax((g[0] * z_dyn + (1 - g[0]) * z_static + o) / w.tau)
            m = p if t == 0 else m
            e = p - m
            m, v = m + gain * (v + h * e), (1 - gain * h) * (v + gain * (e - (2 * zeta[t] + h) * v))
            answer = np.maximum(m, FLOOR) ** np.exp(w.t_0)
            answer /= answer.sum()
            top = answer.argmax()
            ties = [(answer[top] - answer[i]) / (answer[top] - answer[i] + p[i] - p[top])
                    for i in np.flatnonzero(p > p[top])]  # fmt: skip
            share = min([w.f, *(0.95 * tie for tie in ties)])
            found["p"][r, t] = (1 - share) * answer + share * p
            found["u"][r, t], found["g"][r, t], found["omega"][r, t] = u[0], g[0], 2 * h
    return found


# Three forms of one equation


@pytest.mark.parametrize("method", methods.METHODS)
@pytest.mark.parametrize("seed", range(3))
def test_the_loop_is_the_equations_for_every_method(method: str, seed: int) -> None:
    frames, weights, knobs, kind = frames_of(seed), random_weights(seed), knobs_of(seed), methods.get(method).gate
    wanted, found = by_hand(frames, kind, weights, *knobs), weights.run(frames, kind, *knobs)
    np.testing.assert_allclose(found.probabilities, wanted["p"], atol=1e-9)
    np.testing.assert_allclose(found.u, wanted["u"], atol=1e-9)
    np.testing.assert_allclose(found.g, wanted["g"], atol=1e-9)
    np.testing.assert_allclose(found.omega, wanted["omega"], atol=1e-9)


@pytest.mark.parametrize("kind", [knob.Knob, Knob])
@pytest.mark.parametrize("branches", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_the_definition_and_its_compiled_form_are_the_loop(kind: type[knob.Knob], branches: int, seed: int) -> None:
    frames, weights, (zeta, omega_n) = frames_of(seed), random_weights(seed), knobs_of(seed)
    gate = SECOND_ORDER if branches == 2 else NO_GATE
    wanted = weights.run(frames, gate, zeta, omega_n)
    turned = kind(**weights.to_dict())
    for t in range(FRAMES):
        turned.zeta, turned.omega_n = zeta[t], omega_n[t]
        two = (frames.z_dyn[:, t], frames.u_star[:, t]) if branches == 2 else ()
        np.testing.assert_allclose(turned(frames.z_static[:, t], *two), wanted.probabilities[:, t], atol=1e-9)
    np.testing.assert_allclose(turned.state["memory"], wanted.state.classes, atol=1e-9)
    if branches == 2:
        np.testing.assert_allclose(turned.state["gate"], wanted.state.gate, atol=1e-9)


@pytest.mark.parametrize("dt", [0.4, 1.0, 1.3])
def test_a_frame_of_another_length_is_the_same_in_both(dt: float) -> None:
    plain, compiled, frames = knob.Knob(0.3, 0.6), Knob(0.3, 0.6), frames_of(1)
    for t in range(FRAMES):
        one = frames.z_static[:, t], frames.z_dyn[:, t], frames.u_star[:, t], dt
        np.testing.assert_allclose(compiled(*one), plain(*one), atol=1e-9)


@pytest.mark.parametrize("kind", [knob.Knob, Knob])
def test_a_recording_is_its_frames_and_goes_on_from_where_the_last_one_ended(kind: type[knob.Knob]) -> None:
    z, weights = frames_of(4).z_dyn, random_weights(4).to_dict()
    z[0, 10:14] = z[2, :3] = z[1, -1] = np.nan
    by_frame = kind(**weights)
    wanted = np.stack([by_frame(z[:, t]) for t in range(FRAMES)], 1)
    np.testing.assert_allclose(kind(**weights).run(z), wanted, atol=1e-12)
    np.testing.assert_allclose(kind(**weights).run(z[1]), wanted[1], atol=1e-12)
    cut = kind(**weights)
    whole = np.concatenate([cut.run(z[:, :12]), cut.run(z[:, 12:])], 1)  # inside a gap of the first stream
    np.testing.assert_array_equal(whole, kind(**weights).run(z))
    cut.reset()
    np.testing.assert_array_equal(cut.run(z), whole)


# By hand


def test_the_first_two_frames_by_hand() -> None:
    """zeta = 1, omega_n = 2: h = 1, G = 1/2, and half of v is taken where the memory has moved by half of e."""
    turned = knob.Knob(1.0, 2.0, a=0.0, b=0.0, d=0.0, f=0.0)
    np.testing.assert_allclose(turned(np.log([0.8, 0.2])), [0.8, 0.2])
    np.testing.assert_allclose(turned(np.log([0.4, 0.6])), [0.6, 0.4])  # .8 + 1/2 (0 + 1 (.4 - .8))
    np.testing.assert_allclose(turned.state["memory"][0], [[0.6, -0.1], [0.4, 0.1]])  # 1/2 [0 + 1/2 (-.4)]
    np.testing.assert_allclose(turned(np.log([0.6, 0.4])), [0.55, 0.45])  # .6 + 1/2 (-.1 + 0)


def test_evidence_and_certainty_turn_omega_by_hand() -> None:
    """Two certain frames of different classes: <m, p> = 0, l = -log(1 - (1-eps)^2), q = 1."""
    z = np.array([[[500.0, 0.0], [0.0, 500.0]]])
    found = Attentive(a=0.25, b=0.5, d=0.125, eps=0.5, f=0.0).run_logits(z, 1.0, 0.1)
    np.testing.assert_allclose(found.omega[0], 0.1 * np.exp([0.375, 0.375 - 0.5 * np.log(0.75)]))
    without = Attentive(a=0.0, b=0.0, d=0.0, s=(0.5, -0.5), f=0.0).run_logits(z, 1.0, 0.1)
    np.testing.assert_allclose(without.omega[0], 0.1 * np.exp([0.5, 0.5]))  # the memory holds the first class


def test_offsets_temperature_and_share_by_hand() -> None:
    p = np.array([0.9, 0.1])
    assert knob.Knob(o=(0.0, np.log(9)), f=0.0)(np.log(p)) == pytest.approx([0.5, 0.5])
    assert knob.Knob(tau=2.0, f=0.0)(np.log([0.8, 0.2])) == pytest.approx([2 / 3, 1 / 3])  # sqrt(.8) : sqrt(.2)
    assert knob.Knob(t_0=np.log(2), f=0.0)(np.log([2 / 3, 1 / 3])) == pytest.approx([0.8, 0.2])
    still = knob.Knob(1.0, 1e-9, a=0.0, b=0.0, f=0.25)  # the memory stays at p, a quarter of the answer is the frame's
    still(np.log(p))
    assert still(np.log([0.5, 0.5])) == pytest.approx([0.8, 0.2], abs=1e-6)
    eager = knob.Knob(1.0, 1e-9, a=0.0, b=0.0, f=1.0)
    eager(np.log([0.6, 0.4]))
    left = eager(np.log([0.1, 0.9]))  # a tie at a share of .2 / (.2 + .8), and no more than .95 of it
    assert left == pytest.approx([0.6 - 0.19 * 0.5, 0.4 + 0.19 * 0.5], abs=1e-6)


def test_a_contradiction_opens_the_memory_and_agreement_leaves_it_shut() -> None:
    z = 6 * np.eye(3)[np.repeat([0, 1], 20)][None]
    found = Attentive(a=0.0, b=3.0, eps=0.002, f=0.0).run_logits(z, 1.0, 0.1)
    assert found.omega[0, 19] == pytest.approx(0.1, rel=1e-3)
    assert found.omega[0, 20] > 1.0 and found.probabilities[0, 20].argmax() == 1
    calm = Attentive(a=0.0, b=0.0, f=0.0).run_logits(z, 1.0, 0.1)
    assert calm.probabilities[0, 25].argmax() == 0  # without evidence the old class stays for long


def test_plain_memory_has_nothing_that_turns_omega() -> None:
    weights, frames = random_weights(2), frames_of(2)
    plain = replace(weights, a=0.0, b=0.0, d=0.0, s=())
    assert weights.plain == plain
    found = weights.plain.run(frames, SECOND_ORDER, 0.7, 0.3)
    np.testing.assert_allclose(found.omega, 0.3)
    stream = Branches(*frames, np.zeros(STREAMS, int), np.zeros(FRAMES))
    by_switch, _ = respond(stream, Settings(0.7, 0.3, memory="plain"), attentive=weights)
    np.testing.assert_array_equal(by_switch.probabilities, found.probabilities)


# Theorem and invariants

KNOBS = st.tuples(st.floats(0, 5), st.floats(1e-3, 50))


@given(
    *(st.lists(KNOBS, min_size=1, max_size=60), st.integers(0, 10**6), st.floats(-3, 3)),
    st.tuples(st.floats(-5, 5), st.floats(-5, 5)),
)
@settings(max_examples=80, deadline=None)
def test_no_sequence_of_knobs_adds_energy(
    turns: list[tuple[float, float]], seed: int, command: float, start: tuple[float, float]
) -> None:
    """(x - y)^2 + v^2 of the gate and of each class, at a constant command, whatever is turned."""
    rng = np.random.default_rng(seed)
    z, turned = rng.normal(0, 2, (1, 3)), Knob(b=0.0)
    turned(z, z, np.array([command]))
    m = rng.normal(0, 1, 3)
    turned.state["gate"][:] = start
    turned.state["memory"][0] = np.stack([m, rng.normal(0, 1, 3)], -1)
    p, before = softmax(z[0]), None
    for zeta, omega_n in turns:
        turned.zeta, turned.omega_n = zeta, omega_n
        turned(z, z, np.array([command]))
        (u, u_v), memory = turned.state["gate"][0], turned.state["memory"][0]
        energy = np.array([(u - command) ** 2 + u_v**2, *((memory[:, 0] - p) ** 2 + memory[:, 1] ** 2)])
        if before is not None:
            assert (energy <= before * (1 + 1e-12) + 1e-15).all()
        before = energy


@given(*(st.integers(0, 10**6), st.floats(0.0, 3), st.floats(1e-6, 50), st.floats(-20, 20), st.floats(0, 20)))
@settings(max_examples=60, deadline=None)
def test_every_answer_is_a_distribution(seed: int, zeta: float, omega_n: float, a: float, b: float) -> None:
    z = np.random.default_rng(seed).uniform(-1, 1, (3, 80, 4)) * 50
    found = Attentive(a=a, b=b).run_logits(z, zeta, omega_n)
    assert (found.probabilities >= 0).all() and (found.omega > 0).all()
    np.testing.assert_allclose(found.probabilities.sum(-1), 1.0, atol=1e-12)


@pytest.mark.parametrize("count", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_the_memory_stays_a_distribution_and_does_not_drift(count: int) -> None:
    """The state after very many frames is that of a fresh start from the last few thousand."""
    rng, weights, state = np.random.default_rng(0), random_weights(0, 3), None
    for _ in range(count // 100_000):
        z = rng.normal(0, 1, (1, 100_000, 3)) + np.array([2.0, 0.0, 0.0])
        state = weights.run_logits(z, 0.7, 0.4, state).state
    m, v = state.classes[0].T
    assert m.sum() == pytest.approx(1.0, abs=1e-9) and v.sum() == pytest.approx(0.0, abs=1e-9)
    fresh = weights.run_logits(z[:, -3000:], 0.7, 0.4).state
    np.testing.assert_allclose(state.classes, fresh.classes, atol=1e-9)


@pytest.mark.parametrize("eps", [0.0, 1.0])
def test_frames_without_anything_in_common_are_finite(eps: float) -> None:
    found = Attentive(b=2.0, eps=eps).run_logits(5000 * np.eye(3)[[[0, 1, 1, 2]]], 1.0, 0.4)
    assert np.isfinite(found.probabilities).all() and np.isfinite(found.omega).all()
    assert np.isfinite(found.state.classes).all()


@pytest.mark.parametrize("kind", [knob.Knob, Knob])
@pytest.mark.parametrize("t_0", [-25.0, 6.0, 25.0])
def test_an_answer_of_any_temperature_is_a_distribution(kind: type[knob.Knob], t_0: float) -> None:
    """Ten classes as likely: .1 to the power of 403 is zero."""
    found = kind(t_0=t_0, f=0.0)
    np.testing.assert_allclose(found(np.zeros(10)), np.full(10, 0.1))
    assert found(np.arange(10.0)).sum() == pytest.approx(1.0)


# Time


@pytest.mark.parametrize("method", methods.METHODS)
@pytest.mark.parametrize("cut", [1, 23, FRAMES - 1])
def test_cut_anywhere_it_goes_on_bit_for_bit(method: str, cut: int) -> None:
    frames, weights, kind = frames_of(5), random_weights(5), methods.get(method).gate
    zeta, omega_n = knobs_of(5)
    whole = weights.run(frames, kind, zeta, omega_n)
    first = weights.run(Frames(*(x[:, :cut] for x in frames)), kind, zeta[:cut], omega_n[:cut])
    rest = weights.run(Frames(*(x[:, cut:] for x in frames)), kind, zeta[cut:], omega_n[cut:], first.state)
    for name in ("probabilities", "u", "g", "omega"):
        joined = np.concatenate([getattr(first, name), getattr(rest, name)], 1)
        np.testing.assert_array_equal(joined, getattr(whole, name))
    for joined, wanted in zip(rest.state, whole.state, strict=True):
        np.testing.assert_array_equal(joined, wanted)


@pytest.mark.parametrize("method", methods.METHODS)
def test_a_gap_is_the_last_frame_held_without_evidence(method: str) -> None:
    """One frame after a gap of five, or four that did not come and then that one."""
    frames, weights, kind = frames_of(6), random_weights(6), methods.get(method).gate
    held, now = (Frames(*(x[:, t] for x in frames)) for t in (24, 25))
    state = weights.run(Frames(*(x[:, :25] for x in frames)), kind, 0.7, 0.4).state
    one, here, lost = np.ones(STREAMS), np.zeros(STREAMS, bool), np.ones(STREAMS, bool)
    at_once = weights.advance(now, held, 5 * one, here, kind, 0.7, 0.4, state)
    for _ in range(4):
        state = weights.advance(held, held, one, lost, kind, 0.7, 0.4, state).state
    one_by_one = weights.advance(now, held, one, here, kind, 0.7, 0.4, state)
    np.testing.assert_array_equal(at_once.probabilities, one_by_one.probabilities)
    np.testing.assert_array_equal(at_once.u, one_by_one.u)


@pytest.mark.parametrize("kind", [knob.Knob, Knob])
def test_lost_frames_are_held_and_bring_no_evidence(kind: type[knob.Knob]) -> None:
    """The memory holds class 0 and the last frame said class 1: said again it would count, lost it does not."""
    lost, again = (kind(1.0, 0.1, a=0.0, b=3.0, d=0.0, f=0.0) for _ in range(2))
    for turned in (lost, again):
        turned(np.array([3.0, 0.0]))
        turned(np.array([0.0, 0.5]))
    nothing, same = lost(np.array([np.nan, 0.0])), again(np.array([0.0, 0.5]))
    assert nothing[1] < same[1]
    wanted = kind(1.0, 0.1, a=0.0, b=0.0, d=0.0, f=0.0)
    wanted.state = {name: x.copy() for name, x in lost.state.items()}
    np.testing.assert_allclose(lost(np.full(2, np.nan)), wanted(np.array([0.0, 0.5])), atol=1e-12)


@pytest.mark.parametrize("kind", [knob.Knob, Knob])
def test_before_the_first_frame_every_class_is_as_likely(kind: type[knob.Knob]) -> None:
    turned, fresh = kind(), kind()
    for _ in range(3):
        np.testing.assert_array_equal(turned(np.full(4, np.nan)), np.full(4, 0.25))
    z = np.array([1.0, 3.0, 0.0, 2.0])
    np.testing.assert_array_equal(turned(z), fresh(z))
    apart = kind()(np.array([[np.nan] * 4, z]))
    np.testing.assert_allclose(apart, [np.full(4, 0.25), kind()(z)])


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_frame_of_two_branches_is_lost_with_any_of_its_parts(lost: int) -> None:
    frames = frames_of(7)
    plain, compiled = knob.Knob(), Knob()
    for t in range(10):
        parts = [x[:, t].copy() for x in frames]
        if t == 6:
            parts[lost][1, ...] = np.nan
        found = compiled(*parts)
        np.testing.assert_allclose(found, plain(*parts), atol=1e-9)
        assert np.isfinite(found).all()


# The gate is in circuit


def test_the_methods_differ_under_the_default_setting() -> None:
    frames = frames_of(8)
    stream = Branches(*frames, np.zeros(STREAMS, int), np.zeros(FRAMES))
    answers = {method: respond(stream, Settings(), method)[0] for method in methods.METHODS}
    gated = ("knob-ia", "ode-lite", "knob-ode")
    for one, other in zip(gated, gated[1:] + gated[:1], strict=True):
        assert np.abs(answers[one].g - answers[other].g).max() > 0.01
        assert np.abs(answers[one].probabilities - answers[other].probabilities).max() > 0.01
    np.testing.assert_allclose(answers["knob-ia"].g, sigmoid(frames.u_star))
    assert (answers["static"].g == 0).all()
    alone, _ = respond(replace(stream, u_star=-frames.u_star), Settings(), "static")
    np.testing.assert_array_equal(alone.probabilities, answers["static"].probabilities)  # no u


@pytest.mark.parametrize(("zeta", "omega_n"), [(0.1, 0.2), (0.3, 0.4), (1.0, 0.4), (2.5, 0.8)])
def test_the_gates_step_is_the_theorys_within_a_frame(zeta: float, omega_n: float) -> None:
    """Measured at the omega that acted: u after a step of the command lies between the theory's neighbours."""
    frames, step = 200, 1.5
    z = np.tile([2.0, 0.0], (1, frames, 1))
    weights = Attentive(a=0.3, b=2.0, d=0.0).plain
    found = weights.run(Frames(z, z, np.full((1, frames), step)), SECOND_ORDER, zeta, omega_n)
    wanted = theory.step_response(zeta, omega_n, frames + 1)
    np.testing.assert_allclose(found.omega, omega_n)
    worth = np.abs(np.diff(wanted)).max()  # of one frame
    assert np.abs(found.u[0] / step - wanted[:frames]).max() <= worth


def test_turning_zeta_changes_the_overshoot_as_theory_says() -> None:
    z = np.tile([2.0, 0.0], (1, 300, 1))
    frames = Frames(z, z, np.ones((1, 300)))
    peaks = {}
    for zeta in (0.1, 0.3, 0.6, 1.0):
        u = UNFITTED.plain.run(frames, SECOND_ORDER, zeta, 0.1).u[0]
        wanted = theory.step_response(zeta, 0.1, 300).max()
        peaks[zeta] = u.max()
        assert u.max() == pytest.approx(wanted, abs=0.06)
    assert list(peaks.values()) == sorted(peaks.values(), reverse=True)
    assert peaks[0.1] > 1.5 and peaks[1.0] <= 1.0 + 1e-9


def test_the_gate_moves_at_the_omega_that_evidence_turned() -> None:
    """A cut in the content turns omega up, and u gets to its command sooner."""
    z = 6 * np.eye(2)[np.repeat([0, 1], 20)][None]
    command = np.repeat([0.0, 2.0], 20)[None]
    calm, alert = (Attentive(a=0.0, b=b, d=0.0, eps=0.01).run(Frames(z, z, command), SECOND_ORDER, 1.0, 0.1)
                   for b in (0.0, 2.0))  # fmt: skip
    assert alert.omega[0, 20] > 3 * calm.omega[0, 20]
    assert alert.u[0, 20] > 3 * calm.u[0, 20]


def test_a_stuck_answer_can_be_seen() -> None:
    stream = KnobStream(wrap.classifier(attentive=Attentive(a=0.0, b=0.0, d=0.0, f=0.0)), zeta=1.0, omega_n=0.02)
    for _ in range(10):
        assert stream.step(np.array([4.0, 0.0])).disagreement == 0
    apart = [stream.step(np.array([0.0, 4.0])) for _ in range(200)]
    turned = next(t for t, answer in enumerate(apart) if answer.label == 1)
    assert turned > 20
    assert [answer.disagreement for answer in apart[:turned]] == list(range(1, turned + 1))
    assert apart[turned].disagreement == 0
    assert stream.step(None).disagreement == 0


# Settings, arguments, weights


@pytest.mark.parametrize("kind", [knob.Knob, Knob])
def test_a_settings_file_gives_knobs_weights_and_temperature(tmp_path: Path, kind: type[knob.Knob]) -> None:
    weights, path = random_weights(9), tmp_path / "knob.toml"
    settings_file.save(Settings(0.3, 0.7, temperature=1.7, weights=weights), path)
    turned, z = kind(settings=str(path)), frames_of(9).z_static
    assert (turned.zeta, turned.omega_n, turned.temperature) == (0.3, 0.7, 1.7)
    chosen = settings_file.load(path)
    for memory in ("attentive", "plain", "off"):
        settings_file.save(replace(chosen, memory=memory), path)
        stream = KnobStream(wrap.classifier(), settings=path)
        turned = kind(settings=str(path))
        for t in range(FRAMES):
            np.testing.assert_allclose(turned(z[:, t]), stream.step(z[:, t]).probabilities, atol=1e-9)
    settings_file.save(replace(chosen, on=False), path)
    np.testing.assert_allclose(kind(settings=str(path))(z[:, 0]), softmax(z[:, 0] / 1.7), atol=1e-9)


def test_a_settings_file_of_older_weights_is_refused_by_knob(tmp_path: Path) -> None:
    path = tmp_path / "knob.toml"
    path.write_text("version = 1\n[attentive]\na = 0.3\npool = 0.7\nt_1 = 1.0\n")
    with pytest.raises(ValueError, match="has the weights pool, t_1, expected some of a, b"):
        knob.Knob(settings=str(path))


@pytest.mark.parametrize(
    ("call", "cause"),
    [
        (lambda make: make(pool=1.0), "Knob has no weight 'pool', expected some of a, b, d, tau"),
        (lambda make: make()(1.0), r"logits have shape \(\), expected \(K,\) or \(N, K\) with K >= 2"),
        (lambda make: make()([1.0]), r"logits have shape \(1,\), expected"),
        (lambda make: make()(np.zeros((2, 2, 2))), r"logits have shape \(2, 2, 2\), expected"),
        (lambda make: make()(np.zeros(2), np.zeros(2)), "u_star goes with z_dyn"),
    ],
)
@pytest.mark.parametrize("make", [knob.Knob, Knob])
def test_odd_arguments_are_refused_by_name(make: type[knob.Knob], call: Any, cause: str) -> None:
    with pytest.raises((TypeError, ValueError), match=cause):
        call(make)


@pytest.mark.parametrize("make", [knob.Knob, Knob])
def test_another_number_of_streams_or_classes_needs_a_reset(make: type[knob.Knob]) -> None:
    turned = make()
    turned(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"logits have shape \(3, 3\), expected \(2, 3\) as before, or `reset\(\)`"):
        turned(np.zeros((3, 3)))
    turned.reset()
    assert turned(np.zeros(4)).shape == (4,)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("tau", 0.0, r"a number in \[0.001, 100\]"), ("eps", 1.5, r"a number in \[0, 1\]"),
        ("f", -0.1, r"a number in \[0, 1\]"), ("b", np.nan, r"a number in \[-100, 100\]"),
        ("a", True, r"a number in \[-100, 100\]"), ("d", "1", r"a number in"), ("o", (1.0, 200.0), "numbers in"),
        ("s", ((1.0,),), "numbers in"),
    ],
)  # fmt: skip
def test_bad_weights_are_refused_with_what_is_allowed(name: str, value: Any, expected: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is .*expected {expected}"):
        Attentive(**{name: value})


def test_offsets_and_holds_go_with_the_number_of_classes() -> None:
    for name in ("o", "s"):
        with pytest.raises(ValueError, match=f"{name} has 3 numbers, expected 4, one a class"):
            Attentive(**{name: (0.0, 0.1, 0.2)}).run_logits(np.zeros((1, 2, 4)), 1.0, 0.4)


def test_weights_travel_as_a_table_and_older_ones_are_refused_with_the_command() -> None:
    weights = random_weights(3)
    assert Attentive.from_dict(weights.to_dict()) == weights
    chosen = Settings(weights=weights)
    assert settings_file.from_toml(settings_file.to_toml(chosen)) == chosen
    older = {"a": 0.3, "c": 0.7, "pool": 0.6, "t_1": 1.0, "carry": 0.5}
    with pytest.raises(ValueError, match=r"\['c', 'carry', 'pool', 't_1'\].*python -m train.fit_memory"):
        Attentive.from_dict(older)


def test_a_model_that_nobody_fitted_is_the_definitions_own() -> None:
    z = frames_of(10).z_static
    np.testing.assert_allclose(UNFITTED.run_logits(z, 1.0, 0.4).probabilities, knob.Knob().run(z), atol=1e-9)


@pytest.mark.parametrize("kind", [INSTANT, *(methods.get(name).gate for name in ("ode-lite", "knob-ode"))])
def test_a_gate_with_a_memory_that_never_turns_it_is_the_gate_but_for_its_brake(kind: Gate) -> None:
    """Frame by frame from the same state, before the brake acts."""
    frames, weights = frames_of(11, streams=1), Attentive(a=0.0, b=0.0, d=0.0)
    state = at_rest(1, CLASSES, kind)
    for t in range(FRAMES):
        now = Frames(*(x[:, t] for x in frames))
        alone = kind.advance(Frame(now.u_star, now.u_star, np.ones(1)), 0.4, 0.5, state.gate)
        found = weights.advance(now, now, np.ones(1), np.zeros(1, bool), kind, 0.4, 0.5, state)
        np.testing.assert_allclose(found.g, alone.g, atol=1e-12)
        state = found.state


def test_the_cap_is_the_swing_that_settles_fastest() -> None:
    """However large omega is turned, h stays where G is largest."""
    found = Attentive(a=100.0, b=0.0).run_logits(frames_of(12).z_static, 0.5, 1.0)
    cap = 0.5 + np.sqrt(0.25 + 1)
    np.testing.assert_allclose(found.omega, 2 * cap)


def test_listening_takes_what_fit_finds_without_labels() -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 4, 12).repeat(30)
    z = 1.5 * np.eye(4)[labels] + rng.normal(size=(360, 4))
    own, found = Knob(), fit(z)
    assert own.listen(z) == found.words
    assert (own.zeta, own.omega_n) == found.knobs and found.settings.weights is not None
    np.testing.assert_array_equal(own.run(z), found.settings.weights.run_logits(z[None], *found.knobs).probabilities[0])
    flips = [int((np.diff(answer.argmax(-1)) != 0).sum()) for answer in (z, own.run(z))]
    assert flips[1] < 0.7 * flips[0]
