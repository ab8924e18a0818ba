"""Ctrl-C while the modules of a command still load: one line and exit code 130, where Python prints a traceback."""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType

STOPPED = 130


def in_one_line() -> None:
    """Only where the process is a command: a program that imports the package keeps its own way with interrupts."""
    if not sys.argv or Path(sys.argv[0]).name not in ("-m", "knob"):  # "-m" until Python has found the module
        return
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            print("stopped", file=sys.stderr)
            raise SystemExit(STOPPED)
        before(kind, error, trace)

    sys.excepthook = hook
