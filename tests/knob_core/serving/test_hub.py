"""The hub of several replicas, without Ray: one numbering of turns, told to all; questions that all answer."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from knob_core.serving.knob_control import Change, KnobControl
from knob_core.serving.on_ray import hub as hubs
from knob_core.serving.on_ray.hub import Hub
from knob_core.settings import Settings, to_toml

FIRST = KnobControl(Settings(zeta=1.5)).table.to_json()


def turning(**changes: Any) -> dict[str, Any]:
    return Change("turn", {"changes": changes}).to_json()


class Member:
    """What a replica does at the hub."""

    def __init__(self, hub: Hub, name: str, deaf: bool = False) -> None:
        self.hub, self.name, self.deaf = hub, name, deaf
        self.zeta: list[float] = []
        self.revision = self.told = 0
        self.drained = False

    async def run(self) -> None:
        report: dict[str, Any] | None = None
        while True:
            news = await self.hub.exchange(self.name, self.revision, self.told, report, FIRST)
            if self.deaf:
                await asyncio.sleep(3600)
            if news["knobs"] is not None:
                self.revision = news["knobs"]["revision"]
                self.zeta.append(news["knobs"]["all"]["zeta"])
            self.drained = news["draining"]
            report = {"name": self.name, "drained": self.drained}
            self.told = news["question"]
            await asyncio.sleep(0.001)


@asynccontextmanager
async def together(hub: Hub, *members: Member) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(member.run()) for member in members]
    while len(hub.replicas) < len(members):
        await asyncio.sleep(0.001)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


def test_a_turn_is_done_when_every_replica_has_it(tmp_path: Path) -> None:
    async def scene() -> None:
        hub = Hub(str(tmp_path))
        assert "starting" in (await hub.change(turning(zeta=2.0), "olga"))["error"]
        members = [Member(hub, name) for name in "abc"]
        async with together(hub, *members):
            for zeta in (2.0, 0.5, 0.7):
                found = await hub.change(turning(zeta=zeta), "olga")
                assert all(member.revision == found["knobs"]["revision"] for member in members)
            assert all(member.zeta == [1.5, 2.0, 0.5, 0.7] for member in members)
            state = await hub.state()
            assert state["knobs"]["revision"] == 4 and [line["by"] for line in state["log"]] == ["olga"] * 3

    asyncio.run(scene())


def test_refusals_are_told_with_their_status(tmp_path: Path) -> None:
    async def scene() -> None:
        hub = Hub(str(tmp_path))
        async with together(hub, Member(hub, "a")):
            for change, status, words in (
                (turning(zeta=-1.0), 400, "zeta is -1"),
                (Change("turn", {"changes": {"zeta": 1.0}, "if_revision": 7}).to_json(), 409, "if_revision is 7"),
                (Change("release", {"group": "x"}).to_json(), 404, "has no knobs of its own"),
                (Change("revert", {"revision": 99}).to_json(), 404, "revision 99 is not known"),
            ):
                found = await hub.change(change, "olga")
                assert found["status"] == status and words in found["error"]
            assert (await hub.state())["knobs"]["revision"] == 1

    asyncio.run(scene())


def test_knobs_outlive_the_hub(tmp_path: Path) -> None:
    async def scene() -> None:
        hub = Hub(str(tmp_path))
        async with together(hub, Member(hub, "a")):
            await hub.change(Change("turn", {"changes": {"zeta": 0.4}, "group": "north"}).to_json(), "olga")
            before = await hub.state()
        again = Hub(str(tmp_path))
        member = Member(again, "a")
        async with together(again, member):
            assert await again.state() == before
            while member.revision != 2:
                await asyncio.sleep(0.001)

    asyncio.run(scene())


def test_saved_knobs_that_do_not_fit_are_told(tmp_path: Path) -> None:
    (tmp_path / hubs.NAME).write_text(json.dumps({"knobs": {"revision": 3}}))
    hub = Hub(str(tmp_path))
    assert hub.knobs is None and "does not fit" in hub.problems["knobs"]


def test_a_turn_that_cannot_be_saved_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene() -> None:
        hub = Hub(str(tmp_path))
        async with together(hub, Member(hub, "a")):

            def full(*_: Any, **__: Any) -> None:
                raise OSError("the disk is full")

            monkeypatch.setattr(hubs.files, "write_text", full)
            found = await hub.change(turning(zeta=2.0), "olga")
            assert found["status"] == 503 and "the disk is full" in found["error"]
            state = await hub.state()
            assert state["knobs"]["all"]["zeta"] == 1.5 and not state["log"]

    asyncio.run(scene())


def test_a_question_is_answered_by_all_who_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "BEAT", 0.1)
    monkeypatch.setattr(hubs, "WITHIN", 0.3)
    monkeypatch.setattr(hubs, "SILENT", 0.5)

    async def scene() -> None:
        hub = Hub(str(tmp_path))
        members = [Member(hub, "a"), Member(hub, "b"), Member(hub, "deaf", deaf=True)]
        async with together(hub, *members):
            assert set(await hub.reports()) == {"a", "b"}  # without the one that does not come back
            await asyncio.sleep(0.6)
            began = time.monotonic()
            assert set(await hub.reports()) == {"a", "b"} and time.monotonic() - began < 0.25  # nobody waits for it
            members[2].deaf = False
            await hub.drain()
            assert members[0].drained and members[1].drained

    asyncio.run(scene())


def test_a_settings_file_is_followed(tmp_path: Path) -> None:
    async def scene() -> None:
        path = tmp_path / "knob.toml"
        path.write_text(to_toml(Settings(zeta=1.0)))
        hub = Hub(str(tmp_path), str(path))
        member = Member(hub, "a")
        async with together(hub, member):
            path.write_text(to_toml(Settings(zeta=0.33)) + "\n")
            until = time.monotonic() + 10
            while member.zeta[-1:] != [0.33] and time.monotonic() < until:
                await asyncio.sleep(0.02)
            assert member.zeta[-1] == 0.33

    asyncio.run(scene())
