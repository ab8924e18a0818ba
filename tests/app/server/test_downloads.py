"""A press of a download button gives a file, whatever scripts run at that moment, and nothing is kept for ever."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime import media_file_manager
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from app.server import housekeeping, streamlit_internals
from app.server.streamlit_internals import QUIET, AfterRun, KeptFile, keep_downloads


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> MediaFileManager:
    monkeypatch.setattr(media_file_manager, "MediaFileMetadata", media_file_manager.MediaFileMetadata)  # put it back
    name = "_remove_orphaned_deferred_callables"
    monkeypatch.setattr(MediaFileManager, name, getattr(MediaFileManager, name))
    keep_downloads()
    return MediaFileManager(MemoryMediaFileStorage("/media"))


def made(manager: MediaFileManager) -> str:
    """The id of a file as a pressed button makes it."""
    asked = manager.add_deferred(lambda: "a summary", "text/html", "place", "summary.html")
    return manager.execute_deferred(asked).rpartition("/")[2].partition(".")[0]


def test_ends_of_other_visitors_scripts_do_not_remove_it(manager: MediaFileManager) -> None:
    id = made(manager)
    for _ in range(50):
        manager.remove_orphaned_files()
    assert id in manager._file_metadata


def test_it_goes_after_a_minute(manager: MediaFileManager, monkeypatch: pytest.MonkeyPatch) -> None:
    id, now = made(manager), streamlit_internals.time.monotonic()
    monkeypatch.setattr(streamlit_internals.time, "monotonic", lambda: now + KeptFile.SECONDS + 1)
    for _ in range(2):
        manager.remove_orphaned_files()
    assert id not in manager._file_metadata


def test_a_button_that_is_pressed_while_the_script_runs_again_gives_its_file(manager: MediaFileManager) -> None:
    asked = manager.add_deferred(lambda: "a summary", "text/html", "place", "summary.html")
    manager.clear_session_refs()  # the page's script begins
    for _ in range(5):  # and others' end
        manager.remove_orphaned_files()
    assert manager.execute_deferred(asked)


def test_what_makes_a_file_goes_a_minute_after_the_button_was_drawn_anew(
    manager: MediaFileManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, drawn = (manager.add_deferred(lambda: "x", "text/html", "place", "x.html") for _ in range(2))
    now = streamlit_internals.time.monotonic()
    for seconds in (0.0, KeptFile.SECONDS + 1):
        monkeypatch.setattr(streamlit_internals.time, "monotonic", lambda then=now + seconds: then)
        manager.remove_orphaned_files()
    assert old not in manager._deferred_callables and drawn in manager._deferred_callables


def test_a_file_has_what_was_typed_just_before_the_press(monkeypatch: pytest.MonkeyPatch) -> None:
    session, own = SimpleNamespace(_scriptrunner=None), {"name": ""}
    sessions = SimpleNamespace(get_session_info=lambda id: SimpleNamespace(session=session))
    running: Any = SimpleNamespace(_session_mgr=sessions)
    monkeypatch.setattr(streamlit_internals, "get_script_run_ctx", lambda: SimpleNamespace(session_id="visitor"))
    monkeypatch.setattr(streamlit_internals.runtime, "exists", lambda: True)
    monkeypatch.setattr(streamlit_internals.runtime, "get_instance", lambda: running)
    made_so = AfterRun(lambda: own["name"])

    def make() -> str:
        asyncio.run(made_so.wait())
        return made_so()

    assert make() == ""

    def script() -> None:
        own["name"] = "Ada"
        session._scriptrunner = None

    session._scriptrunner = object()  # the name has been sent, the script has not come to it
    threading.Timer(0.1, script).start()
    assert make() == "Ada"
    own["name"] = ""  # and where the press arrives before what was typed
    threading.Timer(QUIET / 3, lambda: setattr(session, "_scriptrunner", object())).start()
    threading.Timer(2 * QUIET / 3, script).start()
    assert make() == "Ada"


def test_it_goes_also_where_nobody_comes_any_more(manager: MediaFileManager, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last visitor's file was kept until another one came."""
    id, now = made(manager), streamlit_internals.time.monotonic()
    running: Any = SimpleNamespace(media_file_mgr=manager)
    monkeypatch.setattr(streamlit_internals.runtime, "exists", lambda: True)
    monkeypatch.setattr(streamlit_internals.runtime, "get_instance", lambda: running)
    monkeypatch.setattr(housekeeping, "sessions", dict)
    housekeeping.sweep({})
    assert id in manager._file_metadata
    monkeypatch.setattr(streamlit_internals.time, "monotonic", lambda: now + KeptFile.SECONDS + 1)
    for _ in range(2):
        housekeeping.sweep({})
    assert id not in manager._file_metadata


@pytest.mark.parametrize("origin", ["http://[", "http://]", "null", "", "http://evil.example"])
def test_an_origin_that_is_none_is_refused(origin: str) -> None:
    """`http://[` was an error of the server, with a traceback in its log for every such request."""
    assert not streamlit_internals.is_origin_allowed(origin, "localhost:8501")


@pytest.mark.parametrize("listed", ["https://knob.example.com", "https://Knob.Example.com/"])
def test_a_listed_origin_is_found_however_it_is_written(monkeypatch: pytest.MonkeyPatch, listed: str) -> None:
    options = {"server.corsAllowedOrigins": [listed], "server.enableCORS": True}
    monkeypatch.setattr(streamlit_internals.st, "get_option", options.get)
    assert streamlit_internals.is_origin_allowed("https://knob.example.com", "localhost:8501")
    assert not streamlit_internals.is_origin_allowed("https://other.example.com", "localhost:8501")
