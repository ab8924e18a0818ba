"""Nothing of a session outlives it: not what was excluded from garbage collection, not what Streamlit still holds."""

from __future__ import annotations

import gc
import weakref
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime import media_file_manager
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import SessionState
from streamlit.testing.v1 import AppTest

from app.server import garbage_collector, housekeeping, streamlit_internals
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


def test_what_makes_the_files_of_a_session_that_is_gone_goes_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """A download button's file is made from the upload: every visitor's stayed in memory for good."""
    files = MediaFileManager(MemoryMediaFileStorage("/media"))
    monkeypatch.setattr(streamlit_internals.runtime, "exists", lambda: True)
    monkeypatch.setattr(streamlit_internals.runtime, "get_instance", lambda: SimpleNamespace(media_file_mgr=files))
    uploads = {name: Circle() for name in ("left", "stays")}
    for name, upload in uploads.items():
        monkeypatch.setattr(media_file_manager, "_get_session_id", lambda name=name: name)
        files.add_deferred(lambda upload=upload: str(upload), "text/csv", "place", "a.csv")
    seen = {name: weakref.ref(upload) for name, upload in uploads.items()}
    del upload
    uploads.clear()
    session = Session()
    monkeypatch.setattr(housekeeping, "sessions", lambda: {"stays": session})
    housekeeping.sweep({"left": weakref.ref(Session()), "stays": weakref.ref(session)})
    assert seen["left"]() is None and seen["stays"]() is not None
