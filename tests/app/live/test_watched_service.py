"""The console's end of a service: addresses that may be connected to, and replies that nobody has checked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest

from app.live import live_display, service_address
from app.live.watched_service import MOST_CLASSES, MOST_STREAMS, Scope, WatchedService
from knob_core import methods
from knob_core.client.service import Service, ServiceError


class Scripted(BaseHTTPRequestHandler):
    """A server that answers each path as it was told to."""

    replies: ClassVar[dict[str, tuple[int, bytes]]] = {}
    heard: ClassVar[list[tuple[str, str, str | None]]] = []

    def do_GET(self) -> None:
        Scripted.heard.append((self.command, self.path, self.headers.get("Authorization")))
        status, body = self.replies.get(self.path, (404, b'{"error": "no such thing"}'))
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "http://127.0.0.1:9/")
        self.end_headers()
        self.wfile.write(body)

    do_PATCH = do_GET

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    Scripted.replies, Scripted.heard = {}, []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Scripted)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("good", ["http://127.0.0.1:8600", "http://localhost:1/", " https://[::1]:8600 "])
def test_services_on_this_machine_may_be_named(good: str) -> None:
    assert service_address.checked(good) == good.strip().rstrip("/")


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("http://192.0.2.7:8600", "services on its own machine only, without a path, not to http://192.0.2.7:8600"),
        ("http://0.0.0.0:8600", "own machine only"),
        ("http://2130706433", "own machine only"),
        ("http://[::ffff:192.0.2.7]", "own machine only"),
        ("http://127.0.0.1:9200/_cluster/health", "without a path"),
        ("http://:word@127.0.0.1", "expected one such as"),
        ("http://127.0.0.1\\@192.0.2.7", "expected one such as"),
        ("http://127.0.0.1:80 /x", "(cannot be read|expected one such as)"),
        ("http://127.0.0.1:8600?a=1", "expected one such as"),
        ("http://127.0.0.1#@192.0.2.7", "expected one such as"),
        ("http://127\uff0e0.0.1", "(cannot be read|expected one such as)"),
        ("http://127.0.0.1.evil.example", "own machine only"),
        ("ftp://127.0.0.1", "expected one such as"),
        ("http://user:word@127.0.0.1", "expected one such as"),
        ("127.0.0.1:8600", "expected one such as"),
        ("http://127.0.0.1:99999", "cannot be read"),
        ("http://[::1", "cannot be read"),
        ("", "expected one such as"),
    ],
)
def test_other_addresses_are_refused_by_name(wrong: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        service_address.checked(wrong)


def test_who_runs_the_console_may_list_services_and_then_no_other_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also none on this machine: guests of a shared console must not reach whatever else listens there."""
    monkeypatch.setenv(service_address.ALLOWED, "http://192.0.2.7:8600, https://knob.example/a/")
    assert service_address.checked("http://192.0.2.7:8600/") == "http://192.0.2.7:8600"
    assert service_address.checked("https://knob.example/a") == "https://knob.example/a"
    assert service_address.first() == "http://192.0.2.7:8600"
    for other in ("http://192.0.2.7:8601", "http://127.0.0.1:8600", "https://knob.example", "https://knob.example/b"):
        with pytest.raises(ValueError, match=r"listed services only, not to .* KNOB_SERVICES"):
            service_address.checked(other)
    monkeypatch.setenv(service_address.ALLOWED, "")
    with pytest.raises(ValueError, match="listed services only"):
        service_address.checked(service_address.HOME)


def test_the_token_goes_along_and_paths_are_quoted(address: str) -> None:
    Scripted.replies["/v1/streams/a%2Fb?since=3"] = (200, b'{"stream": "a/b"}')
    assert Service(address, "word").stream("a/b", since=3) == {"stream": "a/b"}
    assert Scripted.heard == [("GET", "/v1/streams/a%2Fb?since=3", "Bearer word")]


def test_a_refusal_is_said_in_the_services_words(address: str) -> None:
    Scripted.replies["/v1/knobs"] = (403, b'{"error": "a viewer may not turn"}')
    with pytest.raises(ServiceError, match="a viewer may not turn"):
        Service(address).turn(zeta=1)
    Scripted.replies["/v1/knobs"] = (500, b"<html>")
    with pytest.raises(ServiceError, match="the service answered 500"):
        Service(address).knobs()


def test_a_redirect_is_not_followed(address: str) -> None:
    Scripted.replies["/v1/knobs"] = (302, b"")
    with pytest.raises(ServiceError, match="302"):
        Service(address).knobs()


@pytest.mark.parametrize("reply", [b"hello", b"[1, 2]", b"[" * 100_000, b"\xff"])
def test_who_does_not_answer_as_a_service_is_none(address: str, reply: bytes) -> None:
    Scripted.replies["/v1/knobs"] = (200, reply)
    with pytest.raises(ServiceError, match="not as a Knob service"):
        Service(address).knobs()


def test_a_service_that_is_not_there_is_named() -> None:
    with pytest.raises(ServiceError, match=r"no service answers at http://127\.0\.0\.1:9"):
        Service("http://127.0.0.1:9").knobs()


def test_what_was_known_stays_when_the_service_is_lost(address: str) -> None:
    for path, reply in {
        "/v1/service": {"role": "operator", "classes": ["cat"]},
        "/v1/streams": {"streams": [{"stream": "a", "group": "yard"}, "nonsense"]},
        "/v1/knobs": {"revision": 4, "all": {"zeta": 2.0}, "groups": {"yard": {"omega_n": 0.1}}, "streams": {}},
        "/v1/streams/a?since=0": {"stream": "a", "history": {"frame": [1, 2], "g": [0.5, None], "p_max": [1, 1],
                                                     "label": [0, -1], "bare": [0, 0]}},
    }.items():  # fmt: skip
        Scripted.replies[path] = (200, json.dumps(reply).encode())
    watched = WatchedService(Service(address))
    watched.refresh()
    assert (watched.lost, watched.ids(), watched.groups(), watched.operator) == (False, ["a"], ["yard"], True)
    assert (watched.settings(Scope()).zeta, watched.settings(Scope(stream="a")).omega_n) == (2.0, 0.1)
    assert watched.history.label.tolist() == [0, -1]
    Scripted.replies.clear()
    watched.refresh()
    assert watched.lost
    assert (watched.ids(), watched.revision) == (["a"], 4)


@pytest.mark.parametrize(
    "history",
    [None, [], {"frame": "abc"}, {"frame": [1], "g": ["x"], "p_max": [None], "label": [{}], "bare": [True], "more": 1}],
)
def test_a_strange_history_is_no_error(address: str, history: object) -> None:
    Scripted.replies["/v1/service"] = Scripted.replies["/v1/knobs"] = (200, b"{}")
    Scripted.replies["/v1/streams"] = (200, b'{"streams": [{"stream": "a"}]}')
    Scripted.replies["/v1/streams/a?since=0"] = (200, json.dumps({"history": history}).encode())
    watched = WatchedService(Service(address))
    watched.refresh()
    assert not watched.lost
    assert len(watched.history.frame) <= 1


STRANGE = ["x", [1], {"a": 1}, None, True, 10**400, -1, 1e308, float("nan")]


@pytest.mark.parametrize("strange", STRANGE, ids=lambda value: repr(value)[:9])
def test_whatever_a_service_says_can_be_shown(address: str, strange: Any) -> None:
    """Another program may listen there, or another version: every field may be of any kind."""
    names = ("group", "name", "label", "p_max", "flips", "flips_bare", "rate", "frames", "dropped", "connected", "g")
    row = {"stream": "a", **dict.fromkeys(names, strange)}
    history = {name: [strange, 1] for name in ("frame", "g", "p_max", "label", "bare")}
    about = {"role": strange, "classes": strange, "model": strange, "method": strange}
    replies = {
        "/v1/service": about, "/v1/streams": {"streams": [row, strange]},
        "/v1/knobs": {"revision": strange, "all": strange, "groups": strange, "streams": strange},
        "/v1/streams/a?since=0": {**row, "history": history, "picture": False},
    }  # fmt: skip
    for path, reply in replies.items():
        Scripted.replies[path] = (200, json.dumps(reply).encode())
    watched = WatchedService(Service(address))
    watched.refresh()
    assert not watched.lost and watched.ids() == ["a"]
    for scope in (Scope(), Scope(group="g"), Scope(stream="a")):
        assert watched.settings(scope) is not None
    assert live_display.cards(watched.detail) and live_display.figures(watched)
    assert len(live_display.rows(watched.streams)) == 1 and watched.groups() is not None
    assert isinstance(watched.revision, int) and isinstance(watched.classes, list)
    assert watched.method == methods.DEFAULT


def test_there_is_room_for_so_many_streams_and_the_chosen_one(address: str) -> None:
    ids = [f"s{k:06d}" for k in range(MOST_STREAMS + 500)]
    rows = [{"stream": id} for id in (*ids, "x" * 1000)]
    Scripted.replies["/v1/service"] = Scripted.replies["/v1/knobs"] = (200, b"{}")
    Scripted.replies["/v1/streams"] = (200, json.dumps({"streams": rows}).encode())
    for id in (ids[0], ids[-1]):
        Scripted.replies[f"/v1/streams/{id}?since=0"] = (200, b"{}")
    watched = WatchedService(Service(address))
    watched.refresh()
    assert (watched.lost, watched.chosen, watched.unlisted, len(watched.ids())) == (False, ids[0], 500, MOST_STREAMS)
    watched.look_at(ids[-1])
    watched.refresh()
    assert watched.chosen == watched.ids()[-1] == ids[-1] and watched.unlisted == 499


def test_of_many_classes_as_many_as_a_history_can_hold_are_named(address: str) -> None:
    watched = WatchedService(Service(address), {"classes": ["c"] * 40_000})
    assert len(watched.classes) == MOST_CLASSES == 32_767
