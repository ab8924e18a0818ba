"""Freed memory goes back to the system."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from app.server import freed_memory
from knob_core.assets import ROOT

SCRIPT = """
import os, sys, threading
import numpy as np
from app.server import freed_memory
from tests.helpers.memory import resident

def visit():
    first = np.ones(16_000_000, np.uint8)  # freed, it lets glibc keep what is as large
    del first
    second = np.ones(12_000_000, np.uint8)
    del second

if sys.argv[1] == "ours":
    freed_memory.keep_little()
start = resident(os.getpid())
threads = [threading.Thread(target=visit) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
if sys.argv[1] == "ours":
    freed_memory.give_back()
print(resident(os.getpid()) - start)
"""


def above(whose: str) -> float:
    """MB that stay after threads have freed all they had."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = [sys.executable, "-c", SCRIPT, whose]
    return float(subprocess.run(run, capture_output=True, text=True, env=environment, check=True).stdout)


@pytest.mark.skipif(freed_memory._c_library() is None, reason="about glibc")
def test_what_threads_freed_is_given_back() -> None:
    kept, ours = above("glibc's"), above("ours")
    assert ours < 5 < kept


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert freed_memory._c_library() is None
    freed_memory.keep_little()
    freed_memory.give_back()
