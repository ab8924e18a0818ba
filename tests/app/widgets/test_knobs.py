"""The knobs as data: presets lie within them, zones leave no hole, home and critical damping are knob_core's."""

from __future__ import annotations

from itertools import pairwise

import pytest

from app.widgets.knobs import KNOBS, OMEGA_N, ZETA, presets
from knob_core import theory
from knob_core.settings import Settings


@pytest.mark.parametrize("trained", [None, (0.83, 0.37)])
def test_presets_are_within_the_knobs_and_unlike(trained: tuple[float, float] | None) -> None:
    rows = presets(trained)
    ids = [row["id"] for row in rows]
    wanted = {"nervous", "quick", "balanced", "conservative", "off"} | ({"trained"} if trained else set())
    assert set(ids) == wanted and len(ids) == len(wanted)
    spots = {(row["zeta"], row["omega_n"]) for row in rows if row["on"]}
    assert len(spots) == len(ids) - 1
    assert all(ZETA[0] <= z <= ZETA[1] and OMEGA_N[0] <= w <= OMEGA_N[1] for z, w in spots)
    assert all(row["help"] for row in rows)


def test_zones_cover_each_knob_without_a_hole() -> None:
    for knob in KNOBS:
        ends = [zone[:2] for zone in knob["zones"]]
        assert ends[0][0] == knob["low"] and ends[-1][1] == knob["high"]
        assert all(a[1] == b[0] for a, b in pairwise(ends))
        assert knob["low"] <= knob["home"] <= knob["high"] and knob["help"]


def test_home_is_the_default_setting_and_critical_is_theory_s() -> None:
    zeta, omega_n = KNOBS
    assert (zeta["home"], omega_n["home"]) == (Settings().zeta, Settings().omega_n)
    under, critical, over = zeta["zones"]
    for name, (low, high, _) in (("underdamped", under), ("critical", critical), ("overdamped", over)):
        assert theory.regime((low + high) / 2) == name
    assert theory.regime(critical[0]) == theory.regime(critical[1]) == "critical"
