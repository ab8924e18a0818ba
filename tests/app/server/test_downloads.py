"""Files that are made when a download button is pressed live long enough to be fetched, and not for ever."""

from __future__ import annotations

import pytest
from streamlit.runtime import media_file_manager
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage

from app.server import streamlit_internals
from app.server.streamlit_internals import KeptFile, keep_downloads


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> MediaFileManager:
    monkeypatch.setattr(media_file_manager, "MediaFileMetadata", media_file_manager.MediaFileMetadata)  # put it back
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
    monkeypatch.setattr(streamlit_internals.time, "monotonic", lambda: now + KeptFile.SECONDS)
    for _ in range(2):
        manager.remove_orphaned_files()
    assert id not in manager._file_metadata
