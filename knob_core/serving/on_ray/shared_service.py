"""A service that is one replica of several: its streams' files are shared, and the hub speaks for all."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from prometheus_client.core import Metric
from prometheus_client.exposition import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector
from ray.exceptions import RayError
from ray.serve.exceptions import BackPressureError, RayServeException

from knob_core.serving.access import Caller
from knob_core.serving.decode import Listed
from knob_core.serving.engine import Full
from knob_core.serving.knob_control import Change, Conflict, table_from_json
from knob_core.serving.messages import KnobChange, KnobState, Reply, StreamInfo
from knob_core.serving.stream_files import StreamFiles
from knob_core.serving.web.service import Service, refusal

FAILED = (RayError, RayServeException)
ERRORS: dict[int, type[Exception]] = {400: ValueError, 404: LookupError, 409: Conflict, 503: Full}
log = logging.getLogger(__name__)


class SharedService(Service):
    """One replica; `connect` comes before the first request."""

    replica: str
    files: StreamFiles

    def connect(self, replica: str, files: StreamFiles, hub: Any, streams: Any) -> None:
        """`hub` and `streams` are handles of Ray Serve: of the hub, and of all replicas."""
        self.replica, self.files, self._hub, self._streams = replica, files, hub, streams

    # The hub

    async def exchange(self) -> None:
        """Take the knobs from the hub and tell it what it asks, until the service is drained."""
        table = self.engine.knobs.table
        first, revision, answered, report = table.to_json(), 0, 0, None
        while True:
            try:
                news = await self._hub.exchange.remote(self.replica, revision, answered, report, first)
            except FAILED as error:
                if "hub" not in self.problems:
                    log.warning("the hub does not answer", extra={"cause": str(error)[:200]})
                self.problems["hub"] = "the hub does not answer: knobs stay as they are"
                await asyncio.sleep(0.5)
                continue
            self.problems.pop("hub", None)
            if news["knobs"] is not None:
                self.engine.knobs.restore(table_from_json(news["knobs"]))
                revision = self.engine.knobs.table.revision
                self.ready = True
            if news["draining"] and not self.draining:
                await asyncio.to_thread(self.drain)
            report = self.report() if news["question"] > answered or self.draining else None
            answered = news["question"]
            if self.draining:
                await asyncio.sleep(0.2)  # the hub answers at once from now on

    def report(self) -> dict[str, Any]:
        """What this replica says of itself."""
        about = self.about(Caller("", "viewer"))
        assert self.metrics is not None
        return {
            "listing": self.engine.listing(), "metrics": self.metrics.text().decode(), "drained": self.draining,
            "problems": dict(self.problems), "streams": about["streams"], "capacity": about["capacity"],
            "pid": os.getpid(), "node": os.uname().nodename, "problem": None,
        }  # fmt: skip

    async def _ask(self, method: str, *arguments: Any) -> Any:
        try:
            return await getattr(self._hub, method).remote(*arguments)
        except FAILED:
            raise Full("the hub does not answer now, try again") from None

    async def knob_state(self) -> KnobState:
        return _checked(await self._ask("state"))["knobs"]

    async def knob_log(self) -> list[KnobChange]:
        return _checked(await self._ask("state"))["log"]

    async def change_knobs(self, change: Change, by: str) -> KnobState:
        return _checked(await self._ask("change", change.to_json(), by))["knobs"]

    async def listing(self) -> list[StreamInfo]:
        """Of all replicas; a stream that has moved is listed where it was last."""
        found: dict[str, StreamInfo] = {}
        for report in (await self._ask("reports")).values():
            for info in report["listing"]:
                other = found.get(info["stream"])
                if other is None or (info["connected"], -info["idle"]) > (other["connected"], -other["idle"]):
                    found[info["stream"]] = info
        return [found[id] for id in sorted(found)]

    async def metrics_text(self) -> bytes:
        return joined({name: report["metrics"] for name, report in (await self._ask("reports")).items()})

    async def whole_about(self, caller: Caller) -> dict[str, Any]:
        reports = await self._ask("reports")
        names = ("streams", "capacity", "node", "pid")
        replicas = {name: {key: report[key] for key in names} for name, report in reports.items()}
        problems = {f"{subject} ({name})" if len(reports) > 1 else subject: cause
                    for name, report in reports.items() for subject, cause in report["problems"].items()}  # fmt: skip
        return {
            **self.about(caller), "streams": sum(r["streams"] for r in reports.values()),
            "capacity": sum(r["capacity"] for r in reports.values()), "problems": problems, "replicas": replicas,
        }  # fmt: skip

    # Streams

    async def recall(self, id: str, socket: bool = False) -> None:
        await asyncio.to_thread(self.files.recall, id, socket)

    async def forget(self, id: str) -> bool:
        known = self.engine.forget(id)
        return await asyncio.to_thread(self.files.remove, id) or known

    async def step_elsewhere(self, frames: list[Listed]) -> list[Reply] | None:
        """Each stream's frames to its replica; the replies in the order of the frames."""
        places: dict[str, list[int]] = defaultdict(list)
        for place, frame in enumerate(frames):
            places[frame.stream].append(place)
        replies: list[Any] = [None] * len(frames)

        async def one(id: str, mine: list[int]) -> None:
            try:
                handle = self._streams.options(session_id=id)
                found = await handle.step_many.remote([frames[place] for place in mine])
            except FAILED as error:
                busy = isinstance(error, BackPressureError)
                cause = "the stream's replica has too much to do" if busy else "the stream's replica does not answer"
                found = [refusal(id, Full(cause))] * len(mine)
            for place, reply in zip(mine, found, strict=True):
                replies[place] = reply

        # Each in a context of its own: Ray takes calls that are made within one request for one and the same.
        fresh = contextvars.Context
        await asyncio.gather(
            *(asyncio.create_task(one(id, mine), context=fresh()) for id, mine in places.items())
        )  # fmt: skip
        return replies


def _checked(found: dict[str, Any]) -> dict[str, Any]:
    """What the hub said, or the error that it stands for."""
    if "error" in found:
        raise ERRORS[found["status"]](found["error"])
    return found


class _Given(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        return self._families


def joined(texts: Mapping[str, str]) -> bytes:
    """The metrics of several replicas as one text: each sample with its replica's name as a label."""
    families: dict[str, Metric] = {}
    for replica, text in sorted(texts.items()):
        for family in text_string_to_metric_families(text):
            whole = families.setdefault(family.name, Metric(family.name, family.documentation, family.type))
            for sample in family.samples:
                whole.add_sample(sample.name, {**sample.labels, "replica": replica}, sample.value)
    return generate_latest(_Given(list(families.values())))
