"""Tuning and comparing filters: sums over streams by hand, sweeps, equal effort, paired drawings, and the file."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from filter_examples import FILTERS, changing_logits

from knob_core import metrics
from knob_core.branches import Branches
from knob_core.fusion import fuse
from knob_core.gate import sigmoid
from knob_core.metrics import temperature_scaling
from knob_core.rivals import RIVALS
from knob_core.tuning import saved
from knob_core.tuning.compare import compare, evaluate
from knob_core.tuning.measured import Measured, measure, together
from knob_core.tuning.streams import Streams, of_branches
from knob_core.tuning.sweep import Curve, repeat, sweep
from knob_core.tuning.tune import DELAYS, Tuned, objective, tune


@pytest.fixture(scope="module")
def streams() -> Streams:
    """Cuts every 25 frames, seen through noise in which the bare model errs now and then."""
    rng = np.random.default_rng(0)
    labels = np.repeat(rng.integers(4, size=(16, 8)), 25, axis=1)
    z = rng.normal(0, 1.5, (16, 200, 4)) + 3.2 * (labels[..., None] == np.arange(4))
    return Streams(z, labels)


def two_streams() -> Streams:
    """Two streams of six frames: class 0, from the third frame on class 1."""
    labels = np.array([[0, 0, 1, 1, 1, 1]] * 2)
    z = 3.0 * (labels[..., None] == np.arange(2))
    z[1, 2] = [3.0, 0.0]  # the second stream sees it a frame late
    z[0, 5] = [3.0, 0.0]  # and the first loses it again
    return Streams(z, labels)


def made(delay: list, excess: list, nll: list, cuts: list | None = None) -> Measured:
    """Settings over streams with one cut (unless given), 100 steps and one frame each."""
    ones = np.ones(np.shape(delay)[1])
    arrays = (np.array(x, float) for x in (delay, excess, nll))
    return Measured(np.ones(len(delay)), *arrays, ones if cuts is None else np.array(cuts, float), 100 * ones, ones)


def test_one_setting_by_hand() -> None:
    found = measure(RIVALS["bare"](), two_streams(), temperature=1.0)
    assert found.delay.tolist() == [[4, 1]]  # never stays for five frames or to the end; a frame late
    assert found.excess.tolist() == [[2, 0]]  # two changes, none of which is counted as followed; one change, followed
    right, wrong = math.log1p(math.exp(-3)), math.log1p(math.exp(3))
    assert np.allclose(found.nll, [[5 * right + wrong, 5 * right + wrong]])
    means = found.means()
    assert (means.delay.tolist(), means.flips.tolist()) == ([2.5], [20.0])  # 2 of 10 steps
    assert np.allclose(means.nll, (5 * right + wrong) / 6)
    drawn = found.means(np.array([[2.0, 0.0], [0.0, 2.0]]))
    assert (drawn.delay.tolist(), drawn.flips.tolist()) == ([[4], [1]], [[40], [0]])


def test_the_output_temperature_is_the_best_for_nll(streams: Streams) -> None:
    sure = Streams(3 * streams.z, streams.labels)
    found = measure(RIVALS["bare"](), sure)
    flat = sure.z.reshape(-1, 4)
    best = temperature_scaling.fit(flat, sure.labels.ravel())
    assert found.temperature == pytest.approx([best])
    expected = metrics.nll(metrics.softmax(flat / best), sure.labels.ravel())
    assert found.means().nll == pytest.approx([expected])


def test_frames_without_a_label_do_not_count(streams: Streams) -> None:
    labels = streams.labels.copy()
    labels[:, 100:] = -1
    half = Streams(streams.z, labels)
    first = Streams(streams.z[:, :100], streams.labels[:, :100])
    a, b = (measure(FILTERS["hmm"], s).means() for s in (half, first))
    assert all(np.allclose(x, y) for x, y in zip(a, b, strict=True))


def test_a_sweep_places_settings_where_the_delay_changes(streams: Streams) -> None:
    curve = sweep(RIVALS["ema-logits"], {}, streams, settings=12)
    assert len(curve.value) == 12
    assert (np.diff(curve.value) > 0).all()
    inside = (curve.delay > 0.8) & (curve.delay < 5)
    assert inside.sum() >= 7
    alone = measure(RIVALS["ema-logits"](curve.value[4]), streams)
    assert (curve.delay[4], curve.flips[4], curve.nll[4]) == tuple(x[0] for x in alone.means())


def test_a_sweep_over_whole_numbers_ends_where_none_is_left(streams: Streams) -> None:
    curve = sweep(RIVALS["median"], {}, streams, settings=60, span=(0.0, 100.0), every=10)
    assert set(curve.value) == set(range(1, 42))
    nothing = sweep(RIVALS["bare"], {}, streams)
    assert len(nothing.delay) == 1
    assert np.isnan(nothing.value).all()


def test_the_objective_by_hand() -> None:
    at = lambda delay, flips: Curve(np.ones(2), np.ones(2), np.array(delay), np.array(flips), np.array([0.4, 0.3]))  # noqa: E731
    assert objective(at([0.5, 8.0], [0.95, 0.95])) == pytest.approx(0 + 0.3)  # log(.05 + .95) everywhere
    assert objective(at([0.5, 8.0], [0.95, 0.95]), nll_weight=2.0) == pytest.approx(0.6)
    one_side = objective(at([2.0, 8.0], [0.95, 0.95]))
    assert one_side == pytest.approx(4 * np.log([2 / 1, 2 / 1.25, 2 / 1.5]).sum() / len(DELAYS) + 0.3)


def test_tuning_beats_the_defaults_and_keeps_its_number_of_evaluations(streams: Streams) -> None:
    tuned = tune(RIVALS["hmm"], streams, evaluations=12, seed=0)
    assert tuned.evaluations == 12
    assert set(tuned.parameters) == {"temperature", "outlier"}
    defaults = objective(sweep(RIVALS["hmm"], {}, streams, every=4))
    assert tuned.objective < defaults
    assert objective(tuned.curve) == pytest.approx(tuned.objective, abs=0.1)  # 24 settings and all frames
    again = tune(RIVALS["hmm"], streams, evaluations=12, seed=0)
    assert again.parameters == tuned.parameters
    assert tune(RIVALS["ema-p"], streams, evaluations=12).evaluations == 1  # nothing to choose


def test_filters_of_our_own_are_tuned_alike(streams: Streams) -> None:
    """A filter that uses the command u: here, as an oracle, u says which class is right."""
    from knob_core.rivals.moving_average import EmaOfLogits

    class WithCommand(EmaOfLogits):
        NAME = "with command"

        def _run(self, z, state, u):  # type: ignore[no-untyped-def]
            return super()._run(z + 9 * (u[..., None] == np.arange(z.shape[-1])), state, None)

    told = Streams(streams.z, streams.labels, u=streams.labels.astype(float))
    ours, theirs = (tune(kind, told, 1) for kind in (WithCommand, EmaOfLogits))
    assert ours.objective < theirs.objective - 0.2


def test_settings_are_repeated_on_other_streams_with_their_temperatures(streams: Streams) -> None:
    tuned = tune(RIVALS["majority"], streams, evaluations=3)
    again = repeat(tuned.kind, tuned.parameters, tuned.curve, streams)
    means = again.means()
    assert np.array_equal(again.temperature, tuned.curve.temperature)
    assert np.allclose(means.delay, tuned.curve.delay)
    assert np.allclose(means.flips, tuned.curve.flips)
    assert np.allclose(means.nll, tuned.curve.nll)


def test_a_comparison_by_hand() -> None:
    calm = made([[2, 2], [4, 4]], [[1, 3], [0, 2]], [[0.5, 0.5], [0.7, 0.7]])
    other = made([[2, 2], [4, 4]], [[2, 4], [1, 3]], [[0.4, 0.4], [0.9, 0.9]])
    result = compare({"calm": calm, "other": other}, delays=(1.0, 2.0, 3.0), draws=200, seed=0)
    flips = result.interval("calm")
    assert flips.value.tolist() == [2, 2, 1.5]  # two streams, 200 steps: 4, then 2 excess flips
    assert (flips.low[1], flips.high[1]) == (1, 3)  # the same stream twice
    assert result.rows["calm"].reached.tolist() == [False, True, True]
    assert np.allclose(result.interval("calm", "nll").value, [0.5, 0.5, 0.6])
    assert result.interval("other", "best_nll").value.tolist() == [0.4]
    less = result.difference("calm", "other")
    assert np.allclose(less.value, -1)
    assert np.allclose([less.low, less.high], -1)  # paired: streams differ, the difference does not


def test_streams_without_a_cut_may_be_among_them_but_not_alone() -> None:
    one_cut = made([[2, 0, 0, 0, 0]], [[1, 2, 0, 1, 0]], [[0.5] * 5], cuts=[1, 0, 0, 0, 0])
    result = compare({"a": one_cut}, delays=(2.0,), draws=200)
    assert np.isfinite(result.interval("a").low).all()
    none = made([[0, 0]], [[1, 2]], [[0.5, 0.5]], cuts=[0, 0])
    with pytest.raises(ValueError, match="no stream has a cut that the model recognises"):
        compare({"a": none}, delays=(2.0,), draws=20)


def test_drawings_are_of_whole_streams_and_known_by_their_seed() -> None:
    rng = np.random.default_rng(0)
    measured = {"a": made([np.full(50, 2)], [rng.integers(0, 9, 50)], [np.ones(50)])}
    runs = [compare(measured, draws=2000, seed=seed).rows["a"].flips[:, 0] for seed in (1, 1, 2)]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])
    per_stream = measured["a"].excess[0]  # per 100 steps already
    assert np.std(runs[0][1:]) == pytest.approx(per_stream.std() / math.sqrt(50), rel=0.1)


def test_evaluate_is_repeat_and_compare(streams: Streams) -> None:
    tuned = {name: tune(RIVALS[name], streams.part(slice(8)), 2) for name in ("bare", "hmm")}
    result = evaluate(tuned, streams.part(slice(8, None)), delays=(2.0,), draws=20)
    bare, hmm = (result.interval(name).value[0] for name in ("bare", "hmm"))
    assert hmm < bare
    assert result.difference("hmm", "bare").high[0] < 0


def test_a_file_gives_back_what_was_tuned(streams: Streams, tmp_path) -> None:  # type: ignore[no-untyped-def]
    tuned = {name: tune(RIVALS[name], streams, 2) for name in ("bare", "median", "cusum")}
    path = tmp_path / "tuned.json"
    saved.save(tuned, path, {"streams": "made"})
    assert [file.name for file in tmp_path.iterdir()] == ["tuned.json"]
    assert json.loads(path.read_text())["about"] == {"streams": "made"}
    back = saved.load(path, RIVALS)
    assert list(back) == list(tuned)
    for name, t in tuned.items():
        assert isinstance(back[name], Tuned)
        assert (back[name].kind, back[name].parameters) == (t.kind, t.parameters)
        for field in dataclasses.fields(Curve):
            assert np.array_equal(getattr(back[name].curve, field.name), getattr(t.curve, field.name), equal_nan=True)
    with pytest.raises(ValueError, match="cusum"):
        saved.load(path, {name: kind for name, kind in RIVALS.items() if name != "cusum"})
    path.write_text("{}")
    with pytest.raises(ValueError, match="knob-tuned-1"):
        saved.load(path, RIVALS)


def test_logits_of_branches() -> None:
    z, labels = changing_logits()
    u = np.random.default_rng(1).normal(size=labels.shape)
    branches = Branches(z, -z, u, labels, np.zeros(labels.shape))
    fused = of_branches(branches)
    assert np.allclose(fused.z, fuse(z, -z, sigmoid(u)))
    assert np.array_equal(fused.u, u)
    single = of_branches(branches, single=True)
    assert np.array_equal(single.z, z)
    assert single.u is None
    assert fused.part(np.array([2, 0])).z.shape == (2, *z.shape[1:])


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: Streams(np.zeros((2, 3, 4)), np.zeros((2, 2), int)), "labels"),
        (lambda: Streams(np.zeros((2, 3, 4)), np.full((2, 3), 4)), "below 4"),
        (lambda: compare({"a": made([[1]], [[1]], [[1]]), "b": made([[1, 1]], [[1, 1]], [[1, 1]])}), "same streams"),
        (lambda: compare({"a": made([[1]], [[1]], [[1]])}, draws=0), "draws must be at least 1, got 0"),
        (lambda: compare({"a": made([[1]], [[1]], [[1]])}).interval("a", level=95), "level"),
    ],
)
def test_bad_input_is_named(call, named: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=named):
        call()


def test_settings_of_one_filter_go_together() -> None:
    parts = [measure(FILTERS[name], two_streams()) for name in ("bare", "median")]
    both = together(parts)
    assert both.delay.shape == (2, 2)
    assert np.array_equal(both.excess[1], parts[1].excess[0])
