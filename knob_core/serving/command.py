"""`knob serve MODEL`: a model behind WebSockets and HTTP; docs/serve.md says all."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from knob_core import settings as settings_file
from knob_core.serving import access
from knob_core.serving.engine import Engine, Limits
from knob_core.serving.messages import Frame
from knob_core.serving.stream import POLICIES

HOST, PORT = "127.0.0.1", 8600


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser("knob serve", description=__doc__)
    limits = Limits()
    add = found.add_argument
    kinds = (
        "a shipped model's name, a checkpoint, an .onnx file, module:function, or logits:K where clients send K logits"
    )
    add("model", nargs="?", default="knob-ode-s0", help=f"{kinds}; default: %(default)s")
    add("--host", default=HOST, help="address to listen on; any but this machine's own needs tokens")
    add("--port", type=int, default=PORT, help="default: %(default)s; 0: any free one")
    add("--settings", type=Path, help="settings file of the console")
    add("--tokens", type=Path, help=f"file with lines `role name token`; else the variable {access.VARIABLE}")
    add("--allow-host", action="append", default=[], metavar="NAME", help="a name under which the service is reached")
    add("--allow-origin", action="append", default=[], metavar="ORIGIN", help="a web page's origin, https://...")
    add("--policy", choices=POLICIES, default="newest", help="what a full queue does; default: %(default)s")
    add("--slew", type=float, help="largest change of the knobs' logarithm per frame")
    add("--capacity", type=int, default=limits.capacity, help="streams; default: %(default)s")
    add("--queue", type=int, default=limits.queue, help="frames of a stream that may wait; default: %(default)s")
    add("--rate", type=float, default=limits.rate, help="frames/s of a stream; default: %(default)s")
    add("--max-batch", type=int, default=limits.max_batch, help="frames of one batch; default: %(default)s")
    add("--max-wait", type=float, default=limits.max_wait, help="s that a batch waits; default: %(default)s")
    add("--grace", type=float, default=limits.grace, help="s that a dropped stream is kept; default: %(default)s")
    add("--idle", type=float, default=limits.idle, help="s without a frame; default: %(default)s")
    add("--max-frame", type=int, default=2_000_000, help="bytes of a frame; default: %(default)s")
    add("--state", type=Path, help="folder for snapshots, from which a restart goes on; default: none are kept")
    add("--snapshot-every", type=float, default=10.0, metavar="S", help="seconds; default: %(default)s")
    add("--tls-cert", help="file of a certificate; with --tls-key, https and wss")
    add("--tls-key", help="file of its key")
    add("--log-level", choices=("debug", "info", "warning", "error"), default="info")
    add("--device", default="auto", help="of the model; default: %(default)s")
    add("--threads", type=int, help="of the model; default: torch's own")
    return found


def main(argv: Sequence[str] | None = None) -> int:
    given = parser().parse_args(argv)
    try:
        return run(given)
    except (ValueError, OSError) as error:
        print(f"knob serve: {error}", file=sys.stderr)
        return 2


def run(given: argparse.Namespace) -> int:
    import uvicorn

    from knob_core.serving import logs, models
    from knob_core.serving.keeper import Keeper
    from knob_core.serving.metrics import Metrics
    from knob_core.serving.web.app import build
    from knob_core.serving.web.service import Service

    tokens = access.load_tokens(given.tokens)
    if not access.is_local(given.host) and not tokens:
        raise ValueError(
            f"--host {given.host} can be reached from other machines, so tokens are needed: --tokens FILE with lines "
            f"`role name token`, or the variable {access.VARIABLE}"
        )
    if given.threads:
        import torch

        torch.set_num_threads(given.threads)
    model = models.load(given.model, given.device)
    settings = settings_file.load(given.settings) if given.settings else None
    names = ("capacity", "queue", "rate", "max_batch", "max_wait", "grace", "idle")
    limits = Limits(**{name: getattr(given, name) for name in names})
    engine = Engine(
        model.source, settings, limits, name=model.name, classes=model.classes, policy=given.policy, slew=given.slew
    )
    hosts = frozenset((*access.LOCAL, given.host, *given.allow_host))
    rules = access.Access(tokens, hosts, frozenset(given.allow_origin))
    service = Service(engine, rules, max_frame=given.max_frame)
    service.keeper = Keeper(
        engine, service.problems, state=given.state, every=given.snapshot_every, settings=given.settings
    )
    service.metrics = Metrics(engine, service.keeper)
    engine.observe = service.metrics.observe
    warm_up(engine)
    logs.to_stderr(given.log_level)
    config = uvicorn.Config(
        build(service), given.host, given.port, log_config=None, ws_max_size=given.max_frame + 2000,
        ws_per_message_deflate=False, access_log=False, server_header=False,
        limit_concurrency=2 * given.capacity + 100, timeout_graceful_shutdown=10, backlog=1024,
        ssl_certfile=given.tls_cert, ssl_keyfile=given.tls_key,
    )  # fmt: skip
    server = draining_server(config, service)
    signal.signal(signal.SIGTERM, lambda *_: None)  # uvicorn raises it again once all is done
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
    return 0


def warm_up(engine: Engine) -> None:
    """The first calls compile; no client shall wait for that."""
    backbone = engine.stepper.backbone
    if backbone.single_branch or not backbone.takes_pictures:
        frame = Frame("logits", np.zeros(10))
    else:
        frame = Frame("raw", backbone.prepare(np.zeros((32, 32, 3), np.uint8)))
    spare = Engine(engine.source, engine.knobs.table.base, engine.limits)
    for streams in (1, 2, 3):
        for k in range(streams):
            spare.submit(f"s{k}", frame, lambda reply: None)
        spare.step_waiting()


def draining_server(config: Any, service: Any) -> Any:
    """A server that, when told to stop, lets every waiting frame be answered and saved before it closes sockets."""
    import asyncio

    import uvicorn

    class Draining(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            for server in getattr(self, "servers", ()):
                for socket in server.sockets:
                    host, port = socket.getsockname()[:2]
                    scheme = "https" if config.is_ssl else "http"
                    shown = f"[{host}]" if ":" in host else host
                    print(f"knob serve: {service.engine.name} on {scheme}://{shown}:{port}", flush=True)

        async def shutdown(self, sockets: Any = None) -> None:
            await asyncio.to_thread(service.drain)
            await asyncio.sleep(0.1)  # the last answers leave
            await super().shutdown(sockets)

    return Draining(config)


if __name__ == "__main__":
    sys.exit(main())
