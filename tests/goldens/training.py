"""One tiny training run: SHA-256 of every tensor, and where it was recorded, for other processors round otherwise."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import tiny_run
import torch


def here() -> dict[str, str]:
    return {"torch": torch.__version__.split("+")[0], "processor": torch.backends.cpu.get_cpu_capability()}


def tensors() -> dict[str, dict[str, str]]:
    threads = torch.get_num_threads()
    try:
        with tempfile.TemporaryDirectory() as folder:
            trained = tiny_run.run(Path(folder), "knob-ode", tiny_run.WARM_TINY)
    finally:
        torch.set_num_threads(threads)
    digests = {name: hashlib.sha256(x.numpy().tobytes()).hexdigest()[:16] for name, x in trained.items()}
    return {"where": here(), "tensors": digests}
