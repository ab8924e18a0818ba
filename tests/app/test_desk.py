"""The desk: what the browser says is clamped, what a turn began with is kept, and Python's own moves win once."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.desk import Desk
from app.knobs import KNOBS, OMEGA_N, ZETA, clamp, presets
from knob_core.measures.stability import StreamMeasures
from knob_core.settings import Settings

HAND = {"epoch": 0, "seq": 1, "turn": 1, "zeta": 0.3, "omega_n": 1.5, "on": True, "memory": False, "mode": "continuous"}
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def measures(flips: float) -> StreamMeasures:
    return StreamMeasures(flips, 0.1, 3, 5, 1, 0.8, 0.5, 0.05, 0.01)


def test_a_hand_moves_the_knobs() -> None:
    desk = Desk()
    desk.take(HAND)
    assert desk.settings == Settings(zeta=0.3, omega_n=1.5, memory=False)
    assert desk.seq == 1


@given(st.dictionaries(st.sampled_from([*HAND, "play", "live", "tick", "pin", "speed", "done"]), anything))
def test_nothing_from_the_browser_can_break_it(hand: dict[str, Any]) -> None:
    desk = Desk()
    desk.take({**hand, "epoch": 0})
    assert ZETA[0] <= desk.settings.zeta <= ZETA[1]
    assert OMEGA_N[0] <= desk.settings.omega_n <= OMEGA_N[1]
    desk.look({"epoch": 0, "panel": hand.get("mode"), "unit": hand.get("on"), "fps": hand.get("zeta")})
    assert desk.view.panel == "step" and 0.1 <= desk.settings.frame_rate <= 1000


@given(anything)
def test_a_hand_that_is_none_is_ignored(hand: Any) -> None:
    desk = Desk()
    desk.take(hand)
    desk.look(hand)
    assert replace(desk, seq=0) == Desk()


def test_a_stale_hand_does_not_undo_a_push() -> None:
    desk = Desk()
    desk.take(HAND)
    desk.push(Settings(zeta=2.0))
    desk.take({**HAND, "seq": 5})
    assert desk.settings.zeta == 2.0
    assert desk.seq == 5  # or the deck would wait for this receipt before it sends another
    desk.take({**HAND, "epoch": 1, "seq": 6})
    assert desk.settings.zeta == 0.3


def test_before_is_what_it_was_when_the_turn_began() -> None:
    desk = Desk()
    desk.measured(measures(10), "a")
    for seq, flips in ((1, 8.0), (2, 6.0), (3, 4.0)):
        desk.take({**HAND, "seq": seq, "turn": 1})
        desk.measured(measures(flips), "a")
    assert desk.before is not None and desk.before.flips == 10
    desk.take({**HAND, "seq": 4, "turn": 2})
    assert desk.before.flips == 4


def test_the_pin_keeps_and_forgets() -> None:
    desk = Desk()
    desk.take({**HAND, "pin": 1})
    assert desk.pin == desk.settings
    desk.take({**HAND, "pin": 1, "zeta": 1.0})
    assert desk.pin is not None and desk.pin.zeta == 0.3
    desk.take({**HAND, "pin": 2})
    assert desk.pin is None


def test_play_pause_and_leave() -> None:
    desk = Desk()
    desk.take({**HAND, "live": True, "play": True, "tick": 3})
    assert desk.live is not None and desk.live.due == 0  # the clock starts where it is
    desk.take({**HAND, "live": True, "play": True, "tick": 10})
    assert desk.live.due == 7
    desk.take({**HAND, "live": True, "play": False, "tick": 10**6})
    assert not desk.live.playing and desk.live.due == desk.live.MOST_AT_ONCE
    desk.take({**HAND, "live": False})
    assert desk.live is None


@pytest.mark.parametrize("trained", [None, (0.83, 0.37)])
def test_presets_are_within_the_knobs_and_unlike(trained: tuple[float, float] | None) -> None:
    rows = presets(trained)
    ids = [row["id"] for row in rows]
    wanted = {"nervous", "balanced", "critical", "conservative", "off"} | ({"trained"} if trained else set())
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


@given(anything, st.floats(0, 1), st.floats(2, 3))
def test_clamp_always_gives_a_number_inside(value: Any, low: float, high: float) -> None:
    assert low <= clamp(value, (low, high), low) <= high


def test_another_stream_has_nothing_before_it() -> None:
    """Also where an answer about the old stream came late, after it had been left."""
    desk = Desk()
    desk.measured(measures(10), "old")
    desk.change_stream()
    desk.measured(measures(11), "old")
    desk.measured(measures(3), "new")
    assert desk.before == desk.now == measures(3)


def test_an_older_look_does_not_come_back_and_a_push_brings_its_own() -> None:
    desk = Desk()
    desk.look({**desk.seen(), "panel": "poles", "seq": 2})
    desk.look({**desk.seen(), "panel": "bode", "seq": 1})
    assert desk.view.panel == "poles" and desk.seen()["seq"] == 2
    reported = desk.seen()
    desk.push(Settings(frame_rate=25.0))
    desk.look(reported)  # what the browser last said, at the old frame rate
    assert desk.settings.frame_rate == 25.0


def test_a_deck_that_is_mounted_anew_has_no_hand_on_it() -> None:
    desk = Desk()
    desk.take({**HAND, "done": False})
    assert not desk.done
    desk.take(None)
    assert desk.done and desk.seq == 0
