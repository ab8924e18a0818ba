"""The command `knob`: `knob serve`, `knob app`, `knob train ...`; the same as `python -m ...`.

The installed package is the library `knob_core` alone, and what is part of it (`knob serve`) runs without a clone. The
console (app/) and the commands of train/ are run from a clone of the repository: the one that the current folder is in,
else the one that this package was installed from with `pip install -e`. Each runs in a Python process of its own that
finds the clone's packages first.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from knob_core.assets import ROOT


class Subcommand(NamedTuple):
    """What one word after `knob` runs."""

    module: str  # as in `python -m module`
    needs: tuple[str, ...]  # packages that the base installation does not bring
    extra: str  # the extra that does
    says: str

    @property
    def installed(self) -> bool:
        """Whether it is part of the installed package."""
        return self.module.startswith("knob_core.")


COMMANDS = {
    "serve": Subcommand(
        "knob_core.serving",
        ("msgspec", "starlette", "uvicorn", "websockets", "prometheus_client"),
        "serve",
        "serve many streams",
    ),
    "demo-cameras": Subcommand(
        "knob_core.serving.demo_cameras", ("websockets",), "serve", "simulate cameras that send to a running service"
    ),
    "app": Subcommand("streamlit", ("streamlit", "plotly", "pandas"), "app", "open the console"),
    "train": Subcommand("train.fit", ("tqdm",), "train", "train a method"),
    "evaluate": Subcommand("train.evaluate", ("pandas", "tqdm"), "train", "measure checkpoints on corrupted images"),
    "report": Subcommand("train.report", ("pandas", "matplotlib"), "train", "write RESULTS.md from measured tables"),
    "sensitivity": Subcommand(
        "train.sensitivity", ("pandas", "tqdm"), "train", "measure every setting of the knobs on change streams"
    ),
    "export": Subcommand("train.export", (), "export", "write ONNX and torch.export files"),
    "replay-turns": Subcommand(
        "app.console.replay_turns", ("streamlit",), "app", "compute the figures of a log of turns anew, and compare"
    ),
    "check-lessons": Subcommand("app.lessons.check_summaries", (), "app", "check the lesson summaries of a class"),
}
MARKS = ("pyproject.toml", "knob_core/__init__.py", "app/main.py", "train/__init__.py")  # what a clone has


def clone(start: Path) -> Path | None:
    """The clone that `start` is in, else the one this package is used from, if any."""
    for folder in (*(start, *start.parents), ROOT):
        if all((folder / mark).is_file() for mark in MARKS):
            return folder
    return None


def usage() -> str:
    """What `knob --help` prints."""
    lines = [f"  knob {name:15}{command.says}" for name, command in COMMANDS.items()]
    return "\n".join(
        [
            "usage: knob COMMAND [arguments of the command]",
            "",
            *lines,
            "",
            "knob COMMAND --help shows a command's arguments. All but `knob serve` need a clone of the repository",
            "(`knob demo-cameras` its sample images). In a program: from knob_core.runtime import KnobStream.",
        ]
    )


def arguments_of(name: str, given: Sequence[str], root: Path | None) -> list[str]:
    """The process that a command is."""
    run = [sys.executable, "-m", COMMANDS[name].module]
    return [*run, "run", str(Path(root or "") / "app" / "main.py"), *given] if name == "app" else [*run, *given]


def problem(name: str, root: Path | None) -> str | None:
    """Why a command cannot run, in one line that says what to do; None where it can."""
    if name not in COMMANDS:
        return f"no command {name!r}, expected one of {', '.join(COMMANDS)}"
    if root is None and not COMMANDS[name].installed:
        return f"`knob {name}` needs a clone of the repository: go into one, or install it with pip install -e CLONE"
    missing = [package for package in COMMANDS[name].needs if importlib.util.find_spec(package) is None]
    if missing:
        return f"`knob {name}` needs {', '.join(missing)}: pip install '{root or 'knob'}[{COMMANDS[name].extra}]'"
    return None


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command in place of this process, or say in one line why not."""
    name, *given = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    if name in ("-h", "--help"):
        tell(usage())
        return 0
    if name == "--version":
        tell(f"knob {installed_version()}")
        return 0
    root = clone(Path.cwd())
    wrong = problem(name, root)
    if wrong is not None:
        print(f"knob: {wrong}", file=sys.stderr)
        return 2
    path = os.pathsep.join(filter(None, [str(root or ""), os.environ.get("PYTHONPATH")]))
    process = arguments_of(name, given, root)
    environment = {**os.environ, "PYTHONPATH": path}
    if os.name == "posix":  # signals reach the command itself
        os.execve(process[0], process, environment)
    return subprocess.run(process, env=environment, check=False).returncode


def tell(line: str) -> None:
    """Print at once; where nothing reads any more (`knob --help | true`), this line and all that follow are dropped."""
    try:
        print(line, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more when it ends


def installed_version() -> str:
    try:
        return version("knob")
    except PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    sys.exit(main())
