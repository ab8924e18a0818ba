"""Files for downloads are made one at a time for a session, and a session keeps few of them.

Streamlit makes each one at once, in the threads that answer all its requests: a page that asked for hundreds kept every
visitor waiting, and filled the memory with what nobody fetched.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackendOperationRequest
from streamlit.proto.ForwardMsg_pb2 import BackendOperationResponse, DeferredFileResponsePayload
from streamlit.runtime import app_session
from streamlit.runtime.backend_operation_handler import BackendOperationHandler
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.web import skills

from app.server.background_jobs import give_way

AT_WORK = 2  # files of all sessions
MOST_ASKED = 8  # files that a session waits for
MOST_KEPT = 8  # made files of a session
MOST_KEPT_BYTES = 50_000_000  # of them; one may be larger

_makers = ThreadPoolExecutor(AT_WORK, "knob-download", initializer=give_way)


class DownloadTurns(BackendOperationHandler):
    """Makes the files of one session, in place of Streamlit's own handler."""

    def __init__(self, manager: Callable[[], MediaFileManager]) -> None:
        self._manager: Callable[[], Any] = manager
        self._turn = asyncio.Lock()
        self._asked = 0
        self._rested = 0.0  # when the rest after the last file ends
        self._kept: dict[str, object] = {}  # what Streamlit knows of a file by its id, the newest last

    async def handle(self, request: BackendOperationRequest, session_id: str) -> BackendOperationResponse:
        """Make a file in this session's turn; the answer tells its address."""
        if self._asked >= MOST_ASKED:
            words = f"{MOST_ASKED} files are being made for you; please wait for one of them"
            return BackendOperationResponse(request_id=request.request_id, error_msg=words)
        self._asked += 1
        try:
            async with self._turn:
                url = await self._make(request.deferred_file.file_id)
        except Exception:
            logging.getLogger(__name__).exception("a file for a download was not made")
            words = "The file could not be made"
            return BackendOperationResponse(request_id=request.request_id, error_msg=words)
        finally:
            self._asked -= 1
        made = DeferredFileResponsePayload(url=url)
        return BackendOperationResponse(request_id=request.request_id, deferred_file=made)

    async def _make(self, id: str) -> str:
        manager = self._manager()
        await asyncio.sleep(self._rested - time.monotonic())
        maker = manager._deferred_callables.get(id, {}).get("callable")
        if hasattr(maker, "wait"):
            await maker.wait()
        loop, began = asyncio.get_running_loop(), time.monotonic()
        url: str = await loop.run_in_executor(_makers, manager.execute_deferred, id)
        self._rested = 2 * time.monotonic() - began  # as long as it took
        self._keep(manager, url.rpartition("/")[2].partition(".")[0])
        return url

    def _keep(self, manager: Any, id: str) -> None:
        """The newest file; the oldest ones go. A file that another session has made since is that one's."""
        with manager._lock:
            self._kept = {old: its for old, its in self._kept.items() if manager._file_metadata.get(old) is its}
            self._kept.pop(id, None)
            if id in manager._file_metadata:
                self._kept[id] = manager._file_metadata[id]
            sizes = {old: manager._storage.get_file(old).content_size for old in self._kept}
            for old in list(self._kept)[:-1]:
                if len(self._kept) > MOST_KEPT or sum(sizes.values()) > MOST_KEPT_BYTES:
                    manager._delete_file(old)
                    del self._kept[old], sizes[old]


class Unavailable(BackendOperationHandler):
    """Streamlit would write files into the folder of the app for whoever seems to sit at the machine.

    Behind a proxy every visitor seems to.
    """

    def __init__(self, *_: object) -> None: ...

    async def handle(self, request: BackendOperationRequest, session_id: str) -> BackendOperationResponse:
        """No."""
        return BackendOperationResponse(request_id=request.request_id, error_msg="This is not available here")


def use() -> None:
    """In all sessions that begin from now on."""
    names = vars(app_session)
    names["DeferredFileHandler"] = DownloadTurns
    names["InstallSkillsHandler"] = names["DismissSkillsNudgeHandler"] = Unavailable
    vars(skills)["nudge_suppression_reason"] = lambda app_dir=None: "headless"  # nor does a page offer it
