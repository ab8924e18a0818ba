"""Bayesian change-point detection: against a sum over all segmentations, and its bounded number of runs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from filter_examples import changing_logits

from knob_core import metrics
from knob_core.rivals.change_point import ChangePoint


def theta(p: np.ndarray, prior: float) -> np.ndarray:
    """Class frequencies of a run after frames p (n, K), n >= 0."""
    return (p.sum(0) + prior / p.shape[1]) / (len(p) + prior)


def brute_force(p: np.ndarray, hazard: float, prior: float, weight: float) -> np.ndarray:
    """Answer after the last of the frames p (T, K): every way to cut them, with its probability."""
    frames, classes = p.shape
    total, weights = np.zeros(classes), 0.0
    for cuts in itertools.product([False, True], repeat=frames - 1):
        starts = [0, *(t + 1 for t, cut in enumerate(cuts) if cut)]
        probability = hazard ** sum(cuts) * (1 - hazard) ** (frames - 1 - sum(cuts))
        for start, end in zip(starts, [*starts[1:], frames], strict=True):
            for t in range(start + 1, end):  # the first frame of a run has likelihood 1
                probability *= (classes * theta(p[start:t], prior) @ p[t]) ** weight
        total += probability * theta(p[starts[-1] :], prior)
        weights += probability
    return total / weights


@pytest.mark.parametrize(("frames", "classes"), [(1, 3), (2, 3), (4, 2), (6, 5)])
@pytest.mark.parametrize("weight", [1.0, 2.5])
def test_answers_are_sums_over_all_segmentations(frames: int, classes: int, weight: float) -> None:
    z, _ = changing_logits(streams=2, frames=frames, classes=classes)
    answer, _ = ChangePoint(0.1, temperature=1.3, prior=0.4, weight=weight, runs=8).run(z)
    for r in range(2):
        for t in range(frames):
            p = metrics.softmax(z[r, : t + 1] / 1.3)
            assert np.allclose(np.exp(answer[r, t]), brute_force(p, 0.1, 0.4, weight))


def test_two_frames_by_hand() -> None:
    z = np.log(np.array([[[0.75, 0.25], [0.25, 0.75]]]))
    answer, state = ChangePoint(0.5, temperature=1.0, prior=1.0, weight=1.0).run(z)
    # theta after one frame (1.25, .75)/2; the second frame agrees by 2 (.625/4 + .375 * 3/4) = .875; runs .4375 and .5
    old, new = 0.4375 / 0.9375, 0.5 / 0.9375
    assert np.allclose(state.w[0, :3], [new, old, 0])
    assert np.allclose(np.exp(answer[0, 1]), [old * 0.5 + new * 0.375, old * 0.5 + new * 0.625])


def test_runs_longer_than_the_limit_share_one_mean() -> None:
    z, _ = changing_logits(streams=2, frames=30)
    wide, _ = ChangePoint(0.2, runs=64).run(z)
    narrow, state = ChangePoint(0.2, runs=24).run(z)
    assert np.array_equal(wide[:, :24], narrow[:, :24])  # up to there nothing is shared
    assert np.abs(np.exp(wide) - np.exp(narrow)).max() < 1e-3
    assert state.w.shape == (2, 24)
    assert np.allclose(state.w.sum(-1), 1)


@pytest.mark.parametrize("runs", [2, 3, 5])
def test_the_last_of_few_runs_takes_in_those_that_become_as_long(runs: int) -> None:
    """One stream, step by step: the weights and sums of the definition, in plain Python."""
    z, _ = changing_logits(streams=1, frames=50)
    answer, state = ChangePoint(0.05, temperature=1.0, prior=0.2, weight=1.5, runs=runs).run(z)
    w, s, thetas = [1.0], [np.zeros(4)], []  # before the first frame: one run of no frames
    for t, p in enumerate(metrics.softmax(z[0])):
        if t:
            like = [(4 * p @ theta_i) ** 1.5 for theta_i in thetas]  # of the runs that were there before
            w, s = [0.05 * sum(w), *(0.95 * a * b for a, b in zip(w, like, strict=True))], [np.zeros(4), *s]
        s = [one + p for one in s]
        n = [min(i + 1, runs) for i in range(len(w))]
        if len(w) > runs:  # the two longest become one, which forgets
            old, joins = w[runs], w[runs - 1]
            mean = (old * (1 - 1 / runs) * (s[runs] - p) + joins * (s[runs - 1] - p)) / (old + joins) + p
            w, s, n = [*w[: runs - 1], old + joins], [*s[: runs - 1], mean], n[:runs]
        w = [one / sum(w) for one in w]
        thetas = [(one + 0.05) / (i + 0.2) for one, i in zip(s, n, strict=True)]
        assert np.allclose(np.exp(answer[0, t]), sum(a * b for a, b in zip(w, thetas, strict=True)))
    assert np.allclose(state.w[0], w)


def test_the_last_run_forgets_exponentially() -> None:
    flips = np.tile(np.array([[20.0, 0.0], [0.0, 20.0]]), (40, 1))[None]  # never a cut: classes in turn
    _, state = ChangePoint(1e-12, temperature=1.0, prior=0.01, weight=1.0, runs=4).run(flips)
    assert np.allclose(state.w[0], [0, 0, 0, 1], atol=1e-6)
    assert np.allclose(state.s[0, -1].sum(), 4)  # counts as four frames for ever
    keep = 3 / 4
    assert np.allclose(state.s[0, -1, 1], 1 / (1 - keep**2), atol=1e-6)  # 1 + keep^2 + keep^4 + ...


def test_after_a_burst_the_old_run_comes_back() -> None:
    z = 6.0 * (np.array([0] * 20 + [1, 1] + [0] * 5)[None, :, None] == np.arange(3))
    shown = ChangePoint(1e-3, temperature=1.0, weight=1.0).run(z)[0]
    p = np.exp(shown[0, :, 0])
    assert p[22] > 0.85  # one frame is enough: the mean of 23 frames, not of one
    assert shown.argmax(-1)[0, 20:23].tolist() == [0, 1, 0]  # two contradictions convince it
