"""A link gives a file that is made on request, to whoever holds the session's token, and to nobody else."""

from __future__ import annotations

import gc
import threading
import time
from typing import Any, NamedTuple

import anyio
import pytest
import streamlit as st
from starlette.applications import Starlette

from app.server import downloads
from app.server.downloads import Downloads


@pytest.fixture(autouse=True)
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The links, as HTML."""
    shown: list[str] = []
    monkeypatch.setattr(st, "html", shown.append)
    monkeypatch.setattr(downloads, "QUIET", 0.05)
    return shown


class Got(NamedTuple):
    """The answer to a request."""

    status: int
    headers: dict[str, str]
    text: str


def get(path: str, host: str = "localhost") -> Got:
    """Ask the route."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    scope = {"type": "http", "method": "GET", "path": path, "headers": [(b"host", host.encode())], "query_string": b""}
    anyio.run(Starlette(routes=[downloads.route()]), scope, receive, send)
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Got(sent[0]["status"], headers, b"".join(part["body"] for part in sent[1:]).decode())


def test_a_link_gives_what_is_true_when_it_is_pressed(drawn: list[str]) -> None:
    own, name = Downloads(), ["Ada"]
    own.link("Summary <1>", "a.html", lambda: f"<p>{name[0]}", 'so "it" is')
    name[0] = "Grace"
    got = get(f"/knob-file/{own.token}/a.html")
    assert (got.status, got.text) == (200, "<p>Grace")
    assert got.headers["content-type"].startswith("text/html")
    assert got.headers["content-disposition"] == 'attachment; filename="a.html"'  # saved, never shown on our origin
    assert f'href="knob-file/{own.token}/a.html"' in drawn[0] and "Summary &lt;1&gt;" in drawn[0]
    assert "so &quot;it&quot; is" in drawn[0]


def test_sessions_are_apart_and_nothing_outlives_them() -> None:
    mine, other = Downloads(), Downloads()
    assert mine.token != other.token and len(mine.token) >= 32
    mine.link("Data", "a.csv", lambda: "mine", "")
    assert get(f"/knob-file/{other.token}/a.csv").status == 404
    assert get("/knob-file/guess/a.csv").status == 404
    address = f"/knob-file/{mine.token}/a.csv"
    assert get(address).text == "mine"
    mine.forget()
    assert get(address).status == 404
    mine.link("Data", "a.csv", lambda: "mine", "")
    gc.disable()
    try:
        del mine
        assert get(address).status == 404
    finally:
        gc.enable()


def test_another_name_of_the_server_gives_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """A foreign name that was made to lead here (DNS rebinding)."""
    monkeypatch.setattr(downloads, "is_host_allowed", lambda host: host == "localhost")
    own = Downloads()
    own.link("Data", "a.csv", lambda: "mine", "")
    address = f"/knob-file/{own.token}/a.csv"
    statuses = [get(address, host).status for host in ("localhost", "evil.example")]
    assert statuses == [200, 404]


def test_a_file_that_cannot_be_made_says_so_and_its_token_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    own = Downloads()
    own.link("Data", "a.csv", lambda: str(1 / 0), "")
    got = get(f"/knob-file/{own.token}/a.csv")
    assert (got.status, got.text) == (500, "The file could not be made")
    assert "ZeroDivisionError" in caplog.text and own.token not in caplog.text


def test_a_file_has_what_was_typed_just_before_the_press() -> None:
    """The press may arrive before the page's script has begun to read what was typed."""
    own, name = Downloads(), [""]
    own.link("Summary", "a.html", lambda: name[0], "")

    def script() -> None:
        time.sleep(downloads.QUIET / 2)
        with own.script_run():
            time.sleep(0.2)
            name[0] = "Ada"

    thread = threading.Thread(target=script)
    thread.start()
    assert get(f"/knob-file/{own.token}/a.html").text == "Ada"
    thread.join()


@pytest.mark.parametrize("prefix, path", [("", "/knob-file/{token}/{name}"), ("/a/", "/a/knob-file/{token}/{name}")])
def test_the_path_lies_under_the_servers_prefix(prefix: str, path: str) -> None:
    assert downloads.route(prefix).path == path
