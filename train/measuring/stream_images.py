"""The frames of controlled streams: a library for the console, tones and a step for probe E-3.

Images: the first of eight classes in the shipped sample; noise redrawn at every frame, seed 0.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from knob_core.data import Images, Labels
from knob_core.data.cifar10c import PIXELS_VERSION
from knob_core.data.pixels import to_bytes
from knob_core.schedules import SCHEDULES
from knob_core.streams import ControlledStream

FRAMES = 240
CLASSES = 8  # images, one a class
REALISATIONS = 4  # of the noise, for each image
CORRUPTIONS = ("shot_noise", "gaussian_noise", "impulse_noise", "fog", "defocus_blur", "jpeg_compression")
LIBRARY_SCHEDULES = ("step", "fog_bank", "sine", "spikes", "random_walk")

# E-3: severity 3 + 2 sin(2 pi f t) under shot noise, as it is and rounded to whole severities.
PROBE_CORRUPTION = "shot_noise"
TONES = (0.0025, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.45)  # cycles/frame; the first stands for DC
TONE_REALISATIONS = 3
TONE_FIRST = 100  # frames of transient, not fitted
TONE_FITTED = 200  # frames at least, and one whole cycle
STEP_REALISATIONS = 12


@dataclass(frozen=True)
class Stream:
    """One stream: what happens to the images."""

    corruption: str
    severity: NDArray[np.float64] = field(repr=False)  # (T,)
    realisations: int  # of the noise, for each image


def stills(labels: Labels) -> tuple[int, ...]:
    """Places of the images: going through the sample, the first of each class until there are enough."""
    firsts = np.sort(np.unique(labels, return_index=True)[1])
    return tuple(int(place) for place in firsts[:CLASSES])


def library() -> dict[str, Stream]:
    """The shipped streams, by the name of their unit."""
    return {
        unit(corruption, schedule): Stream(corruption, SCHEDULES[schedule](FRAMES), REALISATIONS)
        for corruption in CORRUPTIONS
        for schedule in LIBRARY_SCHEDULES
    }


def unit(corruption: str, schedule: str) -> str:
    return f"{corruption}-{schedule}"


def tones() -> dict[str, Stream]:
    """E-3's sines, at every frequency, by the name of their unit."""
    found = {}
    for rounded in (False, True):
        for frequency in TONES:
            frames = TONE_FIRST + max(TONE_FITTED, round(1 / frequency))
            severity = SCHEDULES["sine"](frames, frequency=frequency, mean=3.0, amplitude=2.0)
            severity = severity.round() if rounded else severity
            found[tone_unit(frequency, rounded)] = Stream(PROBE_CORRUPTION, severity, TONE_REALISATIONS)
    return found


def tone_unit(frequency: float, rounded: bool) -> str:
    return f"tone-{frequency:g}-{'rounded' if rounded else 'continuous'}"


def step() -> dict[str, Stream]:
    """E-3's step 1 -> 5 -> 1, with more realisations than the library's."""
    return {"step": Stream(PROBE_CORRUPTION, SCHEDULES["step"](FRAMES), STEP_REALISATIONS)}


@dataclass(frozen=True)
class StreamPixels:
    """Frames of named streams over some still images; a unit's images lie path by path."""

    images: Images  # (N, 3, 32, 32)
    streams: dict[str, Stream]
    seed: int = 0

    @property
    def identity(self) -> str:
        sha = hashlib.sha256(np.ascontiguousarray(self.images).data)
        for name, stream in self.streams.items():
            sha.update(f"{name}{stream.corruption}{stream.realisations}".encode() + stream.severity.tobytes())
        return f"streams{PIXELS_VERSION}-seed{self.seed}-{sha.hexdigest()[:12]}"

    def render(self, unit: str) -> list[Images]:
        """All frames of all paths, (R x T, 3, 32, 32)."""
        stream = self.streams[unit]
        made = ControlledStream(self.images, stream.severity, stream.corruption, stream.realisations, self.seed)
        paths = [
            to_bytes(made.frames(0, made.length, image, realisation))
            for image in range(len(self.images))
            for realisation in range(stream.realisations)
        ]
        return [np.concatenate(paths)]
