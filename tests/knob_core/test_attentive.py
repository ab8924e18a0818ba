"""Attentive memory: two forms of one arithmetic, frame by frame as all at once, and what a contradiction does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st
from knob_core.memories._attentive_loops import attend, logits_of

from knob_core import gate, metrics, wrap
from knob_core.branches import Branches
from knob_core.memories import Attentive, Gap, Inputs
from knob_core.response import respond
from knob_core.runtime import KnobStream
from knob_core.settings import Settings, from_toml, to_toml

WEIGHTS = Attentive(
    a=0.3, b=2.0, c=0.7, d=0.5, tau=0.9, eps=0.01, t_0=0.1, t_1=1.0, t_2=0.2, t_3=0.3, brake=0.6, eye=0.3, carry=0.7,
    clip=0.02, pool=0.6, u_mean=0.4, u_scale=0.8,
)  # fmt: skip


def stream(streams: int = 4, frames: int = 60, classes: int = 5, seed: int = 0) -> Inputs:
    """Noisy logits of a class that changes in the middle, and a command."""
    rng = np.random.default_rng(seed)
    truth = np.where(np.arange(frames) < frames // 2, 0, 1)
    z = rng.normal(0, 1, (streams, frames, classes)) + 3 * np.eye(classes)[truth]
    u = rng.normal(0, 1, (streams, frames))
    g = 1 / (1 + np.exp(-u))
    return Inputs(z, z + rng.normal(0, 0.5, z.shape), u, g, g)


def one(frames: Inputs, t: int) -> Inputs:
    return Inputs(*(x[:, t] for x in frames))


def by_hand(z: np.ndarray, u: np.ndarray, zeta: float, omega_n: float, w: Attentive) -> tuple[list, list]:
    """One stream, written down as in DESIGN 7.2."""

    def softmax(x: np.ndarray) -> np.ndarray:
        return np.exp(x - x.max()) / np.exp(x - x.max()).sum()

    def change(m: np.ndarray, frame: np.ndarray) -> float:
        both = (1 - w.eps) ** 2
        return -np.log(len(m) * both * softmax(m / w.tau) @ softmax(frame / w.tau) + 1 - both)

    def of_probabilities(p: np.ndarray) -> np.ndarray:
        return w.tau * (p**w.pool - 1) / w.pool

    def logits(m: np.ndarray) -> np.ndarray:
        return w.tau * np.log(np.maximum(1 + w.pool * m / w.tau, 1e-9)) / w.pool

    z = np.array([w.tau * np.log((1 - w.clip) * softmax(frame / w.tau) + w.clip / len(frame)) for frame in z])
    m, v, n, evidence, answers, gates = of_probabilities(softmax(z[0] / w.tau)), np.zeros(len(z[0])), 0.0, 0.0, [], []
    for frame, command in zip(z, (u - w.u_mean) / w.u_scale, strict=True):
        p = softmax(frame / w.tau)
        certain = 1 + (p * np.log(p)).sum() / np.log(len(p))
        evidence = max(0.0, w.carry * evidence + change(logits(m), frame))
        omega = omega_n * np.exp(w.a + w.b * evidence + w.c * command + w.d * certain)
        h = min(omega / 2, zeta + np.sqrt(zeta**2 + 1))
        k = 2 / (1 / h + 2 * zeta + h)
        e = of_probabilities(p) - m
        m, v = m + k * (v + h * e), (1 - w.brake * k * h) * (v + k * (e - (2 * zeta + h) * v))
        n = (1 - k * h) * n + 1
        s, left = logits(m), max(0.0, change(logits(m), frame))
        p_m = softmax(s * np.exp(w.t_0 - w.t_1 * left + w.t_2 * command + w.t_3 * np.log(n)))
        p_z, top = softmax(frame * np.exp(w.t_0)), int(m.argmax())
        shares = [(p_m[top] - p_m[j]) / (p_m[top] - p_m[j] + p_z[j] - p_z[top]) for j in np.flatnonzero(p_z > p_z[top])]
        share = min([w.eye, *(0.95 * tie for tie in shares)])
        answers.append(np.log((1 - share) * p_m + share * p_z))
        gates.append(k * h)
    return answers, gates


def test_both_forms_are_the_equations() -> None:
    frames = stream()
    z = frames.g_now[..., None] * frames.z_dyn + (1 - frames.g_now[..., None]) * frames.z_static
    found = WEIGHTS.run(frames, 0.8, 0.3)
    for r in range(4):
        answers, gates = by_hand(z[r], frames.u_star[r], 0.8, 0.3, WEIGHTS)
        np.testing.assert_allclose(found.z[r], answers, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(found.g[r], gates, rtol=1e-10)


def test_loops_and_numpy_agree() -> None:
    frames = stream(seed=1)
    z, lead = np.ascontiguousarray(frames.z_dyn), frames.u_star.shape
    missing = np.random.default_rng(2).random(lead) < 0.1
    knobs = [np.random.default_rng(3).uniform(0.05, 2, lead) for _ in range(3)]
    results = []
    for form in (attend.numpy_form, attend):
        state, answer, g = WEIGHTS.start(z[:, 0]), np.empty_like(z), np.empty(lead)
        form(z, frames.u_star, missing, *knobs, WEIGHTS.weights(z.shape[-1]), state, answer, g)
        results.append((state, answer, g))
    for one_form, other in zip(*results, strict=True):
        np.testing.assert_allclose(one_form, other, rtol=1e-10, atol=1e-10)


def test_frames_one_by_one_and_cut_anywhere() -> None:
    frames = stream()
    whole = WEIGHTS.run(frames, 0.7, 0.4)
    first = WEIGHTS.run(Inputs(*(x[:, :23] for x in frames)), 0.7, 0.4)
    rest = WEIGHTS.run(Inputs(*(x[:, 23:] for x in frames)), 0.7, 0.4, first.state)
    np.testing.assert_array_equal(np.concatenate([first.z, rest.z], 1), whole.z)  # bit for bit
    state, seen = WEIGHTS.at_rest(4, 5), np.zeros(4, bool)
    for t in range(60):
        gap = Gap(one(frames, max(t - 1, 0)), np.ones(4), ~seen, np.zeros(4, bool))
        step = WEIGHTS.advance(one(frames, t), gap, 0.7, 0.4, state)
        np.testing.assert_allclose(step.z, whole.z[:, t], atol=1e-12)
        np.testing.assert_allclose(step.g, whole.g[:, t], atol=1e-12)
        state, seen = step.state, np.ones(4, bool)


def test_knobs_may_differ_by_frame() -> None:
    frames = stream()
    omega = np.where(np.arange(60) < 30, 0.2, 1.5)
    both = WEIGHTS.run(frames, 0.7, omega)
    first = WEIGHTS.run(Inputs(*(x[:, :30] for x in frames)), 0.7, 0.2)
    rest = WEIGHTS.run(Inputs(*(x[:, 30:] for x in frames)), 0.7, 1.5, first.state)
    np.testing.assert_array_equal(np.concatenate([first.z, rest.z], 1), both.z)


def test_a_gap_is_frames_that_brought_no_evidence() -> None:
    """step(None) four times and then a frame, or that frame after five: the same."""
    frames = stream()
    state = WEIGHTS.run(Inputs(*(x[:, :20] for x in frames)), 0.7, 0.4).state
    held, now, no = one(frames, 19), one(frames, 20), np.zeros(4, bool)
    at_once = WEIGHTS.advance(now, Gap(held, np.full(4, 5.0), no, no), 0.7, 0.4, state)
    for _ in range(4):
        state = WEIGHTS.advance(held, Gap(held, np.ones(4), no, ~no), 0.7, 0.4, state).state
    one_by_one = WEIGHTS.advance(now, Gap(held, np.ones(4), no, no), 0.7, 0.4, state)
    np.testing.assert_allclose(at_once.z, one_by_one.z, atol=1e-9)
    np.testing.assert_allclose(at_once.state, one_by_one.state, atol=1e-9)


def test_contradiction_opens_the_gate_and_agreement_leaves_it_shut() -> None:
    z = np.zeros((1, 40, 3))
    z[:, :20, 0] = z[:, 20:, 1] = 6.0
    found = Attentive(a=0.0, b=3.0, eps=0.002).run_logits(z, 1.0, 0.1)
    assert found.g[0, 19] < 0.02
    assert found.g[0, 20] > 0.9  # the first frame of the new class
    assert found.z[0, 20].argmax() == 1
    calm = Attentive(a=0.0, b=0.0).run_logits(z, 1.0, 0.1)
    assert calm.z[0, 25].argmax() == 0  # without evidence the old class stays for long


def test_with_carry_a_second_odd_frame_opens_the_gate_and_a_first_one_does_not() -> None:
    classes = np.array([0] * 10 + [1] + [0] * 25 + [1] * 5)  # one frame of another class, later a change to it
    weights = Attentive(a=0.0, b=1.0, eps=0.05, carry=1.0)
    found = weights.run_logits(6 * np.eye(3)[classes][None], 1.0, 0.1)
    assert found.g[0, 10] < 0.1 and found.g[0, 11] < 0.02  # agreement takes the evidence back
    assert found.g[0, 36] < 0.1 and found.g[0, 37] > 0.4
    assert found.z[0, [10, 36, 37]].argmax(-1).tolist() == [0, 0, 1]
    alone = replace(weights, carry=0.0).run_logits(6 * np.eye(3)[classes][None], 1.0, 0.1)
    assert alone.g[0, 36:].max() < 0.1  # each frame by itself


@pytest.mark.parametrize("form", [attend, attend.numpy_form])
def test_certain_frames_that_contradict_are_finite_with_eps_0(form: Callable[..., None]) -> None:
    """Their probabilities have nothing in common but zeros: the evidence is as large as it can be, and no NaN."""
    w = Attentive(b=0.0, eps=0.0).weights(2)
    z = 5000 * np.eye(3)[[[0, 1, 1, 2]]]  # (1, 4, 3)
    one, none = np.ones((1, 4)), np.zeros((1, 4))
    state, answer, g = Attentive().start(z[:, 0]), np.empty_like(z), np.empty((1, 4))
    form(z, none, none.astype(bool), one, 0.4 * one, one, w, state, answer, g)
    assert np.isfinite(answer).all() and np.isfinite(g).all() and np.isfinite(state).all()


def test_a_brake_brings_the_memory_to_rest_where_the_gate_opened() -> None:
    """With little damping the memory rings after a cut; with a full brake it stays at the new class."""
    z = np.zeros((1, 60, 2))
    z[:, :20, 0] = z[:, 20:, 1] = 6.0
    overshoot = {}
    for brake in (0.0, 1.0):
        found = Attentive(a=0.0, b=3.0, eps=0.002, brake=brake).run_logits(z, 0.1, 0.8)
        overshoot[brake] = float(found.z[0, 20:, 1].max() - 6.0)
    assert overshoot[0.0] > 1.0
    assert overshoot[1.0] < 0.2


@given(st.integers(0, 10**6), st.floats(0.0, 1.0))
@effort(max_examples=40, deadline=None)
def test_the_eye_makes_the_answer_modest_and_leaves_its_class(seed: int, eye: float) -> None:
    frames = stream(seed=seed)
    calm = Attentive(a=0.0, b=2.0, d=1.0)
    without = calm.run_logits(frames.z_dyn, 1.0, 0.3).z
    seen = replace(calm, eye=eye).run_logits(frames.z_dyn, 1.0, 0.3).z
    np.testing.assert_array_equal(seen.argmax(-1), without.argmax(-1))
    p, p_m, p_z = (metrics.softmax(x) for x in (seen, without, np.asarray(frames.z_dyn)))
    assert (p >= np.minimum(p_m, p_z) - 1e-12).all()
    assert (p <= np.maximum(p_m, p_z) + 1e-12).all()
    top = p_m.argmax(-1)[..., None]
    doubted = np.take_along_axis(p_z, top, -1) < np.take_along_axis(p_m, top, -1)
    assert (p.max(-1)[doubted[..., 0]] <= p_m.max(-1)[doubted[..., 0]] + 1e-12).all()


def test_a_table_without_brake_eye_and_pool_has_none() -> None:
    """Files that were written before there were any: the answer is m with its temperature, as it was."""
    table = {name: value for name, value in WEIGHTS.to_dict().items() if name not in ("brake", "eye", "pool")}
    old = Attentive.from_dict(table)
    assert (old.brake, old.eye, old.pool) == (0.0, 0.0, 0.0)
    found = old.run(stream(), 0.7, 0.4)
    ratio = found.z[:, -1] / found.state[:, :-1, 0]
    np.testing.assert_allclose(ratio, ratio[:, :1] + np.zeros_like(ratio), rtol=1e-12)


def test_the_gate_is_the_share_of_the_eye() -> None:
    frames = stream()
    state = WEIGHTS.run(Inputs(*(x[:, :20] for x in frames)), 0.7, 0.4).state
    step = WEIGHTS.advance(one(frames, 20), Gap(one(frames, 19), np.ones(4), *np.zeros((2, 4), bool)), 0.7, 0.4, state)
    mixed = step.g[:, None] * step.z_eye + (1 - step.g[:, None]) * step.z_memory
    np.testing.assert_allclose(mixed, logits_of(step.state[:, :-1, 0], WEIGHTS.pool / WEIGHTS.tau), atol=1e-9)


def test_a_pool_of_one_is_a_mean_of_probabilities() -> None:
    """Nothing turns omega_n here, so it is the gate's own linear filter, of probabilities instead of logits."""
    z = stream().z_static
    found = Attentive(a=0.0, b=0.0, tau=1.3, pool=1.0, t_0=np.log(1 / 1.3)).run_logits(z, 1.2, 0.3)
    p = metrics.softmax(z / 1.3)
    start = np.stack([p[:, 0], np.zeros_like(p[:, 0])], -1)
    mean, _ = gate.run(p, 1.2, 0.3, state=start, axis=1)
    np.testing.assert_allclose(metrics.softmax(found.z), mean / mean.sum(-1, keepdims=True), atol=1e-12)


def test_a_pool_near_zero_is_a_mean_of_logits() -> None:
    near, at = (replace(WEIGHTS, pool=pool).run(stream(), 0.8, 0.3) for pool in (1e-7, 0.0))
    np.testing.assert_allclose(near.z, at.z, atol=1e-5)
    np.testing.assert_allclose(near.g, at.g, atol=1e-6)


@given(
    *(st.integers(0, 10**6), st.floats(0.05, 3), st.floats(1e-6, 50), st.floats(-20, 20), st.floats(0, 20)),
    st.sampled_from((0.0, 0.3, 1.0)),
)
@effort(max_examples=60, deadline=None)
def test_nothing_grows_without_bound(seed: int, zeta: float, omega_n: float, a: float, b: float, pool: float) -> None:
    z = np.random.default_rng(seed).uniform(-1, 1, (3, 80, 4)) * 50
    found = Attentive(a=a, b=b, pool=pool).run_logits(z, zeta, omega_n)
    assert np.isfinite(found.z).all()
    assert ((found.g > 0) & (found.g <= 1)).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [("tau", 0.0), ("eps", 1.5), ("b", np.nan), ("a", True), ("u_scale", -1.0), ("brake", 2.0), ("eye", -0.1)],
)
def test_bad_weights_are_named(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} is"):
        Attentive(**{name: value})


def test_weights_travel_as_a_table() -> None:
    assert Attentive.from_dict(WEIGHTS.to_dict()) == WEIGHTS
    with pytest.raises(ValueError, match="attentive memory has \\['x'\\], expected a table of a, b"):
        Attentive.from_dict({"x": 1.0})
    assert WEIGHTS.warmer(2.0).t_0 == pytest.approx(WEIGHTS.t_0 - np.log(2))


# In the runtime


def test_the_runtime_is_the_batch_for_gated_and_for_wrapped_models() -> None:
    frames = stream(streams=3, frames=50)
    b = Branches(frames.z_static, frames.z_dyn, frames.u_star, np.zeros(3, int), np.zeros(50))
    wanted, _ = respond(b, Settings(zeta=0.8, omega_n=0.3), attentive=WEIGHTS)
    runtime = KnobStream(wrap.two_branch(attentive=WEIGHTS), zeta=0.8, omega_n=0.3)
    for t in range(50):
        answer = runtime.step((b.z_static[:, t], b.z_dyn[:, t], b.u_star[:, t]))
        np.testing.assert_allclose(answer.probabilities, wanted.probabilities[:, t], atol=1e-9)
        np.testing.assert_allclose(answer.g, wanted.g[:, t], atol=1e-9)
        assert (answer.t_eff >= 1).all()
        assert (answer.csr <= 1).all()


def test_with_a_clip_one_surely_wrong_frame_does_not_cost_many_right_ones() -> None:
    """Good frames, and a wild one among them: without the clip the memory is wrong for many frames after it."""
    z = np.tile([4.0, 0.0, 0.0], (1, 40, 1))
    z[:, 10] = [0.0, 400.0, 0.0]
    weights = Attentive(a=0.0, b=0.0)
    wrong = [
        (weights.run_logits(z, 1.0, 0.8).z.argmax(-1) != 0).sum()
        for weights in (weights, replace(weights, tau=1.0, clip=0.01))
    ]
    assert wrong[0] >= 5 and wrong[1] == 0
    clipped = replace(weights, tau=1.0, clip=0.01).clipped(z)
    assert clipped.max() - clipped.min() <= np.log(1 + 3 * 0.99 / 0.01) + 1e-9
    assert weights.clipped(z) is z


def test_settings_carry_weights_that_come_before_the_models_own() -> None:
    frames = stream(streams=2, frames=30)
    own = Settings(weights=Attentive(b=0.0, a=-3.0))
    assert from_toml(to_toml(own)) == own
    a = KnobStream(wrap.classifier(attentive=WEIGHTS), settings=own)
    c = KnobStream(wrap.classifier(attentive=own.weights))
    for t in range(30):
        left, right = a.step(frames.z_dyn[:, t]), c.step(frames.z_dyn[:, t])
    np.testing.assert_array_equal(left.probabilities, right.probabilities)


def test_old_settings_and_old_states_still_load() -> None:
    text = 'version = 1\nzeta = 0.5\nomega_n = 0.2\non = true\nmemory = true\nmode = "continuous"\nframe_rate = 10.0\n'
    assert from_toml(text).memory == "plain"
    assert from_toml(text.replace("memory = true", "memory = false")).memory == "off"
    frames = stream(streams=2, frames=30)
    runtime = KnobStream(wrap.classifier(), settings=from_toml(text))
    for t in range(20):
        runtime.step(frames.z_dyn[:, t])
    saved = runtime.state_dict()
    del saved["attentive"]
    saved["version"] = np.array(1)
    restored = KnobStream(wrap.classifier())
    restored.load_state_dict(saved)
    np.testing.assert_array_equal(
        restored.step(frames.z_dyn[:, 20]).probabilities, runtime.step(frames.z_dyn[:, 20]).probabilities
    )
    restored.memory = "attentive"  # goes on from where plain memory stands
    assert np.isfinite(restored.step(frames.z_dyn[:, 21]).p_max).all()


def test_a_million_frames_do_not_drift() -> None:
    """The state after very many frames is that of a fresh start from the last few hundred."""
    rng = np.random.default_rng(0)
    z = rng.normal(0, 1, (1, 200_000, 3)) + np.array([2.0, 0.0, 0.0])
    state = None
    for _ in range(5):
        state = WEIGHTS.run_logits(z, 0.7, 0.4, state).state
    fresh = WEIGHTS.run_logits(z[:, -2000:], 0.7, 0.4).state
    np.testing.assert_allclose(state, fresh, atol=1e-9)


def test_no_command_makes_an_answer_that_is_no_number() -> None:
    frames = stream()
    wild = replace(WEIGHTS, c=5.0, t_2=5.0)
    for u in (1e6, -1e6):
        found = wild.run(frames._replace(u_star=np.full_like(frames.u_star, u)), 0.7, 0.4)
        assert np.isfinite(metrics.softmax(found.z)).all() and np.isfinite(found.state).all()
        held, no = one(frames._replace(u_star=np.full_like(frames.u_star, u)), 20), np.zeros(4, bool)
        after = wild.advance(held, Gap(held, np.full(4, 5.0), no, no), 0.7, 0.4, found.state)
        assert np.isfinite(metrics.softmax(after.z)).all()


def test_the_class_stays_the_memory_s_however_modest_conflict_makes_it() -> None:
    z = np.array([[[0.0, 0.0, 15.0, 0.0]] * 3 + [[15.0, 0.0, 0.0, 0.0]]])
    answer = Attentive(a=-9.0, b=0.0, eps=1e-4, t_1=5.0).run_logits(z, 1.0, 0.1).z[0, 3]
    assert metrics.softmax(answer).argmax() == 2
