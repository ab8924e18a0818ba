"""The measures of change, on answers small enough to count by hand, and against a plain loop on random ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knob_core.branches import Branches
from knob_core.measures import change, stability
from knob_core.measures.change import ChangeCounts, count, excess_frames
from knob_core.measures.truth import truth
from knob_core.response import Response

TRUE = np.repeat([[0, 1, 0]], 10, axis=1)  # (1, 30): two changes of class, at 10 and 20


def counts(predicted: Any, labels: np.ndarray = TRUE, bare: np.ndarray | None = None, **others: Any) -> ChangeCounts:
    return count(np.atleast_2d(predicted), truth(labels, labels if bare is None else bare, **others))


def late(n: int) -> np.ndarray:
    """The truth, n frames too late."""
    return np.concatenate([TRUE[:, :1].repeat(n, axis=1), TRUE[:, : 30 - n]], axis=1)


def test_a_perfect_answer() -> None:
    found = counts(TRUE)
    assert found.excess_flips == 0 and found.false_alarms == 0 and found.missed == 0
    assert found.delays.tolist() == [0, 0] and found.delay_mean == 0
    assert found.cuts.tolist() == [2] and found.steps.tolist() == [29]


def test_a_frozen_answer_is_calm_and_misses_what_it_does_not_show() -> None:
    found = counts(np.zeros((1, 30), int))
    assert found.excess_flips == 0  # it shows class 0 from frame 20 on, without a change of its own
    assert found.delays.tolist() == [10, 0]  # never followed: the whole stretch; and there already
    assert found.missed == 0.5 and found.false_alarms == 0
    nowhere = counts(np.full((1, 30), 5))
    assert nowhere.excess_flips == 0 and nowhere.missed == 1 and nowhere.delay_mean == 10


@pytest.mark.parametrize("n", [1, 3, 9])
def test_an_answer_that_is_late_by_n(n: int) -> None:
    found = counts(late(n))
    assert found.delays.tolist() == [n, n]  # n = 9: one frame, to the stretch's end
    assert found.excess_flips == 0 and found.missed == 0 and found.false_alarms == 0
    assert found.delay_sum.tolist() == [2 * n]


def test_an_answer_that_comes_after_the_next_cut_has_followed_nothing() -> None:
    found = counts(late(10))
    assert found.excess.tolist() == [1] and found.missed == 1 and found.delays.tolist() == [10, 10]


def test_a_flicker_counts_twice_and_is_one_false_alarm() -> None:
    predicted = TRUE.copy()
    predicted[0, 5] = 7
    found = counts(predicted)
    assert found.excess.tolist() == [2] and found.alarms.tolist() == [1]
    assert found.excess_flips == pytest.approx(100 * 2 / 29) and found.false_alarms == pytest.approx(100 / 29)
    assert np.flatnonzero(excess_frames(predicted, truth(TRUE, TRUE))[0]).tolist() == [5, 6]


def test_a_flicker_after_a_cut_delays() -> None:
    predicted = TRUE.copy()
    predicted[0, 13] = 0  # the new class at 10, 11, 12, then back, then for good from 14 on
    found = counts(predicted)
    assert found.delays.tolist() == [4, 0]
    assert found.excess.tolist() == [2]  # at 10 and 13; the one at 14 is what follows
    assert found.alarms.tolist() == [1]
    predicted[0, 13], predicted[0, 15] = 1, 0  # five frames shown, 10 to 14: followed at once
    assert counts(predicted).delays.tolist() == [0, 0]


def test_a_guess_before_the_cut_is_no_change_that_follows() -> None:
    predicted = TRUE.copy()
    predicted[0, 8:10] = 1  # two frames early: one flip, which no cut asked for
    found = counts(predicted)
    assert found.excess.tolist() == [1] and found.alarms.tolist() == [1] and found.delays.tolist() == [0, 0]


def test_a_stream_without_a_change() -> None:
    labels = np.full((1, 12), 4)
    found = counts(labels, labels)
    assert found.excess_flips == 0 and found.cuts.tolist() == [0]
    assert math.isnan(found.delay_mean) and math.isnan(found.missed) and math.isnan(found.delay_quantile(0.5))
    flickering = np.where(np.arange(12) % 2, 4, 5)[None]
    assert counts(flickering, labels).excess.tolist() == [11]
    assert counts(flickering, labels).alarms.tolist() == [5]  # from right to wrong: five of the eleven


def test_a_cut_within_a_class_needs_no_change() -> None:
    labels, content = np.full((1, 20), 2), np.repeat([[0, 1]], 10, axis=1)
    found = counts(labels, labels, content=content)
    assert found.cuts.tolist() == [1] and found.delays.tolist() == [0] and found.excess.tolist() == [0]
    lost = labels.copy()
    lost[0, 10:13] = 9  # the new picture is taken for something else at first
    found = counts(lost, labels, content=content)
    assert found.delays.tolist() == [3] and found.excess.tolist() == [2] and found.alarms.tolist() == [1]
    assert counts(lost, labels, content=content, same_class=False).delays.shape == (0,)


def test_two_cuts_in_quick_succession() -> None:
    labels = np.array([[0] * 10 + [1] * 3 + [2] * 10])
    assert counts(labels, labels).delays.tolist() == [0, 0]  # three frames, to the stretch's end
    assert counts(labels, labels).excess.tolist() == [0]
    slow = np.array([[0] * 12 + [1] * 3 + [2] * 8])  # two frames late: one frame of class 1 is still in time
    assert counts(slow, labels).delays.tolist() == [2, 2] and counts(slow, labels).excess.tolist() == [0]
    skips = np.array([[0] * 13 + [2] * 10])
    assert counts(skips, labels).delays.tolist() == [3, 0] and counts(skips, labels).missed == 0.5
    assert counts(skips, labels).excess.tolist() == [0]


def test_a_stretch_cut_short_by_the_stream_s_end() -> None:
    labels = np.array([[0] * 10 + [1] * 2])
    assert counts([[0] * 11 + [1]], labels).delays.tolist() == [1]
    assert counts([[0] * 12], labels).delays.tolist() == [2]


def test_streams_do_not_touch_each_other() -> None:
    """The first frame of a stream is no change of the last one of the stream before."""
    labels = np.repeat([[0], [1]], 8, axis=1)
    found = counts(labels, labels)
    assert found.excess.tolist() == [0, 0] and found.cuts.tolist() == [0, 0]
    cut_late = np.array([[0] * 7 + [1], [1] * 8])  # one frame at the end is all there is; the next stream is no help
    assert counts([[0] * 8, [1] * 8], cut_late).delays.tolist() == [1]


def test_only_what_the_bare_model_sees_is_asked_for() -> None:
    bare = np.where(np.arange(30) < 20, TRUE, 8)
    found = counts(np.zeros((1, 30), int), bare=bare)
    assert found.cuts.tolist() == [1] and found.delays.tolist() == [10]
    assert counts(TRUE, bare=np.full((1, 30), 8)).excess.tolist() == [0]  # flips are counted all the same


def test_unknown_frames_are_not_counted() -> None:
    labels = np.array([[0, 0, 0, -1, -1, 0, 0, 0]])
    found = counts([[0, 1, 0, 1, 0, 1, 0, 0]], labels)
    assert found.steps.tolist() == [4] and found.excess.tolist() == [3] and found.alarms.tolist() == [1]
    unknown = counts([[0, 1, 0]], np.full((1, 3), -1))
    assert math.isnan(unknown.excess_flips) and math.isnan(unknown.false_alarms)


def test_an_answer_that_follows_over_frames_without_a_label_is_not_at_fault() -> None:
    labels = np.array([[0, 0, 0, -1, -1, 1, 1, 1, 1, 1]])
    found = counts([[0, 0, 0, 0, 0, 0, 0, 1, 1, 1]], labels)
    assert found.excess.tolist() == [0] and found.delays.tolist() == [2]


def by_hand(predicted: np.ndarray, labels: np.ndarray, content: np.ndarray, bare: np.ndarray) -> dict[str, list]:
    """One stream, frame by frame."""
    frames, credited, delays, never = len(labels), [], [], 0
    flips = [t for t in range(1, frames) if predicted[t] != predicted[t - 1]]
    alarms = [t for t in flips if predicted[t - 1] == labels[t - 1] == labels[t]]
    cuts = [t for t in range(1, frames) if content[t] != content[t - 1] or labels[t] != labels[t - 1]]
    for start, end in zip(cuts, [*cuts, frames][1:], strict=True):
        new = labels[start]
        arrived = [t for t in range(start, end) if all(predicted[k] == new for k in range(t, min(t + 5, end)))]
        if arrived and arrived[0] in flips and labels[start - 1] != new:
            credited.append(arrived[0])
        if 2 * sum(bare[start:end] == new) >= end - start:
            delays.append(arrived[0] - start if arrived else end - start)
            never += not arrived
    return {"excess": [t for t in flips if t not in credited], "alarms": alarms, "delays": delays, "never": [never]}


@given(st.integers(0, 2**32 - 1))
def test_a_plain_loop_agrees(seed: int) -> None:
    draw = np.random.default_rng(seed)
    settings, streams, frames = 3, int(draw.integers(1, 4)), int(draw.integers(1, 40))
    content = np.cumsum(draw.random((streams, frames)) < 0.15, axis=1)
    labels = draw.integers(0, 3, 100)[content]
    stay = draw.random((settings, streams, frames)) < 0.8
    predicted = np.where(stay, labels, draw.integers(0, 3, stay.shape))
    bare = np.where(draw.random(labels.shape) < 0.6, labels, 9)
    known = truth(labels, bare, content)
    found = count(predicted, known)
    for s in range(settings):
        plain = [by_hand(predicted[s, r], labels[r], content[r], bare[r]) for r in range(streams)]
        assert found.excess[s].tolist() == [len(p["excess"]) for p in plain]
        assert found.alarms[s].tolist() == [len(p["alarms"]) for p in plain]
        assert found.delays[s].tolist() == [delay for p in plain for delay in p["delays"]]
        assert found.delay_sum[s].tolist() == [sum(p["delays"]) for p in plain]
        assert found.never[s].tolist() == [p["never"][0] for p in plain]
        assert found.cuts.tolist() == [len(p["delays"]) for p in plain]
        frames_of = excess_frames(predicted[s], known)
        assert [np.flatnonzero(row).tolist() for row in frames_of] == [p["excess"] for p in plain]


def test_many_settings_at_once_are_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(1)
    labels = draw.integers(0, 3, (4, 6)).repeat(10, axis=1)
    known = truth(labels, labels)
    predicted = np.where(draw.random((2, 5, 4, 60)) < 0.9, labels, 3)
    whole = count(predicted, known)
    assert whole.excess.shape == (2, 5, 4) and whole.delay_mean.shape == (2, 5)
    assert whole.delay_quantile(0.9).shape == (2, 5) and whole.steps.shape == whole.cuts.shape == (4,)
    monkeypatch.setattr(change, "CACHED", 500)  # two settings a piece
    pieces = count(predicted, known)
    for name in ("excess", "alarms", "delay_sum", "never", "delays"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(pieces, name))
        np.testing.assert_array_equal(getattr(whole, name)[1, 3], getattr(count(predicted[1, 3], known), name))
    assert whole.delay_mean[1, 3] == whole.delays[1, 3].mean()


def test_another_number_of_streams_is_refused() -> None:
    known = truth(TRUE, TRUE)
    for wrong in (np.zeros((2, 30), int), np.zeros((1, 29), int), np.zeros((0, 1, 30), int)):
        with pytest.raises(ValueError, match=r"expected \(\.\.\., 1, 30\), not empty"):
            count(wrong, known)


def test_measure_puts_the_parts_together() -> None:
    draw = np.random.default_rng(0)
    labels = draw.integers(0, 4, (5, 3)).repeat(20, axis=1)
    z = draw.normal(size=(5, 60, 4)) + 3 * np.eye(4)[labels]
    p = np.exp(z) / np.exp(z).sum(-1, keepdims=True)
    response = Response(np.zeros((5, 60)), np.full((5, 60), 0.5), np.full((5, 60), 0.4), p, p.max(-1), p.argmax(-1))
    content = np.arange(15).reshape(5, 3).repeat(20, axis=1)
    branches = Branches(z, z, np.zeros((5, 60)), labels, np.zeros(60), content)
    bare = response.predicted
    found = change.measure(branches, response, bare)
    counted = count(bare, truth(labels, bare, content))
    assert found.cuts == 10 and found.excess_flips == counted.excess_flips > 0
    assert found.delay_90 == np.quantile(counted.delays, 0.9) and found.delay_median == np.median(counted.delays)
    assert found.delay_mean == counted.delay_mean and found.missed == counted.missed
    plain = stability.measure(branches, response)
    for name in ("flips", "accuracy", "nll", "ece", "ece_floor", "sure_wrong"):
        assert getattr(found, name) == getattr(plain, name)
    assert found.accuracy == np.mean(bare == labels)
