"""Metrics against independent packages, and at their edges."""

from __future__ import annotations

import math

import calibration
import numpy as np
import pytest
import sklearn.calibration
import sklearn.metrics
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

import knob_core._torchvision  # noqa: F401  (torchmetrics imports torchvision, which needs its operators declared)
from knob_core import metrics
from knob_core.metrics.reliability import Reliability, folded_normal_mean, wilson

mce = pytest.importorskip("torchmetrics.functional.classification").multiclass_calibration_error


def overconfident(n=2000, classes=10, seed=0, dtype=np.float64):
    """Probabilities whose labels were drawn from a cooler distribution, and the labels."""
    rng = np.random.default_rng(seed)
    z = 2 * rng.normal(size=(n, classes))
    cool = special.softmax(z / 2, -1)
    labels = (cool.cumsum(-1) > rng.random((n, 1))).argmax(-1)
    return special.softmax(z, -1).astype(dtype), labels


# --- softmax ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(7,), (5, 10), (2, 3, 4), (0, 10)])
def test_softmax_is_scipys(shape):
    z = 30 * np.random.default_rng(0).normal(size=shape)
    np.testing.assert_allclose(metrics.softmax(z), special.softmax(z, -1), rtol=1e-13)
    np.testing.assert_allclose(metrics.log_softmax(z), special.log_softmax(z, -1), atol=1e-13)
    assert metrics.softmax(z.astype(np.float32)).dtype == np.float32
    assert metrics.log_softmax(z.astype(np.float32)).dtype == np.float32


def test_softmax_is_stable():
    z = np.array([[1e4, 0.0, -1e4], [-1e4, -1e4, -1e4]])
    np.testing.assert_array_equal(metrics.softmax(z), [[1, 0, 0], [1 / 3] * 3])
    np.testing.assert_allclose(metrics.log_softmax(z)[0], [0, -1e4, -2e4])


@pytest.mark.parametrize("classes", [3, 10, 50])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_top_label_of_logits_is_the_top_label_of_their_softmax(classes, dtype):
    rng = np.random.default_rng(1)
    z = (4 * rng.normal(size=(20_000, classes))).astype(dtype)
    labels = rng.integers(0, classes, 20_000).astype(np.int64 if dtype is np.float64 else np.uint8)
    confidence, correct = metrics.top_label_of_logits(z, labels)
    expected, expected_correct = metrics.top_label(metrics.softmax(z), labels)
    np.testing.assert_allclose(confidence, expected, rtol=2e-6)
    np.testing.assert_array_equal(correct, expected_correct)


# --- scores ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 10, 40])
def test_scores_are_scikit_learns(classes):
    probs, labels = overconfident(classes=classes)
    names = list(range(classes))
    assert metrics.accuracy(probs, labels) == sklearn.metrics.accuracy_score(labels, probs.argmax(-1))
    assert metrics.nll(probs, labels) == pytest.approx(sklearn.metrics.log_loss(labels, probs, labels=names), rel=1e-12)
    one_hot = np.eye(classes)[labels]
    assert metrics.brier(probs, labels) == pytest.approx(((probs - one_hot) ** 2).sum(-1).mean(), rel=1e-12)


def test_two_class_brier_is_twice_scikit_learns():
    probs, labels = overconfident(classes=2)
    halved = sklearn.metrics.brier_score_loss(labels, probs[:, 1])
    assert metrics.brier(probs, labels) == pytest.approx(2 * halved, rel=1e-12)


def test_perfect_and_hopeless():
    labels = np.arange(10).repeat(3)
    perfect, hopeless = np.eye(10)[labels], np.eye(10)[(labels + 1) % 10]
    assert (metrics.accuracy(perfect, labels), metrics.accuracy(hopeless, labels)) == (1, 0)
    assert (metrics.nll(perfect, labels), metrics.nll(hopeless, labels)) == (0, math.inf)
    assert (metrics.brier(perfect, labels), metrics.brier(hopeless, labels)) == (0, 2)
    for mode in metrics.BINNINGS:
        for norm in ("l1", "l2"):
            assert metrics.ece(perfect, labels, mode=mode, norm=norm) == 0
            assert metrics.ece(hopeless, labels, mode=mode, norm=norm) == 1
            assert metrics.ece_debiased(perfect, labels, mode=mode, norm=norm) == 0
            assert metrics.ece_debiased(hopeless, labels, mode=mode, norm=norm) == 1


# --- calibration errors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n", [100, 997, 5000])
def test_ece_is_uncertainty_calibrations(n, seed):
    probs, labels = overconfident(n, seed=seed)
    equal_mass = calibration.get_ece_em(probs, labels)
    assert metrics.ece(probs, labels) == pytest.approx(equal_mass, abs=1e-12)
    l2 = calibration.get_top_calibration_error(probs, labels, p=2, debias=True)
    assert metrics.ece_debiased(probs, labels, norm="l2") == pytest.approx(l2, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_debiased_ece_is_uncertainty_calibrations_without_its_sampling(seed):
    """Theirs averages 1,000 draws, so it scatters about the closed form by its own standard error."""
    probs, labels = overconfident(1000, seed=seed)
    np.random.seed(seed)  # noqa: NPY002  (the package draws from NumPy's global generator)
    draws = [calibration.get_top_calibration_error(probs, labels, p=1, debias=True) for _ in range(8)]
    ours = metrics.ece_debiased(probs, labels)
    assert abs(ours - np.mean(draws)) < 4 * np.std(draws, ddof=1) / np.sqrt(8)
    assert np.std(draws) < 1e-3


@pytest.mark.parametrize("bins", [5, 15, 40])
@pytest.mark.parametrize(("norm", "root"), [("l1", "l1"), ("l2", "l2")])
def test_equal_width_ece_is_torchmetrics(bins, norm, root):
    probs, labels = overconfident(3000, dtype=np.float32)
    theirs = mce(torch.tensor(probs), torch.tensor(labels), 10, n_bins=bins, norm=root).item()
    assert metrics.ece(probs, labels, bins=bins, mode="width", norm=norm) == pytest.approx(theirs, abs=1e-6)


def test_reliability_is_scikit_learns_calibration_curve():
    probs, labels = overconfident(3000)
    confidence, correct = metrics.top_label(probs, labels)
    accuracy, mean = sklearn.calibration.calibration_curve(correct, confidence, n_bins=10, strategy="uniform")
    table = metrics.reliability_table(probs, labels, bins=10, mode="width")
    full = table.counts > 0
    np.testing.assert_allclose(table.accuracy[full], accuracy, atol=1e-12)
    np.testing.assert_allclose(table.confidence[full], mean, atol=1e-12)


def test_debiasing_takes_away_what_chance_adds():
    """A perfectly calibrated predictor, 400 times 300 samples: each estimator shows its own noise floor."""
    rng = np.random.default_rng(3)
    plain, debiased, debiased_l2 = [], [], []
    confidence = rng.beta(6, 2, size=300)
    for _ in range(400):
        table = metrics.reliability_table(confidence, rng.random(300) < confidence)
        plain.append(table.ece())
        debiased.append(table.ece_debiased())
        debiased_l2.append(
            np.sum(table.counts / 300 * (table.gap**2 - table.accuracy * (1 - table.accuracy) / (table.counts - 1)))
        )
    assert np.mean(plain) == pytest.approx(metrics.noise_floor(confidence), rel=0.05)
    assert np.mean(debiased) == pytest.approx(metrics.noise_floor(confidence, debiased=True), rel=0.1)
    assert abs(np.mean(debiased_l2)) < 3 * np.std(debiased_l2) / 20  # the square is unbiased


def test_noise_floor_of_a_count_is_the_designs():
    assert metrics.noise_floor(200) == pytest.approx(0.06, abs=0.002)
    assert metrics.noise_floor(1000) == pytest.approx(0.027, abs=0.001)
    assert metrics.noise_floor(1) == pytest.approx(math.sqrt(2 / math.pi * 0.92 * 0.08))
    assert math.isnan(metrics.noise_floor(0))


def test_folded_normal_mean_is_scipys():
    mean, std = np.array([0.3, -0.3, 0.0, 0.05, 0.2]), np.array([0.1, 0.2, 0.3, 1.0, 0.0])
    expected = [stats.foldnorm.mean(abs(m) / s, scale=s) for m, s in zip(mean[:4], std[:4], strict=True)]
    np.testing.assert_allclose(folded_normal_mean(mean, std), [*expected, 0.2], rtol=1e-12)


def test_wilson_is_scipys():
    for successes, n in [(0, 5), (3, 10), (10, 10), (50, 200), (1, 1)]:
        interval = stats.binomtest(successes, n).proportion_ci(method="wilson")
        low, high = wilson(np.array([successes / n]), np.array([n]))
        assert (low[0], high[0]) == pytest.approx((interval.low, interval.high), abs=1e-12)


# --- the table -------------------------------------------------------------------------------------------------------


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 300),
    bins=st.integers(1, 40),
    distinct=st.sampled_from([1, 2, 5, 1000]),
    mode=st.sampled_from(["mass", "width"]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
@settings(max_examples=300, deadline=None)
def test_every_table_adds_up(seed, n, bins, distinct, mode, dtype):
    rng = np.random.default_rng(seed)
    confidence = (rng.integers(0, distinct + 1, n) / distinct).astype(dtype)
    correct = rng.random(n) < 0.6
    table = metrics.reliability_table(confidence, correct, bins, mode)
    full = table.counts > 0
    assert len(table.edges) == len(table.counts) + 1
    assert len(table.counts) == bins if mode == "width" else full.all() and len(table.counts) <= bins
    assert table.counts.sum() == n
    assert table.counts[full] @ table.confidence[full] == pytest.approx(confidence.sum(dtype=np.float64), rel=1e-9)
    assert table.counts[full] @ table.accuracy[full] == pytest.approx(correct.sum())
    np.testing.assert_allclose(table.gap, table.confidence - table.accuracy)
    assert (table.edges[:-1][full] <= table.confidence[full] + 1e-6).all()
    assert (table.confidence[full] <= table.edges[1:][full] + 1e-6).all()
    assert ((table.low <= table.accuracy) & (table.accuracy <= table.high))[full].all()
    assert np.isnan(table.confidence[~full]).all()
    assert 0 <= table.ece() <= 1
    order = rng.permutation(n)
    again = metrics.reliability_table(confidence[order], correct[order], bins, mode)
    np.testing.assert_array_equal(again.counts, table.counts)
    np.testing.assert_array_equal(again.accuracy, table.accuracy)
    assert again.ece_debiased() == pytest.approx(table.ece_debiased(), abs=1e-12)


def test_equal_mass_bins_have_equal_mass():
    confidence = np.random.default_rng(4).random(1000)
    counts = metrics.reliability_table(confidence, confidence > 0.5).counts
    assert set(counts) == {66, 67}
    assert len(counts) == 15


def test_equal_values_share_a_bin():
    confidence = np.array([0.2] * 50 + [0.9] * 50)
    table = metrics.reliability_table(confidence, np.arange(100) % 2 == 0)
    np.testing.assert_array_equal(table.counts, [50, 50])
    np.testing.assert_allclose(table.confidence, [0.2, 0.9])
    same = metrics.reliability_table(np.full(100, 0.7), np.arange(100) < 70)
    np.testing.assert_array_equal(same.counts, [100])
    assert same.ece() == pytest.approx(0, abs=1e-12)


def test_values_that_differ_by_rounding_share_a_bin():
    """A memory at its bound gives one confidence; which frames were off by a last bit decided the bins."""
    rng = np.random.default_rng(5)
    exact = np.concatenate([rng.uniform(0.3, 0.9, 400), np.full(200, 0.99)])
    correct = rng.random(600) < exact
    rounded = exact + np.where(exact == 0.99, rng.integers(-2, 3, 600) * np.spacing(0.99), 0)
    table, again = (metrics.reliability_table(c, correct) for c in (exact, rounded))
    np.testing.assert_array_equal(again.counts, table.counts)
    assert again.ece_debiased() == pytest.approx(table.ece_debiased(), abs=1e-12)


def test_empty_bins_weigh_nothing():
    table = metrics.reliability_table(np.array([0.05, 0.95]), np.array([False, True]), bins=10, mode="width")
    np.testing.assert_array_equal(table.counts, [1, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    assert np.isnan(table.accuracy[1:-1]).all()
    assert np.isnan(table.low[1:-1]).all()
    assert table.ece() == pytest.approx(0.05)
    assert table.ece_debiased() == pytest.approx(0.05)
    assert table.ece_debiased("l2") == 0  # one sample a bin says nothing about its variance


def test_edges_belong_to_the_upper_bin_and_one_to_the_last():
    table = metrics.reliability_table(np.array([0.0, 0.5, 1.0]), np.array([False, True, True]), bins=2, mode="width")
    np.testing.assert_array_equal(table.counts, [1, 2])


def test_one_sample():
    table = metrics.reliability_table(np.array([0.8]), np.array([True]))
    assert table.counts.tolist() == [1]
    assert table.ece() == table.ece_debiased() == pytest.approx(0.2)
    probs, label = np.array([[0.2, 0.8]]), np.array([1])
    assert metrics.accuracy(probs, label) == 1
    assert metrics.nll(probs, label) == pytest.approx(-math.log(0.8))
    assert metrics.brier(probs, label) == pytest.approx(0.08)


@pytest.mark.parametrize("mode", metrics.BINNINGS)
def test_no_data_gives_nan(mode):
    nothing, no_labels = np.zeros((0, 10)), np.zeros(0, int)
    assert math.isnan(metrics.accuracy(nothing, no_labels))
    assert math.isnan(metrics.nll(nothing, no_labels))
    assert math.isnan(metrics.brier(nothing, no_labels))
    for norm in ("l1", "l2"):
        assert math.isnan(metrics.ece(nothing, no_labels, mode=mode, norm=norm))
        assert math.isnan(metrics.ece_debiased(nothing, no_labels, mode=mode, norm=norm))
    table = metrics.reliability_table(np.zeros(0), np.zeros(0, bool), mode=mode)
    assert isinstance(table, Reliability)
    assert table.counts.sum() == 0
    assert math.isnan(metrics.noise_floor(np.zeros(0)))
    confidence, correct = metrics.top_label_of_logits(nothing, no_labels)
    assert len(confidence) == len(correct) == 0


def test_vectors_give_what_probabilities_give():
    probs, labels = overconfident(dtype=np.float32)
    confidence, correct = metrics.top_label(probs, labels)
    for mode in metrics.BINNINGS:
        assert metrics.ece(confidence, correct, mode=mode) == metrics.ece(probs, labels, mode=mode)
        assert metrics.ece_debiased(confidence, correct.astype(int), mode=mode) == metrics.ece_debiased(
            probs, labels, mode=mode
        )


def test_float32_and_float64_agree():
    probs, labels = overconfident()
    single = probs.astype(np.float32)
    assert metrics.ece_debiased(single, labels) == pytest.approx(metrics.ece_debiased(probs, labels), abs=1e-6)
    assert metrics.nll(single, labels) == pytest.approx(metrics.nll(probs, labels), rel=1e-5)


def test_tensors_are_read_as_arrays():
    probs, labels = overconfident(dtype=np.float32)
    assert metrics.ece(torch.tensor(probs), torch.tensor(labels)) == metrics.ece(probs, labels)


def test_a_frozen_table_stays_as_it_is():
    table = metrics.reliability_table(np.array([0.8]), np.array([True]))
    with pytest.raises(AttributeError):
        table.counts = np.zeros(1)


# --- bad input -------------------------------------------------------------------------------------------------------

PROBS, LABELS = np.full((4, 2), 0.5), np.array([0, 1, 0, 1])
BAD = {
    "logits": ((PROBS * 10, LABELS), r"probs must lie in \[0, 1\], got 5.0 to 5.0"),
    "NaN": ((np.full((4, 2), np.nan), LABELS), r"probs must lie in \[0, 1\], got nan to nan"),
    "rows that do not sum to one": (
        (PROBS / 2, LABELS),
        "probs must sum to 1 in each row within 0.01, got a row .* 0.5",
    ),
    "integers": ((np.ones((4, 2), int), LABELS), r"probs must be a floating-point array \(N, K\), got int64"),
    "three axes": (
        (np.ones((4, 2, 1)), LABELS),
        r"probs must be a floating-point array \(N, K\), .* shape \(4, 2, 1\)",
    ),
    "real labels": ((PROBS, LABELS / 1), r"labels must be integers of shape \(4,\), got float64"),
    "too few labels": ((PROBS, LABELS[:3]), r"labels must be integers of shape \(4,\), got int64 of shape \(3,\)"),
    "label too large": ((PROBS, LABELS + 1), r"labels must lie in \[0, 1\], got 1 to 2"),
    "negative label": ((PROBS, LABELS - 1), r"labels must lie in \[0, 1\], got -1 to 0"),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
@pytest.mark.parametrize("metric", [metrics.accuracy, metrics.nll, metrics.brier, metrics.ece, metrics.ece_debiased])
def test_bad_input_is_named(metric, arguments, message):
    with pytest.raises(ValueError, match=message):
        metric(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.array([0.5, 1.5]), np.array([True, False])), r"confidence must lie in \[0, 1\], got 0.5 to 1.5"),
        ((np.array([0.5, np.nan]), np.array([True, False])), r"confidence must lie in \[0, 1\], got nan"),
        ((np.array([0.5, 0.5]), np.array([0, 2])), r"correct must be booleans of shape \(2,\), got int64"),
        ((np.array([0.5, 0.5]), np.array([True])), r"correct must be booleans of shape \(2,\), .* shape \(1,\)"),
        ((PROBS, LABELS, 0), "bins is 0, expected a whole number >= 1"),
        ((PROBS, LABELS, 2.5), "bins is 2.5, expected a whole number >= 1"),
        ((PROBS, LABELS, 15, "depth"), "mode must be one of mass, width, got 'depth'"),
        ((PROBS, LABELS, 15, "mass", "l3"), "norm must be one of l1, l2, got 'l3'"),
    ],
)
def test_bad_tables_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        metrics.ece(*arguments)


@pytest.mark.parametrize("function", [metrics.softmax, metrics.log_softmax])
def test_bad_logits_are_named(function):
    with pytest.raises(ValueError, match="z must be a floating-point array"):
        function(np.zeros((2, 3), int))
    with pytest.raises(ValueError, match="z must be finite"):
        metrics.top_label_of_logits(np.array([[0.0, np.nan]]), np.array([0]))
    with pytest.raises(ValueError, match="z must be finite"):
        metrics.top_label_of_logits(np.array([[np.inf, np.inf]]), np.array([0]))
    with pytest.raises(ValueError, match=r"z must be a floating-point array \(N, K\)"):
        metrics.top_label_of_logits(np.zeros(3), np.array([0]))


def test_cross_entropy_of_logits_by_hand() -> None:
    z = np.log([[[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]]])  # (1, 2, 3): probabilities as they are
    np.testing.assert_allclose(metrics.cross_entropy(z, [[0, 2]]), [[np.log(2), -np.log(0.8)]])
    np.testing.assert_allclose(metrics.cross_entropy(z, 1), [[np.log(4), np.log(10)]])  # one label for all frames
    np.testing.assert_allclose(metrics.cross_entropy(z + 1000, 1), [[np.log(4), np.log(10)]])


def test_quartiles_by_hand() -> None:
    low, median, high = metrics.quartiles(np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]))
    assert (low.tolist(), median.tolist(), high.tolist()) == ([1.5, 5], [2, 5], [2.5, 5])
    assert metrics.quartiles([1.0, 2.0, 3.0, 4.0, 5.0]).tolist() == [2, 3, 4]


@given(st.integers(1, 60), st.sampled_from([(), (30,), (2, 3)]), st.integers(0, 2**32 - 1))
def test_quartiles_are_numpy_s_to_the_bit(count: int, others: tuple[int, ...], seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(count, *others))
    np.testing.assert_array_equal(metrics.quartiles(values), np.percentile(values, [25, 50, 75], axis=0))


@given(st.lists(st.floats(1, 100, width=32) | st.just(math.inf), min_size=1, max_size=60))
def test_no_quartile_mixes_with_infinity(values: list[float]) -> None:
    method = "linear" if all(map(math.isfinite, values)) else "lower"
    wanted = np.percentile(values, [25, 50, 75], method=method)
    np.testing.assert_array_equal(metrics.quartiles(values), wanted)
    single = metrics.quartiles(np.array(values, np.float32))
    assert single.dtype == np.float64
    np.testing.assert_array_equal(single, wanted)


@pytest.mark.parametrize("label", [-1, 3])
def test_cross_entropy_needs_known_classes(label):
    """-1 would be taken for the last class."""
    with pytest.raises(ValueError, match=rf"labels must lie in \[0, 2\], got {label} to {label}"):
        metrics.cross_entropy(np.zeros((4, 3)), np.int64(label))
