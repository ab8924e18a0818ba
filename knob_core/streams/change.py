"""The plan of a change stream: which picture, how corrupted and how far shifted at every frame.

Cuts: the next picture comes after min_gap - 1 + G frames, G geometric with P(G = k) = p (1-p)^(k-1), k >= 1, and
p = 1 / (mean_gap - min_gap + 1), so the mean gap is mean_gap and no gap is shorter than min_gap.
Motion: x_t = rho x_(t-1) + sd sqrt(1 - rho^2) n_t in each direction, standard deviation sd throughout.
Content, severity and motion have random generators of their own, so they are independent, and a longer plan of the
same seed begins with the shorter one. numpy only: a plan costs a few milliseconds and needs no picture.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knob_core._arrays.checks import whole_number
from knob_core.streams import severity_segments
from knob_core.streams.severity_segments import SEGMENTS

FRAMES = 300
MOTION_SD = 0.7  # pixels, in each direction
MOTION_RHO = 0.8  # correlation from frame to frame
SHARES = (("clean", 0.2), ("step", 0.2), ("ramp", 0.15), ("bursts", 0.25), ("fog_bank", 0.2))
PARTS = ("content", "severity", "motion")  # a random generator each, numbered by the place in this list


@dataclass(frozen=True)
class ChangeStreamKind:
    """What is drawn for a stream, and how often."""

    mean_gap: float = 40.0  # frames from cut to cut; infinite: no cut
    min_gap: int = 8  # frames
    other_class: float = 0.9  # share of the cuts that go to a picture of another class
    severity: tuple[tuple[str, float], ...] = SHARES  # kind of segment, share of the segments
    motion: float = 0.5  # share of the streams that move
    motion_sd: float = MOTION_SD  # pixels
    motion_rho: float = MOTION_RHO

    def __post_init__(self) -> None:
        whole_number("min_gap", self.min_gap, 1)
        if not self.mean_gap >= self.min_gap:
            raise ValueError(f"mean_gap is {self.mean_gap!r}, expected at least min_gap, {self.min_gap}")
        for name in ("other_class", "motion"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name)!r}, expected a share in [0, 1]")
        if not (self.motion_sd >= 0 and 0 <= self.motion_rho < 1):
            raise ValueError(f"motion is {self.motion_sd!r} px, rho {self.motion_rho!r}, expected >= 0, in [0, 1)")
        unknown = [name for name, _ in self.severity if name not in SEGMENTS]
        if unknown or not self.severity:
            raise ValueError(f"severity has kinds {unknown}, expected some of {', '.join(SEGMENTS)}")
        shares = [share for _, share in self.severity]
        if min(shares) < 0 or not math.isclose(sum(shares), 1.0, abs_tol=1e-9):
            raise ValueError(f"severity has shares {shares}, expected numbers >= 0 that add up to 1")


CHANGE_STREAMS: dict[str, ChangeStreamKind] = {
    "mixed": ChangeStreamKind(),
    "fast": ChangeStreamKind(mean_gap=15.0),
    "slow": ChangeStreamKind(mean_gap=120.0),
    "still": ChangeStreamKind(mean_gap=math.inf),  # the picture never changes, severity does
}


@dataclass(frozen=True)
class ChangePlan:
    """T frames of one stream."""

    picture: NDArray[np.int64]  # (T,) place in the list of pictures
    labels: NDArray[np.int64]  # (T,) class of that picture
    severity: NDArray[np.float64]  # (T,) in [0, 5]
    segment: NDArray[np.int8]  # (T,) kind of the severity's segment, a place in SEGMENTS
    shift: NDArray[np.float64]  # (T, 2) pixels to the right and down
    cuts: NDArray[np.int64]  # (C,) first frames of a new picture; frame 0 is none

    def __len__(self) -> int:
        return len(self.picture)

    @property
    def moving(self) -> bool:
        return bool(self.shift.any())


def plan(
    labels: ArrayLike,
    kind: ChangeStreamKind | str = "mixed",
    frames: int = FRAMES,
    seed: int = 0,
    stream: int = 0,
) -> ChangePlan:
    """The plan of stream number `stream` over pictures of classes `labels` (N,)."""
    classes = np.asarray(labels)
    if classes.ndim != 1 or not len(classes) or classes.dtype.kind not in "iu":
        raise ValueError(f"labels are {classes.dtype} of shape {classes.shape}, expected whole numbers (N,), N >= 1")
    kind, frames = _kind(kind), whole_number("frames", frames, 1)
    content, weather, motion = (_generator(seed, stream, part) for part in range(len(PARTS)))
    picture, cuts = _content(classes, frames, kind, content)
    severity, segment = severity_segments.schedule(frames, kind.severity, weather)
    shift = _motion(frames, kind, motion)
    return ChangePlan(picture, classes[picture].astype(np.int64), severity, segment, shift, cuts)


def _kind(kind: ChangeStreamKind | str) -> ChangeStreamKind:
    if isinstance(kind, ChangeStreamKind):
        return kind
    if kind not in CHANGE_STREAMS:
        raise ValueError(f"kind is {kind!r}, expected one of {', '.join(CHANGE_STREAMS)}")
    return CHANGE_STREAMS[kind]


def _generator(seed: int, stream: int, part: int) -> np.random.Generator:
    seed, stream = whole_number("seed", seed, 0), whole_number("stream", stream, 0)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(stream, part)))


def _content(
    classes: NDArray, frames: int, kind: ChangeStreamKind, draw: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(picture (T,), cuts (C,))."""
    pictures, starts = [int(draw.integers(len(classes)))], [0]
    while (start := starts[-1] + _gap(kind, draw)) < frames:
        pictures.append(_next_picture(classes, pictures[-1], kind, draw))
        starts.append(int(start))
    lengths = np.diff([*starts, frames])
    return np.repeat(np.array(pictures, np.int64), lengths), np.array(starts[1:], np.int64)


def _gap(kind: ChangeStreamKind, draw: np.random.Generator) -> float:
    """Frames to the next cut."""
    if math.isinf(kind.mean_gap):
        return math.inf
    return kind.min_gap - 1 + int(draw.geometric(1.0 / (kind.mean_gap - kind.min_gap + 1.0)))


def _next_picture(classes: NDArray, now: int, kind: ChangeStreamKind, draw: np.random.Generator) -> int:
    """Another picture, of another class or of the same; where one of the two has no picture, of the other."""
    alike = classes == classes[now]
    others = ~alike
    alike[now] = False
    wanted, instead = (others, alike) if draw.random() < kind.other_class else (alike, others)
    candidates = np.flatnonzero(wanted if wanted.any() else instead)
    if not len(candidates):
        raise ValueError("there is one picture only, expected two or more, or a kind of stream without cuts")
    return int(draw.choice(candidates))


def _motion(frames: int, kind: ChangeStreamKind, draw: np.random.Generator) -> NDArray[np.float64]:
    """(T, 2) pixels; zero throughout for a stream that does not move."""
    shift = np.zeros((frames, 2))
    if draw.random() >= kind.motion:
        return shift
    noise = kind.motion_sd * draw.standard_normal((frames, 2))
    shift[0] = noise[0]
    for t in range(1, frames):
        shift[t] = kind.motion_rho * shift[t - 1] + math.sqrt(1 - kind.motion_rho**2) * noise[t]
    return shift
