"""Nothing of a session outlives it: not what was excluded from garbage collection, not what Streamlit still holds."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import SessionState
from streamlit.testing.v1 import AppTest

from app.server import garbage_collector, housekeeping
from knob_core.assets import ROOT


class Circle:
    """An object that only the garbage collector can remove."""

    def __init__(self) -> None:
        self.itself = self


def test_what_lived_at_a_freeze_is_collected_after_the_next() -> None:
    live = Circle()
    seen = weakref.ref(live)
    garbage_collector.freeze()
    del live
    gc.collect()
    assert seen() is not None  # excluded, as it should be until somebody looks again
    garbage_collector.freeze()
    assert seen() is None


def test_a_visit_leaves_nothing_behind() -> None:
    """A visit that lived while others' modules were loaded: its controller, stream and endpoint go with it."""
    visit: Any = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=60).run()
    assert not visit.exception
    state = visit.session_state
    parts = [
        weakref.ref(state[name]) for name in ("console_state", "console_controller", "console_endpoint", "answer_lock")
    ]
    garbage_collector.freeze()
    del visit, state
    garbage_collector.freeze()
    assert [part() for part in parts] == [None] * 4


class Session:
    """As far as housekeeping knows one: its state, a button's callback and a fragment refer to an upload."""

    def __init__(self) -> None:
        upload = Circle()
        self.upload = weakref.ref(upload)
        self.session_state, self._fragment_storage = SessionState(), MemoryFragmentStorage()
        self.session_state["upload"] = upload
        button: Any = WidgetMetadata("button", bool, bool, "trigger_value", callback=lambda: upload)
        self.session_state._new_widget_state.set_widget_metadata(button)
        self._fragment_storage.register("fragment", lambda: upload)
        self.over = False

    def shutdown(self) -> None:
        self.over = True


def test_a_session_that_cannot_be_emptied_does_not_keep_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stubborn(Session):
        def shutdown(self) -> None:
            raise RuntimeError("no")

    stubborn, left = Stubborn(), Session()
    kept: dict[str, Any] = {"stubborn": stubborn, "left": left}
    monkeypatch.setattr(housekeeping, "sessions", lambda: dict(kept))
    seen = housekeeping.sweep({})
    kept.clear()
    assert housekeeping.sweep(seen) == {} and left.over


def test_a_session_that_is_over_is_emptied_even_where_it_is_still_held(monkeypatch: pytest.MonkeyPatch) -> None:
    left, stays = Session(), Session()
    kept = {"left": left, "stays": stays}
    monkeypatch.setattr(housekeeping, "sessions", lambda: dict(kept))
    seen = housekeeping.sweep({})
    assert housekeeping.sweep(seen).keys() == {"left", "stays"} and not left.over
    del kept["left"]
    assert housekeeping.sweep(seen).keys() == {"stays"}
    assert left.over and left.upload() is None
    assert not stays.over and stays.upload() is not None
