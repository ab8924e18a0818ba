"""A map over the knobs: levels that keep what they have, several sets of streams, finding a setting, the frontier."""

from __future__ import annotations

import threading
from dataclasses import replace
from itertools import pairwise

import change_branches
import numpy as np
import pytest

from knob_core.goals import Goals
from knob_core.maps import MEASURES, Grid, ManySettings, SettingsMap, find, frontier, refine
from knob_core.maps.frontier import NAMED, RivalCurve, rival_curves
from knob_core.memories import UNFITTED
from knob_core.rivals import RIVALS
from knob_core.rivals.attentive import AttentiveMemory
from knob_core.settings import Settings
from knob_core.tuning import front
from knob_core.tuning.compare import evaluate
from knob_core.tuning.measured import measure, together
from knob_core.tuning.streams import of_branches
from knob_core.tuning.sweep import Curve, repeat
from knob_core.tuning.tune import Tuned

SMALL = Grid(size=12)


def whole(sets: list[ManySettings], grid: Grid = SMALL) -> SettingsMap:
    return [step.map for step in refine(sets, grid) if step.map is not None][-1]


def made(zeta: int = 3, omega_n: int = 4, sets: int = 1, **values: np.ndarray) -> SettingsMap:
    """A map with some values given and the rest 0."""
    rest = {name: np.zeros((zeta, omega_n, sets)) for name in MEASURES}
    return SettingsMap(np.geomspace(0.1, 1, zeta), np.geomspace(0.1, 1, omega_n), rest | values)


# Levels


def test_levels_keep_their_places_and_end_with_the_whole_grid() -> None:
    levels = Grid(size=64).levels()
    assert [len(places) for places in levels] == [9, 17, 33, 64]
    for coarse, fine in pairwise(levels):
        assert set(coarse) <= set(fine)
    assert all(places[0] == 0 and places[-1] == 63 for places in levels)
    assert Grid(size=2).levels()[-1].tolist() == [0, 1]


def test_each_level_is_a_part_of_the_next_and_the_last_is_what_was_asked_for() -> None:
    many = ManySettings(change_branches.made_up())
    steps = list(refine([many], SMALL))
    shares = [step.share for step in steps]
    assert shares == sorted(shares) and shares[-1] == 1
    maps = [step.map for step in steps if step.map is not None]
    assert [len(m.zeta) for m in maps] == [3, 4, 7, 12]
    last = maps[-1]
    zeta, omega_n = (x.ravel() for x in np.meshgrid(SMALL.zetas, SMALL.omegas, indexing="ij"))
    wanted = many.measure(zeta, omega_n)
    for name in MEASURES:
        np.testing.assert_array_equal(last.values[name].ravel(), wanted[name])
    for coarse in maps[:-1]:
        rows, columns = np.searchsorted(last.zeta, coarse.zeta), np.searchsorted(last.omega_n, coarse.omega_n)
        np.testing.assert_array_equal(last.values["nll"][np.ix_(rows, columns)], coarse.values["nll"])


def test_one_thread_and_several_agree() -> None:
    sets = [ManySettings(change_branches.made_up(seed=seed)) for seed in (0, 1)]
    one, three = ([s.map for s in refine(sets, SMALL, threads) if s.map][-1] for threads in (1, 3))
    np.testing.assert_array_equal(one.values["excess_flips"], three.values["excess_flips"])
    assert one.sets == 2


def test_whoever_stops_asking_cancels_the_rest() -> None:
    many = ManySettings(change_branches.made_up())
    calls: list[int] = []
    measured = many.measure
    many.measure = lambda z, w: calls.append(len(z)) or measured(z, w)
    steps = refine([many], Grid(size=64), threads=1)
    next(step for step in steps if step.map is not None)
    steps.close()
    assert sum(calls) < 200  # of 4,096
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("knob-map")]


def test_an_error_in_a_worker_reaches_the_caller() -> None:
    many = ManySettings(change_branches.made_up())

    def broken(zeta: np.ndarray, omega_n: np.ndarray) -> dict[str, np.ndarray]:
        raise MemoryError("too much")

    many.measure = broken
    with pytest.raises(MemoryError, match="too much"):
        list(refine([many], SMALL))


def test_worst_and_median_by_hand() -> None:
    three = np.array([1.0, 5.0, 2.0])
    values = {"excess_flips": np.tile(three, (3, 4, 1)), "accuracy": np.tile(three / 10, (3, 4, 1))}
    m = made(sets=3, **values, delay_mean=np.tile([np.nan, 1.0, 3.0], (3, 4, 1)), ece=np.full((3, 4, 3), np.nan))
    assert (m.worst("excess_flips") == 5).all() and (m.median("excess_flips") == 2).all()
    assert (m.worst("accuracy") == 0.1).all()  # less is worse
    assert (m.worst("delay_mean") == 3).all() and (m.median("delay_mean") == 2).all()  # sets that cannot tell: left out
    assert np.isnan(m.worst("ece")).all()


@pytest.mark.parametrize("wrong", [{"zeta": (1.0, 0.5)}, {"omega_n": (0.0, 1.0)}, {"size": 1}, {"size": 4096}])
def test_a_wrong_grid_is_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match="expected"):
        Grid(**wrong)


# Find


def test_goals_are_met_and_the_soft_measure_is_best_among_those_that_meet_them() -> None:
    sets = [ManySettings(change_branches.made_up(8, 120, seed=1))]
    m = whole(sets, Grid(size=32))
    goals = Goals(excess_flips=2.5, delay=6.0)
    found = find(m, goals, "nll")
    meets = (m.worst("excess_flips") <= 2.5) & (m.worst("delay_mean") <= 6.0)
    assert meets.any() and not meets.all()
    assert found.met and found.median["nll"] == m.median("nll")[meets].min()
    finer = find(m, goals, "nll", sets)
    assert finer.met and finer.median["nll"] <= found.median["nll"]
    again = sets[0].measure(np.array([finer.zeta]), np.array([finer.omega_n]))
    assert again["nll"][0] == finer.worst["nll"] == finer.median["nll"]
    assert finer.words.startswith(f"ζ {finer.zeta:.3g}, ωₙ {finer.omega_n:.3g} rad/frame meets every goal.")


def test_looking_between_the_places_finds_more_than_the_places() -> None:
    sets = [ManySettings(change_branches.made_up(8, 120, seed=1))]
    m = whole(sets, Grid(size=5))
    coarse, fine = find(m, Goals(delay=4.0), "nll"), find(m, Goals(delay=4.0), "nll", sets)
    assert coarse.met and fine.met and fine.median["nll"] < coarse.median["nll"]


def test_where_none_meets_the_goals_the_nearest_and_what_it_misses() -> None:
    flips = np.array([[3.0, 1.0, 0.5]]).repeat(3, 0)[..., None]
    delay = np.array([[1.0, 2.0, 9.0]]).repeat(3, 0)[..., None]
    m = made(3, 3, excess_flips=flips, delay_mean=delay)
    found = find(m, Goals(excess_flips=0.9, delay=1.5), "nll")
    assert not found.met  # misses in steps of .1 and .25: 21, 1 + 2, 30
    assert (found.worst["excess_flips"], found.worst["delay_mean"]) == (1.0, 2.0)
    assert found.words.startswith("No setting meets every goal. The nearest is ")
    assert "Excess flips per 100 frames: missed by 0.1: 1, wanted at most 0.9." in found.words
    assert "missed by 0.5: 2, wanted at most 1.5." in found.words


def test_goals_count_in_the_worst_set_and_the_soft_measure_in_the_median() -> None:
    flips = np.ones((1, 3, 3))
    flips[0, :, 2] = [5.0, 1.0, 1.0]  # the first setting fails in one set only
    nll = np.zeros((1, 3, 3))
    nll[0] = [[0.1, 0.1, 0.1], [0.9, 0.5, 0.5], [0.2, 0.6, 0.6]]
    found = find(made(1, 3, 3, excess_flips=flips, nll=nll), Goals(excess_flips=2.0), "nll")
    assert np.isclose(found.omega_n, np.sqrt(0.1)) and found.sets == 3 and "in the worst of 3 streams" in found.words


def test_a_goal_that_these_streams_cannot_tell_is_named_and_left_out() -> None:
    branches = change_branches.made_up()
    still = replace(branches, labels=np.zeros(len(branches.u_star), np.int64), content=None)
    sets = [ManySettings(still)]
    found = find(whole(sets), Goals(delay=2.0, accuracy=0.01), sets=sets)
    assert found.met and "not measurable here" in found.words
    alone = find(whole(sets), Goals(delay=2.0), sets=sets)
    assert not alone.met and "no goal can be measured here" in alone.words


def test_without_goals_the_soft_measure_decides_and_unknown_ones_are_refused() -> None:
    m = made(2, 2, nll=np.array([[3.0, 1.0], [2.0, 4.0]])[..., None])
    assert find(m, Goals(), "nll").omega_n == 1.0
    with pytest.raises(ValueError, match="soft is 'speed'"):
        find(m, Goals(), "speed")


def test_of_equally_good_settings_the_nearest_to_home() -> None:
    m = made(3, 5)
    assert find(m, Goals(excess_flips=1.0)).zeta == 1.0 and np.isclose(find(m, Goals()).omega_n, 10**-0.5)


# Frontier


def test_nobody_beats_a_place_of_the_frontier_and_its_names_keep_their_delays() -> None:
    m = whole([ManySettings(change_branches.made_up(12, 150))], Grid(size=24))
    found = frontier(m)
    assert found is not None and (np.diff(found.delay) > 0).all() and (np.diff(found.flips) < 0).all()
    delay, flips = m.worst("delay_mean"), m.worst("excess_flips")
    for d, f, zeta, omega_n in zip(found.delay, found.flips, found.zeta, found.omega_n, strict=True):
        i, j = m.nearest(zeta, omega_n)
        assert (delay[i, j], flips[i, j]) == (d, f)
        assert not ((delay <= d) & (flips < f)).any()
    for name, place in found.named.items():
        assert found.delay[place] <= NAMED[name] or place == 0
    assert found.named["alert"] <= found.named["balanced"] <= found.named["calm"]


def test_streams_without_a_change_have_no_frontier() -> None:
    assert frontier(made(delay_mean=np.full((3, 4, 1), np.nan))) is None


def test_the_frontier_is_the_report_s_for_the_same_streams() -> None:
    """Ours as `train.compare_filters` measures it, and rivals as it interpolates them."""
    branches = change_branches.made_up(10, 150)
    streams, omegas = of_branches(branches, single=True), np.geomspace(0.02, 3, 16)
    ours = AttentiveMemory(omega_n=1.0, zeta=0.8)
    filters = [replace(ours, omega_n=float(w)) for w in omegas]
    means = together([measure(f, streams, temperature=1.0) for f in filters]).means()
    many = ManySettings(branches, Settings(weights=ours.weights), "static")
    found = many.measure(np.full(16, 0.8), omegas)
    np.testing.assert_allclose(found["delay_mean"], means.delay, atol=1e-9)
    np.testing.assert_allclose(found["excess_flips"], means.flips, atol=1e-9)
    np.testing.assert_allclose(found["nll"], means.nll, atol=1e-9)

    value = np.geomspace(0.05, 2, 8)
    empty = Curve(value, np.ones(8), *np.zeros((3, 8)))
    tuned = {"ema-logits": Tuned(RIVALS["ema-logits"], {}, empty, 0.0, 1)}
    (curve,) = rival_curves([streams], tuned)
    assert isinstance(curve, RivalCurve) and curve.name == "EMA of logits"
    delays = (2.0, 3.0, 5.0)
    report = evaluate(tuned, streams, delays, draws=1).rows["ema-logits"].flips[0]
    np.testing.assert_allclose(front.at_delay(curve.delay, curve.flips, delays).mix(curve.flips), report)
    assert repeat(RIVALS["ema-logits"], {}, empty, streams).means().delay.shape == (8,)


def test_default_weights_act_where_none_are_given() -> None:
    branches = change_branches.made_up(2, 40)
    a, b = ManySettings(branches), ManySettings(branches, Settings(weights=UNFITTED))
    one = np.ones(1)
    assert a.measure(one, one)["nll"] == b.measure(one, one)["nll"]
