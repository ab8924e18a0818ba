"""How much of visitors' files the server keeps: a total per session and one for all, checked before a file is taken.

Streamlit limits the size of one file (`server.maxUploadSize`), and keeps as many of them as are sent. A file counts for
its own session as soon as it is announced, for all the others with the bytes that came.
"""

from __future__ import annotations

import asyncio
from collections import Counter

from python_multipart.multipart import parse_options_header
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.server.streamlit_internals import UPLOAD_PATH, stored_upload_bytes, stored_upload_count

MEGABYTE = 1024 * 1024
MOST_PER_SESSION = 100  # MB
MOST = 1000  # MB, of all sessions
MOST_FILES = 10_000  # of a session: Streamlit walks over all that it keeps after each run of anybody's page
LONGEST_ID = 100  # characters; a browser's have 36
SILENT = 10.0  # seconds in which an upload that brings nothing ends
MOST_PARTS = 8  # of a form; ours has one, the file. Python takes a form apart in the event loop


class UploadLimits:
    """Middleware of the server: refuses a file that would be too much, before any of it is read."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._coming: Counter[str] = Counter()  # bytes announced, by session
        self._came = 0  # bytes of files that are on their way

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "PUT" or UPLOAD_PATH not in scope["path"]:
            await self.app(scope, receive, send)
            return
        *_, session, id = scope["path"].split("/")
        headers = Headers(scope=scope)
        length, (kind, options) = headers.get("content-length", ""), parse_options_header(headers.get("content-type"))
        if not (length.isdecimal() and len(length) <= 15):
            refusal: tuple[int, str] | None = (411, "say how long the file is")
        elif kind != b"multipart/form-data":
            refusal = 415, "send the file in a form (multipart/form-data)"
        elif len(id) > LONGEST_ID:
            refusal = 400, f"the file's id has {len(id):,} characters, expected at most {LONGEST_ID}"
        else:
            refusal = self.refusal(session, int(length))
        if refusal is not None:
            also = {} if await _is_whole(receive) else {"connection": "close"}
            await PlainTextResponse(refusal[1], refusal[0], also)(scope, receive, send)
            return
        watched = _Watched(self, receive, b"\r\n--" + options.get(b"boundary", b""))
        self._coming[session] += int(length)
        try:
            await self.app(scope, watched, send)
        except ClientDisconnect:
            pass  # the browser's or ours: there is nobody to tell
        finally:
            self._came -= watched.came
            self._coming[session] -= int(length)
            self._coming += Counter()  # forget those at 0

    def refusal(self, session: str, length: int) -> tuple[int, str] | None:
        """The status and the words for a file that is too much, None for one that is not."""
        if stored_upload_count(session) >= MOST_FILES:
            return 413, f"the server has {MOST_FILES:,} files of yours, which is the most: remove some, or send a zip"
        own = stored_upload_bytes().get(session, 0) + self._coming[session] + length
        if own > MOST_PER_SESSION * MEGABYTE:
            return 413, f"your files would have {own / MEGABYTE:.0f} MB, expected at most {MOST_PER_SESSION} MB"
        if not self.has_room(length):
            return 503, f"this server has no room for another file ({MOST} MB for all visitors); try again later"
        return None

    def has_room(self, length: int) -> bool:
        """For so many bytes more, of any visitor."""
        return sum(stored_upload_bytes().values()) + self._came + length <= MOST * MEGABYTE

    def take(self, length: int) -> bool:
        """Count bytes that came; whether there is room for them."""
        self._came += length
        return self.has_room(0)


async def _is_whole(receive: Receive) -> bool:
    """Throw a body away, as long as it comes: a browser that is cut off while it sends does not read why."""
    try:
        while (await asyncio.wait_for(receive(), SILENT)).get("more_body", False):
            pass
    except TimeoutError:
        return False
    return True


class _Watched:
    """The body of an upload as it comes; it ends where nothing comes for a while, or where the server is full.

    And where `boundary`, which parts a form, stands in it again and again.
    """

    def __init__(self, limits: UploadLimits, receive: Receive, boundary: bytes) -> None:
        self.limits, self.receive, self.boundary = limits, receive, boundary
        self.came = self._parts = 0
        self._whole = False

    async def __call__(self) -> Message:
        if self._whole:
            return await self.receive()
        try:
            message = await asyncio.wait_for(self.receive(), SILENT)
        except TimeoutError:
            return {"type": "http.disconnect"}
        body = message.get("body", b"")
        self.came += len(body)
        self._parts += body.count(self.boundary)
        self._whole = not message.get("more_body", False)
        taken = self.limits.take(len(body)) and self._parts <= MOST_PARTS
        return message if taken else {"type": "http.disconnect"}


def words(most_per_file: int) -> str:
    """The limits, for the page."""
    return f"up to {most_per_file} MB a file and {MOST_PER_SESSION} MB in all; {MOST:,} MB for all visitors together"
