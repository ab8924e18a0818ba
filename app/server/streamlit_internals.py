"""The places where the app relies on Streamlit's internals, each with its reason; look here first after an upgrade.

In the browser: app/static (names in its README comments): history entries are replaced, host messages are stopped.
In .streamlit/config.toml: `minCachedMessageSize`, since messages of a drag are never repeated.
Beside this file: `page_messages` stands before Streamlit's socket, `download_turns` is a handler of its sessions,
`websocket_protocol` a class of uvicorn, its server, and `script_turns` stands in for the start of its script runners.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import urlparse

import streamlit as st
from starlette.types import Receive
from streamlit import runtime
from streamlit.runtime import media_file_manager
from streamlit.runtime.media_file_manager import MediaFileKind, MediaFileManager, MediaFileMetadata
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec
from streamlit.web.server.starlette import starlette_websocket
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

LONGEST_RUN = 5.0  # s that a download waits for the page's script at most
QUIET = 0.3  # s without a run of the script: what was typed just before a press may arrive a little after it
STREAM_PATH = "/_stcore/stream"  # Streamlit's own socket
UPLOAD_PATH = "/_stcore/upload_file/"  # then session id, "/", file id
EMPTY_FILE = 1000  # bytes that a file without content takes, about


def is_page_visit() -> bool:
    """True where a visitor's page script runs, False where the server imports main.py to find its routes.

    Both execute the same file, and Streamlit offers no public way to tell them apart.
    """
    return get_script_run_ctx(suppress_warning=True) is not None


_MEND_UPLOADERS = """<script>
if (!globalThis.knobUploadersMended) {
  globalThis.knobUploadersMended = true;
  const mend = () =>
    document
      .querySelectorAll('[data-testid="stFileUploaderDropzone"][role="presentation"]')
      .forEach((place) => place.setAttribute("role", "group"));
  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
  mend();
}
</script>"""


def mend_uploaders() -> None:
    """Streamlit marks the place for files as decoration, though it has a name and takes the focus: a group it is.

    Our own components live in shadow roots, which the observer does not see, so a drag does not wake it.
    """
    st.html(_MEND_UPLOADERS, unsafe_allow_javascript=True)


def component_value(key: str, name: str) -> Any:
    """What one of our components last reported, before it is mounted in this run; None where it has not.

    The mounting call returns the value too, but the data to mount it with depends on the value.
    """
    reported = st.session_state.get(key)
    return reported.get(name) if reported is not None and hasattr(reported, "get") else None


def is_origin_allowed(origin: str | None, host: str | None) -> bool:
    """Whether a page of this origin may open a WebSocket, by the server's own settings.

    As Streamlit checks, but for this: it also lets in this machine's addresses, and asks a server in the internet for
    the public one, in the event loop. Who needs such an origin lists it in `server.corsAllowedOrigins`.
    """
    if not is_host_allowed(host):
        return False
    if origin is None or not st.get_option("server.enableCORS"):  # no browser leaves its origin out
        return True
    try:
        listed = [each.lower().rstrip("/") for each in st.get_option("server.corsAllowedOrigins")]
        return urlparse(origin).netloc == host or origin in listed  # browsers send them so
    except ValueError:  # such as "http://["
        return False


def check_origins() -> None:
    """Let Streamlit's own socket take the same origins, without a question to the internet."""
    vars(starlette_websocket)["_is_origin_allowed"] = is_origin_allowed


def limit_message_size(receive: Receive | None, most: int) -> None:
    """Let the server refuse longer messages on this socket before they are in memory.

    Uvicorn has one limit for all sockets (`server.maxMessageSize`), and no public way to a lower one for a single
    socket. Where its insides are others than these, that limit holds.
    """
    connection: Any = getattr(getattr(receive, "__self__", None), "conn", None)
    if hasattr(connection, "max_message_size"):
        connection.max_message_size = most


def is_gone(receive: Receive) -> bool:
    """Whether the client of this socket is known to have left, though messages of it are waiting."""
    return bool(getattr(getattr(receive, "__self__", None), "disconnected", False))


def use_protocols(receive: Receive, http: type, websocket: type) -> None:
    """Let the server take these protocols from now on, given the start's `receive`.

    Streamlit makes uvicorn's configuration, and has no option for it.
    """
    config: Any = getattr(getattr(receive, "__self__", None), "config", None)
    for name, protocol in (("http_protocol_class", http), ("ws_protocol_class", websocket)):
        if hasattr(config, name):
            setattr(config, name, protocol)


def share_uploads() -> None:
    """Let every copy of an uploaded file have the same bytes: Streamlit copies them in every run, for each mention."""

    def copied(self: UploadedFile, memo: object) -> UploadedFile:
        made = UploadedFile(UploadedFileRec(self.file_id, self.name, self.type, self.getvalue()), self._file_urls)
        made.seek(self.tell())
        return made

    kind: Any = UploadedFile
    kind.__deepcopy__ = copied


def sessions() -> dict[str, Any]:
    """The sessions that the server keeps, by id: of open pages, and of closed ones that may still come back.

    Streamlit forgets a closed page's session, when its time is over, only on the next change of its table: here it is
    told to look. Call it in the server's event loop, as Streamlit does.
    """
    if not runtime.exists():
        return {}
    manager: Any = runtime.get_instance()._session_mgr
    with manager._storage_lock:
        manager._session_storage._cache.expire()
    return {info.session.id: info.session for info in manager.list_sessions()}


def end_session(session: Any) -> None:
    """Empty a session that cannot come back, with its uploaded files.

    Streamlit leaves that to the garbage collector, and its message loop holds the last session until another one comes:
    its state, and its widgets' callbacks and fragments, which refer to all that the page's script last knew by name.
    """
    session.shutdown()
    session.session_state.clear()
    session.session_state._new_widget_state.widget_metadata.clear()
    session._fragment_storage.clear()


class KeptFile(MediaFileMetadata):
    """A file that was made for a download: it stays for a minute at least."""

    SECONDS = 60.0

    def __init__(self, kind: MediaFileKind = MediaFileKind.MEDIA) -> None:
        super().__init__(kind)
        self._made = time.monotonic()

    def mark_for_delete(self) -> None:
        if time.monotonic() - self._made >= self.SECONDS:
            super().mark_for_delete()


def _remove_old_makers(manager: Any) -> None:
    """Instead of Streamlit's own: forget what makes a button's file a minute after the button was drawn anew."""
    now = time.monotonic()
    drawn = {id for files in manager._files_by_session_and_coord.values() for id in files.values()}
    before: dict[str, float] = vars(manager).get("replaced_at", {})
    replaced_at = {id: before.get(id, now) for id in manager._deferred_callables if id not in drawn}
    for id, since in replaced_at.items():
        if now - since >= KeptFile.SECONDS:
            manager._drop_deferred_id(id)
    vars(manager)["replaced_at"] = replaced_at


def keep_downloads() -> None:
    """Keep a file, and what makes it, until the browser has fetched it.

    Streamlit removes a file that is made on a press as soon as two scripts have ended, of whichever visitor: with a
    class at work that is before the browser asks for it, and the download fails with 404. And it forgets how to make
    the file as soon as the page's script runs again: a button that is pressed while it runs does nothing.
    """
    vars(media_file_manager)["MediaFileMetadata"] = KeptFile
    manager: Any = MediaFileManager
    manager._remove_orphaned_deferred_callables = _remove_old_makers


def forget_old_files() -> None:
    """Remove files that were made for downloads a minute ago: Streamlit looks only when somebody's script ends."""
    if runtime.exists():
        runtime.get_instance().media_file_mgr.remove_orphaned_files()


def forget_downloads(session_id: str | None = None) -> None:
    """Drop what would make a session's files, by default this one's: it holds the stream that they are made of.

    The page's next run draws its buttons anew.
    """
    if not runtime.exists():
        return
    context: Any = get_script_run_ctx(suppress_warning=True)
    files: Any = runtime.get_instance().media_file_mgr
    with files._lock:
        for id in list(files._deferred_ids_by_session.get(session_id or context.session_id, ())):
            files._drop_deferred_id(id)


class AfterRun:
    """What makes a download button's file, after the script has taken what was typed just before the press.

    A press that follows the typing at once is answered beside the script's run, which may not have come to it yet.
    Make it in a page's script; `download_turns` waits before it calls.
    """

    def __init__(self, make: Callable[[], str]) -> None:
        context: Any = get_script_run_ctx()
        self._session_id, self._make = context.session_id, make

    async def wait(self) -> None:
        """Until the script is quiet."""
        began = quiet_since = time.monotonic()
        while quiet_since + QUIET > (now := time.monotonic()) < began + LONGEST_RUN:
            quiet_since = now if _is_running(self._session_id) else quiet_since
            await asyncio.sleep(0.02)

    def __call__(self) -> str:
        return self._make()


def _is_running(session_id: str) -> bool:
    info: Any = runtime.get_instance()._session_mgr.get_session_info(session_id) if runtime.exists() else None
    return info is not None and info.session._scriptrunner is not None


class CountedFiles(dict[str, UploadedFileRec]):
    """A session's uploaded files by id, and their bytes: to add them up anew for each file took long."""

    def __init__(self, files: Mapping[str, UploadedFileRec]) -> None:
        super().__init__(files)
        self.bytes = sum(self._size(id, file) for id, file in files.items())

    def __setitem__(self, id: str, file: UploadedFileRec) -> None:
        self.pop(id, None)
        super().__setitem__(id, file)
        self.bytes += self._size(id, file)

    def pop(self, id: str, *otherwise: Any) -> Any:
        known = id in self
        file = super().pop(id, *otherwise)
        self.bytes -= self._size(id, file) if known else 0
        return file

    @staticmethod
    def _size(id: str, file: UploadedFileRec) -> int:
        return len(file.data) + len(id) + len(file.name) + len(file.type) + EMPTY_FILE


def stored_upload_bytes() -> dict[str, int]:
    """Session id -> bytes of its uploaded files that the server keeps, with names and what an empty file takes."""
    manager: Any = runtime.get_instance().uploaded_file_mgr
    with manager._lock:
        for session, files in manager.file_storage.items():
            if not isinstance(files, CountedFiles):  # Streamlit adds to it and takes from it one by one
                manager.file_storage[session] = CountedFiles(files)
        return {session: files.bytes for session, files in manager.file_storage.items()}


def stored_upload_count(session: str) -> int:
    """How many uploaded files of a session the server keeps."""
    if not runtime.exists():
        return 0
    manager: Any = runtime.get_instance().uploaded_file_mgr
    with manager._lock:
        return len(manager.file_storage.get(session, ()))


def are_given_up(file_ids: Collection[str]) -> Callable[[], bool]:
    """Tells, from any thread and while they are read, whether the page was closed or one of these files removed on it.

    The page's script cannot: it hears of neither before it comes to its next element. Call it in the script.
    """
    context: Any = get_script_run_ctx(suppress_warning=True)

    def given_up() -> bool:
        if not runtime.exists():
            return False
        kept = context.uploaded_file_mgr.get_files(context.session_id, list(file_ids))
        return len(kept) < len(file_ids) or not runtime.get_instance().is_active_session(context.session_id)

    return given_up


def remove_uploads(file_ids: set[str]) -> None:
    """Remove files of this session that its page lists no longer: Streamlit keeps them until the session is over."""
    context: Any = get_script_run_ctx(suppress_warning=True)
    for id in file_ids:
        context.uploaded_file_mgr.remove_file(context.session_id, id)
