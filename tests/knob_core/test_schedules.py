"""Schedules stay in [0, 5], do what their names say, and take nothing on trust."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import signal

from knob_core.assets import ROOT
from knob_core.schedules import (
    MAX_FRAMES,
    SCHEDULES,
    Parameter,
    chirp,
    constant,
    fog_bank,
    listed,
    ramp,
    random_walk,
    sawtooth,
    sine,
    spikes,
    square,
    step,
)

NAMES = [
    "constant",
    "step",
    "ramp",
    "sine",
    "chirp",
    "square",
    "sawtooth",
    "fog_bank",
    "random_walk",
    "spikes",
    "listed",
]


def values_of(parameter: Parameter) -> st.SearchStrategy:
    if parameter.kind == "text":
        return st.lists(st.floats(0, 5), min_size=1, max_size=20).map(lambda s: ", ".join(map(repr, s)))
    if parameter.kind == "integer":
        return st.integers(int(parameter.low), int(parameter.high))
    return st.floats(parameter.low, parameter.high)


def test_the_registry() -> None:
    assert list(SCHEDULES) == NAMES
    for name, schedule in SCHEDULES.items():
        assert schedule.name == name and schedule.label and schedule.help.endswith(".")
        for parameter in schedule.parameters:
            assert parameter.help and parameter.low < parameter.high
            parameter.check(parameter.default)
            assert not parameter.logarithmic or parameter.low > 0


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None)
@given(data=st.data(), n=st.integers(1, 500))
def test_any_allowed_values_give_severities(name: str, data: st.DataObject, n: int) -> None:
    schedule = SCHEDULES[name]
    values = {parameter.name: data.draw(values_of(parameter)) for parameter in schedule.parameters}
    s = schedule(n, **values)
    assert s.shape == (n,) and s.dtype == np.float64
    assert ((s >= 0) & (s <= 5)).all()
    assert (s == schedule(n, **values)).all()


@pytest.mark.parametrize("name", NAMES)
def test_values_outside_are_refused_by_name(name: str) -> None:
    schedule = SCHEDULES[name]
    for parameter in schedule.parameters:
        wrong: list = [float("nan"), float("inf"), None, True, [1.0]]
        wrong += [3.0] if parameter.kind == "text" else [parameter.low - 1, parameter.high + 1, "3"]
        wrong += [2.5] if parameter.kind == "integer" else []
        for value in wrong:
            with pytest.raises(ValueError, match=f"{parameter.name} is .*, expected"):
                schedule(10, **{parameter.name: value})
    with pytest.raises(ValueError, match=f"{name} has no parameter 'nonsense'"):
        schedule(10, nonsense=1.0)


@pytest.mark.parametrize("n", [0, -1, 2.0, True, None, MAX_FRAMES + 1, "10"])
def test_wrong_lengths(n: object) -> None:
    with pytest.raises(ValueError, match=r"n is .*, expected a whole number in"):
        step(n)  # type: ignore[arg-type]


def test_step_goes_1_5_1() -> None:
    assert step(8).tolist() == [1, 1, 5, 5, 5, 5, 1, 1]
    assert step(8, on=0.5, off=0.25).tolist() == [5, 5, 1, 1, 5, 5, 5, 5]  # good before it turns bad: it began bad
    assert step(8, on=0.5, off=0.5).tolist() == [1] * 8
    assert constant(3, level=2.5).tolist() == [2.5] * 3


def test_ramp() -> None:
    assert ramp(6, begin=0.0, finish=5 / 6).tolist() == [0, 1, 2, 3, 4, 5]
    assert ramp(5, start=4.0, end=2.0, begin=0.4, finish=0.8).tolist() == [4, 4, 4, 3, 2]
    assert ramp(4, begin=0.5, finish=0.5).tolist() == [0, 0, 5, 5]  # no time to climb


def test_sine_is_what_the_bode_probe_asks_for() -> None:
    t = np.arange(200)
    assert sine(200, frequency=0.03) == pytest.approx(3 + 2 * np.sin(2 * np.pi * 0.03 * t), abs=1e-12)
    assert sine(100, mean=5.0).max() == 5.0  # held at the limit


def test_chirp_is_scipys() -> None:
    n, start, end = 400, 0.004, 0.2
    expected = signal.chirp(np.arange(n), start, n, end, method="logarithmic", phi=-90)
    assert chirp(n, start=start, end=end) == pytest.approx(3 + 2 * expected, abs=1e-9)
    assert chirp(50, start=0.1, end=0.1) == pytest.approx(sine(50, frequency=0.1), abs=1e-12)


def test_square_and_sawtooth() -> None:
    assert square(9, period=4).tolist() == [1, 1, 5, 5, 1, 1, 5, 5, 1]
    assert sawtooth(7, period=6).tolist() == [0, 1, 2, 3, 4, 5, 0]


def test_fog_bank_is_smooth_in_plateau_smooth_out() -> None:
    s = fog_bank(1000)
    assert (s[:200] == 0.5).all() and (s[801:] == 0.5).all()
    assert s[351:650] == pytest.approx(4.5)
    assert (np.diff(s[200:351]) > 0).all() and (np.diff(s[650:801]) < 0).all()
    assert np.abs(np.diff(s)).max() < 1.6 * 4 / 150  # nowhere steeper than a smooth step is


def test_random_walk_is_one_walk_for_every_length() -> None:
    long = random_walk(3000, stride=0.5, seed=7)
    assert (random_walk(300, stride=0.5, seed=7) == long[:300]).all()
    assert not (random_walk(300, stride=0.5, seed=8) == long[:300]).all()
    assert long[0] == 2.0 and long.min() < 0.5 and long.max() > 4.5
    inner = (long[1:] > 2) & (long[1:] < 3)
    assert np.diff(long)[inner].std() == pytest.approx(0.5, rel=0.1)


def test_spikes_come_as_often_and_last_as_long_as_asked() -> None:
    s = spikes(100_000, every=200, width=3, seed=1)
    assert set(np.unique(s)) == {1.0, 5.0}
    assert (s == 5).mean() == pytest.approx(1 - (1 - 1 / 200) ** 3, rel=0.1)
    begins = np.flatnonzero(np.diff(s) > 0) + 1
    assert (s[begins[:-1, None] + np.arange(3)] == 5).all()


def test_listed_holds_the_last() -> None:
    assert listed(5, values="0, 1.5;2").tolist() == [0, 1.5, 2, 2, 2]
    assert listed(2, values="0\n1\n2").tolist() == [0, 1]
    for text, cause in (("", "no severities"), ("1, x", "'x'"), ("1, 6", "6.0 in frame 1"), ("nan", "nan in frame 0")):
        with pytest.raises(ValueError, match=cause):
            listed(5, values=text)


def test_schedules_need_no_torch() -> None:
    code = "import sys, knob_core.schedules; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
