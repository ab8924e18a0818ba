"""What is kept of a stream for whoever watches it."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from services import running

from knob_core import wrap
from knob_core.client import Service as Client
from knob_core.serving.engine import Engine
from knob_core.serving.served_stream import HISTORY, NAMES, Ring
from knob_core.serving.web import service as service_module
from knob_core.serving.web.one_at_a_time import OneAtATime
from knob_core.serving.web.one_for_all import OneForAll
from knob_core.serving.web.service import Service


def test_flips_are_those_of_the_rows_that_are_kept() -> None:
    rng, ring = np.random.default_rng(0), Ring()
    assert ring.flips("label") is None
    for number in range(1, 2 * HISTORY + 50):
        ring.add(number, 0.5, 0.5, *rng.integers(0, 2, 2))
        for name in ("label", "bare"):
            changes = np.diff(ring.rows()[:, NAMES.index(name)]) != 0
            assert ring.flips(name) == (100.0 * changes.sum() / len(changes) if len(changes) else None)


def test_flips_are_not_counted_anew_whenever_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = Ring()
    for label in (1, 2, 2):
        ring.add(1, 0.5, 0.5, label, 1)
    monkeypatch.setattr(Ring, "rows", None)
    assert (ring.flips("label"), ring.flips("bare")) == (50.0, 0.0)


def test_streams_are_listed_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    service, threads = Service(Engine(wrap.classifier())), []

    def listing() -> list[Any]:
        threads.append(threading.current_thread())
        return []

    monkeypatch.setattr(service.engine, "listing", listing)
    assert asyncio.run(service.listing_text()) == b'{"streams":[]}'
    assert threads != [threading.current_thread()]


def test_who_asks_for_the_streams_while_others_wait_gets_the_same_list() -> None:
    """Each is made after it was asked for, and one at a time, with a rest that is longer than it took."""
    spans: list[tuple[float, float]] = []

    def make() -> bytes:
        began, used = time.monotonic(), time.thread_time()
        while time.thread_time() - used < 0.02:
            pass
        spans.append((began, time.monotonic()))
        return b"%d" % len(spans)

    async def ask() -> list[bytes]:
        shared = OneForAll(make, OneAtATime())
        first = asyncio.create_task(shared.get())
        await asyncio.sleep(0.01)  # it is being made
        others = [asyncio.create_task(shared.get()) for _ in range(20)]
        await asyncio.sleep(0.01)
        others[0].cancel()
        return [await first, *await asyncio.gather(*others[1:]), await shared.get()]

    assert asyncio.run(ask()) == [b"1", *19 * [b"2"], b"3"]
    assert all(later[0] - earlier[1] > 0.07 for earlier, later in itertools.pairwise(spans))


def test_many_who_ask_at_once_cost_as_much_as_two(monkeypatch: pytest.MonkeyPatch) -> None:
    with running() as service, ThreadPoolExecutor(20) as threads:
        Client(service.url).step_many([{"stream": "a", "logits": [0.0, 1.0]}])
        made: list[None] = []
        real = service.engine.listing

        def slow() -> Any:
            made.append(None)
            time.sleep(0.2)
            return real()

        monkeypatch.setattr(service.engine, "listing", slow)
        found = list(threads.map(lambda _: Client(service.url).streams()[0]["frames"], range(20)))
        assert found == [1] * 20 and len(made) <= 3


@pytest.mark.parametrize("path", ["/v1/knobs", "/v1/knobs/log", "/metrics"])
def test_what_is_large_is_made_beside_the_event_loop_and_once_for_all_who_ask(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight viewers who asked in a loop made others' answers ten times slower."""
    with running() as service, ThreadPoolExecutor(20) as threads:
        client = Client(service.url)
        client.turn(zeta=1.5)
        made: list[bool] = []
        of, name = (service.metrics, "text") if path == "/metrics" else (service_module, "as_text")
        real = getattr(of, name)

        def slow(*given: Any) -> Any:
            made.append(threading.current_thread().name.startswith("knob"))
            time.sleep(0.2)
            return real(*given)

        monkeypatch.setattr(of, name, slow)
        found = set(threads.map(lambda _: client.request("GET", path, raw=True), range(20)))
        assert len(made) <= 3 and all(made)
        assert len(found) == 1 and (b"knob_zeta 1.5" if path == "/metrics" else b'"zeta":1.5') in found.pop()
