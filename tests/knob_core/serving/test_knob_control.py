"""How far back turns can be taken, within a bound of memory."""

from __future__ import annotations

import pytest

from knob_core.serving import knob_control
from knob_core.serving.knob_control import KnobControl
from knob_core.settings import Settings


def test_large_tables_are_kept_for_fewer_revisions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knob_control, "KEPT_SCOPES", 1000)
    knobs = KnobControl(Settings())
    for k in range(200):
        knobs.turn({"zeta": 1.5}, "me", stream=f"s{k}")
        assert sum(len(table.groups) + len(table.streams) for table in knobs._past.values()) <= 1000
    assert 3 <= len(knobs._past) <= 6
    knobs.revert(knobs.table.revision - 2, "me")
    assert len(knobs.table.streams) == 198
    with pytest.raises(LookupError, match="revision 1 is not known, expected"):
        knobs.revert(1, "me")


def test_a_thousand_small_tables_are_kept() -> None:
    knobs = KnobControl(Settings())
    for _ in range(999):
        knobs.turn({"zeta": 1.5}, "me", stream="a")
    assert knobs.revert(1, "me").streams == {}
