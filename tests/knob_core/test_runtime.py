"""The runtime: a loop of steps is the batch computation, whatever the knobs, gaps, threads and restarts do."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load as load_safetensors
from safetensors.numpy import save as save_safetensors

from knob_core import checkpoint, fusion, gaps, gate, methods, metrics, models, wrap
from knob_core import settings as settings_file
from knob_core.branches import Branches
from knob_core.gates import SECOND_ORDER
from knob_core.goals import Goals
from knob_core.memories import UNFITTED, Frames, at_rest
from knob_core.response import respond
from knob_core.runtime import KnobStream
from knob_core.runtime.slew import slewed
from knob_core.settings import Settings

pytestmark = pytest.mark.usefixtures("one_thread")

STREAMS, FRAMES, CLASSES = 3, 40, 7
FIELDS = (
    "probabilities",
    "label",
    "p_max",
    "g",
    "u",
    "u_star",
    "omega",
    "disagreement",
    "t_eff",
    "csr",
    "missing",
    "age",
)


def branches(seed: int = 0, frames: int = FRAMES) -> Branches:
    rng = np.random.default_rng(seed)
    z_static, z_dyn = rng.normal(0, 3, (2, STREAMS, frames, CLASSES))
    u_star = rng.normal(0, 2, (STREAMS, frames))
    return Branches(z_static, z_dyn, u_star, np.full(STREAMS, -1), np.zeros(frames))


def frame(b: Branches, t: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return b.z_static[:, t], b.z_dyn[:, t], b.u_star[:, t]


def seen(method: str, frames: int) -> tuple[models.GatedClassifier, torch.Tensor, Branches]:
    """A small model, images (STREAMS, frames, 3, 32, 32), and what it says of them."""
    torch.manual_seed(0)
    model = models.build(method, 4).eval()
    images = torch.rand(STREAMS, frames, 3, 32, 32)
    with torch.inference_mode():
        z_static, z_dyn, u_star = (x.double().unflatten(0, (STREAMS, -1)).numpy() for x in model(images.flatten(0, 1)))
    return model, images, Branches(z_static, z_dyn, u_star, np.full(STREAMS, -1), np.zeros(frames))


def same(a, b) -> bool:
    """Bit for bit, NaN equal to NaN."""
    return all(np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True) for name in FIELDS[:-2])


# The loop is the batch


def test_a_loop_equals_the_batch_while_the_knobs_move_with_memory():
    b, rng = branches(), np.random.default_rng(1)
    zeta, omega_n = np.exp(rng.uniform(-3, 1, (2, FRAMES)))  # turned wildly, every frame
    wanted = UNFITTED.run(Frames(b.z_static, b.z_dyn, b.u_star), SECOND_ORDER, zeta, omega_n)
    fused = fusion.diagnose(b.z_static, b.z_dyn, wanted.g)
    stream = KnobStream(wrap.two_branch())
    for t in range(FRAMES):
        stream.turn(zeta=zeta[t], omega_n=omega_n[t])
        answer = stream.step(frame(b, t))
        assert (answer.zeta, answer.omega_n) == (zeta[t], omega_n[t])
        for name in ("probabilities", "u", "g", "omega"):
            np.testing.assert_allclose(getattr(answer, name), getattr(wanted, name)[:, t], atol=1e-9)
        np.testing.assert_allclose(answer.t_eff, fused.t_eff[:, t], rtol=1e-6)
        np.testing.assert_allclose(answer.csr, fused.csr[:, t], atol=1e-6)


@pytest.mark.parametrize(
    "setting",
    [{}, {"memory": "plain"}, {"memory": "off"}, {"mode": "reset"}, {"on": False}, {"temperature": 2.5}],
    ids=str,
)
@pytest.mark.parametrize("method", models.METHODS)
def test_every_method_and_mode_equals_the_batch_on_images(method, setting):
    model, images, b = seen(method, 10)
    chosen = Settings(zeta=0.3, omega_n=0.8, **setting)
    wanted, _ = respond(b, chosen, method)
    stream = KnobStream(model, settings=chosen)
    for t in range(10):
        answer = stream.step(images[:, t])
        np.testing.assert_allclose(answer.probabilities, wanted.probabilities[:, t], atol=1e-6)
        np.testing.assert_allclose(answer.g, wanted.g[:, t], atol=1e-6)
        np.testing.assert_allclose(answer.u, wanted.u[:, t], atol=1e-5)
        np.testing.assert_array_equal(answer.label, wanted.predicted[:, t])


@pytest.mark.parametrize("method", models.METHODS)
def test_switches_flipped_on_the_way_do_the_same_in_the_batch(method):
    """Live mode is `respond` piece by piece: behind a switch, gate and memory go on as they do here."""
    model, images, b = seen(method, 12)
    stream, past = KnobStream(model, streams=STREAMS), at_rest(STREAMS, 10, methods.get(method).gate)
    for t in range(12):
        flipped = ({}, {"memory": False}, {"mode": "reset"}, {"on": False}, {}, {})[t // 2]
        chosen = Settings(zeta=0.3, omega_n=0.5, **flipped)
        stream.settings = chosen
        answer = stream.step(images[:, t])
        one = (x[:, t : t + 1] for x in (b.z_static, b.z_dyn, b.u_star))
        wanted, past = respond(Branches(*one, b.labels, np.zeros(1)), chosen, method, past)
        np.testing.assert_allclose(answer.g, wanted.g[:, 0], atol=1e-6)
        np.testing.assert_allclose(answer.probabilities, wanted.probabilities[:, 0], atol=1e-6)


def test_one_frame_gives_plain_numbers():
    torch.manual_seed(0)
    model = models.build("knob-ode", 4)
    image = torch.rand(3, 32, 32)
    one, many = KnobStream(model).step(image), KnobStream(model).step(image[None])
    assert isinstance(one.label, int) and isinstance(one.p_max, float) and one.missing is False
    assert one.probabilities.shape == (10,) and one.label == many.label[0] and one.p_max == many.p_max[0]
    assert one.probabilities.sum() == pytest.approx(1) and one.t_eff >= 1 >= one.csr


def test_frames_as_a_camera_gives_them():
    torch.manual_seed(0)
    model = models.build("knob-ode", 4)
    picture = torch.randint(0, 256, (3, 32, 32), dtype=torch.uint8)
    wanted = KnobStream(model).step(picture.float() / 255)
    for form in (picture, picture.numpy(), picture.permute(1, 2, 0).numpy(), picture.permute(1, 2, 0).numpy().tolist()):
        given_ = np.array(form, np.uint8) if isinstance(form, list) else form
        np.testing.assert_allclose(KnobStream(model).step(given_).probabilities, wanted.probabilities, atol=1e-6)
    wide = torch.nn.functional.pad(torch.full((3, 64, 64), 0.5), (16, 16), value=1.0)  # 64 x 96, grey in the middle
    grey = KnobStream(model).step(torch.full((3, 32, 32), 0.5))
    np.testing.assert_allclose(KnobStream(model).step(wide).probabilities, grey.probabilities, atol=1e-6)


def test_streams_stepped_apart_equal_streams_stepped_together():
    b = branches()
    together, apart = KnobStream(wrap.two_branch()), KnobStream(wrap.two_branch(), streams=STREAMS)
    for t in range(5):
        whole = together.step(frame(b, t))
        for ids in ([2], [1, 0]):
            part = apart.step(tuple(x[ids] for x in frame(b, t)), ids=ids)
            np.testing.assert_array_equal(part.probabilities, whole.probabilities[ids])


# Knobs


def test_the_trained_knobs_are_the_default_and_arguments_win(tmp_path):
    model = models.build("knob-ode", 4)
    model.knobs.zeta, model.knobs.omega_n = 0.25, 1.5
    checkpoint.save(model, tmp_path / "m.safetensors")
    stream = KnobStream(tmp_path / "m.safetensors")
    assert stream.zeta == pytest.approx(0.25) and stream.omega_n == pytest.approx(1.5)
    stream = KnobStream(str(tmp_path / "m.safetensors"), zeta=2.0, settings=Settings(zeta=1.0, omega_n=0.1))
    assert (stream.zeta, stream.omega_n) == (2.0, 0.1)


def test_a_settings_file_goes_both_ways(tmp_path):
    chosen = Settings(zeta=1.25, omega_n=0.125, memory=False, mode="reset", on=False, frame_rate=30.0)
    settings_file.save(chosen, tmp_path / "knob.toml")
    stream = KnobStream(wrap.classifier(), settings=tmp_path / "knob.toml")
    assert stream.settings == chosen
    stream.zeta = 0.5
    settings_file.save(stream.settings, tmp_path / "back.toml")
    assert settings_file.load(tmp_path / "back.toml").zeta == 0.5
    stream.settings = chosen
    assert stream.settings == chosen


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("zeta", -0.1),
        ("zeta", np.nan),
        ("omega_n", 0.0),
        ("omega_n", np.inf),
        ("memory", 1),
        ("mode", "fast"),
        ("zeta", "1"),
    ],
)
def test_a_bad_turn_is_refused_and_changes_nothing(name, value):
    stream = KnobStream(wrap.classifier())
    before = stream.settings
    with pytest.raises(ValueError, match=name):
        setattr(stream, name, value)
    assert stream.settings == before


OFF = ({"on": False}, {"on": True}, {"memory": "off"}, {"mode": "reset", "memory": "attentive"}, {"mode": "continuous"})


def test_a_memory_goes_on_behind_its_switch_as_if_it_were_on():
    """A single classifier shows the memory the same frames, whatever is switched."""
    b = branches()
    left_on, switched = KnobStream(wrap.classifier()), KnobStream(wrap.classifier())
    for t in range(20):
        switched.turn(**OFF[t % 5])
        a, c = left_on.step(b.z_dyn[:, t]), switched.step(b.z_dyn[:, t])
        if t % 5 in (1, 4):
            np.testing.assert_array_equal(a.probabilities, c.probabilities)
    kept = switched.state_dict()
    for name, array in left_on.state_dict().items():
        assert name in ("knobs", "apart") or np.array_equal(array, kept[name], equal_nan=True)


def test_a_gate_without_memory_goes_on_behind_its_switch_as_if_it_were_on():
    b = branches()
    left_on, switched = (KnobStream(wrap.two_branch(), settings=Settings(memory="off")) for _ in range(2))
    for t in range(20):
        switched.turn(**({"on": False}, {"on": True, "mode": "reset"}, {"mode": "continuous"})[t % 3])
        a, c = left_on.step(frame(b, t)), switched.step(frame(b, t))
        assert np.array_equal(a.u, c.u) == (t % 3 == 2)
    np.testing.assert_array_equal(left_on.state_dict()["gate"], switched.state_dict()["gate"])


@given(
    hands=st.lists(st.tuples(st.floats(0, 100), st.floats(1e-6, 100)), min_size=1, max_size=8),
    slew=st.floats(0.01, 3),
)
def test_slew_never_moves_faster_and_always_arrives(hands, slew):
    now = (0.7, 0.4)
    for hand in hands:
        after = slewed(now, hand, slew)
        assert abs(np.log(after[1] / now[1])) <= slew * (1 + 1e-9)
        assert abs(np.log(max(after[0], 1e-3) / max(now[0], 1e-3))) <= slew * (1 + 1e-9)
        now = after
    for _ in range(int(40 / slew) + 1):
        now = slewed(now, hands[-1], slew)
    assert now == hands[-1]


def test_slew_spreads_a_turn_over_frames():
    stream = KnobStream(wrap.classifier(), zeta=1.0, omega_n=1.0, slew=np.log(2))
    stream.turn(zeta=4.0, omega_n=0.3)
    z = np.array([1.0, 0.0])
    got = [(a.zeta, a.omega_n) for a in (stream.step(z) for _ in range(3))]
    np.testing.assert_allclose(got, [(2, 0.5), (4, 0.3), (4, 0.3)])
    assert (stream.zeta, stream.omega_n) == (4.0, 0.3)


# Gaps


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 30), seed=st.integers(0, 99), method=st.sampled_from(["two", "one"]))
def test_a_gap_is_held_frames_and_then_the_new_one(n, seed, method):
    b = branches(seed, 4)
    source = wrap.two_branch if method == "two" else wrap.classifier
    take = (lambda t: frame(b, t)) if method == "two" else (lambda t: b.z_dyn[:, t])
    held, jumped = KnobStream(source()), KnobStream(source())
    for stream in (held, jumped):
        stream.step(take(0))
        stream.step(take(1))
    for _ in range(n - 1):
        assert held.step(None).missing.all()
    a, c = held.step(take(2)), jumped.step(take(2), elapsed=n)
    np.testing.assert_allclose(a.probabilities, c.probabilities, atol=1e-10)
    np.testing.assert_allclose(held.step(take(3)).u, jumped.step(take(3)).u, atol=1e-10)


def test_what_a_caller_does_to_its_arrays_does_not_reach_the_state():
    b = branches()
    stream, other = KnobStream(wrap.two_branch()), KnobStream(wrap.two_branch())
    for t in range(4):
        mine = tuple(x.copy() for x in frame(b, t))
        answer = stream.step(mine)
        for array in (*mine, answer.u_star, answer.u, answer.g, answer.age, answer.probabilities, answer.missing):
            array[:] = 7
        other.step(frame(b, t))
    assert same(stream.step(None), other.step(None)) and same(stream.step(frame(b, 5)), other.step(frame(b, 5)))


def test_without_evidence_a_held_frame_is_the_same_frame_again():
    b = branches()
    held, repeated = (KnobStream(wrap.two_branch(), settings=Settings(memory="plain")) for _ in range(2))
    for t in range(5):
        held.step(frame(b, t)), repeated.step(frame(b, t))
    for n in range(1, 6):
        a, c = held.step(None), repeated.step(frame(b, 4))
        assert same(a, c) and (a.age == n).all() and (c.age == 0).all()


@pytest.mark.parametrize("method", ["knob-ode", "ode-lite"])
def test_after_a_long_gap_the_gate_has_settled_at_the_held_command(method):
    source = wrap.two_branch()
    source.method = method
    stream = KnobStream(source, zeta=0.3, omega_n=0.5)
    z = np.zeros((1, 2))
    stream.step((z, z, np.array([3.0])))
    answer = stream.step((z, z, np.array([3.0])), elapsed=100_000.0)
    assert answer.u[0] == pytest.approx(3.0, abs=1e-6)  # one bilinear step of that length would give almost 6


def test_times_are_elapsed_frames_by_the_frame_rate():
    b = branches()
    by_time, by_frames = (KnobStream(wrap.two_branch(), settings=Settings(frame_rate=20.0)) for _ in range(2))
    clock = 100.0 + np.cumsum(np.random.default_rng(0).uniform(0.02, 0.2, FRAMES))
    for t in range(FRAMES):
        elapsed = 1.0 if t == 0 else (clock[t] - clock[t - 1]) * 20.0
        a, c = by_time.step(frame(b, t), time=clock[t]), by_frames.step(frame(b, t), elapsed=elapsed)
        np.testing.assert_allclose(a.probabilities, c.probabilities, atol=1e-9)


def test_frames_twice_as_often_follow_the_same_curve():
    """Half the dt, twice the steps: the same physical time gives nearly the same gate."""
    ones, zeros = np.ones(1), np.zeros((1, 2))
    plain = Settings(zeta=0.7, omega_n=0.1, memory="plain")
    slow, fast = (KnobStream(wrap.two_branch(), settings=plain) for _ in range(2))
    slow.step((zeros, zeros, 0 * ones)), fast.step((zeros, zeros, 0 * ones))
    for _ in range(20):
        u_slow = slow.step((zeros, zeros, ones)).u[0]
        fast.step((zeros, zeros, ones), elapsed=0.5)
        u_fast = fast.step((zeros, zeros, ones), elapsed=0.5).u[0]
        assert u_slow == pytest.approx(u_fast, abs=0.03)
    assert u_slow > 0.5


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_bad_row_is_held_and_leaves_its_neighbours_alone(bad):
    b = branches()
    clean, hurt = KnobStream(wrap.two_branch()), KnobStream(wrap.two_branch())
    for t in range(10):
        z_static, z_dyn, u_star = (x.copy() for x in frame(b, t))
        if t == 4:
            z_static[0, 3] = bad
        if t == 5:
            u_star[0] = bad
        a, c = clean.step(frame(b, t)), hurt.step((z_static, z_dyn, u_star))
        held = t == 5 or (t == 4 and bad != -np.inf)  # a logit of -inf rules its class out: `ruled_out`
        assert c.missing.tolist() == [held, False, False]
        np.testing.assert_array_equal(a.probabilities[1:], c.probabilities[1:])
        assert np.isfinite(c.probabilities).all() and np.isfinite(c.u).all()


def test_a_picture_with_a_nan_is_missing_and_leaves_its_neighbours_alone():
    torch.manual_seed(0)
    images = torch.rand(4, 2, 3, 32, 32)
    model = models.build("knob-ode", 4)
    clean, hurt = KnobStream(model), KnobStream(model)
    for t in range(4):
        spoiled = images[t].clone()
        spoiled[0, 1, 5, 5] = float("nan") if t == 2 else spoiled[0, 1, 5, 5]
        a, c = clean.step(images[t]), hurt.step(spoiled)
        assert c.missing.tolist() == [t == 2, False]
        np.testing.assert_allclose(a.probabilities[1], c.probabilities[1], atol=1e-6)


def test_before_the_first_good_frame_nothing_moves():
    stream = KnobStream(wrap.two_branch())
    nothing, b = np.full((STREAMS, CLASSES), np.nan), branches()
    for _ in range(3):
        answer = stream.step((nothing, nothing, np.zeros(STREAMS)))
        assert (answer.label == -1).all() and answer.missing.all() and np.isnan(answer.t_eff).all()
        np.testing.assert_allclose(answer.probabilities, 1 / CLASSES)
    late, fresh = stream.step(frame(b, 0), elapsed=50.0), KnobStream(wrap.two_branch()).step(frame(b, 0))
    assert same(late, fresh)


REFUSED = (
    *({"elapsed": 0.0}, {"elapsed": -1}, {"elapsed": np.nan}, {"elapsed": 1e12}, {"elapsed": [1.0, 2.0]}),
    *({"time": 9.9}, {"time": np.inf}, {"elapsed": 1, "time": 20.0}),
    *({"ids": [0, 0, 1]}, {"ids": [3]}, {"ids": [0.5]}, {"ids": []}),
)


@pytest.mark.parametrize("argument", REFUSED, ids=str)
def test_a_step_that_is_refused_changes_nothing(argument):
    b = branches()
    stream = KnobStream(wrap.two_branch())
    stream.step(frame(b, 0), time=10.0)
    before = stream.state_dict()
    with pytest.raises(ValueError, match=r"elapsed|time|ids|shape"):
        stream.step(frame(b, 1), **argument)
    for name, array in stream.state_dict().items():
        np.testing.assert_array_equal(array, before[name])


def test_a_model_that_fails_changes_nothing():
    calls = iter([0, 1, 0])

    def model(x):
        if next(calls):
            raise RuntimeError("camera on fire")
        return x.reshape(len(x), -1)[:, :4]

    stream = KnobStream(wrap.classifier(model))
    images = np.random.default_rng(0).random((2, 3, 8, 8))
    stream.step(images)
    before = stream.state_dict()
    with pytest.raises(RuntimeError, match="fire"):
        stream.step(images)
    for name, array in stream.state_dict().items():
        np.testing.assert_array_equal(array, before[name])
    stream.step(images)


def test_wrong_shapes_are_named():
    b = branches()
    stream = KnobStream(wrap.two_branch())
    with pytest.raises(ValueError, match="first step"):
        stream.step(None)
    stream.step(frame(b, 0))
    with pytest.raises(ValueError, match="ids"):
        stream.step(tuple(x[:2] for x in frame(b, 1)))
    with pytest.raises(ValueError, match="shape"):
        KnobStream(models.build("static", 4)).step(torch.rand(2, 4, 32, 32))
    with pytest.raises(ValueError, match="wrap"):
        KnobStream(torch.nn.Linear(3, 3))
    with pytest.raises(ValueError, match="slew"):
        KnobStream(wrap.classifier(), slew=0.0)
    with pytest.raises(ValueError, match="streams"):
        KnobStream(wrap.classifier(), streams=0)


# Restart


@settings(max_examples=20, deadline=None)
@given(cut=st.integers(1, FRAMES - 1), seed=st.integers(0, 99), slew=st.sampled_from([None, 0.05]))
def test_a_restart_goes_on_bit_for_bit(cut, seed, slew):
    b, rng = branches(seed), np.random.default_rng(seed)
    hands = np.exp(rng.uniform(-2, 1, (FRAMES, 2)))
    gaps = rng.choice([1.0, 1.0, 0.8, 2.3, 7.0], FRAMES)
    bits = rng.integers(0, 2, FRAMES)

    def go(stream, start, end):
        answers = []
        for t in range(start, end):
            if t % 5 == 0:
                stream.turn(zeta=hands[t, 0], omega_n=hands[t, 1], memory=bool(bits[t]), frame_rate=5.0 + t)
            answers.append(stream.step(b.z_dyn[:, t], elapsed=gaps[t]))
        return answers

    whole = go(KnobStream(wrap.classifier(), slew=slew), 0, FRAMES)
    first = KnobStream(wrap.classifier(), slew=slew)
    go(first, 0, cut)
    kept = load_safetensors(save_safetensors(first.state_dict()))
    second = KnobStream(wrap.classifier(), slew=slew)
    second.load_state_dict(kept)
    assert second.settings == first.settings
    for a, c in zip(whole[cut:], go(second, cut, FRAMES), strict=True):
        assert same(a, c) and (a.zeta, a.omega_n) == (c.zeta, c.omega_n)


def test_state_survives_npz_and_does_not_share_memory(tmp_path):
    stream, b = KnobStream(wrap.two_branch()), branches()
    assert stream.state_dict() == {}
    stream.step(frame(b, 0))
    kept = stream.state_dict()
    np.savez(tmp_path / "state.npz", **kept)
    stream.step(frame(b, 1))
    with np.load(tmp_path / "state.npz", allow_pickle=False) as file:
        loaded = dict(file)
    for name in kept:
        np.testing.assert_array_equal(kept[name], loaded[name])
    kept["gate"] += 1
    stream.load_state_dict(loaded)
    np.testing.assert_array_equal(stream.state_dict()["gate"], loaded["gate"])


@pytest.mark.parametrize(
    "spoil", ["gate", "memory", "knobs", "version", "z_static", "nan", "range", "apart", "switch", "classes", "count"]
)
def test_a_foreign_state_is_refused_whole(spoil):
    b = branches()
    stream = KnobStream(wrap.two_branch(), streams=STREAMS)
    stream.step(frame(b, 0))
    state = stream.state_dict()
    before = stream.state_dict()
    if spoil == "nan":
        state["memory"][0, 0, 0] = np.nan
    elif spoil == "range":
        state["knobs"][2] = -1.0
    elif spoil == "apart":
        state["apart"][0] = -1.0
    elif spoil == "switch":
        state["knobs"][4] = 0.5
    elif spoil == "classes":
        state["z_static"] = state["z_static"][:, :3]
    elif spoil == "count":
        state = {name: x[:1] if x.ndim and name != "knobs" else x for name, x in state.items()}
    else:
        del state[spoil]
    with pytest.raises(ValueError, match=r"state|zeta"):
        stream.load_state_dict(state)
    for name, array in stream.state_dict().items():
        np.testing.assert_array_equal(array, before[name])


def test_reset_puts_only_the_named_streams_to_rest():
    b = branches()
    stream, fresh = KnobStream(wrap.two_branch()), KnobStream(wrap.two_branch())
    stream.reset()
    for t in range(5):
        stream.step(frame(b, t))
    stream.reset([1])
    a, new = stream.step(frame(b, 5)), fresh.step(frame(b, 5))
    np.testing.assert_array_equal(a.probabilities[1], new.probabilities[1])
    assert not np.array_equal(a.probabilities[0], new.probabilities[0])
    stream.reset()
    assert same(stream.step(frame(b, 5)), KnobStream(wrap.two_branch()).step(frame(b, 5)))


# Long and wild


def test_no_drift_after_many_frames():
    """A constant picture, 250 x 4,000 frames: the gate stands where theory puts it, and does not creep."""
    z, u_star = np.tile([2.0, -1.0, 0.5], (250, 1)), np.linspace(-9, 9, 250)
    stream = KnobStream(wrap.two_branch(), settings=Settings(0.05, 2.9, memory="plain"))
    for _ in range(4_000):
        answer = stream.step((z, -z, u_star))
    np.testing.assert_allclose(answer.u, u_star, rtol=1e-12, atol=1e-12)
    p = metrics.softmax(fusion.mix(z, -z, gate.sigmoid(u_star)))
    np.testing.assert_allclose(stream.state_dict()["memory"][..., 0], p, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_state_never_outgrows_its_input(seed):
    """|x_t| <= |x_{t-1}| + 2 |u*|, so with u* = 0 no turning and no gap can pump the gate."""
    rng = np.random.default_rng(seed)
    stream = KnobStream(wrap.two_branch(), streams=1)
    z = np.zeros((1, 2))
    stream.step((z, z, np.array([10.0])))
    size = np.hypot(*stream.state_dict()["gate"][0])
    for _ in range(60):
        stream.turn(zeta=float(rng.choice([0.0, 0.02, 0.3, 50])), omega_n=float(np.exp(rng.uniform(-5, 4))))
        stream.step((z, z, np.zeros(1)), elapsed=1.0)
        after = np.hypot(*stream.state_dict()["gate"][0])
        assert after <= size * (1 + 1e-12)
        size = after


def test_one_thread_steps_while_others_turn():
    check_threads()


def check_threads(least: int = 200, seconds: float = 0.0, patience: float = 300.0) -> tuple[int, int]:
    """Frames stepped and turns made, at least `least` of each and for `seconds`; `patience` ends a deadlock only.

    It goes on until twelve settings have acted: the hands must move between the frames, however busy the machine is.

    Asserts that no frame saw half a turn, no turn was lost, the state stayed bounded, and the stream is bit for bit the
    one that a single thread makes with the knobs that each answer says acted on it.
    """
    stream = KnobStream(wrap.two_branch(), zeta=0.5, omega_n=0.25)
    stop, turns, problems = threading.Event(), [0, 0], []

    def partner(zeta: float) -> float:
        return 0.1 + zeta / 10

    def both() -> None:
        rng = np.random.default_rng(0)
        while not stop.is_set():
            zeta = float(rng.uniform(0, 3))
            stream.turn(zeta=zeta, omega_n=partner(zeta))
            turns[0] += 1

    def another() -> None:  # a turn of something else must never undo a turn of the knobs
        while not stop.is_set():
            stream.frame_rate = float(1 + turns[1] % 999)
            turns[1] += 1
            if stream.frame_rate != float(1 + (turns[1] - 1) % 999):
                problems.append("a turn was lost")

    hands = [threading.Thread(target=both), threading.Thread(target=another)]
    stream.turn(zeta=0.5, omega_n=partner(0.5))
    b, acted, start = branches(), [], time.monotonic()
    for hand in hands:
        hand.start()
    try:
        while min(len(acted), *turns) < least or len(set(acted)) < 12 or time.monotonic() < start + seconds:
            assert time.monotonic() < start + seconds + patience, f"stuck at {len(acted)} frames and {turns} turns"
            answer = stream.step(frame(b, len(acted) % FRAMES))
            acted.append((answer.zeta, answer.omega_n))
            if answer.omega_n != partner(answer.zeta):
                problems.append("a frame saw half a turn")
            if not (np.abs(answer.u) < 100).all():
                problems.append("the state grew")
    finally:
        stop.set()
        for hand in hands:
            hand.join()
    assert not problems, problems[0]
    last = stream.settings
    assert last.omega_n == partner(last.zeta) and last.frame_rate == float(1 + (turns[1] - 1) % 999)
    alone = KnobStream(wrap.two_branch())
    for t, (zeta, omega_n) in enumerate(acted):
        alone.turn(zeta=zeta, omega_n=omega_n)
        alone.step(frame(b, t % FRAMES))
    ours, theirs = stream.state_dict(), alone.state_dict()
    for name in ours.keys() - {"knobs"}:
        np.testing.assert_array_equal(ours[name], theirs[name])
    return len(acted), sum(turns)


def test_logits_need_no_torch():
    program = (
        "import sys, numpy as np; from knob_core import wrap; from knob_core.runtime import KnobStream;"
        "KnobStream(wrap.classifier()).step(np.array([1.0, 2.0])); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=checkpoint.Path(__file__).parents[2])


def test_power_by_squaring_is_matrix_power():
    a = gate.coefficients(np.array([0.1, 1.0, 2.0]), np.array([0.3, 1.0, 2.5]))[0]
    for n in range(6):
        wanted = np.stack([np.linalg.matrix_power(m, n) for m in a])
        np.testing.assert_allclose(gaps.power(a, np.full(3, n)), wanted, atol=1e-14)


def test_floats_of_0_to_255_are_refused():
    """They would be read as a picture 255 times too bright, and answered with great confidence."""
    frame = np.full((3, 32, 32), 128.0, np.float32)
    stream = KnobStream(models.build("knob-ode", width=8))
    with pytest.raises(ValueError, match=r"frames go from 128 to 128, expected floats in \[0, 1\] or bytes"):
        stream.step(frame)
    stream.step(frame / 255)
    broken = frame / 255
    broken[0, 3, 5] = np.nan
    assert stream.step(broken).missing
    broken[1, 3, 5] = 200.0
    with pytest.raises(ValueError, match="200"):
        stream.step(broken)


@pytest.mark.parametrize("turned", [lambda x: x[..., ::-1], lambda x: x.astype(">f4"), lambda x: x.astype(">f8")])
def test_frames_may_lie_in_memory_as_they_like(turned):
    frames = np.random.default_rng(0).random((2, 3, 32, 32), np.float32)
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3072, 4))
    for source in (models.build("knob-ia", width=8), wrap.classifier(module)):
        view = turned(frames)
        plain = np.ascontiguousarray(view).astype(np.float32)
        expected = KnobStream(source, streams=2).step(plain).probabilities
        assert np.allclose(KnobStream(source, streams=2).step(view).probabilities, expected, atol=1e-6)


def test_the_caller_s_clock_stays_the_caller_s():
    stream, clock = KnobStream(wrap.classifier()), np.zeros(2)
    for _ in range(3):
        stream.step(np.eye(2), time=clock)
        clock += 0.1


def test_a_gap_is_answered_in_the_shape_of_the_frames_before_it():
    batch, single = KnobStream(wrap.classifier()), KnobStream(wrap.classifier())
    assert batch.step(np.array([[1.0, 2.0]])).label.shape == batch.step(None).label.shape == (1,)
    assert np.ndim(single.step(np.array([1.0, 2.0])).label) == np.ndim(single.step(None).label) == 0


def test_a_state_of_objects_is_refused_by_name() -> None:
    stream = KnobStream(models.build("knob-ode", 4))
    stream.step(np.zeros((32, 32, 3), np.uint8))
    state = stream.state_dict()
    with pytest.raises(ValueError, match="state 'gate' has dtype object, expected numbers"):
        stream.load_state_dict({**state, "gate": np.full(state["gate"].shape, None, object)})


def of_version(version: int, state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """A state as that version wrote it: plain and attentive memory held logits, a command had an observer."""
    z = state["z_static"]
    older = {name: x for name, x in state.items() if name != "apart"}
    older["memory"] = np.stack([z, np.zeros_like(z)], -1)
    older |= {"observer": np.zeros((*z.shape, 2)), "version": np.array(version)}
    if version > 1:
        older["attentive"] = np.pad(older["memory"], ((0, 0), (0, 1), (0, 0)))
    if version > 2:
        return {**older, "bend": np.zeros(len(z)), "command": np.zeros(6)}
    return {name: x for name, x in older.items() if name not in ("method", "single")}


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("count", [1, 2])
def test_a_state_of_an_older_version_goes_on_from_the_frame_it_held(version: int, count: int) -> None:
    b, two = branches(), count == 2
    source = wrap.two_branch if two else wrap.classifier
    stream, again = KnobStream(source(), zeta=0.5, omega_n=0.1), KnobStream(source())
    for t in range(10):
        stream.step(frame(b, t) if two else b.z_static[:, t])
    older = of_version(version, stream.state_dict())
    if not two and version > 2:
        older["method"] = np.frombuffer(b"knob-ode", np.uint8)  # a single classifier had a gate
    again.load_state_dict(older)
    assert (again.zeta, again.omega_n) == (0.5, 0.1)
    kept = again.state_dict()
    for name in ("gate", "z_static", "z_dyn", "u_star", "seen", "age", "time"):
        np.testing.assert_array_equal(kept[name], stream.state_dict()[name])
    z = fusion.mix(b.z_static[:, 9], b.z_dyn[:, 9], gate.sigmoid(b.u_star[:, 9])) if two else b.z_static[:, 9]
    np.testing.assert_allclose(kept["memory"][..., 0], metrics.softmax(z))
    assert not kept["memory"][..., 1].any() and not kept["apart"].any()
    assert np.isfinite(again.step(frame(b, 10) if two else b.z_static[:, 10]).p_max).all()


@pytest.mark.parametrize(("saved", "loads"), [("knob-ode", "ode-lite"), ("static", "knob-ode")])
def test_a_state_of_another_method_is_refused(saved: str, loads: str) -> None:
    """ODE-Lite keeps [g, 0] where Knob-ODE keeps [u, v]."""
    stream, other = KnobStream(models.build(saved, 4)), KnobStream(models.build(loads, 4))
    stream.step(np.zeros((32, 32, 3), np.uint8))
    with pytest.raises(ValueError, match=f"method '{saved}', expected this stream's, '{loads}'"):
        other.load_state_dict(stream.state_dict())


@pytest.mark.parametrize(
    ("name", "value", "cause"),
    [
        ("memory", 1e308, "1e[+]308"), ("memory", np.longdouble("1e4000"), "inf"), ("age", -1.0, "-1.0"),
        ("time", np.inf, "inf"), ("seen", 7, "bools"), ("u_star", "a", "numbers"), ("z_dyn", 1e121, "1e[+]121"),
        ("apart", -1.0, "-1.0, expected .0, "),
    ],
)  # fmt: skip
def test_impossible_numbers_of_a_state_are_refused_by_name(name: str, value: object, cause: str) -> None:
    stream = KnobStream(wrap.two_branch())
    stream.step(frame(branches(), 0))
    state = stream.state_dict()
    with pytest.raises(ValueError, match=f"state '{name}' .*{cause}"):
        stream.load_state_dict({**state, name: np.full(state[name].shape, value)})


@pytest.mark.parametrize("g", [5.0, -0.1])
def test_a_first_order_gate_s_state_lies_between_0_and_1(g: float) -> None:
    """Each later frame would be refused, and leave the state as it is."""
    stream = KnobStream(models.build("ode-lite", 4))
    stream.step(np.zeros((32, 32, 3), np.uint8))
    state = stream.state_dict()
    state["gate"][0, 0] = g
    with pytest.raises(ValueError, match=rf"state 'gate' has the value {g}, expected \[0, 1\]"):
        stream.load_state_dict(state)


def test_a_state_of_tensors_is_taken() -> None:
    """As `safetensors.torch` loads them, in any precision."""
    stream, again = KnobStream(wrap.classifier()), KnobStream(wrap.classifier())
    stream.step(np.array([1.0, 2.0]))
    again.load_state_dict({name: torch.from_numpy(np.array(x)) for name, x in stream.state_dict().items()})
    np.testing.assert_array_equal(stream.step([3.0, 1.0]).probabilities, again.step([3.0, 1.0]).probabilities)
    state = {**stream.state_dict(), "u_star": torch.zeros(1, dtype=torch.bfloat16, requires_grad=True)}
    again.load_state_dict(state)


def test_an_unknown_entry_of_a_state_is_refused() -> None:
    stream = KnobStream(wrap.classifier())
    stream.step(np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="state has 'speed', expected gate, memory"):
        stream.load_state_dict({**stream.state_dict(), "speed": np.zeros(1)})


NOTHING = pd.NA  # has no truth value: == of an array of it raises
ONE_CLASS = {
    "memory": np.zeros((1, 1, 2)), "z_static": np.zeros((1, 1)), "z_dyn": np.zeros((1, 1)),
}  # fmt: skip
NO_ARRAYS = {
    "sparse": torch.zeros(1, 3).to_sparse(),
    "meta": torch.zeros(1, 3, device="meta"),
    "quantised": torch.quantize_per_tensor(torch.zeros(1, 3), 1.0, 0, torch.quint8),
    "lists": [[1.0, 2.0], [3.0]],
}


@pytest.mark.filterwarnings("ignore:.*deprecated")
@pytest.mark.parametrize(
    ("odd", "cause"),
    [
        ({"single": np.array(NOTHING, object)}, "state 'single' is object"),
        ({"single": np.array(np.nan)}, "state 'single' is float64 of shape"),
        ({"method": np.array([NOTHING] * 8, object)}, "made with the method"),
        ({("a",): 1, "zz": 2}, r"state has \"\('a',\)\", expected gate"),
        (
            {"memory": np.zeros((1, 3, 3))},
            r"'memory' has shape \(1, 3, 3\), expected \(1, 3, 2\)",
        ),
        (ONE_CLASS, r"'z_static' has shape \(1, 1\), expected \(streams, 2 classes or more\)"),
        *(({"z_static": each}, "state 'z_static' is a .*, expected an array") for each in NO_ARRAYS.values()),
    ],
)
def test_odd_states_are_refused_by_name_and_leave_the_stream_as_it_was(odd: dict, cause: str) -> None:
    """A state of one class was taken, and every later step ended in a ZeroDivisionError."""
    stream = KnobStream(wrap.classifier())
    stream.step(np.array([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match=cause):
        stream.load_state_dict({**stream.state_dict(), **odd})
    assert stream.step(np.array([1.0, 2.0, 3.0])).label == 2


@pytest.mark.parametrize("kind", NO_ARRAYS)
def test_frames_that_are_no_arrays_are_refused_by_name(kind: str) -> None:
    with pytest.raises(ValueError, match=r"logits is a .*, expected an array|inhomogeneous"):
        KnobStream(wrap.classifier()).step(NO_ARRAYS[kind])


@pytest.mark.parametrize("value", ["3", True, np.datetime64("2020-01-01")])
def test_odd_gaps_are_refused_by_name(value: object) -> None:
    stream = KnobStream(wrap.classifier())
    stream.step(np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match=r"elapsed is .*, expected a finite number"):
        stream.step(np.array([1.0, 2.0]), elapsed=value)


@pytest.mark.parametrize(
    ("frames", "cause"),
    [
        (np.full((32, 32, 3), None), "dtype object"), (np.full((32, 32, 3), "a"), "dtype <U1"),
        (np.zeros((32, 32, 3), np.complex64), "dtype complex64"), (np.zeros((32, 32, 3), np.int64), "dtype"),
        (np.ma.masked_equal(np.eye(32), 1)[..., None] * np.ones(3), "masked values"),
    ],
)  # fmt: skip
def test_odd_pictures_are_refused_by_name(frames: np.ndarray, cause: str) -> None:
    with pytest.raises(ValueError, match=cause):
        KnobStream(models.build("knob-ode", 4)).step(frames)


@pytest.mark.parametrize("odd", [[1, 2], "state", 3])
def test_a_state_is_a_table(odd: object) -> None:
    with pytest.raises(ValueError, match="expected what state_dict gave"):
        KnobStream(wrap.classifier()).load_state_dict(odd)  # type: ignore[arg-type]


def test_a_restart_answers_a_gap_in_the_shape_of_the_frames_before_it() -> None:
    stream, again = KnobStream(wrap.classifier()), KnobStream(wrap.classifier())
    stream.step(np.array([[1.0, 2.0]]))
    again.load_state_dict(stream.state_dict())
    assert again.step(None).label.shape == (1,)


def test_a_loaded_state_leaves_goals_and_temperature_of_the_settings_file() -> None:
    goals = Goals(delay=3)
    stream = KnobStream(wrap.classifier(lambda frames: frames), settings=Settings(goals=goals, temperature=1.7))
    stream.step(np.zeros((1, 4)))
    stream.load_state_dict(stream.state_dict())
    assert stream.settings.goals == goals and stream.temperature == 1.7


@pytest.mark.parametrize(
    ("odd", "cause"),
    [
        ({"settings": 3}, "settings is a int"), ({"settings": {"zeta": 1}}, "settings is a dict"),
        ({"slew": "a"}, "slew is 'a'"), ({"slew": True}, "slew is True"), ({"slew": np.inf}, "slew is inf"),
    ],
)  # fmt: skip
def test_odd_arguments_are_refused_by_name(odd: dict, cause: str) -> None:
    with pytest.raises(ValueError, match=cause):
        KnobStream(wrap.classifier(), **odd)


@pytest.mark.parametrize("slew", [1000.0, 10**400, np.float32(0.1)])
def test_any_limit_that_is_taken_can_be_stepped_with(slew: float) -> None:
    """From 710 on every step ended in an OverflowError."""
    stream = KnobStream(wrap.classifier(), slew=slew)
    stream.turn(omega_n=3.0)
    stream.step(np.array([1.0, 2.0]))
    assert stream.state_dict()["knobs"][1] == pytest.approx(3.0 if slew > 1 else 0.4 * np.exp(0.1))


def test_every_state_that_a_stream_gives_it_takes_back() -> None:
    late = KnobStream(wrap.classifier())
    late.step(np.array([1.0, 2.0]), time=1e120)
    late.load_state_dict(late.state_dict())
    with pytest.raises(ValueError, match="time is 1e\\+200"):
        KnobStream(wrap.classifier()).step(np.array([1.0, 2.0]), time=1e200)


def test_odd_turns_are_refused_by_name() -> None:
    stream = KnobStream(wrap.classifier())
    with pytest.raises(ValueError, match="no knob 'foo', expected some of"):
        stream.turn(foo=1)
    with pytest.raises(ValueError, match="settings is a dict"):
        stream.settings = {"zeta": 1}  # type: ignore[assignment]
    with pytest.raises(ValueError, match="elapsed is"):
        stream.step(np.zeros((1, 2)), elapsed=object())
