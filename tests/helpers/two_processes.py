"""Two processes of one torchrun-like run, forked from the test."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import torch

from train.training import distributed

WAIT = 60.0  # seconds after which processes that should have ended hang


def in_two_processes(work: Callable[[int], object], folder: Path) -> list[int]:
    """Start work(rank) in two forked processes of one run; gives their ids. What it raises goes into a file `rank`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder.mkdir(parents=True, exist_ok=True)
    pids = []
    for rank in range(2):
        pid = os.fork()
        if not pid:
            os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "RANK": str(rank), "WORLD_SIZE": "2"}
            try:
                distributed.start(torch.device("cpu"))
                work(rank)
            except BaseException as error:
                (folder / str(rank)).write_text(repr(error))
                os._exit(1)
            os._exit(0)
        pids.append(pid)
    return pids


def ended(pids: list[int]) -> list[int]:
    """Their exit codes; one that hangs is killed, and has that as its code."""
    until = time.monotonic() + WAIT
    codes = {}
    while len(codes) < len(pids):
        for pid in pids:
            if pid not in codes:
                if time.monotonic() > until:
                    os.kill(pid, signal.SIGKILL)
                found, status = os.waitpid(pid, os.WNOHANG)
                if found:
                    codes[pid] = os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    return [codes[pid] for pid in pids]
