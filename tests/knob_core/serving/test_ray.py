"""On Ray Serve: two replicas, forty streams, one replica killed. Answers stay those of `KnobStream` in process."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running_service import free_port
from services import CLASSES, ROOT, logits

from knob_core import wrap
from knob_core.client import AsyncStream, Service, ServiceError, Stream
from knob_core.runtime import KnobStream
from knob_core.serving.knob_control import KnobTable, table_from_json

pytest.importorskip("ray.serve", reason="needs Ray Serve: pip install -e '.[ray]'")
pytestmark = pytest.mark.slow

STREAMS = 40
EVERY = 0.5  # s between two savings


class RayService:
    """`knob serve logits --ray` as a process."""

    def __init__(self, folder: Path) -> None:
        self.url = f"http://127.0.0.1:{(port := free_port())}"
        options = ["--ray", "--replicas", "2", "--cpus", "0.5", "--state", str(folder), "--snapshot-every", str(EVERY)]
        limits = ["--queue", "8", "--capacity", "60"]
        command = [sys.executable, "-m", "knob_core.serving", f"logits:{CLASSES}", "--port", str(port)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAY_USAGE_STATS_ENABLED": "0"}
        self.process = subprocess.Popen(
            [*command, *options, *limits], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        assert self.process.stdout is not None
        line = ""
        for line in self.process.stdout:
            if line.startswith("knob serve:"):
                break
        assert re.search(r"on http://127.0.0.1:\d+, 2 replicas on Ray Serve", line), line

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(60)
        finally:
            self.process.kill()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayService]:
    folder = tmp_path_factory.mktemp("shared")
    try:
        found = RayService(folder)
    except AssertionError:  # on a busy machine Ray may give up on its own start
        found = RayService(folder)
    yield found
    code = found.stop()
    shutil.rmtree(folder)
    assert code == 0


def replicas(service: RayService) -> dict[str, Any]:
    return Service(service.url, timeout=60.0).about()["replicas"]


def until(true: Any, within: float = 60.0) -> None:
    end = time.monotonic() + within
    while not true():
        assert time.monotonic() < end, f"not within {within:g} s"
        time.sleep(0.2)


class Camera:
    """A stream that checks every answer against a `KnobStream`, also after it moved to another replica."""

    def __init__(self, url: str, k: int, tables: dict[int, KnobTable]) -> None:
        self.id, self.group, self.tables = f"cam-{k}", ("north", "south", "")[k % 3], tables
        self.draw, self.replay = np.random.default_rng(k), 10_000 * (k % 2)
        self.stream = AsyncStream(
            url, self.id, group=self.group, probabilities=True, replay=self.replay, give_up=120.0
        )  # fmt: skip
        self.reference = KnobStream(wrap.classifier())
        self.after: dict[int, dict[str, np.ndarray]] = {0: {}}
        self.number = self.stands = self.moves = self.back = 0
        self.hello: Any = None

    async def step(self) -> None:
        frame = logits(self.draw)
        self.number += 1
        try:
            answer: Any = await self.stream.step(frame)
        except ValueError as error:  # stepped and saved, but its answer was lost with the replica
            assert "connection broke before the answer" in str(error), error
            answer = None
        if self.stream.session.hello is not self.hello:
            self._welcomed(self.stream.session.hello)
        if answer is not None:
            for _ in range(1000):  # its own replica may be faster than the one that answers the turn
                if answer["revision"] in self.tables:
                    break
                await asyncio.sleep(0.02)
            self.settings = self.tables[answer["revision"]].acting(self.id, self.group)
        self.reference.load_state_dict(self.after[self.stands])
        self.reference.settings = self.settings
        wanted = self.reference.step(frame, elapsed=float(self.number - self.stands))
        self.after[self.number] = self.reference.state_dict()
        self.stands = self.number
        if answer is not None:
            assert answer["frame"] == self.number
            assert answer["probabilities"] == wanted.probabilities.tolist(), (self.id, self.number)

    def _welcomed(self, hello: Any) -> None:
        first, self.hello = self.hello is None, hello
        if first:
            return
        self.moves += hello["resumed"] == "snapshot"
        self.back = max(self.back, self.number - 1 - hello["frame"])
        if not self.replay:
            self.stands = min(hello["frame"], self.number - 1)


def test_streams_move_when_a_replica_is_killed_and_answers_stay_the_same(service: RayService) -> None:
    client = Service(service.url, timeout=60.0)
    tables: dict[int, KnobTable] = {}

    def turn(**knobs: Any) -> None:
        table = table_from_json(client.turn(**knobs))
        tables[table.revision] = table

    async def scene() -> list[Camera]:
        first = table_from_json(client.knobs())
        tables[first.revision] = first
        cameras = [Camera(service.url, k, tables) for k in range(STREAMS)]
        stop, turning = asyncio.Event(), asyncio.Event()

        async def run(camera: Camera) -> None:
            await asyncio.sleep(camera.draw.uniform(0, 0.5))
            while not stop.is_set():
                await camera.step()
                await asyncio.sleep(0.02)
                if camera.number in (10, 20):
                    await camera.stream.close()  # goes away for a while, and comes back

        async def turner() -> None:
            draw = np.random.default_rng(0)
            while not stop.is_set():
                await turning.wait()
                scope = ({}, {"group": "north"}, {"stream": "cam-7"})[int(draw.integers(3))]
                await asyncio.to_thread(
                    turn, zeta=float(draw.uniform(0.1, 3)), omega_n=float(draw.uniform(0.05, 2)), **scope
                )  # fmt: skip
                await asyncio.sleep(0.05)

        async def frames_more(count: int) -> None:
            wanted = [camera.number + count for camera in cameras]
            while any(camera.number < n for camera, n in zip(cameras, wanted, strict=True)):
                await asyncio.sleep(0.1)
                failed = [task for task in tasks if task.done()]
                if failed:
                    failed[0].result()

        tasks = [asyncio.create_task(run(camera)) for camera in cameras] + [asyncio.create_task(turner())]
        turning.set()
        await frames_more(30)
        turning.clear()  # a frame whose answer is lost does not say with which knobs it was stepped
        await asyncio.sleep(3 * EVERY)
        before = await asyncio.to_thread(replicas, service)
        assert len(before) == 2 and all(r["streams"] > 0.2 * STREAMS for r in before.values()), before
        victim = min(before.values(), key=lambda r: r["streams"])
        os.kill(victim["pid"], signal.SIGKILL)
        await frames_more(30)
        turning.set()
        await frames_more(15)
        stop.set()
        await asyncio.gather(*tasks)
        moved = sum(camera.moves > 0 for camera in cameras)
        frames, back = sum(camera.number for camera in cameras), max(camera.back for camera in cameras)
        print(f"\n{victim['streams']} streams of the killed replica, {moved} moved; {frames} frames, largest step back "
              f"{back}, {len(tables)} revisions")  # fmt: skip
        assert moved >= victim["streams"]
        for camera in cameras[: STREAMS // 2]:
            await camera.stream.leave()
        for camera in cameras[STREAMS // 2 :]:
            await camera.stream.close()
        return cameras

    cameras = asyncio.run(scene())
    assert len(tables) > 10
    until(lambda: len(replicas(service)) == 2)  # Ray has started another one
    left = {info["stream"] for info in client.streams()}
    assert not left & {camera.id for camera in cameras[: STREAMS // 2]}
    assert {camera.id for camera in cameras[STREAMS // 2 :]} <= left


def test_frames_of_many_streams_over_http_reach_their_replicas(service: RayService) -> None:
    """Whichever replica a request comes to, each stream's frames are stepped where the stream is, in order."""
    rng = np.random.default_rng(5)
    client = Service(service.url)
    client.turn(zeta=1.0, omega_n=0.4, clear=True)
    settings = table_from_json(client.knobs()).base
    references = {f"http-{k}": KnobStream(wrap.classifier(), settings=settings) for k in range(12)}
    for _ in range(5):
        entries = [{"stream": id, "logits": logits(rng).tolist(), "probabilities": True} for id in references] * 2
        for entry, answer in zip(entries, client.step_many(entries), strict=True):
            wanted = references[entry["stream"]].step(np.array(entry["logits"]))  # type: ignore[arg-type]
            assert answer["probabilities"] == wanted.probabilities.tolist()  # type: ignore[typeddict-item]
    assert sum(r["streams"] > 0 for r in replicas(service).values()) == 2
    frames = {info["stream"]: info["frame"] for info in client.streams()}
    assert all(frames[id] == 10 for id in references)
    assert client.stream("http-3")["frame"] == 10  # one stream's page comes from its replica
    client.forget("http-3")
    assert "http-3" not in {info["stream"] for info in client.streams()}
    text = client.request("GET", "/metrics", raw=True).decode()
    assert len(set(re.findall(r'knob_frames_total{replica="(\w+)"}', text))) == 2


def test_refusals_are_those_of_a_service_alone(service: RayService) -> None:
    client = Service(service.url)
    with pytest.raises(ServiceError, match="zeta is -1") as refused:
        client.turn(zeta=-1)
    assert refused.value.status == 400
    with pytest.raises(ServiceError, match="if_revision is 999999") as refused:
        client.turn(zeta=1, if_revision=999999)
    assert refused.value.status == 409
    with pytest.raises(ServiceError, match=r"[Ee]xpected") as refused:
        client.step_many([{"stream": "a/b", "logits": [1, 2]}])
    assert refused.value.status == 400
    with Stream(service.url, "garbage") as stream:
        with pytest.raises(ValueError, match="logits has 2 numbers, expected 5"):
            stream.step(np.zeros(2))
        assert stream.step(np.zeros(CLASSES))["frame"] == 2


def test_too_many_streams_are_refused_with_503(service: RayService) -> None:
    """Each replica has its own capacity; above it, 503 with the cause, and others go on."""
    client = Service(service.url)
    entries = [{"stream": f"full-{k}", "logits": [0.0] * CLASSES} for k in range(200)]
    replies: list[Any] = client.step_many(entries)
    refused = [reply for reply in replies if reply["type"] == "refused"]
    assert refused and all("capacity" in reply["cause"] and reply["code"] == "full" for reply in refused)
    with pytest.raises(ServiceError, match="capacity") as found:
        client.request("POST", f"/v1/streams/{refused[0]['stream']}/frames", {"logits": [0.0] * CLASSES})
    assert found.value.status == 503
    for reply in replies:
        if reply["type"] == "answer":
            client.forget(reply["stream"])


def test_a_turn_is_in_force_everywhere_when_it_is_answered(service: RayService) -> None:
    """Streams of both replicas are answered with it at once; prints what a frame and a turn take."""
    client = Service(service.url)
    streams = [Stream(service.url, f"turned-{k}") for k in range(8)]
    steps, turns = [], []
    for k in range(12):
        began = time.perf_counter()
        revision = client.turn(zeta=1.0 + 0.1 * k)["revision"]
        turns.append(time.perf_counter() - began)
        for stream in streams:
            began = time.perf_counter()
            assert stream.step(np.zeros(CLASSES))["revision"] == revision
            steps.append(time.perf_counter() - began)
    print(f"\na frame {1e3 * np.median(steps):.1f} ms, a turn {1e3 * np.median(turns):.0f} ms (medians)")
    for stream in streams:
        stream.leave()


def test_the_configuration_file_for_serve_deploy() -> None:
    """docs/serve-ray.yaml has an import path that is there, and options that are taken."""
    import yaml
    from ray.serve.schema import ServeDeploySchema

    from knob_core.serving.on_ray import deployments

    table = yaml.safe_load((ROOT / "docs" / "serve-ray.yaml").read_text())
    (application,) = ServeDeploySchema.model_validate(table).applications
    assert application.import_path == "knob_core.serving.on_ray.deployments:application"
    built: Any = deployments.application({**application.args, "tokens": None})
    assert built._bound_deployment.name == deployments.STREAMS
    assert json.dumps(application.args)
