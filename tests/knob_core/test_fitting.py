"""`knob_core.fit`: with labels and without; never worse than nothing, and judged on groups that were not fitted."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from stream_families import FAMILIES, stream_family

from knob_core import fit, metrics, wrap
from knob_core._arrays.ruled_out import finite
from knob_core.data import real
from knob_core.fitting import Fit, listening, tuned
from knob_core.fitting.streams import given
from knob_core.memories import Attentive
from knob_core.rivals import RIVALS
from knob_core.runtime import KnobStream
from knob_core.settings import Settings, from_toml, to_toml

EMA = {"ema-logits": RIVALS["ema-logits"]}


def probabilities(settings: Settings, z: np.ndarray) -> np.ndarray:
    if not settings.on:
        return metrics.softmax(z)
    assert settings.weights is not None
    return settings.weights.run_logits(z, settings.zeta, settings.omega_n).probabilities


def accuracy(p: np.ndarray, labels: np.ndarray) -> float:
    return float((p.argmax(-1) == labels)[labels >= 0].mean())


@pytest.fixture(scope="module")
def found() -> Fit:
    z, labels = stream_family("over-confident", streams=10, frames=200)
    return fit(z, labels, max_delay=4, rivals=EMA)


def test_it_helps_on_streams_it_has_not_seen(found: Fit) -> None:
    z, labels = stream_family("over-confident", seed=1)
    p = probabilities(found.settings, z)
    assert metrics.nll(p.reshape(-1, 4), labels.ravel()) < 0.6 * metrics.nll(
        metrics.softmax(z).reshape(-1, 4), labels.ravel()
    )
    assert accuracy(p, labels) > accuracy(z, labels) + 0.02
    assert found.helps and found.flips < found.flips_before / 2 and found.delay <= 4


def test_the_table_has_ours_off_and_the_rivals_in_the_operators_words(found: Fit) -> None:
    assert [row.name for row in found.table] == ["Knob", "off", "off, with a temperature", "EMA of logits"]
    ours, off, tempered, ema = found.table
    assert ours.nll < tempered.nll < off.nll and ours.excess_flips < off.excess_flips
    assert tempered.accuracy == off.accuracy and ema.known_as
    for words in ("Right answers", "excess flips", "delay", "confident errors", "NLL", "EMA of logits: omega"):
        assert words in str(found)
    assert found.rival_parameters.keys() == {"omega", "temperature"}


def test_the_settings_file_runs_what_was_fitted(found: Fit) -> None:
    z, labels = stream_family("over-confident", streams=10, frames=200)
    stream = KnobStream(wrap.classifier(), settings=from_toml(to_toml(found.settings)))
    p = np.stack([stream.step(z[:, t]).probabilities for t in range(z.shape[1])], 1)
    nll = -np.log(np.take_along_axis(p, labels[..., None], 2)).mean()
    assert nll == pytest.approx(found.nll, abs=1e-9)


def test_a_looser_limit_is_never_less_calm() -> None:
    streams = given(*stream_family("fast changes", streams=6, frames=200), None, None)
    likeliest = tuned.own(streams, "")
    rows = []
    for limit in (0.1, 1.0, 1.5, 3.0):
        p = tuned.moved(likeliest, streams, limit).probabilities(streams)
        counts = tuned.count(p.argmax(-1), streams.known)
        rows.append((limit, float(counts.excess_flips), float(counts.delay_mean)))
    assert all(b[1] <= a[1] for a, b in itertools.pairwise(rows)), rows
    assert rows[-1][1] < rows[0][1]
    assert all(delay <= max(limit, rows[0][2]) for limit, _, delay in rows)  # the first cannot be kept


@pytest.mark.parametrize("name", ["labels do not stay", "errors last in two classes", "few changes", "rare classes"])
@pytest.mark.slow
def test_no_family_of_streams_is_made_worse(name: str) -> None:
    """Fitted on one draw of a family, judged on another: right answers as often as off, to .3 points and chance."""
    z, labels = stream_family(name)
    unseen, truths = stream_family(name, seed=1)
    found = fit(z, labels, rivals={})
    p = probabilities(found.settings, unseen)
    assert accuracy(p, truths) >= accuracy(unseen, truths) - 0.003
    if name == "labels do not stay":
        assert not found.helps and not found.settings.on and "Nothing is clearly better than off" in found.words


@pytest.mark.parametrize("name", FAMILIES)
def test_without_labels_no_family_is_made_worse(name: str) -> None:
    z, _ = stream_family(name)
    unseen, truths = stream_family(name, seed=1)
    found = fit(z)
    fast_errors = name == "fast changes, errors last"  # the cautious home is there for these
    for settings in (found.cautious,) if fast_errors else (found.settings, found.cautious):
        assert settings is not None
        assert accuracy(probabilities(settings, unseen), truths) >= accuracy(unseen, truths) - 0.003
    assert found.helps == found.settings.on == (name != "labels do not stay")
    if found.helps:
        assert found.flips < found.flips_before


def test_without_labels_omega_means_the_same_for_every_model() -> None:
    """Logits on another scale give the same answers, with tau on that scale."""
    z, _ = stream_family("plain", streams=4)
    one, other = listening.home(z), listening.home(0.25 * z)
    assert other.weights.tau == pytest.approx(0.25 * one.weights.tau, rel=1e-4) and other.omega_n == one.omega_n
    q = listening.certainty(z.reshape(-1, 4), one.weights.tau)
    assert q.mean() == pytest.approx(0.75, abs=1e-4)
    assert one.weights.d == pytest.approx(1 / q.std()) and one.weights.a == pytest.approx(-q.mean() / q.std())


def test_a_few_frames_that_are_all_alike_are_no_reason_for_extremes() -> None:
    found = listening.home(np.tile([[[4.0, 0.0, 0.0]]], (1, 30, 1)))
    assert found.weights.d <= 1 / listening.SPREAD


def test_offsets_are_taken_where_groups_that_were_not_fitted_earn_them() -> None:
    unequal = given(*stream_family("unequal classes", streams=10, gap=25), None, None)
    assert "o" in tuned.earned(tuned.own, tuned.OWN_RUNGS, unequal, 0).split()
    first, second = tuned.own(unequal, "omega tau o").weights.o
    assert first < -0.3 and second > 0.3  # the first one's logit is too large by 1.5
    equal = given(*stream_family("errors last", streams=8, frames=200), None, None)
    assert "o" not in tuned.earned(tuned.own, tuned.OWN_RUNGS, equal, 0).split()


def test_clearly_is_beyond_chance_and_worth_it() -> None:
    assert tuned.clearly(np.array([0.3, 0.2, 0.3, 0.2]))
    assert not tuned.clearly(np.array([0.9, -0.1, 0.3, -0.2]))  # by luck on one
    assert not tuned.clearly(np.array([-0.2, -0.2, -0.2]))
    assert not tuned.clearly(np.full(8, 1e-3))  # sure, and not worth a weight
    assert not tuned.clearly(np.array([1.0]))


def test_groups_are_never_split() -> None:
    z, labels = stream_family("plain", streams=9, frames=60)
    streams = given(z, labels, list("aabbccddd"), None)
    for seed in range(5):
        for known, unseen in streams.folds(2, seed):
            assert not set(known.groups) & set(unseen.groups)
            assert len(known.z) + len(unseen.z) == 9


def test_every_number_comes_from_groups_that_were_not_fitted() -> None:
    """One group's labels are wrong: whoever learned them would look good on them."""
    z, labels = stream_family("good model", streams=6, frames=100)
    streams = given(z, labels, None, None)
    for known, unseen in streams.folds(3, 0):
        assert not any((stream == other).all() for stream in known.z for other in unseen.z)


def test_streams_come_alone_in_arrays_and_in_lists_of_unequal_length() -> None:
    z, labels = stream_family("plain", streams=3, frames=120)
    listed = given([z[0], z[1, :70], z[2, :100]], [labels[0], labels[1, :70], labels[2, :100]], None, None)
    padded, truths = z.copy(), labels.copy()
    padded[1, 70:], padded[2, 100:] = np.nan, np.nan
    truths[1, 70:], truths[2, 100:] = -1, 3
    whole = given(padded, truths, None, None)  # a label where no frame came is left out
    for a, b in ((listed.z, whole.z), (listed.labels, whole.labels)):
        assert np.array_equal(a, b, equal_nan=True)
    alone = given(z[0], labels[0], None, None)
    assert len(np.unique(alone.groups)) == len(alone.z) == 2 and alone.labelled.sum() == 120
    by_stream = given(z, np.array([0, -1, 2]), None, None)
    assert (by_stream.labels == np.array([0, -1, 2])[:, None]).all()


def test_padding_changes_nothing() -> None:
    z, labels = stream_family("plain", streams=4, frames=80)
    more = np.concatenate([z, np.full((4, 30, 4), np.nan)], 1)
    unknown = np.concatenate([labels, np.full((4, 30), -1)], 1)
    one, other = (fit(*made, rivals=EMA) for made in ((z, labels), (more, unknown)))
    assert one.settings == other.settings
    for a, b in zip(one.table, other.table, strict=True):
        assert np.allclose([a.nll, a.accuracy, a.excess_flips], [b.nll, b.accuracy, b.excess_flips])
    assert fit(z).settings == fit(more).settings


@pytest.mark.slow
def test_one_stream_and_unknown_labels_are_enough() -> None:
    z, labels = stream_family("over-confident", streams=1, frames=1200)
    labels[:, 100:140] = -1
    alone = fit(z[0], labels[0], rivals={})
    assert alone.helps and alone.nll < alone.nll_before


def test_streams_without_any_label_are_left_out_of_the_judging() -> None:
    z, labels = stream_family("plain", streams=4, frames=80)
    labels[1] = -1
    found = fit(z, labels, rivals={})
    known = labels >= 0
    assert found.table[1].nll == pytest.approx(metrics.nll(metrics.softmax(z[known]), labels[known]))


def test_likelihood_and_prior_together_are_low_where_the_fit_ends() -> None:
    streams = given(*stream_family("errors last", streams=6, frames=200), None, None)
    best = tuned.own(streams, "")

    def cost(t_0: float, f: float) -> float:
        weights = Attentive(**{**best.weights.to_dict(), "t_0": t_0, "f": f})
        p = tuned.OwnMemory(best.omega_n, weights).probabilities(streams)
        return float(streams.losses(p).mean()) + (t_0**2 + ((f - 0.4) / 0.3) ** 2) / (2 * streams.stretches)

    here = cost(best.weights.t_0, best.weights.f)
    for dt, df in itertools.product((-0.2, 0.0, 0.2), (-0.1, 0.0, 0.1)):
        assert cost(best.weights.t_0 + dt, best.weights.f + df) >= here - 2e-3


def test_a_stretch_counts_once_however_long_it_is() -> None:
    labels = np.array([[0, 0, 1, 1, 1, -1, 1, 0], [-1, 2, 2, 2, 2, 2, 2, 2]])
    assert given(np.random.default_rng(0).normal(size=(2, 8, 3)), labels, None, None).stretches == 5


def test_a_fit_can_be_ended_at_any_time() -> None:
    """Also in the long parts that tell no progress."""
    asked = iter(range(20))
    told: list[float] = []
    z = np.random.default_rng(0).normal(size=(4, 30, 3))
    with pytest.raises(StopIteration):
        fit(z, np.arange(4) % 3, progress=lambda part, what: told.append(part), go_on=lambda: next(asked))
    assert told == [0.0, 0.0]


@pytest.mark.parametrize("mask", [-np.inf, -1e9])
def test_a_class_that_is_ruled_out_is_taken_as_the_stream_takes_it(mask: float) -> None:
    z, labels = stream_family("plain", streams=4, frames=60)
    z[..., 3] = np.where((labels != 3) & (np.random.default_rng(0).random(labels.shape) < 0.3), mask, z[..., 3])
    masked, low = (fit(x, labels, rivals={}) for x in (z, finite(z)))
    assert masked == low and math.isfinite(masked.nll)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"logits": np.zeros(3)}, r"\(R, T, K\)"),
        ({"logits": np.zeros((2, 5, 1))}, "K >= 2"),
        ({"logits": [np.zeros((5, 3)), np.zeros((4, 2))]}, "expected equal classes"),
        ({"labels": np.array([0, 9])}, "labels lie in"),
        ({"labels": np.array([0.0, 1.0])}, "labels"),
        ({"labels": np.array([0, 1, 2])}, "labels"),
        ({"labels": np.full((2, 5), -1)}, "labels are all -1"),
        ({"labels": np.array([[0] * 5, [-1] * 5])}, "only one group or stream has labels"),
        ({"groups": [1, 1]}, "groups has one group"),
        ({"groups": [1]}, "groups have shape"),
        ({"max_delay": -1.0}, "max_delay"),
        ({"max_delay": "3"}, "max_delay is '3', expected a number of frames > 0"),
        ({"max_delay": np.array([1.0, 2.0])}, "max_delay is array"),
        ({"seed": -1}, "seed is -1, expected a whole number >= 0"),
        ({"seed": 1.5}, "seed is 1.5"),
        ({"logits": np.full((2, 5, 3), np.nan)}, "all NaN"),
        ({"logits": np.full((2, 5, 3), np.inf)}, "finite"),
        ({"logits": np.full((2, 5, 3), 1e300)}, "logits is 1e[+]300 at index .* at most 1e[+]100"),
        ({"logits": np.full((2, 5, 3), "1")}, "logits has dtype <U1, expected real numbers"),
        ({"logits": np.full((2, 5, 3), 1j)}, "logits has dtype complex128"),
        ({"logits": np.ma.masked_equal(np.ones((2, 5, 3)), 1)}, "logits has 30 masked values"),
        ({"logits": np.full((2, 5, 3), 1 / 3)}, "logits look like probabilities"),
    ],
)
def test_a_fit_on_nonsense_is_refused(change: dict, cause: str) -> None:
    good = {"logits": np.random.default_rng(0).normal(0, 1, (2, 5, 3)), "labels": np.array([0, 1])}
    with pytest.raises(ValueError, match=cause):
        fit(**{**good, **change})


def judged(z: np.ndarray, labels: np.ndarray, groups: np.ndarray, p: np.ndarray) -> tuple[float, float, float, float]:
    """(right answers, NLL, excess flips, delay) of an answer."""
    streams = given(z, labels, groups, None)
    counts = tuned.count(np.where(streams.labelled, p.argmax(-1), -1), streams.known)
    return streams.accuracy(p), streams.losses(p).mean(), float(counts.excess_flips), float(counts.delay_mean)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "right", "nll"), [("speech", 0.90, 0.25), ("audio", 0.70, 1.08)])
def test_real_streams_fitted_on_half_of_the_groups_are_better_on_the_other(name: str, right: float, nll: float) -> None:
    """Both ways. Offsets are the whole gain on speech and a loss on audio, where every group has a model of its own."""
    made = real.load(name)
    half = np.isin(made.groups, np.unique(made.groups)[::2])
    p, turned = np.empty(made.logits.shape), np.empty(made.logits.shape)
    for known in (half, ~half):
        streams, unseen = (given(made.logits[x], made.labels[x], made.groups[x], None) for x in (known, ~known))
        found = tuned.chosen(tuned.own, tuned.OWN_RUNGS, streams, math.inf, 0)
        assert isinstance(found, tuned.OwnMemory) and bool(found.weights.o) == (name == "speech")
        p[~known] = found.probabilities(unseen)
        turned[~known] = tuned.OwnMemory(2.5 * found.omega_n, found.weights).probabilities(unseen)
    accuracy, loss, _, _ = judged(made.logits, made.labels, made.groups, p)
    assert accuracy >= right and loss <= nll
    if name == "speech":  # at another place of its omega_n
        _, _, flips, delay = judged(made.logits, made.labels, made.groups, turned)
        assert flips <= 0.9 and delay <= 6


@pytest.mark.parametrize(("name", "right", "flips"), [("speech", 0.845, 1.3), ("audio", 0.702, 4.5)])
def test_real_streams_need_no_labels(name: str, right: float, flips: float) -> None:
    """Half of the groups to listen to, the other half to judge, both ways."""
    made = real.load(name)
    half = np.isin(made.groups, np.unique(made.groups)[::2])
    p = np.empty(made.logits.shape)
    for known in (half, ~half):
        p[~known] = listening.home(made.logits[known]).probabilities(made.logits[~known])
    accuracy, _, calm, _ = judged(made.logits, made.labels, made.groups, p)
    assert accuracy >= right and calm <= flips
