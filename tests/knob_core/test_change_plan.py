"""Plans of change streams: consistent in every frame, repeatable, and with the statistics that their kind promises."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from knob_core.streams import change
from knob_core.streams.change import CHANGE_STREAMS, ChangePlan, ChangeStreamKind, plan

LABELS = np.arange(400) % 10


def plans(kind: ChangeStreamKind | str, count: int, frames: int = 300, seed: int = 0) -> list[ChangePlan]:
    return [plan(LABELS, kind, frames, seed, stream) for stream in range(count)]


@pytest.mark.parametrize("kind", CHANGE_STREAMS)
@pytest.mark.parametrize("frames", [1, 7, 300])
def test_a_plan_agrees_with_itself(kind: str, frames: int) -> None:
    for p in plans(kind, 20, frames):
        assert len(p) == frames and p.shift.shape == (frames, 2) and len(p.segment) == frames
        np.testing.assert_array_equal(p.labels, LABELS[p.picture])
        np.testing.assert_array_equal(p.cuts, np.flatnonzero(np.diff(p.picture)) + 1)  # never to the same picture
        assert all(gap >= 8 for gap in np.diff(p.cuts, prepend=0))
        assert p.moving == bool(p.shift.any())


@pytest.mark.parametrize(("kind", "mean"), [("mixed", 40), ("fast", 15), ("slow", 120)])
def test_gaps_between_cuts(kind: str, mean: int) -> None:
    """8 + a geometric number with mean m - 8 and standard deviation sqrt((m-8)(m-7))."""
    long = plans(replace(CHANGE_STREAMS[kind], motion=0.0), 20, 25_000)
    gaps = np.concatenate([np.diff(p.cuts, prepend=0) for p in long])
    error = math.sqrt((mean - 8) * (mean - 7) / len(gaps))
    assert abs(gaps.mean() - mean) < 4 * error
    assert abs(gaps.std() / math.sqrt((mean - 8) * (mean - 7)) - 1) < 0.1
    p = 1 / (mean - 7)
    assert abs(np.mean(gaps == 8) - p) < 4 * math.sqrt(p / len(gaps))


def test_nine_of_ten_cuts_go_to_another_class() -> None:
    changes = [p.labels[p.cuts] != p.labels[p.cuts - 1] for p in plans("fast", 300)]
    found = np.concatenate(changes)
    assert abs(found.mean() - 0.9) < 4 * math.sqrt(0.09 / len(found))
    classes = np.bincount(np.concatenate([p.labels[p.cuts] for p in plans("fast", 300)]), minlength=10)
    assert classes.min() > 0.8 * classes.mean()  # all of them alike


def test_nothing_changes_in_a_still_stream_but_severity() -> None:
    for p in plans("still", 20):
        assert len(p.cuts) == 0 and (p.picture == p.picture[0]).all()
    assert np.std([p.severity.mean() for p in plans("still", 20)]) > 0.1


def test_half_of_the_streams_move_as_they_should() -> None:
    found = plans("mixed", 400)
    moving = [p.shift for p in found if p.moving]
    assert abs(len(moving) / 400 - 0.5) < 4 * 0.025
    shifts = np.stack(moving)  # (M, T, 2)
    assert abs(shifts.std() - 0.7) < 0.01
    assert np.abs(shifts.std(axis=(0, 2)) - 0.7).max() < 0.12  # from the first frame on
    correlation = np.mean(shifts[:, 1:] * shifts[:, :-1]) / np.mean(shifts**2)
    assert abs(correlation - 0.8) < 0.01
    assert abs(np.mean(shifts[..., 0] * shifts[..., 1])) < 0.02


def test_content_severity_and_motion_are_independent_of_each_other() -> None:
    for mixed, fast in zip(plans("mixed", 5), plans("fast", 5), strict=True):
        np.testing.assert_array_equal(mixed.severity, fast.severity)  # other cuts, the same weather and motion
        np.testing.assert_array_equal(mixed.shift, fast.shift)
    correlations = [
        np.corrcoef(np.isin(np.arange(300), p.cuts), np.diff(p.severity, prepend=0) != 0)[0, 1]
        for p in plans("fast", 200)
    ]
    assert abs(np.nanmean(correlations)) < 0.02


def test_seeds_streams_and_lengths() -> None:
    first, again = plan(LABELS, seed=4, stream=2), plan(LABELS, seed=4, stream=2)
    longer = plan(LABELS, seed=4, stream=2, frames=1000)
    for name in ("picture", "labels", "severity", "segment", "shift"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
        np.testing.assert_array_equal(getattr(first, name), getattr(longer, name)[:300])
    for other in (plan(LABELS, seed=5, stream=2), plan(LABELS, seed=4, stream=3)):
        assert (other.picture != first.picture).any() and (other.severity != first.severity).any()


def test_few_pictures() -> None:
    pair = plan([3, 5], "fast", seed=1)  # one picture a class: every cut goes to the other
    assert len(pair.cuts) > 5 and (np.diff(pair.labels)[pair.cuts - 1] != 0).all()
    assert (plan([7], "still").labels == 7).all()
    with pytest.raises(ValueError, match="one picture only"):
        plan([7], "fast")


@pytest.mark.parametrize(
    ("change_of", "cause"),
    [
        ({"mean_gap": 5.0}, "mean_gap is 5.0, expected at least min_gap, 8"),
        ({"min_gap": 0}, "min_gap is 0"),
        ({"other_class": 1.2}, "other_class is 1.2"),
        ({"motion": -0.1}, "motion is -0.1"),
        ({"motion_rho": 1.0}, "rho 1.0"),
        ({"severity": (("clean", 0.5), ("step", 0.4))}, "add up to 1"),
        ({"severity": (("rain", 1.0),)}, r"severity has kinds \['rain'\]"),
    ],
)
def test_odd_kinds_are_refused(change_of: dict, cause: str) -> None:
    with pytest.raises(ValueError, match=cause):
        ChangeStreamKind(**change_of)


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        ({"labels": []}, "expected whole numbers"),
        ({"labels": [0.5, 1.0]}, "labels are float64"),
        ({"kind": "wild"}, "expected one of mixed, fast, slow, still"),
        ({"frames": 0}, "frames is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"stream": 1.5}, "stream is 1.5"),
    ],
)
def test_odd_arguments_are_refused(arguments: dict, cause: str) -> None:
    with pytest.raises(ValueError, match=cause):
        plan(**{"labels": LABELS, **arguments})


def test_the_registry_is_what_the_design_says() -> None:
    assert {name: kind.mean_gap for name, kind in CHANGE_STREAMS.items()} == {
        "mixed": 40, "fast": 15, "slow": 120, "still": math.inf,
    }  # fmt: skip
    assert change.FRAMES == 300 and dict(change.SHARES) == {
        "clean": 0.2, "step": 0.2, "ramp": 0.15, "bursts": 0.25, "fog_bank": 0.2,
    }  # fmt: skip
