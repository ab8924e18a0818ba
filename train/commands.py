"""How every command ends: with what it made, or with a line on stderr that names the cause, and an exit code to match.

0 it ended well, 1 an error of the data or the machine, 2 wrong arguments, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch

from knob_core import assets, devices, files, seeding
from knob_core.interrupts import STOPPED
from train.training import distributed

CHECKPOINTS = assets.ASSETS / assets.CHECKPOINTS  # what ships
FAILED, WRONG_ARGUMENTS = 1, 2


class WrongArgument(ValueError):
    """An argument that only the data can show to be wrong; argparse refuses the others."""


def parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """The parser of `python -m <name>`; the description is the first line of the command's docstring."""
    return argparse.ArgumentParser(prog=f"python -m {name}", description=description and description.splitlines()[0])


class Several(argparse.Action):
    """Values of an option that may be given again: those of all, each once; argparse itself keeps the last ones."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        found = getattr(namespace, self.dest)
        earlier = () if found is self.default else found
        setattr(namespace, self.dest, list(dict.fromkeys([*earlier, *values])))


def add_checkpoints(to: argparse.ArgumentParser) -> None:
    """The argument `checkpoints` of commands that measure models."""
    to.add_argument(
        "checkpoints", nargs="*", type=path, default=[CHECKPOINTS], metavar="CHECKPOINT",
        help="files or folders of them; default: what ships",
    )  # fmt: skip


class Main(Protocol):
    """A command: arguments (None: the process's own) -> exit code."""

    def __call__(self, arguments: Sequence[str] | None = None) -> int: ...


def main_of(
    name: str, parse: Callable[[Sequence[str] | None], argparse.Namespace], work: Callable[[argparse.Namespace], object]
) -> Main:
    """The `main` of a command that parses its arguments and works with them."""

    def main(arguments: Sequence[str] | None = None) -> int:
        args = parse(arguments)
        return run(name, lambda: work(args))

    return main


def run(name: str, work: Callable[[], object]) -> int:
    """Do the work and give the exit code. A defect of ours keeps its trace."""
    try:
        work()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more when it ends
        return _say(name, "stopped: nothing reads its output any more", FAILED)
    except WrongArgument as error:
        return _say(name, error, WRONG_ARGUMENTS)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in ("knob_core", "train"):
            raise
        return _say(name, f"needs {error.name}; install the tools: pip install -e '.[dev]'", FAILED)
    except (ValueError, OSError, ArithmeticError) as error:
        return _say(name, _words(error), FAILED)
    except KeyboardInterrupt:
        return _say(name, "stopped; the same command goes on from here", STOPPED)
    finally:
        distributed.stop()
    return 0


def _words(error: Exception) -> object:
    """The error; of a full disk without a file it came from what is printed: `files` names all others."""
    if isinstance(error, OSError) and error.errno in files.CAUSES and len(error.args) > 1 and error.filename is None:
        return f"{files.CAUSES[error.errno]}: what this command prints could not be written"
    return error


def _say(name: str, what: object, code: int) -> int:
    print(f"{name}: {what}", file=sys.stderr)
    return code


def checked_count(count: int | None, available: int, least: int = 1) -> int:
    """How many of the available images; None is all of them."""
    if count is None:
        return available
    if not least <= count <= available:
        raise WrongArgument(f"--count is {_cut(count)}, expected {least} to {available}")
    return count


def checked_range(first: int, count: int, available: int, step: int, least: int = 1) -> slice:
    """`count` of the available images from the place `first` on, a multiple of `step`."""
    last = (available - least) // step * step
    if not 0 <= first <= last or first % step:
        raise WrongArgument(f"--first is {_cut(first)}, expected a multiple of {step} from 0 to {last}")
    return slice(first, first + checked_count(count, available - first, least))


def _cut(value: object) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def whole(low: int, high: int) -> Callable[[str], int]:
    """Whole numbers from `low`, at least 0, to `high`, for argparse."""

    def check(text: str) -> int:
        if not text.isdecimal() or len(text) > 40 or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"{_cut(text)!r} is not a whole number from {low} to {high}")
        return int(text)

    return check


positive = whole(1, 1_000_000)
threads = whole(1, 1024)


def path(text: str) -> Path:
    """A path that the system can have, for argparse; pathlib alone takes "" as the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("is empty, expected a path")
    try:
        os.lstat(text)
    except (FileNotFoundError, NotADirectoryError):  # others say whether it must be there
        pass
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or error
        raise argparse.ArgumentTypeError(f"{_cut(text)!r} is no path here ({cause})") from error
    return Path(text)


def out_folder(text: str) -> Path:
    """A folder to write into, there or to be made, for argparse."""
    found = path(text)
    there = next((place for place in (found, *found.parents) if place.exists()), found)
    if there.exists() and not there.is_dir():
        raise argparse.ArgumentTypeError(f"{str(there)!r} is a file, expected a folder")
    return found


def out_file(text: str) -> Path:
    """A file to write, in a folder that is there or can be made, for argparse."""
    found = path(text)
    if found.exists() and not found.is_file():
        what = "folder" if found.is_dir() else "device or pipe"
        raise argparse.ArgumentTypeError(f"{text!r} is a {what}, expected a file")
    out_folder(str(found.parent))
    return found


def seed(text: str) -> int:
    """A seed, for argparse."""
    try:
        value = int(text[:40])
        seeding.generator("cpu", value)
    except ValueError as error:
        most = f"a whole number in [0, {seeding.MAX_SEED}]"
        raise argparse.ArgumentTypeError(f"seed is {_cut(text)}, expected {most}") from error
    return value


def device(text: str) -> str:
    """The name of a device that is there and can be computed on, for argparse."""
    try:
        found = devices.pick(text)
        if found.type != "cuda":  # a tensor on a GPU would take memory of one that torchrun gives to another process
            torch.zeros(1, device=found).cpu()
    except Exception as error:  # torch has a kind of error for every kind of device
        raise argparse.ArgumentTypeError(f"{text!r} is no device here ({str(error).splitlines()[0][:200]})") from error
    if found.type == "cuda" and (found.index or 0) >= torch.cuda.device_count():
        raise argparse.ArgumentTypeError(f"{text!r} is not there: torch sees {torch.cuda.device_count()} GPUs")
    return text
