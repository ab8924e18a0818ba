"""Files for downloads: one at a time for a session, few asked for, few kept, and nothing is installed on the server."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest
from streamlit.proto.ForwardMsg_pb2 import BackendOperationResponse
from streamlit.runtime import app_session
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.web import skills

from app.server import download_turns
from app.server.download_turns import AT_WORK, MOST_ASKED, MOST_KEPT, DownloadTurns, Unavailable


@pytest.fixture
def manager() -> MediaFileManager:
    return MediaFileManager(MemoryMediaFileStorage("/media"))


def button(manager: MediaFileManager, make: Callable[[], str]) -> BackendOperationRequest:
    """A press of a download button."""
    request = BackendOperationRequest(request_id="r", session_id="visitor")
    request.deferred_file.file_id = manager.add_deferred(make, "text/plain", f"place {id(make)}", "a.txt")
    return request


def of(turns: DownloadTurns, *presses: BackendOperationRequest) -> list[BackendOperationResponse]:
    async def all_of_them() -> list[BackendOperationResponse]:
        return list(await asyncio.gather(*(turns.handle(press, "visitor") for press in presses)))

    return asyncio.run(all_of_them())


def test_a_session_has_one_file_made_at_a_time_and_is_refused_too_many(manager: MediaFileManager) -> None:
    """Each of hundreds was made at once: all the threads of the server were busy with one visitor's files."""
    lock, most, numbers = threading.Lock(), [0, 0], itertools.count()

    def make() -> str:
        most[0] += 1
        most[1] = max(most)
        assert lock.acquire(timeout=60)
        threading.Event().wait(0.01)
        lock.release()
        most[0] -= 1
        return str(next(numbers))

    answers = of(DownloadTurns(lambda: manager), *[button(manager, make)] * 100)
    made = [answer for answer in answers if not answer.error_msg]
    assert most[1] == 1 and len(made) == MOST_ASKED
    assert len({answer.deferred_file.url for answer in made}) == MOST_ASKED
    assert {a.error_msg for a in answers} - {""} == {"8 files are being made for you; please wait for one of them"}


def test_few_threads_make_the_files_of_all_sessions(manager: MediaFileManager) -> None:
    threads: set[str] = set()

    def make() -> str:
        threads.add(threading.current_thread().name)
        return "a"

    async def sessions() -> None:
        await asyncio.gather(*(DownloadTurns(lambda: manager).handle(button(manager, make), "v") for _ in range(20)))

    asyncio.run(sessions())
    assert len(threads) <= AT_WORK and all(name.startswith("knob-download") for name in threads)


def test_a_file_that_waits_for_its_page_takes_no_thread(manager: MediaFileManager) -> None:
    """A summary waits for the script's end: a few of them kept everybody from their files."""
    go = asyncio.Event()

    class Waits:
        wait = go.wait

        def __call__(self) -> str:
            return "a summary"

    async def both() -> tuple[str, str]:
        waiting = [DownloadTurns(lambda: manager).handle(button(manager, Waits()), "v") for _ in range(10)]
        tasks = [asyncio.create_task(one) for one in waiting]
        async with asyncio.timeout(60):
            quick = await DownloadTurns(lambda: manager).handle(button(manager, lambda: "settings"), "w")
        assert not any(task.done() for task in tasks)
        go.set()
        return quick.deferred_file.url, (await asyncio.gather(*tasks))[0].deferred_file.url

    assert all(asyncio.run(both()))


def kept(manager: Any) -> list[bytes]:
    return [file.content for file in manager._storage._files_by_id.values()]


def test_of_a_sessions_files_the_newest_are_kept(manager: MediaFileManager, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each stayed for a minute: a gigabyte of them within seconds."""
    turns, another = DownloadTurns(lambda: manager), DownloadTurns(lambda: manager)
    of(another, button(manager, lambda: "another's"))
    for i in range(3 * MOST_KEPT):
        of(turns, button(manager, lambda i=i: f"{i:05}"))
    newest = [b"%05d" % i for i in range(2 * MOST_KEPT, 3 * MOST_KEPT)]
    assert kept(manager) == [b"another's", *newest]
    monkeypatch.setattr(download_turns, "MOST_KEPT_BYTES", 12)
    of(turns, button(manager, lambda: "99999"))
    assert kept(manager) == [b"another's", newest[-1], b"99999"]
    of(turns, button(manager, lambda: "x" * 100))
    assert kept(manager) == [b"another's", b"x" * 100]


def test_a_file_that_another_session_has_made_since_stays(manager: MediaFileManager) -> None:
    turns, another = DownloadTurns(lambda: manager), DownloadTurns(lambda: manager)
    of(turns, button(manager, lambda: "the same"))
    of(another, button(manager, lambda: "the same"))
    for i in range(2 * MOST_KEPT):
        of(turns, button(manager, lambda i=i: str(i)))
    assert b"the same" in kept(manager)


def test_what_cannot_be_made_is_told_and_the_next_one_is_made(manager: MediaFileManager) -> None:
    turns = DownloadTurns(lambda: manager)
    first, second, third = of(
        turns,
        button(manager, lambda: str(1 / 0)),
        BackendOperationRequest(request_id="r"),
        button(manager, lambda: "a"),
    )
    assert first.error_msg == second.error_msg == "The file could not be made" and third.deferred_file.url


def test_sessions_use_them_and_install_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a proxy every visitor seemed to sit at the machine, and could have files written into its folders."""
    for name in ("DeferredFileHandler", "InstallSkillsHandler", "DismissSkillsNudgeHandler"):
        monkeypatch.setattr(app_session, name, getattr(app_session, name))
    monkeypatch.setattr(skills, "nudge_suppression_reason", skills.nudge_suppression_reason)
    download_turns.use()
    session: Any = app_session.AppSession.__new__(app_session.AppSession)
    session._script_data = None
    session.shutdown = lambda: None
    handlers = session._create_backend_operation_dispatcher()._handlers
    assert isinstance(handlers["deferred_file"], DownloadTurns)
    for name in ("install_skills", "dismiss_skills_nudge"):
        assert isinstance(handlers[name], Unavailable)
        answer = asyncio.run(handlers[name].handle(BackendOperationRequest(request_id="r"), "visitor"))
        assert answer.error_msg == "This is not available here"
    assert not skills.should_show_skills_nudge()
