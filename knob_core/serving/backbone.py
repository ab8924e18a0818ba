"""Frames of a batch to branch outputs: the model runs once for all frames of one shape.

What a client sends instead of a picture, logits or branch outputs, takes its place in the batch beside the pictures.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from knob_core._arrays.checks import LARGEST
from knob_core.runtime.sources import Branch, Source, gate_of
from knob_core.serving.messages import Frame
from knob_core.wrap.probabilities import ProbabilityCount

MAX_LOGIT = 1e6  # in size, of what clients send
log = logging.getLogger(__name__)


class Backbone:
    """A source with room for frames of different kinds."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.num_classes = source.num_classes
        self.takes_pictures = getattr(source, "model", True) is not None
        self.single_branch = not gate_of(source).gated
        self.problem: str | None = None  # with what the model gives
        self._probabilities = ProbabilityCount()

    def prepare(self, picture: np.ndarray) -> np.ndarray:
        """One picture (H, W, 3) as it is kept until its batch: small, where the model takes small ones."""
        prepare = getattr(self.source, "prepare", None)
        return picture if prepare is None else prepare(picture)

    def learn_classes(self, picture: np.ndarray) -> bool:
        """Ask the model with one picture how many classes it has; whether it took the picture."""
        try:
            self.num_classes = self.source(picture[None]).z_static.shape[1]
        except Exception as error:  # it may take pictures of one size only
            log.warning("the model did not take a blank picture", extra={"cause": str(error)[:200]})
            return False
        return True

    def require(self, frame: Frame) -> None:
        """Refuse what this model cannot take, before it waits for a batch."""
        if frame.kind == "missing":
            return
        if frame.kind in ("picture", "raw"):
            if not self.takes_pictures:
                raise ValueError("this service takes logits, not pictures")
            return
        assert frame.content is not None
        if (frame.kind == "logits") != self.single_branch:
            wanted = "logits" if self.single_branch else "pictures, or branches: z_static, z_dyn and u_star"
            raise ValueError(f"this service's model does not take {frame.kind}, expected {wanted}")
        if self.num_classes is None and self.takes_pictures:
            raise ValueError(
                f"the model has seen no picture yet and takes no {frame.kind} before: send a picture first"
            )
        size = frame.content.size
        if frame.kind == "logits":
            wanted_size = self.num_classes
        else:
            wanted_size = None if self.num_classes is None else 2 * self.num_classes + 1
        if size != wanted_size and (wanted_size is not None or size < (2 if self.single_branch else 5)):
            raise ValueError(f"{frame.kind} has {size} numbers, expected {wanted_size or 'those of 2 classes or more'}")
        finite = frame.content[np.isfinite(frame.content)]  # NaN is a gap, -inf rules a class out
        if np.abs(finite).max(initial=0.0) > MAX_LOGIT:
            raise ValueError(f"{frame.kind} has numbers above {MAX_LOGIT:g} in size, expected at most that")

    def __call__(self, frames: Sequence[Frame]) -> tuple[Branch | None, list[str | None]]:
        """(branch outputs (B, K), cause of failure for every frame); no branch where all failed."""
        causes: list[str | None] = [None] * len(frames)
        found: list[tuple[list[int], Branch]] = []
        by_shape: dict[Any, list[int]] = defaultdict(list)
        for place, frame in enumerate(frames):
            if frame.kind in ("picture", "raw"):
                assert frame.content is not None
                by_shape[frame.content.shape].append(place)
            elif frame.content is not None:
                found.append(([place], self._given(frame)))
        for places in by_shape.values():
            try:
                found.append((places, self.source(stacked([frames[place].content for place in places]))))  # type: ignore[misc]
            except Exception as error:
                log.exception("the model failed on %d frames", len(places))
                for place in places:
                    causes[place] = f"the model failed: {type(error).__name__}; the service's log says more"
        if self.num_classes is None and found:
            self.num_classes = found[0][1].z_static.shape[1]
        classes = self.num_classes
        if classes is None:  # nothing but missing frames so far
            return None, causes
        z_static, z_dyn = (np.full((len(frames), classes), np.nan) for _ in range(2))
        u_star = np.full(len(frames), np.nan)
        for places, branch in found:
            if branch.z_static.shape != (len(places), classes):
                for place in places:
                    causes[place] = (
                        f"the model gave logits of shape {branch.z_static.shape}, expected {(len(places), classes)}"
                    )
                continue
            if frames[places[0]].kind in ("picture", "raw"):
                self._look_for_probabilities(branch)
            z_static[places], z_dyn[places] = branch.z_static, branch.z_dyn
            u_star[places] = branch.u_star
        for z in (z_static, z_dyn):
            large = np.isfinite(z) & (np.abs(z) > LARGEST)
            for place in np.flatnonzero(large.any(axis=1)).tolist():
                found = z[place][large[place]][0]
                causes[place] = f"the model gave the logit {found:g}, expected at most {LARGEST:g} in size"
        return Branch(z_static, z_dyn, np.zeros(len(frames)) if self.single_branch else u_star), causes

    def _look_for_probabilities(self, branch: Branch) -> None:
        """The model's frames are answered all the same: only who runs it can mend it."""
        before, self.problem = self.problem, self._probabilities.problem("the model's logits", branch.z_dyn)
        if self.problem is not None and before is None:
            log.warning(self.problem)

    def _given(self, frame: Frame) -> Branch:
        assert frame.content is not None
        x = np.asarray(frame.content, np.float64)[None]
        if frame.kind == "logits":
            return Branch(x, x, np.zeros(1))
        classes = x.shape[1] // 2
        return Branch(x[:, :classes], x[:, classes:-1], x[:, -1])


def stacked(pictures: Sequence[np.ndarray]) -> np.ndarray:
    """Pictures of one shape as a batch; where some are floats in [0, 1], the bytes of the others become floats too."""
    if len({picture.dtype for picture in pictures}) > 1:
        pictures = [p.astype(np.float32) / np.float32(255) if p.dtype == np.uint8 else p for p in pictures]
    return np.stack(pictures)
