"""Segments of severity: lengths, shares and levels as the table says."""

from __future__ import annotations

import numpy as np
import pytest

from knob_core.streams import severity_segments as segments
from knob_core.streams.change import SHARES

LONG = 200_000  # frames: some 3,800 segments


def runs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(first frame, length) of every run of equal values."""
    start = np.flatnonzero(np.diff(values, prepend=values[0] - 1))
    return start, np.diff(start, append=len(values))


@pytest.mark.parametrize("name", segments.SEGMENTS)
@pytest.mark.parametrize("n", [1, 2, 25, 80])
def test_every_kind_has_the_asked_length_and_stays_in_range(name: str, n: int) -> None:
    for seed in range(20):
        severity = segments.SEGMENTS[name](n, np.random.default_rng(seed))
        assert severity.shape == (n,)
        assert severity.min() >= 0 and severity.max() <= 5


def test_what_the_kinds_look_like() -> None:
    made = {name: [f(60, np.random.default_rng(s)) for s in range(200)] for name, f in segments.SEGMENTS.items()}
    assert all((s == 0).all() for s in made["clean"])
    levels = np.array([s[0] for s in made["step"]])
    assert all((s == s[0]).all() for s in made["step"]) and levels.min() < 1.2 and levels.max() > 4.8
    slopes = [np.diff(s) for s in made["ramp"]]
    assert all(np.allclose(d, d[0]) for d in slopes)
    assert 70 <= sum(d[0] > 0 for d in slopes) <= 130  # up and down, about as often
    peaks = [int(np.argmax(s)) for s in made["fog_bank"]]
    assert all(s[0] <= 1.5 and s[-1] < 2 and s.max() >= 3 for s in made["fog_bank"]) and min(peaks) >= 15


def test_bursts_are_short_and_strong() -> None:
    lengths, levels = [], []
    for seed in range(300):
        severity = segments.bursts(60, np.random.default_rng(seed))
        strong = severity >= 3.5
        assert (severity[~strong] <= 1).all() and not strong[:5].any()
        start, length = runs(strong.astype(int))
        burst = strong[start] & (start + length < 60)  # those that the segment's end does not cut
        lengths += length[burst].tolist()
        levels += severity[start[burst]].tolist()
    assert set(lengths) == {1, 2, 3, 4, 5}
    assert abs(np.mean(lengths) - 3) < 0.1 and abs(np.mean(levels) - 4.25) < 0.05


def test_lengths_and_shares_of_the_segments() -> None:
    only_steps, _ = segments.schedule(LONG, (("step", 1.0),), np.random.default_rng(1))
    lengths = runs(only_steps)[1][:-1]  # every step has a level of its own, so runs are segments
    assert lengths.min() == 25 and lengths.max() == 80
    assert abs(lengths.mean() - 52.5) < 4 * 16.2 / np.sqrt(len(lengths))
    _, kind = segments.schedule(LONG, SHARES, np.random.default_rng(2))
    for place, (name, share) in enumerate(SHARES):
        assert list(segments.SEGMENTS)[place] == name
        assert abs(np.mean(kind == place) - share) < 0.03


def test_a_longer_schedule_begins_with_the_shorter_one() -> None:
    short, long = (segments.schedule(n, SHARES, np.random.default_rng(3)) for n in (100, 333))
    np.testing.assert_array_equal(short[0], long[0][:100])
    np.testing.assert_array_equal(short[1], long[1][:100])
