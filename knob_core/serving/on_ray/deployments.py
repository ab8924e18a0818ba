"""The two deployments of Ray Serve: replicas with the streams, and the hub. `application` is for `serve deploy`.

`run` is `knob serve MODEL --ray`: it starts Ray Serve here, or joins the cluster that RAY_ADDRESS names.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import ray
from ray import serve
from ray.serve.config import HTTPOptions, RequestRouterConfig
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

HubDeployment: Any = serve.deployment(
    name=HUB, num_replicas=1, max_ongoing_requests=10_000, ray_actor_options={"num_cpus": 0}
)(Hub)


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
        found, service = app.build(self.service), self.service
        inner = found.router.lifespan_context

        @contextlib.asynccontextmanager
        async def lifespan(starlette: Starlette) -> AsyncIterator[None]:
            context = serve.get_replica_context()
            streams = serve.get_deployment_handle(STREAMS, context.app_name)
            service.connect(context.replica_tag, self._files, self._hub, streams)
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
    ).bind(plain, HubDeployment.bind(plain["state"], plain.get("settings")))


def checked(given: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    if given.state is None:
        raise ValueError(
            "--ray needs --state FOLDER, one that all machines share: there a stream's next replica finds it"
        )
    if given.replicas < 1:
        raise ValueError(f"--replicas is {given.replicas}, expected 1 or more")
    assembly.access_of(given)


def run(given: argparse.Namespace) -> int:
    """Serve until the process is told to stop."""
    checked(given)
    stop = threading.Event()
    table = {name: value for name, value in vars(given).items() if value not in (None, [])}
    ray.init(include_dashboard=False, log_to_driver=given.log_level == "debug", logging_level=logging.ERROR)
    try:
        tls = {"ssl_certfile": given.tls_cert, "ssl_keyfile": given.tls_key}
        serve.start(http_options=HTTPOptions(host=given.host, port=given.port, **tls))
        serve.run(application({**table, "state": str(given.state)}), name=APP)
        url = f"{'https' if given.tls_cert else 'http'}://{given.host}:{given.port}"
        for number in (signal.SIGTERM, signal.SIGINT):  # only now: Ray sets its own when it starts
            signal.signal(number, lambda *_: stop.set())
        print(f"knob serve: {given.model} on {url}, {given.replicas} replicas on Ray Serve", flush=True)
        stop.wait()
        _drain()
    finally:
        serve.shutdown()
        ray.shutdown()
    sys.stdout.flush()
    os._exit(0)  # threads that Ray leaves behind may abort the interpreter while it ends


def _drain() -> None:
    """Every replica answers what waits, saves its streams, and closes its sockets."""
    try:
        serve.get_deployment_handle(HUB, APP).drain.remote().result(timeout_s=20)
    except Exception as error:  # then streams go on from their last saving, as after a kill
        print(f"knob serve: the replicas were not drained: {error}", file=sys.stderr, flush=True)
