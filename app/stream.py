"""A stream as the console draws it: branches of some images x realisations, the film, and what no knob changes."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from app.figures import scope
from knob_core.branches import Branches
from knob_core.data import CLASSES
from knob_core.library.film_strips import film_frames
from knob_core.measures.stability import StreamMeasures, measure
from knob_core.response import Response, respond
from knob_core.settings import Settings

SHORT = {"airplane": "plane", "automobile": "car"}


@dataclass(frozen=True)
class Stream:
    """Paths are ordered by image, then by realisation of the noise."""

    id: str
    title: str
    method: str
    branches: Branches
    realisations: int
    image: int = 0  # which of its images is shown
    pixels: np.ndarray | None = None  # (FILM, 32, 32, 3) uint8, the shown image's first realisation at film_frames
    trained: tuple[float, float] | None = None
    fault: str = ""  # what of it could not be read, where the rest can be shown

    @property
    def frames(self) -> int:
        """T."""
        return self.branches.u_star.shape[1]

    @property
    def images(self) -> int:
        """How many images the measures run over."""
        return len(self.branches.u_star) // self.realisations

    def rows(self) -> slice:
        """The paths of the shown image."""
        return slice(self.image * self.realisations, (self.image + 1) * self.realisations)

    @cached_property
    def film_frames(self) -> np.ndarray:
        """(FILM,) frames of which the strip has pictures, in the middle of their part of the stream."""
        return film_frames(self.frames)

    @property
    def truth(self) -> int:
        """The shown image's class, -1 where unknown."""
        return int(self.branches.labels[self.rows().start])

    @property
    def drawn_severity(self) -> np.ndarray:
        """(T,) as the scope draws it; NaN where it is not known."""
        return self.branches.severity

    @cached_property
    def frame_by_frame(self) -> Response:
        """What the model says without inertia and without memory: the ghost."""
        return respond(self.branches, Settings(on=False), self.method)[0]

    @cached_property
    def raw(self) -> StreamMeasures:
        """The ghost's measures."""
        return measure(self.branches, self.frame_by_frame)

    def share_wrong(self, response: Response) -> np.ndarray:
        """(T,) the share of the shown image's paths that are wrong."""
        predicted = response.predicted[self.rows()]
        return (predicted != self.truth).mean(axis=0) if self.truth >= 0 else np.zeros(self.frames)

    def tape(self) -> dict[str, Any]:
        """What the page keeps while knobs turn: axes, severity, ghosts, film."""
        rows = self.rows()
        ghost = self.frame_by_frame
        figure = scope.base(
            self.drawn_severity,
            np.median(ghost.g[rows], axis=0),
            np.median(ghost.p_max[rows], axis=0),
            self.share_wrong(ghost),
        )
        film = None
        if self.pixels is not None:
            film = {"sprite": sprite(self.pixels), "frames": self.film_frames.tolist()}
        return {
            "id": self.id, "figure": figure, "film": film, "truth": self.truth,
            "classes": list(CLASSES), "short": [SHORT.get(name, name) for name in CLASSES],
        }  # fmt: skip


def sprite(pixels: np.ndarray) -> str:
    """Pictures (n, H, W, 3) side by side as a lossless data URL."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(np.concatenate(list(pixels), axis=1)).save(buffer, "WEBP", lossless=True)
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()
