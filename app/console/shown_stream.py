"""A stream as the console shows it: branches of some images x realisations, film strip, and what no knob changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from app.console.protocol import FilmStrip, StreamBackground
from app.figures import scope
from app.figures.packed import pack
from app.widgets.webp import data_url
from knob_core import methods
from knob_core.branches import Branches
from knob_core.data import CLASSES
from knob_core.library.film_strips import film_frames
from knob_core.measures.operator import OperatorMeasures, known_truth, measure
from knob_core.measures.truth import Truth
from knob_core.memories import Attentive, Memory, at_rest
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
    reset_reference: float | None = None  # the form of the model's Reset Mode (`knob_core.gates`)
    fault: str = ""  # what of it could not be read, where the rest can be shown
    names: tuple[str, ...] = CLASSES
    probe: tuple[Branches, str] | None = None  # where the picture changes: a fixed one's paths, and its name
    source: str = ""  # how it can be had again: the choice as text, or the file's id and name

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

    @cached_property
    def cuts(self) -> list[int]:
        """The first frames of a new picture, or of a new class where the pictures have no number."""
        if self.branches.content is not None:
            return (np.flatnonzero(np.diff(self.branches.content[self.rows().start])) + 1).tolist()
        labels = self.frame_truth
        known = labels >= 0  # a frame without a label is no change
        return (np.flatnonzero((np.diff(labels) != 0) & known[1:] & known[:-1]) + 1).tolist()

    @cached_property
    def changing(self) -> bool:
        """A picture changes, or a class where the pictures have no number, in some path."""
        content, labels = self.branches.content, self.branches.frame_labels
        if content is not None:
            return bool((content != content[:, :1]).any())
        largest = labels.max(axis=1, keepdims=True)  # of a path
        return bool(((labels >= 0) & (labels != largest)).any())

    @property
    def gated(self) -> bool:
        """There are two branches and a gate between them."""
        return methods.get(self.method).gate.gated

    @cached_property
    def branches_agree(self) -> np.ndarray:
        """(R, T) bool: both branches have the same top class."""
        return self.branches.z_static.argmax(-1) == self.branches.z_dyn.argmax(-1)

    @cached_property
    def fixed(self) -> tuple[ShownStream | None, str]:
        """(One fixed picture's paths, its name in words): where the picture changes the pictures move the gate too.

        None where there is none.
        """
        if not self.changing:
            rows = self.rows()
            b = self.branches
            part = Branches(b.z_static[rows], b.z_dyn[rows], b.u_star[rows], b.labels[rows], b.severity)
            return replace(self, branches=part, image=0), "this stream"
        if self.probe is None:
            return None, ""
        branches, name = self.probe
        return replace(self, branches=branches, realisations=len(branches.u_star), image=0, probe=None), (
            f"a fixed picture ({name})"
        )

    @property
    def labelled(self) -> bool:
        """Some frame's class is known."""
        return bool((self.branches.labels >= 0).any())

    @property
    def drawn_severity(self) -> np.ndarray | None:
        """(T,) as the scope draws it; None where it is not known."""
        return self.branches.severity

    def class_name(self, number: int) -> str:
        """A class in words; empty where it is not known."""
        return self.names[number] if 0 <= number < len(self.names) else ""

    @property
    def short_names(self) -> list[str]:
        """The classes, short enough for the film strip."""
        return [SHORT.get(name, name) for name in self.names]

    def respond(self, settings: Settings) -> Response:
        """The whole stream under a setting, from rest."""
        return self.go_on(self.branches, settings, None)[0]

    def at_rest(self) -> Memory:
        """The state of streams that have seen nothing."""
        paths, _, classes = self.branches.z_static.shape
        return at_rest(paths, classes, methods.get(self.method).gate)

    def go_on(self, part: Branches, settings: Settings, state: Memory | None) -> tuple[Response, Memory]:
        """Some of its frames under a setting, from a state."""
        return respond(part, settings, self.method, state, self.attentive, self.reset_reference)

    @cached_property
    def without_knob(self) -> Response:
        """What the model says without Knob: no inertia, no memory."""
        return self.respond(Settings(on=False))

    @cached_property
    def known(self) -> Truth | None:
        """What the stream really showed; None where nothing is labelled."""
        return known_truth(self.branches, self.without_knob.predicted)

    @cached_property
    def measures_without(self) -> OperatorMeasures:
        """The measures without Knob."""
        return measure(self.branches, self.without_knob, self.known, self.without_knob.predicted)

    def share_wrong(self, response: Response) -> np.ndarray:
        """(T,) the share of the shown image's paths that are wrong; 0 where there is no label, or no answer yet."""
        labels, predicted = self.branches.frame_labels[self.rows()], response.predicted[self.rows()]
        return ((predicted != labels) & (labels >= 0) & (predicted >= 0)).mean(axis=0)

    def disagrees(self, response: Response) -> np.ndarray:
        """(R, T) bool: the class shown is another than the frame's own; False where no frame has come."""
        return (response.predicted != self.without_knob.predicted) & (response.predicted >= 0)

    def background(self) -> StreamBackground:
        """What no knob changes: axes, severity, the traces without Knob, the film strip."""
        rows, without = self.rows(), self.without_knob
        traces = {
            **({"gate": np.median(without.g[rows], axis=0)} if self.gated else {}),
            "confidence": np.median(without.p_max[rows], axis=0),
            "wrong": self.share_wrong(without),
            "classes": without.predicted[rows.start],
        }
        labelled = bool((self.frame_truth >= 0).any())
        figure = scope.base(
            self.drawn_severity, self.frame_truth if labelled else None, self.cuts, traces, self.short_names
        )
        film: FilmStrip | None = None
        if self.pixels is not None:
            sprite = data_url(np.concatenate(list(self.pixels), axis=1))  # side by side
            film = {"sprite": sprite, "frames": self.film_frames.tolist()}
        return {
            "id": self.id, "title": self.title, "figure": figure, "film": film, "truth": pack(self.frame_truth, "i2"),
            "alt": f"scope: classes, confidence{', gate' * self.gated} and alertness over {self.frames} frames",
            "classes": list(self.names), "short": self.short_names,
        }  # fmt: skip
