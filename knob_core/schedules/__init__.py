"""How bad the picture gets, frame by frame: severity schedules.

s: {0, ..., n-1} -> [0, 5], an array (n,); what the parameters would push outside is held at the limit.
`SCHEDULES[name](n, **values)`; each one carries its parameters, ranges and help, so that a menu can be built from it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from knob_core._arrays.checks import whole_number
from knob_core.schedules.lists import MAX_SEVERITY, Severity, from_csv, from_list

__all__ = ["MAX_FRAMES", "MAX_SEVERITY", "SCHEDULES", "Parameter", "Schedule", "Severity", "from_csv", "from_list"]

MAX_FRAMES = 1_000_000


@dataclass(frozen=True)
class Parameter:
    """One control: a number in [low, high], or a text."""

    name: str
    default: float | int | str
    low: float
    high: float
    help: str
    logarithmic: bool = False  # so should its slider be

    @property
    def kind(self) -> str:
        """ "number", "integer" or "text"."""
        return {float: "number", int: "integer", str: "text"}[type(self.default)]

    def check(self, value: float | int | str) -> None:
        """Refuse what is not of this kind or outside the range."""
        if self.kind == "text":
            if not isinstance(value, str):
                raise ValueError(f"{self.name} is {value!r}, expected text")
            return
        numbers = (int, np.integer) if self.kind == "integer" else (int, float, np.integer, np.floating)
        if isinstance(value, bool) or not isinstance(value, numbers) or not self.low <= value <= self.high:
            noun = "a whole number" if self.kind == "integer" else "a number"
            raise ValueError(f"{self.name} is {value!r}, expected {noun} in [{self.low}, {self.high}]")


@dataclass(frozen=True)
class Schedule:
    """A named s(t): `schedule(n, **values)` checks the values and returns the severities (n,)."""

    name: str
    label: str
    help: str  # one sentence for people
    parameters: tuple[Parameter, ...]
    function: Callable[..., Severity]

    def __call__(self, n: int, **values: float | int | str) -> Severity:
        n = whole_number("n", n, 1, MAX_FRAMES)
        known = {parameter.name: parameter for parameter in self.parameters}
        for name, value in values.items():
            if name not in known:
                raise ValueError(f"{self.name} has no parameter {name!r}, it has {', '.join(known)}")
            known[name].check(value)
        return np.clip(self.function(n, **values), 0.0, MAX_SEVERITY)


SCHEDULES: dict[str, Schedule] = {}

LEVEL = (0.0, MAX_SEVERITY)  # the ranges that several share
PART = (0.0, 1.0)
SWING = (0.0, MAX_SEVERITY / 2)
FREQUENCY = (0.001, 0.5)  # cycles/frame
PERIOD = (2, 1000)  # frames
SEED = (0, 2**31 - 1)


def _schedule(label: str, **ranges: tuple[tuple[float, float], str]) -> Callable[[Callable[..., Severity]], Schedule]:
    """Register a function; its docstring is the help, its defaults are the controls' defaults."""

    def register(function: Callable[..., Severity]) -> Schedule:
        defaults = inspect.signature(function).parameters
        parameters = tuple(
            Parameter(name, defaults[name].default, *bounds, help, logarithmic=bounds in (FREQUENCY, PERIOD))
            for name, (bounds, help) in ranges.items()
        )
        name = function.__name__
        SCHEDULES[name] = Schedule(name, label, inspect.getdoc(function) or label, parameters, function)
        return SCHEDULES[name]

    return register


@_schedule("Constant", level=(LEVEL, "severity"))
def constant(n: int, level: float = 3.0) -> Severity:
    """The same severity all the time."""
    return np.full(n, float(level))


@_schedule(
    "Step",
    low=(LEVEL, "severity before and after"),
    high=(LEVEL, "severity in between"),
    on=(PART, "when it turns bad, as a part of the stream"),
    off=(PART, "when it turns good again, as a part of the stream"),
)
def step(n: int, low: float = 1.0, high: float = 5.0, on: float = 0.25, off: float = 0.75) -> Severity:
    """Suddenly bad, and suddenly good again; it begins and ends bad where it turns good before it turns bad."""
    t, first, last = np.arange(n), round(on * n), round(off * n)
    bad = (t >= first) & (t < last) if on <= off else (t >= first) | (t < last)
    return np.where(bad, float(high), float(low))


@_schedule(
    "Ramp",
    start=(LEVEL, "severity at first"),
    end=(LEVEL, "severity at last"),
    begin=(PART, "when it begins to move, as a part of the stream"),
    finish=(PART, "when it has arrived, as a part of the stream"),
)
def ramp(n: int, start: float = 0.0, end: float = 5.0, begin: float = 0.1, finish: float = 0.9) -> Severity:
    """Steadily from one severity to another."""
    t, first, last = np.arange(n), round(begin * n), round(finish * n)
    progress = (t - first) / (last - first) if last > first else (t >= first).astype(float)
    return start + (end - start) * np.clip(progress, 0.0, 1.0)


@_schedule(
    "Sine",
    frequency=(FREQUENCY, "cycles per frame"),
    mean=(LEVEL, "severity it swings about"),
    amplitude=(SWING, "how far it swings"),
)
def sine(n: int, frequency: float = 0.01, mean: float = 3.0, amplitude: float = 2.0) -> Severity:
    """Up and down smoothly at one frequency."""
    return mean + amplitude * np.sin(2 * np.pi * frequency * np.arange(n))


@_schedule(
    "Chirp",
    start=(FREQUENCY, "cycles per frame at first"),
    end=(FREQUENCY, "cycles per frame at last"),
    mean=(LEVEL, "severity it swings about"),
    amplitude=(SWING, "how far it swings"),
)
def chirp(n: int, start: float = 0.0025, end: float = 0.1, mean: float = 3.0, amplitude: float = 2.0) -> Severity:
    """Up and down ever faster, each doubling of the frequency in the same time."""
    growth, progress = np.log(end / start), np.arange(n) / n
    turns = start * n * (np.expm1(growth * progress) / growth if growth else progress)  # the frequency's integral
    return mean + amplitude * np.sin(2 * np.pi * turns)


@_schedule(
    "Square",
    period=(PERIOD, "frames from one change for the worse to the next"),
    low=(LEVEL, "severity in the good half"),
    high=(LEVEL, "severity in the bad half"),
)
def square(n: int, period: int = 100, low: float = 1.0, high: float = 5.0) -> Severity:
    """Good and bad by turns, half a period each."""
    return np.where(2 * (np.arange(n) % period) < period, float(low), float(high))


@_schedule(
    "Sawtooth",
    period=(PERIOD, "frames from one fall to the next"),
    low=(LEVEL, "severity just after the fall"),
    high=(LEVEL, "severity just before it"),
)
def sawtooth(n: int, period: int = 100, low: float = 0.0, high: float = 5.0) -> Severity:
    """Creeps up over each period and falls back at once."""
    return low + (high - low) * (np.arange(n) % period) / (period - 1)


@_schedule(
    "Fog bank",
    clear=(LEVEL, "severity outside the bank"),
    dense=(LEVEL, "severity inside it"),
    enter=(PART, "where the bank begins, as a part of the stream"),
    leave=(PART, "where it ends, as a part of the stream"),
    edge=((0.01, 0.5), "how long it takes to get in or out, as a part of the stream"),
)
def fog_bank(
    n: int, clear: float = 0.5, dense: float = 4.5, enter: float = 0.2, leave: float = 0.8, edge: float = 0.15
) -> Severity:
    """Smoothly into a bank of fog, through it, and smoothly out."""
    t = np.arange(n) / n
    x = np.clip(np.minimum(t - enter, leave - t) / edge, 0.0, 1.0)  # depth in the bank
    return clear + (dense - clear) * x * x * (3.0 - 2.0 * x)


@_schedule(
    "Random walk",
    start=(LEVEL, "severity at first"),
    stride=((0.0, 2.0), "standard deviation of one frame's move"),
    seed=(SEED, "which walk"),
)
def random_walk(n: int, start: float = 2.0, stride: float = 0.15, seed: int = 0) -> Severity:
    """Wanders at random and turns back at the limits."""
    moves = np.random.default_rng(seed).standard_normal(n) * stride
    moves[0] = 0.0
    path = start + np.cumsum(moves)
    return MAX_SEVERITY - np.abs(path % (2 * MAX_SEVERITY) - MAX_SEVERITY)  # folded at 0 and 5


@_schedule(
    "Spikes",
    base=(LEVEL, "severity in between"),
    height=(LEVEL, "severity of a spike"),
    every=(PERIOD, "frames from spike to spike, on average"),
    width=((1, 100), "frames that a spike lasts"),
    seed=(SEED, "which moments"),
)
def spikes(n: int, base: float = 1.0, height: float = 5.0, every: int = 60, width: int = 4, seed: int = 0) -> Severity:
    """Short bursts at random moments."""
    begins = np.random.default_rng(seed).random(n) < 1.0 / every
    burning = np.convolve(begins, np.ones(width))[:n] > 0.5
    return np.where(burning, float(height), float(base))


@_schedule("List", values=(LEVEL, "severities, separated by commas, spaces or lines"))
def listed(n: int, values: str = "1, 1, 5, 5, 1") -> Severity:
    """Your own severities, one a frame; the last one stays."""
    s = from_list(values.replace(",", " ").replace(";", " ").split())
    return s[np.minimum(np.arange(n), len(s) - 1)]
