"""What makes a visitor's downloads is forgotten with the stream that it holds."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from streamlit.runtime import media_file_manager
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from app.server import streamlit_internals


def test_only_this_visitors_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    manager = MediaFileManager(MemoryMediaFileStorage("/media"))
    asked = {}
    for visitor in ("me", "another"):
        monkeypatch.setattr(media_file_manager, "_get_session_id", lambda visitor=visitor: visitor)
        asked[visitor] = manager.add_deferred(lambda: "x", "text/csv", "place", "knob.csv")
    monkeypatch.setattr(
        streamlit_internals, "get_script_run_ctx", lambda suppress_warning: SimpleNamespace(session_id="me")
    )
    running = SimpleNamespace(media_file_mgr=manager)
    monkeypatch.setattr(streamlit_internals.runtime, "exists", lambda: True)
    monkeypatch.setattr(streamlit_internals.runtime, "get_instance", lambda: running)
    streamlit_internals.forget_downloads()
    assert list(manager._deferred_callables) == [asked["another"]]
