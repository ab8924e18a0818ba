"""The two deployments of Ray Serve: replicas with the streams, and the hub. `application` is for `serve deploy`."""

from __future__ import annotations

import asyncio
import contextlib
from argparse import Namespace
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from ray import serve
from ray.serve.config import RequestRouterConfig
from starlette.applications import Starlette

from knob_core.serving import assembly, logs, options
from knob_core.serving.decode import Listed
from knob_core.serving.messages import Reply
from knob_core.serving.on_ray.hub import Hub
from knob_core.serving.on_ray.shared_service import SharedService
from knob_core.serving.stream_files import StreamFiles
from knob_core.serving.web import app, http

APP = "knob"  # name of the application
STREAMS, HUB = "KnobStreams", "KnobHub"  # names of its deployments
PATHS = ("state", "settings", "tokens")
QUEUED = 200  # requests that wait in a proxy for a replica; above it 503


@serve.deployment(name=HUB, num_replicas=1, max_ongoing_requests=10_000, ray_actor_options={"num_cpus": 0})
class HubDeployment:
    """`Hub` behind Ray's handles."""

    def __init__(self, folder: str, settings: str | None) -> None:
        self.hub = Hub(Path(folder), Path(settings) if settings is not None else None)
        self._following: asyncio.Task[None] | None = None

    async def exchange(self, *said: Any) -> dict[str, Any]:
        if self._following is None:
            self._following = asyncio.create_task(self.hub.follow())
        return await self.hub.exchange(*said)

    async def reports(self) -> dict[str, dict[str, Any]]:
        return await self.hub.reports()

    async def state(self) -> dict[str, Any]:
        return await self.hub.state()

    async def change(self, change: dict[str, Any], by: str) -> dict[str, Any]:
        return await self.hub.change(change, by)

    async def drain(self) -> None:
        await self.hub.drain()


@serve.deployment(name=STREAMS)
@serve.ingress()
class StreamsDeployment:
    """One replica: a whole service, whose streams come to it by their ids."""

    def __init__(self, table: dict[str, Any], hub: Any) -> None:
        given = options.from_table(table)
        self._hub = hub
        engine = assembly.engine_of(given)
        self.service = SharedService(engine, assembly.access_of(given))
        self._files = StreamFiles(engine, Path(given.state) / "streams", given.snapshot_every)
        assembly.equip(self.service, self._files, given.snapshot_every, None)
        logs.to_stderr(given.log_level)

    def __serve_build_asgi_app__(self) -> Starlette:
        found = app.build(self.service)
        inner = found.router.lifespan_context
        service = self.service

        @contextlib.asynccontextmanager
        async def lifespan(starlette: Starlette) -> AsyncIterator[None]:
            context = serve.get_replica_context()
            service.connect(
                context.replica_tag, self._files, self._hub, serve.get_deployment_handle(STREAMS, context.app_name)
            )
            async with inner(starlette):
                service.ready = False  # until the hub has told the knobs
                exchanging = asyncio.create_task(service.exchange())
                try:
                    yield
                finally:
                    exchanging.cancel()

        found.router.lifespan_context = lifespan
        return found

    async def step_many(self, frames: list[Listed]) -> list[Reply]:
        """Frames of one stream that came to another replica."""
        return await http.stepped(self.service, frames)


def application(table: dict[str, Any]) -> serve.Application:
    """The application, from the options of `knob serve` by name; `state` is a folder that all machines share."""
    given = options.from_table(table)
    checked(given)
    plain = {**table, "ray": True, **{name: str(Path(table[name]).absolute()) for name in PATHS if table.get(name)}}
    if Path(given.model).exists():
        plain["model"] = str(Path(given.model).absolute())
    deployment: Any = HubDeployment
    hub = deployment.bind(plain["state"], plain.get("settings"))
    router = RequestRouterConfig(
        request_router_class="knob_core.serving.on_ray.router.StreamRouter",
        request_router_kwargs={"num_fallback_replicas": 0},  # a stream is nowhere but at its replica
    )
    streams: Any = StreamsDeployment
    return streams.options(
        num_replicas=given.replicas,
        max_ongoing_requests=2 * given.capacity + 100,  # an open socket is a request
        max_queued_requests=QUEUED,
        request_router_config=router,
        ray_actor_options={"num_cpus": given.cpus, "num_gpus": given.gpus},
        graceful_shutdown_wait_loop_s=0.5,
        graceful_shutdown_timeout_s=5.0,
        health_check_period_s=2.0,
        health_check_timeout_s=10.0,
    ).bind(plain, hub)


def checked(given: Namespace) -> None:
    """Refuse options that do not go together."""
    if given.state is None:
        raise ValueError(
            "--ray needs --state FOLDER, one that all machines share: there a stream's next replica finds it"
        )
    if given.replicas < 1:
        raise ValueError(f"replicas is {given.replicas}, expected 1 or more")
    assembly.access_of(given)
