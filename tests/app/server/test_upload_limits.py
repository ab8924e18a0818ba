"""Totals of uploaded files: per session, for all, and on their way."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from app.server import streamlit_internals, upload_limits
from app.server.upload_limits import MEGABYTE, MOST, MOST_PER_SESSION, UploadLimits

ROOM = MOST_PER_SESSION * MEGABYTE


async def nothing(*_: object) -> None: ...


@pytest.mark.parametrize(
    ("stored", "length", "says"),
    [
        ({}, ROOM, None),
        ({}, ROOM + MEGABYTE, "your files would have 101 MB, expected at most 100 MB"),
        ({"me": ROOM - 1}, MEGABYTE, "your files would have 101 MB"),
        ({"other": ROOM}, ROOM, None),
        ({str(i): ROOM for i in range(MOST // MOST_PER_SESSION)}, 1, "no room for another file"),
    ],
)
def test_what_is_too_much_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, stored: dict[str, int], length: int, says: str | None
) -> None:
    monkeypatch.setattr(upload_limits, "stored_upload_bytes", lambda: stored)
    refusal = UploadLimits(nothing).refusal("me", length)
    assert (refusal is None) == (says is None)
    assert refusal is None or says is None or says in refusal[1]


def test_files_on_their_way_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_limits, "stored_upload_bytes", dict)
    limits = UploadLimits(nothing)
    limits._coming["me"] = ROOM
    assert limits.refusal("me", 1) is not None and limits.refusal("other", 1) is None


@pytest.mark.parametrize(("kept", "is_open", "given_up"), [("ab", True, False), ("a", True, True), ("ab", False, True)])
def test_files_are_given_up_with_the_page_or_by_hand(
    monkeypatch: pytest.MonkeyPatch, kept: str, is_open: bool, given_up: bool
) -> None:
    files = SimpleNamespace(get_files=lambda session, ids: [id for id in ids if id in kept])
    page = SimpleNamespace(uploaded_file_mgr=files, session_id="me")
    server = SimpleNamespace(exists=lambda: True, get_instance=lambda: server, is_active_session=lambda id: is_open)
    monkeypatch.setattr(streamlit_internals, "runtime", server)
    monkeypatch.setattr(streamlit_internals, "get_script_run_ctx", lambda suppress_warning=False: page)
    assert streamlit_internals.are_given_up({"a", "b"})() == given_up
