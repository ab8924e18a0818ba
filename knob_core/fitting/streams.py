"""Streams as a fit takes them: one or many, of unequal length, with gaps, labelled or not, in groups.

Groups are what must not be on both sides of a fit: a person, a recording, a site. Without them every stream is one; a
single stream is cut into pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from knob_core._arrays.checks import as_array, real_numbers, require_finite, require_size
from knob_core._arrays.ruled_out import finite
from knob_core._arrays.top import top1
from knob_core.fitting.listening import Home, home
from knob_core.measures.truth import Truth, truth
from knob_core.memories.attentive import filled
from knob_core.rivals.base import Floats
from knob_core.wrap.probabilities import require_logits

ENOUGH = 5000  # frames to measure a model's certainty on
PIECES, SHORTEST = 8, 50  # of a single stream: how many at most, and their least frames


@dataclass(frozen=True)
class Streams:
    """R streams of T frames over K classes; what is missing has NaN and no class."""

    z: Floats  # (R, T, K) logits of the frame
    labels: np.ndarray  # (R, T), -1 where unknown
    groups: np.ndarray  # (R,) whole numbers
    go_on: Callable[[], object] = lambda: None  # called before each NLL; what it raises ends a fit
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` gives, made the first time it is asked for under this key: rungs begin where lower ones end."""
        if key not in self.memo:
            self.memo[key] = make()
        return self.memo[key]

    def rows(self, chosen: np.ndarray) -> Streams:
        """Some of the streams."""
        return Streams(self.z[chosen], self.labels[chosen], self.groups[chosen], self.go_on)

    def folds(self, number: int, seed: int) -> list[tuple[Streams, Streams]]:
        """(known, unseen) so many times: every group is unseen once."""
        names = np.random.default_rng(seed).permutation(np.unique(self.groups))
        unseen = [np.isin(self.groups, names[fold::number]) for fold in range(number)]
        return [(self.rows(~rows), self.rows(rows)) for rows in unseen]

    @cached_property
    def lost(self) -> np.ndarray:
        """(R, T) bool: this frame did not come."""
        return np.asarray(np.isnan(self.z).any(-1))

    @cached_property
    def held(self) -> Floats:
        """(R, T, K) logits with the last frame in place of missing ones."""
        return np.ascontiguousarray(filled(self.z)[0])

    @cached_property
    def frames(self) -> Floats:
        """(N, K) logits of the frames that came, thinned out where they are many."""
        came = self.z[~self.lost]
        return came[:: max(1, len(came) // ENOUGH)]

    @cached_property
    def known(self) -> Truth:
        """Stretches and recognisable cuts."""
        return truth(self.labels, top1(self.held))

    @cached_property
    def home(self) -> Home:
        """Where the spring stands without labels."""
        return home(self.z)

    @cached_property
    def labelled(self) -> np.ndarray:
        """(R, T) bool."""
        return self.labels >= 0

    @cached_property
    def truths(self) -> tuple[np.ndarray, ...]:
        """Places of the true classes in an answer (R, T, K), one a labelled frame."""
        return *np.nonzero(self.labelled), self.labels[self.labelled]

    @cached_property
    def stretches(self) -> int:
        """Runs of one class: frames of one content err alike, so a stretch counts as one observation."""
        begins = np.diff(self.labels, axis=1, prepend=-1) != 0
        return int((begins & self.labelled).sum())

    def losses(self, p: Floats) -> Floats:
        """-log of the true class's probability at each labelled frame, (F,), from p (R, T, K)."""
        self.go_on()
        return -np.log(np.maximum(p[self.truths], 1e-12))

    def by_group(self, losses: Floats) -> Floats:
        """Means (G,) of what `losses` gives."""
        place = np.unique(self.groups, return_inverse=True)[1]
        of = np.broadcast_to(place[:, None], self.labels.shape)[self.labelled]
        return np.bincount(of, losses, place.max() + 1) / np.maximum(np.bincount(of, minlength=place.max() + 1), 1)

    def accuracy(self, p: Floats) -> float:
        """Share of right answers."""
        return float((top1(p) == self.labels)[self.labelled].mean())


def joined(parts: Sequence[Streams]) -> Streams:
    """Several sets of streams of one length as one."""
    z, labels, groups = (np.concatenate([getattr(part, name) for part in parts]) for name in ("z", "labels", "groups"))
    return replace(parts[0], z=z, labels=labels, groups=groups)


def given(logits: Any, labels: Any, groups: Any, go_on: Callable[[], object] | None) -> Streams:
    """Streams from what a caller has; `labels` None: none is known."""
    z = _padded("logits", logits, 2, np.nan)
    if z.shape[2] < 2 or min(z.shape) < 1:
        raise ValueError(f"logits have shape {z.shape}, expected (T, K), (R, T, K) or a list of (T, K), with K >= 2")
    z = finite(z)
    came = ~np.isnan(z).any(-1)
    if not came.any():
        raise ValueError("logits are all NaN, expected some frames")
    require_finite("logits", z[came])
    require_size("logits", z[came])
    require_logits("logits", z[came])
    target = np.full(z.shape[:2], -1) if labels is None else _labels(labels, z.shape)
    names = _groups(groups, len(z))
    found = Streams(z, np.where(came, target, -1), names, go_on or (lambda: None))
    if labels is not None and not found.labelled.any():
        raise ValueError("labels are all -1, expected some classes")
    return found.rows(came.any(-1)) if len(z) > 1 else _pieces(found)


def _padded(name: str, x: Any, ndim: int, fill: float) -> np.ndarray:
    """(R, T, ...) from one array of it, from a single stream (T, ...), or from a list of streams of any lengths."""
    read = real_numbers if np.isnan(fill) else as_array
    if isinstance(x, (list, tuple)) and len(x) and np.ndim(x[0]) == ndim:
        parts = [read(f"{name}[{i}]", part) for i, part in enumerate(x)]
        if len({(part.ndim, *part.shape[1:]) for part in parts}) != 1:
            raise ValueError(
                f"{name} have shapes {', '.join(str(part.shape) for part in parts)}, expected equal classes"
            )
        kind = np.float64 if np.isnan(fill) else np.result_type(*parts)
        out = np.full((len(parts), max(map(len, parts)), *parts[0].shape[1:]), fill, kind)
        for row, part in zip(out, parts, strict=True):
            row[: len(part)] = part
        return out
    array = read(name, x)
    array = array[None] if array.ndim == ndim else array
    if array.ndim != ndim + 1:
        raise ValueError(f"{name} have shape {array.shape}, expected (T, K), (R, T, K) or a list of (T, K)")
    return array.astype(np.float64) if np.isnan(fill) else array


def _labels(labels: Any, shape: tuple[int, ...]) -> np.ndarray:
    """(R, T), -1 where unknown."""
    streams, frames, classes = shape
    listed = isinstance(labels, (list, tuple)) and len(labels) and np.ndim(labels[0]) == 1
    target = _padded("labels", labels, 1, -1) if listed else as_array("labels", labels)
    if target.shape == (frames,) and streams == 1:
        target = target[None]
    if target.dtype.kind not in "iu" or target.shape not in ((streams,), (streams, frames)):
        raise ValueError(
            f"labels are {target.dtype} of shape {target.shape}, expected integers ({streams},) or "
            f"({streams}, {frames})"
        )
    if target.min() < -1 or target.max() >= classes:
        raise ValueError(f"labels lie in [{target.min()}, {target.max()}], expected [0, {classes - 1}], or -1")
    return np.broadcast_to(target if target.ndim == 2 else target[:, None], (streams, frames)).astype(np.int64)


def _groups(groups: Any, streams: int) -> np.ndarray:
    """(R,) numbers of the groups."""
    names = np.arange(streams) if groups is None else as_array("groups", groups)
    if names.shape != (streams,):
        raise ValueError(f"groups have shape {names.shape}, expected ({streams},), one a stream")
    if groups is not None and streams > 1 and len(np.unique(names)) < 2:
        raise ValueError("groups has one group, expected at least 2: groups are never split between fit and judging")
    return np.unique(names, return_inverse=True)[1]


def _pieces(streams: Streams) -> Streams:
    """A single stream as pieces of equal length, each a group."""
    frames = streams.labels.shape[1]
    length = -(-frames // max(2, min(PIECES, frames // SHORTEST)))
    starts = range(0, frames, length)
    whole = [(streams.z[0, i : i + length], streams.labels[0, i : i + length]) for i in starts]
    z = _padded("logits", [z for z, _ in whole], 2, np.nan)
    labels = _padded("labels", [labels for _, labels in whole], 1, -1)
    kept = ~np.isnan(z).any(-1).all(-1)
    return Streams(z, labels, np.arange(len(z)), streams.go_on).rows(kept)
