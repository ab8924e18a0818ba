"""Totals of uploaded files: per session, for all, and on their way."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace

import pytest
from starlette.requests import Request
from starlette.responses import Response
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

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


def test_a_session_has_so_many_files_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny ones: they have room in bytes, but the garbage collector walks over them after each run of any page."""
    monkeypatch.setattr(upload_limits, "MOST_FILES", 2)
    manager = MemoryUploadedFileManager("")
    server = SimpleNamespace(uploaded_file_mgr=manager, exists=lambda: True, get_instance=lambda: server)
    monkeypatch.setattr(streamlit_internals, "runtime", server)
    limits = UploadLimits(nothing)
    for id in "ab":
        assert limits.refusal("me", 1) is None
        manager.add_file("me", UploadedFileRec(id, "a.png", "image/png", b"1"))
    refusal = limits.refusal("me", 1)
    assert refusal is not None and refusal[0] == 413 and limits.refusal("other", 1) is None
    manager.remove_file("me", "a")
    assert limits.refusal("me", 1) is None


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


def asgi(session: str, id: str = "a", length: int | str = 10) -> dict[str, object]:
    headers = [(b"content-length", str(length).encode()), (b"content-type", b"multipart/form-data; boundary=b")]
    path = f"{streamlit_internals.UPLOAD_PATH}{session}/{id}"
    return {"type": "http", "method": "PUT", "path": path, "headers": headers}


async def taken(limits: UploadLimits, scope: dict[str, object], parts: list[bytes], silent: float = 0.0) -> int:
    """The status of an upload that comes in parts and then is silent, or ends; 0 where it was cut off."""
    said = []

    async def receive() -> dict[str, object]:
        if parts:
            return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts) or silent > 0}
        await asyncio.sleep(silent)
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, object]) -> None:
        said.append(message.get("status"))

    await limits(scope, receive, send)  # type: ignore[arg-type]
    return next((status for status in said if isinstance(status, int)), 0)


async def takes_all(scope: object, receive: object, send: object) -> None:
    """As Streamlit does: the whole body, then 204."""
    body = await Request(scope, receive).body()  # type: ignore[arg-type]
    await Response(status_code=204, headers={"length": str(len(body))})(scope, receive, send)  # type: ignore[arg-type]


def test_a_file_that_is_announced_and_does_not_come_takes_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eleven sessions that announced 100 MB each shut all others out, without a byte sent."""
    monkeypatch.setattr(upload_limits, "stored_upload_bytes", dict)
    monkeypatch.setattr(upload_limits, "SILENT", 0.2)

    async def visit() -> tuple[list[int], int]:
        limits = UploadLimits(takes_all)
        hostile = [asyncio.create_task(taken(limits, asgi(str(i), length=ROOM), [b"x"], 60.0)) for i in range(11)]
        await asyncio.sleep(0.05)
        honest = await taken(limits, asgi("me"), [b"0123", b"456789"])
        cut = await asyncio.wait_for(asyncio.gather(*hostile), 10)
        assert limits._came == 0 and not limits._coming
        return cut, honest

    assert asyncio.run(visit()) == ([0] * 11, 204)


def test_a_refused_file_that_does_not_come_holds_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read to its end, so that a browser reads why; one that had none was waited for without end."""
    monkeypatch.setattr(upload_limits, "stored_upload_bytes", dict)
    monkeypatch.setattr(upload_limits, "SILENT", 0.2)

    async def visit(silent: float) -> int:
        refused = taken(UploadLimits(takes_all), asgi("me", "i" * 101), [b"0123"], silent)
        return await asyncio.wait_for(refused, 10)

    assert [asyncio.run(visit(silent)) for silent in (0.0, 60.0)] == [400, 400]


def test_what_comes_beyond_the_room_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many may be announced while there is still room for each."""
    monkeypatch.setattr(upload_limits, "stored_upload_bytes", dict)
    monkeypatch.setattr(upload_limits, "MOST", 1)
    limits = UploadLimits(takes_all)
    parts = [bytes(MEGABYTE // 2)] * 3
    assert asyncio.run(taken(limits, asgi("me", length=MEGABYTE), list(parts[:2]))) == 204
    assert asyncio.run(taken(limits, asgi("me", length=MEGABYTE), list(parts))) == 0


@pytest.mark.parametrize(
    ("id", "length", "status"), [("i" * 101, 10, 400), ("i", "9" * 5000, 411), ("i", "x", 411), ("i" * 100, 2, 204)]
)
def test_long_ids_and_odd_lengths_are_refused(
    monkeypatch: pytest.MonkeyPatch, id: str, length: int | str, status: int
) -> None:
    monkeypatch.setattr(upload_limits, "stored_upload_bytes", dict)
    assert asyncio.run(taken(UploadLimits(takes_all), asgi("me", id, length), [b"ab"])) == status


def test_names_and_empty_files_count(monkeypatch: pytest.MonkeyPatch) -> None:
    file = SimpleNamespace(data=b"", name="n" * 3000, type="t")
    manager = SimpleNamespace(_lock=threading.Lock(), file_storage={"me": {"i" * 100: file}})
    running = SimpleNamespace(get_instance=lambda: SimpleNamespace(uploaded_file_mgr=manager))
    monkeypatch.setattr(streamlit_internals, "runtime", running)
    assert streamlit_internals.stored_upload_bytes() == {"me": 3101 + streamlit_internals.EMPTY_FILE}


def test_forms_that_take_long_to_part_are_not_parted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python looks at each & of an ordinary form, each boundary in another: everybody waited 80 times as long."""
    monkeypatch.setattr(upload_limits, "stored_upload_bytes", dict)

    def status(kind: bytes, *parts: bytes) -> int:
        scope = asgi("me", length=sum(map(len, parts)))
        scope["headers"] = [(b"content-length", b"99"), (b"content-type", kind)]
        return asyncio.run(taken(UploadLimits(takes_all), scope, list(parts)))

    file = b'--"b\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n0123\r\n--"b--\r\n'
    form = b'multipart/form-data; boundary="\\"b"'
    assert status(form, file) == 204
    assert status(form, file[:-7], *[b'\r\n--"bx' * 2] * 5, file[-7:]) == 0
    assert status(b"application/x-www-form-urlencoded", b"&&&") == status(b"", b"&") == 415


def test_files_are_counted_as_they_come_and_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them were added up for each: 15,000 small ones made everybody's answers 13 times slower."""
    manager, looks = MemoryUploadedFileManager(""), 0
    running = SimpleNamespace(get_instance=lambda: SimpleNamespace(uploaded_file_mgr=manager))
    monkeypatch.setattr(streamlit_internals, "runtime", running)

    class Content(bytes):
        def __len__(self) -> int:
            nonlocal looks
            looks += 1
            return super().__len__()

    def stored() -> int:
        empty = streamlit_internals.EMPTY_FILE * len(manager.file_storage["me"])
        return streamlit_internals.stored_upload_bytes()["me"] - empty

    for length in (3, 30, 7):  # the first one comes before anybody has looked, the others replace it
        manager.add_file("me", UploadedFileRec("a", "n", "t", bytes(length)))
        assert stored() == length + 3
    manager.add_file("me", UploadedFileRec("b", "", "", Content(5)))
    assert stored() == 16
    before = looks
    assert stored() == 16 and looks == before
    manager.remove_file("me", "a")
    manager.remove_file("me", "a")
    assert stored() == 6
    manager.remove_session_files("me")
    assert streamlit_internals.stored_upload_bytes() == {}
