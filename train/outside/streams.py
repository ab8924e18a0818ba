"""Streams of an outside model: its logits and the truth of every frame, in two halves that share no content.

The plans are those of `knob_core.streams.change`: contents change, severity changes, independently. The first half of
the streams is for fitting, the second for testing; each half has contents (utterances, lines, pictures) of its own.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from knob_core import files
from knob_core.streams import change
from knob_core.streams.change import ChangePlan, ChangeStreamKind

STREAMS = 96
TINY = 1e-6  # a probability below it counts as this much


@dataclass(frozen=True)
class Half:
    """Streams of one half: what plans are made of."""

    contents: NDArray[np.int64]  # (N,) places in the list of all contents
    numbers: range  # of the streams


@dataclass(frozen=True)
class OutsideStreams:
    """R streams of T frames over K classes."""

    z: np.ndarray  # (R, T, K) logits, or logs of probabilities
    labels: np.ndarray  # (R, T) true class
    content: np.ndarray  # (R, T) number of what is heard or seen
    severity: np.ndarray  # (R, T) in [0, 5]
    corruption: np.ndarray  # (R,) its name

    def rows(self, part: slice) -> OutsideStreams:
        """Some of the streams."""
        return OutsideStreams(**{field.name: getattr(self, field.name)[part] for field in fields(self)})

    @property
    def halves(self) -> tuple[OutsideStreams, OutsideStreams]:
        """(to fit on, to test on)."""
        middle = len(self.z) // 2
        return self.rows(slice(0, middle)), self.rows(slice(middle, None))


def halves(labels: NDArray[np.int64], streams: int) -> tuple[Half, Half]:
    """Contents (N,) and streams, dealt out: every other content of each class to either half."""
    if streams < 2 or streams % 2:
        raise ValueError(f"--streams is {streams}, expected an even number >= 2")
    order = np.argsort(labels, kind="stable")
    numbers = range(streams)
    return Half(np.sort(order[0::2]), numbers[: streams // 2]), Half(np.sort(order[1::2]), numbers[streams // 2 :])


def plans(
    labels: NDArray[np.int64], streams: int, frames: int, seed: int, kind: ChangeStreamKind | str = "mixed"
) -> list[ChangePlan]:
    """One plan a stream; `picture` is a place in the list of all contents (N,) of classes `labels`."""
    made = []
    for half in halves(labels, streams):
        for number in half.numbers:
            plan = change.plan(labels[half.contents], kind, frames, seed, number)
            made.append(
                ChangePlan(half.contents[plan.picture], plan.labels, plan.severity, plan.segment, plan.shift, plan.cuts)
            )
    return made


def gather(z: np.ndarray, made: list[ChangePlan], corruption: list[str]) -> OutsideStreams:
    """Logits (R, T, K) beside the truth of their plans."""
    labels, content, severity = (np.stack([getattr(p, n) for p in made]) for n in ("labels", "picture", "severity"))
    return OutsideStreams(z.astype(np.float32), labels, content, severity, np.array(corruption))


def logs(p: np.ndarray) -> np.ndarray:
    """Logs of probabilities, none below log TINY."""
    return np.log(np.maximum(np.asarray(p, np.float64), TINY))


def save(streams: OutsideStreams, path: Path) -> None:
    """Write as .npz; the file appears whole or not at all."""
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer, allow_pickle=False, **{field.name: getattr(streams, field.name) for field in fields(streams)}
    )
    files.write_bytes(path, buffer.getvalue())


def load(path: Path) -> OutsideStreams:
    """Read what `save` wrote."""
    names = [field.name for field in fields(OutsideStreams)]
    with np.load(path, allow_pickle=False) as file:
        missing = [name for name in names if name not in file]
        if missing:
            raise ValueError(f"{path} has no {', '.join(missing)}, expected an .npz of python -m train.outside")
        return OutsideStreams(**{name: file[name] for name in names})
