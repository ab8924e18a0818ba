"""Severity of a change stream: segments of 25-80 frames, each of one kind, one after another.

s(t) in [0, 5]. A kind is a function (n frames, random generator) -> severities (n,); SEGMENTS lists them by name, and
the place in that list is the number under which a frame's kind is stored.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from knob_core.schedules import SCHEDULES

SHORTEST, LONGEST = 25, 80  # frames of a segment, both included
STEP_LEVEL = (1.0, 5.0)  # severity, uniform
LOW, HIGH = (0.0, 1.5), (3.0, 5.0)  # the two ends of a ramp; also outside and inside a bank of fog
BASE = (0.0, 1.0)  # severity between bursts
BURST_LEVEL = (3.5, 5.0)
BURST_FRAMES = (1, 5)  # both included
BURST_GAP = (5, 15)  # frames from the end of a burst to the next, both included
FOG_EDGE = 0.3  # part of the segment in which the fog gets denser, and again thinner

Severity = NDArray[np.float64]
Segment = Callable[[int, np.random.Generator], Severity]


def clean(n: int, draw: np.random.Generator) -> Severity:
    """No corruption."""
    return np.zeros(n)


def step(n: int, draw: np.random.Generator) -> Severity:
    """One level, reached at once."""
    return np.full(n, draw.uniform(*STEP_LEVEL))


def ramp(n: int, draw: np.random.Generator) -> Severity:
    """Steadily from a low level to a high one, or from high to low."""
    ends = [draw.uniform(*LOW), draw.uniform(*HIGH)]
    start, end = ends if draw.random() < 0.5 else reversed(ends)
    return SCHEDULES["ramp"](n, start=start, end=end, begin=0.0, finish=1.0)


def bursts(n: int, draw: np.random.Generator) -> Severity:
    """A low level with bursts of a few frames."""
    severity = np.full(n, draw.uniform(*BASE))
    start = int(draw.integers(*BURST_GAP, endpoint=True))
    while start < n:
        end = start + int(draw.integers(*BURST_FRAMES, endpoint=True))
        severity[start:end] = draw.uniform(*BURST_LEVEL)
        start = end + int(draw.integers(*BURST_GAP, endpoint=True))
    return severity


def fog_bank(n: int, draw: np.random.Generator) -> Severity:
    """Smoothly up from a low level to a high one and down again."""
    clear, dense = draw.uniform(*LOW), draw.uniform(*HIGH)
    return SCHEDULES["fog_bank"](n, clear=clear, dense=dense, enter=0.0, leave=1.0, edge=FOG_EDGE)


SEGMENTS: dict[str, Segment] = {"clean": clean, "step": step, "ramp": ramp, "bursts": bursts, "fog_bank": fog_bank}


def schedule(
    frames: int, shares: tuple[tuple[str, float], ...], draw: np.random.Generator
) -> tuple[Severity, NDArray[np.int8]]:
    """(severity (T,), kind (T,) as a place in SEGMENTS); a longer schedule from an equal generator begins alike."""
    names = list(SEGMENTS)
    places = np.array([names.index(name) for name, _ in shares])
    chances = np.array([share for _, share in shares])
    severity, kind = [np.zeros(0)], [np.zeros(0, np.int8)]
    covered = 0
    while covered < frames:
        n = int(draw.integers(SHORTEST, LONGEST, endpoint=True))
        place = int(places[np.searchsorted(np.cumsum(chances)[:-1], draw.random(), side="right")])
        severity.append(SEGMENTS[names[place]](n, draw))
        kind.append(np.full(n, place, np.int8))
        covered += n
    return np.concatenate(severity)[:frames], np.concatenate(kind)[:frames]
