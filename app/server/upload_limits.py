"""How much of visitors' files the server keeps: a total per session and one for all, checked before a file is taken.

Streamlit limits the size of one file (`server.maxUploadSize`), and keeps as many of them as are sent.
"""

from __future__ import annotations

from collections import Counter

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from app.server.streamlit_internals import UPLOAD_PATH, stored_upload_bytes

MEGABYTE = 1024 * 1024
MOST_PER_SESSION = 100  # MB
MOST = 1000  # MB, of all sessions


class UploadLimits:
    """Middleware of the server: refuses a file that would be too much, before any of it is read."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._coming: Counter[str] = Counter()  # bytes on their way, by session

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "PUT" or UPLOAD_PATH not in scope["path"]:
            await self.app(scope, receive, send)
            return
        session = scope["path"].split("/")[-2]
        length = Headers(scope=scope).get("content-length", "")
        refusal = self.refusal(session, int(length)) if length.isdecimal() else (411, "say how long the file is")
        if refusal is not None:
            while (await receive()).get("more_body", False):
                pass  # thrown away: a browser that is cut off while it sends does not read why
            await PlainTextResponse(refusal[1], refusal[0])(scope, receive, send)
            return
        self._coming[session] += int(length)
        try:
            await self.app(scope, receive, send)
        finally:
            self._coming[session] -= int(length)
            self._coming += Counter()  # forget those at 0

    def refusal(self, session: str, length: int) -> tuple[int, str] | None:
        """The status and the words for a file that is too much, None for one that is not."""
        stored = stored_upload_bytes()
        own = stored.get(session, 0) + self._coming[session] + length
        if own > MOST_PER_SESSION * MEGABYTE:
            return 413, f"your files would have {own / MEGABYTE:.0f} MB, expected at most {MOST_PER_SESSION} MB"
        of_all = sum(stored.values()) + self._coming.total() + length
        if of_all > MOST * MEGABYTE:
            return 503, f"this server has no room for another file ({MOST} MB for all visitors); try again later"
        return None


def words(most_per_file: int) -> str:
    """The limits, for the page."""
    return f"up to {most_per_file} MB a file and {MOST_PER_SESSION} MB in all; {MOST:,} MB for all visitors together"
