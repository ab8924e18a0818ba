"""The operator's setting as a small file: what a turn of the knobs leaves behind, and what the runtime loads.

zeta >= 0, omega_n > 0 in rad/frame; TOML, versioned, every value checked on the way in.
"""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from knob_core import files

VERSION = 1
MODES = ("continuous", "reset")
LIMITS = {"zeta": (0.0, 100.0), "omega_n": (1e-6, 100.0), "frame_rate": (0.1, 1000.0)}
MAX_BYTES = 10_000


@dataclass(frozen=True)
class Settings:
    """Where the knobs stand, and what they act on."""

    zeta: float = 0.7  # damping ratio
    omega_n: float = 0.4  # natural frequency, rad/frame
    on: bool = True  # False: frame by frame, the gate follows its command at once
    memory: bool = True  # static memory: the static branch is given the same inertia
    mode: str = "continuous"  # or "reset": one step from rest for every frame
    frame_rate: float = 10.0  # frames/s, only to say frames as seconds

    def __post_init__(self) -> None:
        for name, (low, high) in LIMITS.items():
            value = getattr(self, name)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not low <= value <= high:
                raise ValueError(f"{name} is {value!r}, expected a number in [{low}, {high}]")
        for name in ("on", "memory"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} is {getattr(self, name)!r}, expected true or false")
        if self.mode not in MODES:
            raise ValueError(f"mode is {self.mode!r}, expected one of {', '.join(MODES)}")


def to_toml(settings: Settings) -> str:
    """The file's text."""
    lines = ["# Knob settings: load with knob_core.settings.load", f"version = {VERSION}"]
    for name, value in asdict(settings).items():
        text = (
            f'"{value}"'
            if isinstance(value, str)
            else str(value).lower()
            if isinstance(value, bool)
            else repr(float(value))
        )
        lines.append(f"{name} = {text}")
    return "\n".join(lines) + "\n"


def from_toml(text: str | bytes) -> Settings:
    """Read the text of a settings file, from anybody: size, encoding, version, names and values are checked."""
    if len(text) > MAX_BYTES:
        raise ValueError(f"settings file has {len(text)} bytes, expected at most {MAX_BYTES}")
    try:
        table = tomllib.loads(text.decode("utf-8-sig") if isinstance(text, bytes) else text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ValueError(f"settings file is not TOML ({error})") from error
    version = table.pop("version", None)
    if version != VERSION:
        raise ValueError(f"version is {version!r}, expected {VERSION}")
    known = [field.name for field in fields(Settings)]
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise ValueError(f"settings file has unknown names {', '.join(unknown)}, expected {', '.join(known)}")
    return Settings(**table)


def save(settings: Settings, path: str | Path) -> None:
    """Write the file; it appears whole or not at all."""
    files.write_text(path, to_toml(settings))


def load(path: str | Path) -> Settings:
    """Read what `save` wrote."""
    return from_toml(Path(path).read_bytes())
