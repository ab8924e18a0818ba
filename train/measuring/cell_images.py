"""The images of an evaluation: 19 corruptions x 5 severities and clean, official files or our own pixels.

A unit is one corruption at all its severities; it is rendered once and then shown to every model.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from knob_core.corruptions import NAMES, TRAINING
from knob_core.data import Images, Labels, cifar10c
from knob_core.data.cifar10c import CHUNK, PIXELS_VERSION, SEVERITIES

CLEAN = "clean"
UNITS = (CLEAN, *NAMES)
HELD_OUT = ("held-out clean", "held-out corrupted")  # training images that no model saw: for temperatures


@dataclass(frozen=True)
class CellPixels:
    """N test images under everything; from the files in `official` where they are given.

    They are the images of the test split from place `first` on, and have the pixels of that place: a range of a whole
    evaluation is a part of it, image by image.
    """

    images: Images  # (N, 3, 32, 32)
    labels: Labels  # (N,)
    seed: int = 0
    official: Path | None = None
    device: str = "cpu"
    units: tuple[str, ...] = UNITS
    first: int = 0

    def __post_init__(self) -> None:
        if self.first < 0 or self.first % CHUNK:
            raise ValueError(
                f"first is {self.first}, expected a multiple of {CHUNK}: noise is seeded by so many images"
            )

    @property
    def identity(self) -> str:
        """Names these pixels: another range, seed, recipe or source has another."""
        source = "official" if self.official else f"own{PIXELS_VERSION}-seed{self.seed}-{self.device.split(':')[0]}"
        digest = hashlib.sha256(np.ascontiguousarray(self.images).data).hexdigest()[:8]
        return f"{source}-{f'from{self.first}-' if self.first else ''}{len(self.labels)}-{digest}"

    def severities(self, unit: str) -> tuple[int, ...]:
        return (0,) if unit == CLEAN else SEVERITIES

    def render(self, unit: str) -> list[Images]:
        """The images of a unit, one array (N, 3, 32, 32) for each severity."""
        if unit == CLEAN:
            return [self.images]
        if self.official is not None:
            stop = self.first + len(self.labels)
            read = [cifar10c.read(self.official, unit, s, stop) for s in SEVERITIES]
            for _, labels in read:
                if not np.array_equal(labels[self.first :], self.labels):
                    raise ValueError(f"labels.npy in {self.official} are not those of the CIFAR-10 test split")
            return [images[self.first :] for images, _ in read]
        return [cifar10c.make(self.images, unit, s, self.seed, self.device, first=self.first) for s in SEVERITIES]


@dataclass(frozen=True)
class HeldOutPixels:
    """N training images that were never trained on: clean, and shared out evenly over the four training corruptions."""

    images: Images
    labels: Labels
    seed: int = 0
    device: str = "cpu"

    @property
    def identity(self) -> str:
        digest = hashlib.sha256(np.ascontiguousarray(self.images).data).hexdigest()[:8]
        return f"held-out{PIXELS_VERSION}-seed{self.seed}-{self.device.split(':')[0]}-{len(self.labels)}-{digest}"

    def severities(self, unit: str) -> tuple[int, ...]:
        return (0,)

    def order(self, unit: str) -> np.ndarray:
        """Which image stands at each place of a unit, (N,)."""
        cells = len(TRAINING) * len(SEVERITIES)
        places = np.arange(len(self.labels))
        return places if unit == HELD_OUT[0] else np.concatenate([places[cell::cells] for cell in range(cells)])

    def render(self, unit: str) -> list[Images]:
        if unit == HELD_OUT[0]:
            return [self.images]
        cells = [(name, severity) for name in TRAINING for severity in SEVERITIES]
        parts = [
            cifar10c.make(self.images[index :: len(cells)], name, severity, self.seed, self.device)
            for index, (name, severity) in enumerate(cells)
        ]
        return [np.concatenate(parts)]
