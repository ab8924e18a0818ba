"""How far back turns can be taken."""

from __future__ import annotations

import pytest

from knob_core.serving.knob_control import KnobControl
from knob_core.settings import Settings


def test_a_thousand_revisions_are_kept() -> None:
    knobs = KnobControl(Settings())
    for _ in range(999):
        knobs.turn({"zeta": 1.5}, "me", stream="a")
    assert knobs.revert(1, "me").streams == {}
    with pytest.raises(LookupError, match="revision 1 is not known, expected 2 to 1001"):
        knobs.revert(1, "me")
