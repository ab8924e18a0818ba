"""Services for tests: in a thread of this process, or in a process of their own that can be killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from knob_core import wrap
from knob_core.serving.access import Access
from knob_core.serving.engine import Engine
from knob_core.serving.maintenance import Maintenance
from knob_core.serving.messages import MAX_HEADER
from knob_core.serving.metrics import Metrics
from knob_core.serving.snapshots import Snapshot
from tools.screenshots import end_with_parent

ROOT = Path(__file__).resolve().parents[2]
CLASSES = 5  # of the logits that tests send


@contextmanager
def running(
    engine: Engine | None = None,
    access: Access | None = None,
    state: Path | None = None,
    port: int = 0,
    **maintenance: Any,
) -> Iterator[Any]:
    """A service on a port of this machine; its `url` is set, and `cut()` breaks all connections."""
    import uvicorn

    from knob_core.serving.web.app import build
    from knob_core.serving.web.service import Service

    engine = engine or Engine(wrap.classifier(), name="logits")
    service: Any = Service(engine, access or Access())
    store = Snapshot(engine, state) if state is not None else None
    service.maintenance = Maintenance(engine, service.problems, store=store, **maintenance)
    service.metrics = Metrics(engine, service.maintenance)
    engine.observe = service.metrics.observe
    most = service.max_frame + MAX_HEADER
    config = uvicorn.Config(build(service), "127.0.0.1", port, log_config=None, ws_max_size=most)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the service did not start"
        time.sleep(0.01)

    def cut() -> None:
        for connection in list(server.server_state.connections):
            connection.transport.abort()

    service.cut = lambda: server.servers[0].get_loop().call_soon_threadsafe(cut)
    service.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    try:
        yield service
    finally:
        server.should_exit = True
        thread.join(20)


class Process:
    """`knob serve` as a process; started again it takes the same port."""

    def __init__(self, *arguments: str, port: int = 0) -> None:
        self.arguments, self.port = arguments, port
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "knob_core.serving", *self.arguments, "--port", str(self.port)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        # To the kernel the parent is the thread that starts a process: what a passing thread starts would end with it.
        lasting = threading.current_thread() is threading.main_thread()
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
            preexec_fn=end_with_parent if lasting else None,
        )  # fmt: skip
        assert self.process.stdout is not None and self.process.stderr is not None
        self.log: list[str] = []
        errors = self.process.stderr
        threading.Thread(target=lambda: self.log.extend(errors), daemon=True).start()
        line = self.process.stdout.readline()
        found = re.search(r"(https?)://127\.0\.0\.1:(\d+)", line)
        assert found, f"{line!r} {self.log}"
        self.port = int(found[2])
        self.url = f"{found[1]}://127.0.0.1:{self.port}"

    def kill(self) -> None:
        """kill -9."""
        self.process.kill()
        self.process.wait()

    def stop(self, within: float = 20.0) -> int:
        """SIGTERM, and wait."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(within)


def logits(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(0, 3, CLASSES)
