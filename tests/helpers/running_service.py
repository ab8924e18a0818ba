"""A real service in a process of its own, for tests: started, sent logits, killed, started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from knob_core.assets import ROOT
from tools.screenshots import end_with_parent, free_port


@dataclass
class RunningService:
    """`knob serve logits`: a service that takes logits, so that no network is loaded."""

    folder: Path
    tokens: Mapping[str, str] = field(default_factory=dict)  # role -> token
    arguments: Sequence[str] = ()
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start, and wait until it is ready."""
        command = [sys.executable, "-m", "knob_core.serving", "logits", "--port", str(self.port), *self.arguments]
        if self.tokens:
            file = self.folder / "tokens"
            file.write_text("".join(f"{role} {role} {token}\n" for role, token in self.tokens.items()))
            file.chmod(0o600)
            command += ["--tokens", str(file)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        with (self.folder / "service.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=self.folder, env=environment, stdout=log, stderr=log, preexec_fn=end_with_parent
            )
        for _ in range(1200):
            try:
                urllib.request.urlopen(f"{self.address}/healthz", timeout=1).read()
                return
            except OSError:
                assert self.process.poll() is None, (self.folder / "service.log").read_text()
                time.sleep(0.1)
        raise AssertionError("the service did not start")

    def stop(self, how: int = signal.SIGKILL) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait()
            self.process = None

    def ask(self, method: str, path: str, body: Any = None, role: str = "") -> Any:
        """A JSON reply."""
        headers = {"Content-Type": "application/json"}
        if role or self.tokens:
            headers["Authorization"] = f"Bearer {self.tokens[role or 'operator']}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=10) as reply:
            return json.loads(reply.read())

    def send(self, stream: str, logits: Sequence[float]) -> Any:
        """One frame; its answer."""
        return self.ask("POST", f"/v1/streams/{stream}/frames", {"logits": list(logits)})
