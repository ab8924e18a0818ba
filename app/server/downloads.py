"""Downloads: files that are made on request, at an address that only the session's own page knows.

    GET /knob-file/TOKEN/NAME

A page offers a file by its name and a function that makes it; the last page that offers a name has it. Streamlit's own
download buttons forget such a function when another visitor's script ends.
"""

from __future__ import annotations

import asyncio
import html
import logging
import secrets
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from weakref import WeakValueDictionary

import streamlit as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app.server.background_jobs import give_way
from app.server.streamlit_compat import is_host_allowed

PATH = "knob-file"
QUIET = 0.3  # seconds: what was typed just before the press reaches the page's script a little after it
LONGEST_RUN = 5.0  # seconds that a file waits for the page's script at most
TYPES = {"csv": "text/csv", "html": "text/html", "toml": "application/toml"}

_makers = ThreadPoolExecutor(2, "knob-download", initializer=give_way)
_sessions: WeakValueDictionary[str, Downloads] = WeakValueDictionary()  # by token; each lives as long as its session


class Downloads:
    """The files that the pages of one session offer."""

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe(24)
        self._makers: dict[str, Callable[[], str]] = {}  # by the file's name
        self._runs = 0  # of the page's script, at present
        _sessions[self.token] = self

    def link(self, label: str, name: str, make: Callable[[], str], help: str) -> None:
        """Draw a link that looks like a button; `make` runs outside the page's script."""
        self._makers[name] = make
        words, title = html.escape(label), html.escape(help)
        st.html(f'<a class="knob-file" href="{PATH}/{self.token}/{name}" download="{name}" title="{title}">{words}</a>')

    def forget(self) -> None:
        """Offer nothing: what makes the files holds the stream that they are made of."""
        self._makers.clear()

    @contextmanager
    def script_run(self) -> Iterator[None]:
        """The page's script runs in this block."""
        self._runs += 1
        try:
            yield
        finally:
            self._runs -= 1

    async def content(self, name: str) -> str:
        """Make a file, after the script has taken what was typed just before; raises KeyError for an unknown name."""
        latest = time.monotonic() + LONGEST_RUN
        await asyncio.sleep(QUIET)
        while self._runs and time.monotonic() < latest:
            await asyncio.sleep(0.02)
        return await asyncio.get_running_loop().run_in_executor(_makers, self._makers[name])


async def _serve(request: Request) -> Response:
    name, found = request.path_params["name"], _sessions.get(request.path_params["token"])
    try:
        if found is None or not is_host_allowed(request.headers.get("host")):
            raise KeyError(name)
        content = await found.content(name)
    except KeyError:
        return PlainTextResponse("There is no such file; open the page anew", 404)
    except Exception:
        logging.getLogger(__name__).exception("a file for a download was not made")
        return PlainTextResponse("The file could not be made", 500)
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(content, headers=headers, media_type=TYPES[name.rpartition(".")[2]])


def route(prefix: str = "") -> Route:
    """The files as a route of the server, under the server's base path where it has one."""
    return Route("/".join(["", *filter(None, [prefix.strip("/")]), PATH, "{token}", "{name}"]), _serve)
