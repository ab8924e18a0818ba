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

from knob_core import assets, devices, seeding
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
        "checkpoints", nargs="*", type=Path, default=[CHECKPOINTS], metavar="CHECKPOINT",
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
        return _say(name, error, FAILED)
    except KeyboardInterrupt:
        return _say(name, "stopped; the same command goes on from here", STOPPED)
    finally:
        distributed.stop()
    return 0


def _say(name: str, what: object, code: int) -> int:
    print(f"{name}: {what}", file=sys.stderr)
    return code


def checked_count(count: int | None, available: int) -> int:
    """How many of the available images; None is all of them."""
    if count is None:
        return available
    if not 1 <= count <= available:
        raise WrongArgument(f"--count is {count}, expected 1 to {available}")
    return count


def positive(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def seed(text: str) -> int:
    """A seed, for argparse."""
    try:
        value = int(text)
        seeding.generator("cpu", value)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return value


def device(text: str) -> str:
    """The name of a device that is there, for argparse."""
    try:
        found = devices.pick(text)
    except RuntimeError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no device ({str(error).splitlines()[0]})") from error
    if found.type == "cuda" and (found.index or 0) >= torch.cuda.device_count():
        raise argparse.ArgumentTypeError(f"{text!r} is not there: torch sees {torch.cuda.device_count()} GPUs")
    return text
