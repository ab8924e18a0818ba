"""The frames of the shipped streams in which scenes change: pictures of the sample, cut at random moments.

One plan a kind of content, several realisations of the noise over it; seed 0 decides cuts, pictures and noise.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from knob_core.data import Images, Labels
from knob_core.data.cifar10c import PIXELS_VERSION
from knob_core.data.pixels import to_bytes
from knob_core.schedules import SCHEDULES
from knob_core.streams import SceneStream, scenes
from knob_core.streams.change import ChangePlan

REALISATIONS = 8
NOISES = ("shot_noise", "gaussian_noise", "impulse_noise", "fog", "defocus_blur", "jpeg_compression")
SHIPPED = (  # content, frames, schedule, corruptions
    ("mixed", 240, "step", NOISES),
    ("mixed", 240, "fog_bank", ("shot_noise", "fog")),
    ("fast", 240, "step", ("shot_noise",)),
    ("slow", 480, "step", ("shot_noise",)),  # shorter ones would have no cut
)


@dataclass(frozen=True)
class SceneUnit:
    """One stream: what is shown, and what spoils it."""

    content: str
    frames: int
    schedule: str
    corruption: str


def units() -> dict[str, SceneUnit]:
    """Every shipped stream, by the name of its file."""
    return {
        f"{corruption}-{schedule}-{content}": SceneUnit(content, frames, schedule, corruption)
        for content, frames, schedule, corruptions in SHIPPED
        for corruption in corruptions
    }


@dataclass(frozen=True)
class ScenePixels:
    """Frames of the shipped streams over the sample; a unit's images lie realisation by realisation."""

    images: Images  # (N, 3, 32, 32)
    labels: Labels  # (N,)
    units: dict[str, SceneUnit]
    seed: int = 0

    @property
    def identity(self) -> str:
        sha = hashlib.sha256(np.ascontiguousarray(self.images).data)
        sha.update(f"{self.units}{REALISATIONS}".encode())
        return f"scenes{PIXELS_VERSION}-seed{self.seed}-{sha.hexdigest()[:12]}"

    def plan(self, unit: str) -> ChangePlan:
        """Pictures and severities of a unit's frames."""
        of = self.units[unit]
        return scenes.plan(of.content, self.labels, SCHEDULES[of.schedule](of.frames), self.seed)

    def render(self, unit: str) -> list[Images]:
        """All frames of all realisations, (R x T, 3, 32, 32)."""
        plan = self.plan(unit)
        made = SceneStream(self.images, plan, self.units[unit].corruption, REALISATIONS, self.seed)
        return [np.concatenate([to_bytes(made.frames(0, len(plan), 0, r)) for r in range(REALISATIONS)])]
