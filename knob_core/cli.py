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
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from knob_core.assets import ROOT


class Subcommand(NamedTuple):
    """What one word after `knob` runs."""

    module: str  # as in `python -m module`
    package: str  # that its extra brings, and the base installation does not
    extra: str
    says: str


COMMANDS = {
    "serve": Subcommand("knob_core.serving", "prometheus_client", "serve", "serve many streams"),
    "demo-cameras": Subcommand("knob_core.serving.demo_cameras", "websockets", "serve", "simulate cameras"),
    "app": Subcommand("streamlit", "streamlit", "app", "open the console"),
    "train": Subcommand("train.fit", "tqdm", "train", "train a method"),
    "evaluate": Subcommand("train.evaluate", "pandas", "train", "measure checkpoints on corrupted images"),
    "report": Subcommand("train.report", "matplotlib", "train", "write RESULTS.md from measured tables"),
    "sensitivity": Subcommand("train.sensitivity", "tqdm", "train", "measure every setting of the knobs"),
    "export": Subcommand("train.export", "torch", "export", "write ONNX and torch.export files"),
    "replay-turns": Subcommand("app.console.replay_turns", "streamlit", "app", "compute the figures of a log anew"),
    "check-lessons": Subcommand("app.lessons.check_summaries", "torch", "app", "check the lesson summaries of a class"),
}
MARKS = ("pyproject.toml", "knob_core/__init__.py", "app/main.py", "train/__init__.py")  # what a clone has
USAGE = "usage: knob COMMAND [arguments of the command]\n\n{}\n\nknob COMMAND --help shows a command's arguments."


def clone(start: Path) -> Path | None:
    """The clone that `start` is in, else the one this package is used from, if any."""
    folders = (start, *start.parents, ROOT)
    return next((folder for folder in folders if all((folder / mark).is_file() for mark in MARKS)), None)


def problem(name: str, root: Path | None) -> str | None:
    """Why a command cannot run, in one line that says what to do; None where it can."""
    if name not in COMMANDS:
        return f"no command {name!r}, expected one of {', '.join(COMMANDS)}"
    module, package, extra, _ = COMMANDS[name]
    if root is None and not module.startswith("knob_core."):
        return f"`knob {name}` needs a clone of the repository: go into one, or install it with pip install -e CLONE"
    if importlib.util.find_spec(package) is None:
        return f"`knob {name}` needs {package}: pip install '{root or 'knob-core'}[{extra}]'"
    return None


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command in place of this process, or say in one line why not."""
    name, *given = list(sys.argv[1:] if argv is None else argv) or ["--help"]
    if name in ("-h", "--help"):
        tell(USAGE.format("\n".join(f"  knob {word:15}{command.says}" for word, command in COMMANDS.items())))
        return 0
    if name == "--version":
        tell(f"knob {version('knob-core')}")
        return 0
    root = clone(Path.cwd())
    if (wrong := problem(name, root)) is not None:
        print(f"knob: {wrong}", file=sys.stderr)
        return 2
    page = ["run", str(Path(root or "") / "app" / "main.py")] if name == "app" else []
    process = [sys.executable, "-m", COMMANDS[name].module, *page, *given]
    path = os.pathsep.join(filter(None, [str(root or ""), os.environ.get("PYTHONPATH")]))
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


if __name__ == "__main__":
    sys.exit(main())
