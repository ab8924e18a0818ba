"""`knob serve MODEL`: a model behind WebSockets and HTTP; docs/serve.md says all."""

from __future__ import annotations

import argparse
import contextlib
import signal
import socket
import sys
import time
from collections.abc import Sequence
from typing import Any

from knob_core.serving.messages import MAX_HEADER
from knob_core.serving.options import parser

LAST_ANSWERS = 5.0  # s that sockets have to send their last answers when the service stops


def main(argv: Sequence[str] | None = None) -> int:
    try:
        given = parser().parse_args(argv)
        from knob_core.serving import assembly

        assembly.require_tls(given.tls_cert, given.tls_key)
        if given.ray:
            try:
                from knob_core.serving.on_ray import deployments
            except ImportError:
                raise ValueError("--ray needs Ray Serve: pip install 'knob-core[ray]'") from None
            return deployments.run(given)
        return run(given)
    except (ValueError, OSError) as error:
        print(f"knob serve: {error}", file=sys.stderr)
        return 2


def run(given: argparse.Namespace) -> int:
    from knob_core.serving import assembly

    access = assembly.access_of(given)
    listening = assembly.bound(given.host, given.port)
    with assembly.folder_held(given.state) if given.state is not None else contextlib.nullcontext():
        return _run(given, access, listening)


def _run(given: argparse.Namespace, access: Any, listening: socket.socket) -> int:
    import uvicorn

    from knob_core.serving import assembly, logs
    from knob_core.serving.snapshots import Snapshot
    from knob_core.serving.web.app import build
    from knob_core.serving.web.service import Service

    engine = assembly.engine_of(given)
    service = Service(engine, access)
    store = Snapshot(engine, given.state) if given.state is not None else None
    assembly.equip(service, store, given.snapshot_every, given.settings)
    logs.to_stderr(given.log_level)
    assembly.raise_descriptors()
    config = uvicorn.Config(
        build(service), log_config=None, ws_max_size=given.max_frame + MAX_HEADER, ws_per_message_deflate=False,
        access_log=False, server_header=False, limit_concurrency=2 * given.capacity + 100,
        timeout_graceful_shutdown=10, ssl_certfile=given.tls_cert, ssl_keyfile=given.tls_key,
    )  # fmt: skip
    host, port = listening.getsockname()[:2]
    url = f"{'https' if given.tls_cert else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"
    server = draining_server(config, service, f"knob serve: {engine.name} on {url}")
    signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn raises it again once all is done
    with contextlib.suppress(KeyboardInterrupt):
        server.run([listening])
    return 0


def draining_server(config: Any, service: Any, says: str) -> Any:
    """A server that, when told to stop, lets every waiting frame be answered and saved before it closes sockets."""
    import asyncio

    import uvicorn

    class Draining(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            print(says, flush=True)

        async def shutdown(self, sockets: Any = None) -> None:
            await asyncio.to_thread(service.drain)
            end = time.monotonic() + LAST_ANSWERS
            while service.engine.has_sockets() and time.monotonic() < end:  # each closes after its last answer
                await asyncio.sleep(0.01)
            await super().shutdown(sockets)

    return Draining(config)


if __name__ == "__main__":
    sys.exit(main())
