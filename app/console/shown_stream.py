"""A stream as the console shows it: branches of some images x realisations, film strip, and what no knob changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from app.console.protocol import FilmStrip, StreamBackground
from app.figures import scope
from app.widgets.webp import data_url
from knob_core.branches import Branches
from knob_core.data import CLASSES
from knob_core.library.film_strips import film_frames
from knob_core.measures.stability import StreamMeasures, measure
from knob_core.memories import Attentive
from knob_core.response import Response, respond
from knob_core.settings import Settings

SHORT = {"airplane": "plane", "automobile": "car"}


@dataclass(frozen=True)
class ShownStream:
    """Paths are ordered by image, then by realisation of the noise."""

    id: str
    title: str
    method: str
    branches: Branches
    realisations: int
    image: int = 0  # which of its images is shown
    pixels: np.ndarray | None = None  # (FILM, 32, 32, 3) uint8, the shown image's first realisation at film_frames
    trained: tuple[float, float] | None = None
    attentive: Attentive | None = None  # the model's own weights of attentive memory
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
    def frame_truth(self) -> np.ndarray:
        """(T,) the true class of every shown frame, -1 where unknown."""
        return self.branches.frame_labels[self.rows().start]

    @property
    def truth(self) -> int:
        """The shown image's class, -1 where it is unknown or changes."""
        first = int(self.frame_truth[0])
        return first if (self.frame_truth == first).all() else -1

    @property
    def drawn_severity(self) -> np.ndarray:
        """(T,) as the scope draws it; NaN where it is not known."""
        return self.branches.severity

    @cached_property
    def without_knob(self) -> Response:
        """What the model says without Knob: no inertia, no memory."""
        return respond(self.branches, Settings(on=False), self.method)[0]

    @cached_property
    def measures_without(self) -> StreamMeasures:
        """The measures without Knob."""
        return measure(self.branches, self.without_knob)

    def share_wrong(self, response: Response) -> np.ndarray:
        """(T,) the share of the shown image's paths that are wrong."""
        labels = self.branches.frame_labels[self.rows()]
        return ((response.predicted[self.rows()] != labels) & (labels >= 0)).mean(axis=0)

    def background(self) -> StreamBackground:
        """What no knob changes: axes, severity, the traces without Knob, the film strip."""
        rows, without = self.rows(), self.without_knob
        figure = scope.base(
            self.drawn_severity,
            np.median(without.g[rows], axis=0),
            np.median(without.p_max[rows], axis=0),
            self.share_wrong(without),
        )
        film: FilmStrip | None = None
        if self.pixels is not None:
            sprite = data_url(np.concatenate(list(self.pixels), axis=1))  # side by side
            film = {"sprite": sprite, "frames": self.film_frames.tolist()}
        return {
            "id": self.id, "title": self.title, "figure": figure, "film": film, "truth": self.truth,
            "alt": f"scope: severity, gate and confidence over {self.frames} frames",
            "classes": list(CLASSES), "short": [SHORT.get(name, name) for name in CLASSES],
        }  # fmt: skip
