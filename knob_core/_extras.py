"""Imports that need an extra of the package say which one, where it is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

EXTRAS = {"PIL": "models", "safetensors": "models", "torch": "models", "torchvision": "models"}  # module: extra


@contextmanager
def needed_for(what: str) -> Iterator[None]:
    """An import inside that fails for want of an extra becomes one sentence with the command that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").split(".")[0])
        if extra is None:
            raise
        sentence = f"{what} needs {error.name}, which is not installed: pip install 'knob-core[{extra}]'"
        raise ModuleNotFoundError(sentence, name=error.name) from None
