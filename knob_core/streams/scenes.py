"""Which picture a stream shows at every frame, beside a schedule of severity: fixed, or scenes that change.

slow, mixed, fast: cuts at random moments, as in `knob_core.streams.change`, without motion.
listed: your own pictures, each for a number of frames; the last one stays.
The seed decides the cuts and the pictures, the schedule alone the severity, so the two are independent. numpy only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knob_core.streams import change
from knob_core.streams.change import CHANGE_STREAMS, ChangePlan

FIXED, LISTED = "fixed", "listed"
STAY = 30  # frames that a listed picture stays where the list does not say
MOST_LISTED = 500  # pictures in a list


@dataclass(frozen=True)
class Content:
    """One kind of content, in words."""

    label: str
    help: str


CONTENTS = {
    FIXED: Content("Fixed", "One picture throughout: the paper's controlled stream"),
    "slow": Content("Slow scenes", "Another picture after 120 frames on average"),
    "mixed": Content("Mixed scenes", "Another picture after 40 frames on average, sooner or later"),
    "fast": Content("Fast scenes", "Another picture after 15 frames on average"),
    LISTED: Content("Own list", "Pictures of your choice, in your order"),
}


@dataclass(frozen=True)
class Scene:
    """One entry of a list: a picture's place in the sample, or the name of a class, and how long it stays."""

    picture: int | str
    frames: int


def read_list(text: str, classes: Sequence[str], pictures: int) -> tuple[Scene, ...]:
    """Entries "picture frames" between commas, semicolons or lines: "cat 40, ship, 17 25"; classes by their names."""
    found = []
    for entry in filter(None, (part.strip() for part in re.split(r"[,;\n]", text))):
        words = entry.split()
        picture: int | str = int(words[0]) if words[0].isascii() and words[0].isdecimal() else words[0].lower()
        if picture not in classes if isinstance(picture, str) else picture >= pictures:
            raise ValueError(
                f"a scene is {words[0][:24]!r}, expected a class ({', '.join(classes)}) or a picture's number "
                f"from 0 to {pictures - 1}"
            )
        stay = words[1] if len(words) > 1 else str(STAY)
        if len(words) > 2 or not (stay.isascii() and stay.isdecimal()) or not 1 <= int(stay[:9]) <= 100_000:
            raise ValueError(
                f"a scene is {entry[:40]!r}, expected a picture and a whole number of frames, such as cat 40"
            )
        found.append(Scene(picture, int(stay)))
    if not 1 <= len(found) <= MOST_LISTED:
        raise ValueError(f"the list has {len(found)} scenes, expected 1 to {MOST_LISTED}, such as: cat 40, ship 25")
    return tuple(found)


def listed_pictures(
    scenes: Sequence[Scene], labels: ArrayLike, classes: Sequence[str], frames: int
) -> NDArray[np.int64]:
    """(T,) the picture of every frame; a class's name stands for its first picture."""
    labels = np.asarray(labels)
    places = [
        scene.picture if isinstance(scene.picture, int) else _first(labels, classes.index(scene.picture), scene.picture)
        for scene in scenes
    ]
    whole = np.repeat(np.array(places, np.int64), [scene.frames for scene in scenes])
    return whole[np.minimum(np.arange(frames), len(whole) - 1)]


def _first(labels: NDArray, label: int, name: str) -> int:
    found = np.flatnonzero(labels == label)
    if not len(found):
        raise ValueError(f"the sample has no picture of class {name}")
    return int(found[0])


def plan(
    content: str, labels: ArrayLike, severity: ArrayLike, seed: int = 0,
    scenes: Sequence[Scene] = (), classes: Sequence[str] = (),
) -> ChangePlan:  # fmt: skip
    """The plan of a stream over pictures of classes `labels` (N,) under severity (T,); `scenes`: for a list."""
    labels, severity = np.asarray(labels), np.asarray(severity, np.float64)
    frames = len(severity)
    still = {"severity": severity, "segment": np.zeros(frames, np.int8)}
    if content in CHANGE_STREAMS:
        kind = replace(CHANGE_STREAMS[content], motion=0.0)
        return replace(change.plan(labels, kind, frames, seed), **still)
    if content != LISTED:
        raise ValueError(f"content is {content!r}, expected one of {', '.join(c for c in CONTENTS if c != FIXED)}")
    picture = listed_pictures(scenes, labels, classes, frames)
    cuts = np.flatnonzero(np.diff(picture)) + 1
    return ChangePlan(picture, labels[picture].astype(np.int64), shift=np.zeros((frames, 2)), cuts=cuts, **still)
