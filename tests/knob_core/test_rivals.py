"""What holds for every filter of logits: one step is a run of one frame, streams and classes do not know each other."""

from __future__ import annotations

import numpy as np
import pytest
from filter_examples import FILTERS, changing_logits
from hypothesis import given, settings
from hypothesis import strategies as st

from knob_core import metrics
from knob_core.rivals import RIVALS, WITH_COMMAND, probabilities

ALL = {**RIVALS, **WITH_COMMAND}
EVERY = pytest.mark.parametrize("name", ALL)


def rows(state: object, index: np.ndarray) -> object:
    """The state of some streams: every array in it has one row a stream."""
    if isinstance(state, tuple):
        return type(state)(*(rows(entry, index) for entry in state))
    return state[index]  # type: ignore[index]


def same(a: object, b: object) -> bool:
    if isinstance(a, tuple):
        return isinstance(b, tuple) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return np.array_equal(a, b) if a is not None else b is None  # type: ignore[arg-type]


def test_there_is_an_example_of_every_filter() -> None:
    assert set(FILTERS) == set(ALL)
    for name, kind in ALL.items():
        assert type(FILTERS[name]) is kind
        assert kind.SWEEP is None or kind.SWEEP in kind.PARAMETERS
    assert len({kind.NAME for kind in ALL.values()}) == len(ALL)
    assert all(kind.KNOWN_AS for kind in ALL.values())


@EVERY
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 999), cut=st.integers(1, 39), classes=st.sampled_from([2, 3, 10]))
def test_a_stream_cut_anywhere_goes_on_bit_for_bit(name: str, seed: int, cut: int, classes: int) -> None:
    z, _ = changing_logits(classes=classes, seed=seed)
    u = np.random.default_rng(seed).normal(size=z.shape[:2])
    whole, end = FILTERS[name].run(z, u=u)
    first, state = FILTERS[name].run(z[:, :cut], u=u[:, :cut])
    second, state = FILTERS[name].run(z[:, cut:], state, u[:, cut:])
    assert np.array_equal(whole, np.concatenate([first, second], 1))
    assert same(end, state)


@EVERY
def test_steps_are_the_run(name: str) -> None:
    z, _ = changing_logits()
    u = np.random.default_rng(0).normal(size=z.shape[:2])
    whole, _ = FILTERS[name].run(z, u=u)
    state, steps = None, []
    for frame, u_t in zip(np.moveaxis(z, 1, 0), u.T, strict=True):
        answer, state = FILTERS[name].step(frame, state, u_t)
        steps.append(answer)
    assert np.array_equal(whole, np.stack(steps, 1))
    assert whole.dtype == np.float64
    assert np.isfinite(whole).all()


@EVERY
def test_a_state_is_not_changed_and_holds_nothing_of_the_callers(name: str) -> None:
    z, _ = changing_logits()
    expected, _ = FILTERS[name].run(z)
    frames = z[:, :7].copy()
    _, state = FILTERS[name].run(frames)
    frames[:] = np.nan  # a ring buffer is written anew
    for _ in range(2):  # the same state twice: the first use leaves it as it was
        after, _ = FILTERS[name].run(z[:, 7:], state)
        assert np.array_equal(after, expected[:, 7:])


@EVERY
def test_streams_do_not_know_each_other(name: str) -> None:
    z, _ = changing_logits(streams=4)
    order = np.array([2, 0, 3])
    whole, _ = FILTERS[name].run(z)
    some, state = FILTERS[name].run(z[order, :9])
    assert np.array_equal(some, whole[order, :9])
    if state is not None:
        alone, _ = FILTERS[name].run(z[order[1:], 9:], rows(state, np.array([1, 2])))
        assert np.array_equal(alone, whole[order[1:], 9:])


@EVERY
def test_classes_have_no_order(name: str) -> None:
    z, _ = changing_logits(classes=5)
    order = np.array([3, 1, 4, 0, 2])
    assert np.allclose(FILTERS[name].run(z[..., order])[0], FILTERS[name].run(z)[0][..., order], atol=1e-9)


@EVERY
def test_what_never_changes_is_answered_as_it_is(name: str) -> None:
    frame = np.array([[0.5, 3.0, -1.0], [2.0, 1.0, 0.0]])
    answer, _ = FILTERS[name].run(np.repeat(frame[:, None], 50, 1))
    p = metrics.softmax(answer)
    assert (p.argmax(-1) == [[1], [0]]).all()
    assert np.allclose(p[:, -1], p[:, -2], atol=0.02)  # settled
    if name in ("bare", "ema-logits", "one-euro-logits", "second-order", "median", "cusum"):
        assert np.allclose(answer, frame[:, None], atol=1e-9)
    if name in ("ema-p", "one-euro-p"):
        assert np.allclose(p, metrics.softmax(frame)[:, None], atol=1e-9)


@EVERY
def test_it_follows_a_change_in_the_end(name: str) -> None:
    z = np.zeros((1, 80, 3))
    z[:, :40, 0] = z[:, 40:, 2] = 4.0
    shown = FILTERS[name].run(z)[0].argmax(-1)[0]
    assert (shown[:40] == 0).all()
    assert shown[60:].tolist() == [2] * 20


@EVERY
def test_extreme_logits_stay_finite(name: str) -> None:
    z, _ = changing_logits()
    answer, _ = FILTERS[name].run(1e4 * z)
    assert np.isfinite(answer).all()


@EVERY
@pytest.mark.parametrize(
    ("z", "named"),
    [
        (np.zeros((2, 3)), r"\(R, T, K\)"),
        (np.zeros((2, 3, 1)), "K >= 2"),
        (np.zeros((2, 0, 3)), "empty"),
        (np.full((1, 2, 3), np.nan), "finite"),
        (np.zeros((1, 2, 3), int), "floating"),
    ],
)
def test_bad_logits_are_named(name: str, z: np.ndarray, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        FILTERS[name].run(z)


@pytest.mark.parametrize("name", RIVALS)
def test_rivals_do_not_use_the_command(name: str) -> None:
    z, _ = changing_logits()
    u = np.random.default_rng(0).normal(size=z.shape[:2])
    assert np.array_equal(FILTERS[name].run(z, u=u)[0], FILTERS[name].run(z)[0])


@pytest.mark.parametrize("name", WITH_COMMAND)
def test_a_command_scales_the_logits(name: str) -> None:
    z, _ = changing_logits()
    u = np.random.default_rng(0).normal(size=z.shape[:2])
    plain = FILTERS[name.removesuffix("-u")]
    slope = FILTERS[name].slope  # type: ignore[attr-defined]
    assert np.array_equal(FILTERS[name].run(z)[0], plain.run(z)[0])
    assert np.array_equal(FILTERS[name].run(z, u=u)[0], plain.run(z * np.exp(slope * u)[..., None])[0])
    assert np.isfinite(FILTERS[name].run(z, u=1e3 * u)[0]).all()


@EVERY
def test_bad_frames_states_and_commands_are_named(name: str) -> None:
    z, _ = changing_logits(streams=3)
    with pytest.raises(ValueError, match="one frame"):
        FILTERS[name].step(z)
    with pytest.raises(ValueError, match=r"u must have shape \(3, 40\), got \(3, 39\)"):
        FILTERS[name].run(z, u=np.zeros((3, 39)))
    state = FILTERS[name].run(z)[1]
    if state is not None:
        with pytest.raises(ValueError, match="the state has 3 streams, z has 2"):
            FILTERS[name].run(z[:2], state)


@pytest.mark.parametrize(
    ("name", "parameters", "named"),
    [
        ("ema-logits", {"omega": 0.0}, "omega must be finite and > 0, got 0"),
        ("ema-p", {"omega": float("nan")}, "omega"),
        ("one-euro-logits", {"min_cutoff": 0.0}, "min_cutoff"),
        ("one-euro-logits", {"min_cutoff": 0.1, "beta": -1.0}, "beta must be finite and >= 0, got -1"),
        ("one-euro-p", {"min_cutoff": 0.1, "d_cutoff": 0.0}, "d_cutoff"),
        ("second-order", {"omega_n": -1.0}, "omega_n"),
        ("second-order", {"omega_n": 1.0, "zeta": -0.1}, "zeta"),
        ("median", {"window": 0}, "window is 0, expected a whole number in"),
        ("median", {"window": 2.5}, "window is 2.5, expected a whole number"),
        ("majority", {"window": True}, "window is True, expected a whole number"),
        ("majority", {"window": 3, "prior": 0.0}, "prior"),
        ("hmm", {"switch": 0.0}, "switch must be finite and > 0 and <= 1, got 0"),
        ("hmm", {"switch": 0.1, "temperature": 0.0}, "temperature"),
        ("hmm", {"switch": 0.1, "outlier": 1.5}, "outlier must be finite and >= 0 and <= 1, got 1.5"),
        ("cusum", {"threshold": -1.0}, "threshold"),
        ("cusum", {"threshold": 1.0, "drift": -1.0}, "drift"),
        ("cusum", {"threshold": 1.0, "temperature": 0.0}, "temperature"),
        ("cusum", {"threshold": 1.0, "outlier": 0.0}, "outlier"),
        ("cusum", {"threshold": 1.0, "length": 0.5}, "length"),
        ("cusum", {"threshold": 1.0, "suspect": 2.0}, "suspect"),
        ("change-point", {"hazard": 0.0}, "hazard"),
        ("change-point", {"hazard": 0.1, "prior": 0.0}, "prior"),
        ("change-point", {"hazard": 0.1, "weight": 0.0}, "weight"),
        ("change-point", {"hazard": 0.1, "runs": 1}, "runs is 1, expected a whole number in"),
        ("two-speeds", {"omega": 0.0}, "omega"),
        ("two-speeds", {"omega": 1.0, "slower": 0.0}, "slower"),
        ("two-speeds", {"omega": 1.0, "offsets": (0.0, float("nan"))}, "offsets must be finite"),
        ("hysteresis", {"hold": 0}, "hold is 0, expected a whole number in"),
        ("hysteresis", {"hold": 2, "enter": 1.2}, "enter must be finite and >= 0 and <= 1, got 1.2"),
        ("debounce", {"window": 3, "share": 0.0}, "share"),
        ("hmm-u", {"switch": 0.1, "slope": -1.0}, "slope"),
        ("cusum-u", {"threshold": -1.0}, "threshold"),
    ],
)
def test_bad_parameters_are_named(name: str, parameters: dict, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        ALL[name](**parameters)


@given(st.sampled_from([(10,), (1, 10), (5, 10), (3, 7, 10), (64, 1, 100)]), st.integers(0, 2**32 - 1))
def test_softmax_of_one_frame_has_the_digits_of_many(shape: tuple[int, ...], seed: int) -> None:
    """A running sum from the first class to the last, whatever the other axes are."""
    z = np.random.default_rng(seed).normal(0, 4, shape)
    e = np.exp(z - z.max(-1, keepdims=True))
    np.testing.assert_array_equal(probabilities.softmax(z), e / np.add.accumulate(e, axis=-1)[..., -1:])
