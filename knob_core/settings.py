"""The operator's setting as a small file: what a turn of the knobs leaves behind, and what the runtime loads.

zeta >= 0, omega_n > 0 in rad/frame; TOML, versioned, every value checked on the way in. The weights of attentive memory
may stand in it, in a table [attentive]: those that `knob_core.fit` found. Without it the model's own act.
So may what the operator wants of the stream, in a table [goals].
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from knob_core import files, goals
from knob_core._arrays import checks as check
from knob_core.goals import Goals
from knob_core.memories import KINDS, UNFITTED, Attentive

VERSION = 1
TABLE, GOALS = "attentive", "goals"  # tables of the file: weights, and what is wanted
MODES = ("continuous", "reset")
LIMITS = {"zeta": (0.0, 100.0), "omega_n": (1e-6, 100.0), "frame_rate": (0.1, 1000.0), "temperature": (0.05, 20.0)}
MAX_BYTES = 10_000
LONGEST = 300  # characters of a refusal: values come from outside, and are repeated in it


@dataclass(frozen=True)
class Settings:
    """Where the knobs stand, and what they act on."""

    zeta: float = 1.0  # damping ratio
    omega_n: float = 0.4  # natural frequency, rad/frame
    on: bool = True  # False: frame by frame, the gate follows its command at once
    memory: str = "attentive"  # or "plain" or "off" (`knob_core.memories`); of older files: true is plain, false is off
    mode: str = "continuous"  # or "reset": one step from rest for every frame
    frame_rate: float = 10.0  # frames/s, only to say frames as seconds
    temperature: float = 1.0  # the answer is softmax(z / temperature): above 1 more modest, below 1 surer; classes stay
    weights: Attentive | None = None  # of attentive memory; None: the model's own
    goals: Goals = field(default_factory=Goals)  # what the operator wants of the stream; nothing acts on them by itself

    def __post_init__(self) -> None:
        for name, (low, high) in LIMITS.items():
            value = getattr(self, name)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not low <= value <= high:
                raise ValueError(f"{name} is {check.shown(value)}, expected a number in [{low}, {high}]")
        if not isinstance(self.on, bool):
            raise ValueError(f"on is {check.shown(self.on)}, expected true or false")
        if isinstance(self.memory, bool):
            object.__setattr__(self, "memory", "plain" if self.memory else "off")
        if not isinstance(self.memory, str) or self.memory not in KINDS:
            raise ValueError(f"memory is {check.shown(self.memory)}, expected one of {', '.join(KINDS)}")
        if self.weights is not None and not isinstance(self.weights, Attentive):
            raise ValueError(f"weights is {check.shown(self.weights)}, expected attentive memory's or None")
        if not isinstance(self.goals, Goals):
            raise ValueError(f"goals is {check.shown(self.goals)}, expected knob_core.goals.Goals")
        if not isinstance(self.mode, str) or self.mode not in MODES:
            raise ValueError(f"mode is {check.shown(self.mode)}, expected one of {', '.join(MODES)}")

    def acting_memory(self, attentive: Attentive | None = None) -> Attentive | None:
        """Weights of the memory that acts on the next frame, None where none does; `attentive` are the model's own."""
        if not self.on or self.mode != "continuous" or self.memory == "off":
            return None
        weights = self.attentive_weights(attentive)
        return weights.plain if self.memory == "plain" else weights

    def attentive_weights(self, own: Attentive | None = None) -> Attentive:
        """The weights of attentive memory: those of this setting, else the model's own, else `UNFITTED`."""
        return self.weights or own or UNFITTED


HOME = Settings()  # where a double click puts the knobs


def as_dict(settings: Settings) -> dict[str, Any]:
    """Every entry by its name; weights and goals as they are."""
    return {entry.name: getattr(settings, entry.name) for entry in fields(settings)}


def to_toml(settings: Settings) -> str:
    """The file's text."""
    lines = ["# Knob settings: load with knob_core.settings.load", f"version = {VERSION}"]
    entries = as_dict(settings)
    weights, wanted = entries.pop("weights"), entries.pop("goals").set()
    lines += [f"{name} = {_toml(value)}" for name, value in entries.items()]
    for table, values in ((TABLE, weights.to_dict() if weights else {}), (GOALS, wanted)):
        if values:
            lines += ["", f"[{table}]", *(f"{name} = {_toml(value)}" for name, value in values.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        return f'"{value}"'
    return str(value).lower() if isinstance(value, bool) else repr(float(value))


def from_toml(text: str | bytes) -> Settings:
    """Read the text of a settings file, from anybody: size, encoding, version, names and values are checked."""
    if len(text) > MAX_BYTES:
        raise ValueError(
            f"This is not a Knob settings file: it has {len(text):,} bytes, expected at most {MAX_BYTES:,}"
        )
    try:
        table = tomllib.loads(text.decode("utf-8-sig") if isinstance(text, bytes) else text)
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError and TOMLDecodeError are ValueErrors
        raise ValueError(f"This is not a Knob settings file: it is not TOML ({error})") from error
    try:
        return _from_table(table)
    except ValueError as error:
        words = str(error)
        raise ValueError(words if len(words) <= LONGEST else f"{words[:120]} ... {words[-150:]}") from error


def _from_table(table: dict[str, Any]) -> Settings:
    if "version" not in table:
        raise ValueError(f"This is not a Knob settings file: it lacks `version = {VERSION}`")
    version = table.pop("version")
    if type(version) is not int or version != VERSION:
        raise ValueError(
            f"This Knob settings file has version = {check.shown(version)}, and only {VERSION} can be read: "
            "save it anew with the Export of this version"
        )
    known = [entry.name for entry in fields(Settings) if entry.name != "weights"] + [TABLE]
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise ValueError(
            f"This settings file has unknown names: {', '.join(unknown)}. Take them out; known are {', '.join(known)}"
        )
    weights = Attentive.from_dict(table.pop(TABLE)) if TABLE in table else None
    wanted = goals.from_dict(table.pop(GOALS, {}))
    return Settings(**table, weights=weights, goals=wanted)


def save(settings: Settings, path: str | Path) -> None:
    """Write the file; it appears whole or not at all."""
    files.write_text(path, to_toml(settings))


def load(path: str | Path) -> Settings:
    """Read what `save` wrote; an error names the file; of what is no file, or too long, nothing is read."""
    path = Path(path)
    if path.exists() and not path.is_file():  # reading a pipe may take for ever
        raise ValueError(f"{path} is not a file")
    with path.open("rb") as file:
        text = file.read(MAX_BYTES + 1)
    if len(text) > MAX_BYTES:
        raise ValueError(f"{path} has more than {MAX_BYTES} bytes")
    try:
        return from_toml(text)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from error
