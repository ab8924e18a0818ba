"""The search: never more evaluations than allowed, the same points for one seed, and it finds the bottom of a bowl."""

from __future__ import annotations

import numpy as np
import pytest

from knob_core.tuning.search import minimise


def narrow_valley(x: np.ndarray) -> float:
    """Lowest, 0, where x = .3, .6, .3, ...; ten times as steep across the diagonal as along it."""
    d = x - np.resize([0.3, 0.6], len(x))
    return float((d**2).sum() + 9 * (d - d.mean()) @ (d - d.mean()))


@pytest.mark.parametrize("sides", [1, 2, 4])
def test_it_finds_the_bottom_with_two_hundred_evaluations(sides: int) -> None:
    found = minimise(narrow_valley, np.full(sides, 0.9), 200, seed=0)
    assert len(found.history) == 200
    assert found.lowest == min(found.history) == narrow_valley(found.best)
    assert found.lowest < (1e-3 if sides < 4 else 2e-2)
    grid_only = min(found.history[:51])
    assert found.lowest < grid_only / 2  # the generations after the grid are worth something


def test_a_bottom_at_the_edge_is_reached() -> None:
    found = minimise(lambda x: float(x.sum()), np.full(3, 0.5), 100, seed=1)
    assert found.lowest < 0.01
    assert (found.best >= 0).all()


def test_one_seed_gives_one_search() -> None:
    runs = [minimise(narrow_valley, np.full(3, 0.5), 60, seed) for seed in (3, 3, 4)]
    assert runs[0].history == runs[1].history
    assert runs[0].history != runs[2].history


@pytest.mark.parametrize("evaluations", [1, 2, 7])
def test_the_number_of_evaluations_is_kept(evaluations: int) -> None:
    points = []
    found = minimise(lambda x: points.append(x) or 0.0, np.full(2, 0.5), evaluations, seed=0)
    assert len(points) == len(found.history) == evaluations
    assert points[0].tolist() == [0.5, 0.5]  # the start comes first


def test_nothing_to_choose_is_evaluated_once() -> None:
    found = minimise(lambda x: 7.0, np.array([]), 200, seed=0)
    assert (found.history, found.best.tolist()) == ([7.0], [])


@pytest.mark.parametrize(
    ("start", "evaluations", "named"), [([0.5], 0, "at least 1, got 0"), ([1.5], 9, "unit cube"), ([[0.5]], 9, "cube")]
)
def test_bad_input_is_named(start: list, evaluations: int, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        minimise(narrow_valley, np.array(start), evaluations, seed=0)
