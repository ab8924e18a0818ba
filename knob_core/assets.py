"""Where the shipped files are: the first of these folders that there is.

1. the folder that the environment variable KNOB_ASSETS names;
2. `assets/` of a clone, where this package is used from one (an editable installation too);
3. `knob_core/shipped/`: what an installed package carries, the frost textures, one pocket model, real speech.

Sample images, streams, further models and result tables are in a clone only: they are too large for a package, and the
sample images have no licence under which a package could hand them on.
"""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IN_CLONE = (ROOT / "pyproject.toml").is_file()  # else ROOT is a folder of installed packages
PACKAGED = Path(__file__).resolve().parent / "shipped"
ASSETS = Path(os.environ.get("KNOB_ASSETS") or (ROOT / "assets" if IN_CLONE else PACKAGED))
CHECKPOINTS = "checkpoints"


def advice(command: str) -> str:
    """How to have a file that is missing or damaged: in a clone by a command, else by a clone."""
    if IN_CLONE:
        return f"make it anew: {command}"
    named = os.environ.get("KNOB_ASSETS")
    now = f"it is {named!r} now" if named else "it is not set now"
    return (
        "the installed package carries the frost textures, one model and the real speech; for anything else clone the "
        f"repository and set KNOB_ASSETS to its folder `assets` ({now})"
    )


def find(name: str, command: str = "git checkout assets") -> Path:
    """The path of a shipped file: in ASSETS, else in the clone, else in the package."""
    for folder in (ASSETS, *([ROOT / "assets"] if IN_CLONE else []), PACKAGED):
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"{ASSETS / name} is missing; {advice(command)}")


def checkpoint(name: str | os.PathLike[str]) -> Path:
    """The file of a shipped model, by its name alone ("knob-ode-s0"); anything that looks like a path stays one."""
    path = Path(name)
    if path.suffix or len(path.parts) != 1 or path.exists():
        return path
    return find(f"{CHECKPOINTS}/{path}.safetensors")
