"""Ctrl-C before a command is loaded ends it in one line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from knob_core.assets import ROOT

INTERRUPT = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"


def run_interrupted(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """The command, with packages before ours that are interrupted while they load."""
    for name in ("numpy", "torch"):
        (folder / f"{name}.py").write_text(INTERRUPT)
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}
    return subprocess.run(
        [sys.executable, *command], env=environment, cwd=folder, capture_output=True, text=True, check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background has none
    )  # fmt: skip


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
@pytest.mark.parametrize("module", ["train.fit", "train.export", "train.report", "knob_core.serving"])
def test_ctrl_c_while_a_command_loads_is_one_line(module: str, tmp_path: Path) -> None:
    done = run_interrupted(tmp_path, "-m", module, "--help")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped\n")


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_a_program_that_uses_the_library_keeps_its_own_way(tmp_path: Path) -> None:
    done = run_interrupted(tmp_path, "-c", "import knob_core.models")
    assert "Traceback" in done.stderr and "KeyboardInterrupt" in done.stderr
