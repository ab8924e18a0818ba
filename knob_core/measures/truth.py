"""What R streams of T frames really showed: stretches of one picture, and the cuts between them.

A stretch is a run of frames with one picture and one class; it ends at the next cut or with the stream. A cut is the
first frame of a stretch that is not the stream's first; where frames without a label lie between two classes, it is
the first frame of the second. A cut is recognisable where the bare model, frame by frame,
gives the stretch's class in at least half of the stretch's frames: nobody can follow what nobody sees.
Prepared once for a set of streams, then used for any number of answers (`knob_core.measures.change`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

STAYS = 5  # frames that a new class must be shown without a break to count as followed


@dataclass(frozen=True)
class Truth:
    """N stretches of R streams, stream by stream; C cuts that are counted."""

    labels: np.ndarray  # (R, T) class, -1 where unknown
    start: np.ndarray  # (N,) first frame of each stretch, as a place in the R x T frames laid end to end
    length: np.ndarray  # (N,) frames
    stream: np.ndarray  # (N,) which of the R
    changed: np.ndarray  # (N,) bool: the class is another than in the stretch before; never for a stream's first
    counted: np.ndarray  # (N,) bool: the recognisable cuts, C of them, over which delays are taken
    left: np.ndarray  # (R, T) frames of the stretch after this one, at most STAYS - 1
    both_known: np.ndarray  # (R, T) bool: class known here and in the frame before, so a change of the answer counts

    @property
    def cut_stream(self) -> np.ndarray:
        """(C,) the stream of each counted cut."""
        return self.stream[self.counted]

    @property
    def cut_frame(self) -> np.ndarray:
        """(C,) the frame of each counted cut."""
        return self.start[self.counted] % self.labels.shape[1]

    @property
    def cuts(self) -> np.ndarray:
        """(R,) counted cuts of each stream."""
        return np.bincount(self.cut_stream, minlength=len(self.labels))


def truth(labels: np.ndarray, bare: np.ndarray, content: np.ndarray | None = None, same_class: bool = True) -> Truth:
    """From labels (R, T), the bare model's answers (R, T) and, if known, the number of the picture (R, T).

    Without `content` a cut to another picture of the same class cannot be seen. With same_class=False it ends a stretch
    but is not counted: an answer that stood before it needs no time to follow.
    """
    labels, bare = np.asarray(labels), np.asarray(bare)
    shown = labels if content is None else np.asarray(content)
    if labels.ndim != 2 or not labels.size or bare.shape != labels.shape or shown.shape != labels.shape:
        raise ValueError(
            f"labels, bare and content have shapes {labels.shape}, {bare.shape}, {shown.shape}, "
            "expected one shape (R, T) with R, T >= 1"
        )
    frames = labels.shape[1]
    begins = np.ones(labels.shape, bool)
    begins[:, 1:] = (shown[:, 1:] != shown[:, :-1]) | (labels[:, 1:] != labels[:, :-1])
    start = np.flatnonzero(begins)  # (N,)
    length = np.diff(start, append=labels.size)
    label, first = labels.ravel()[start], start % frames == 0
    before = last_known(labels).ravel()[start - 1]  # of a stream's first stretch another stream's, not used
    changed = ~first & (label >= 0) & (before >= 0) & (label != before)
    recognised = 2 * np.add.reduceat((bare == labels).ravel().astype(np.int64), start) >= length
    another_picture = ~first & (label >= 0) & (labels.ravel()[start - 1] >= 0)
    counted = (changed | (another_picture & same_class)) & recognised
    known = labels >= 0
    both_known = known.copy()
    both_known[:, 0], both_known[:, 1:] = False, known[:, 1:] & known[:, :-1]
    return Truth(
        labels, start, length, start // frames, changed, counted,
        frames_left(start, length, labels.shape), both_known,
    )  # fmt: skip


def last_known(labels: np.ndarray) -> np.ndarray:
    """(R, T) the newest known class of a stream up to each frame; -1 before the first."""
    place = np.where(labels >= 0, np.arange(labels.shape[1]), 0)
    return np.take_along_axis(labels, np.maximum.accumulate(place, axis=1), axis=1)


def frames_left(start: np.ndarray, length: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """`Truth.left` (R, T) of stretches start, length (N,) in frames of shape (R, T)."""
    left = np.repeat(start + length - 1, length) - np.arange(math.prod(shape))
    return np.minimum(left, STAYS - 1).astype(np.int8).reshape(shape)
