"""Read uploaded pictures: a zip, some files, one animated file or video, as 32 x 32 frames in the order of their names.

A labels.csv may lie beside them: lines `file,label`, or `frame,label` with frames counted from 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath

import numpy as np

from knob_core.uploads import archive, stills, video
from knob_core.uploads.budget import Budget, only_value_errors
from knob_core.uploads.labels import UNKNOWN
from knob_core.uploads.limits import MAX_LABELS_BYTES, MAX_NAME, MAX_PICTURES, MAX_UNPACKED, require_size, short
from knob_core.uploads.picture_frames import PictureFrames
from knob_core.uploads.picture_labels import LABELS, read_labels
from knob_core.uploads.video_process import read_in_process

KINDS = (*stills.FORMATS, *video.CONTAINERS)


@dataclass(frozen=True)
class Pictures:
    """One stream of T frames."""

    images: np.ndarray  # (T, 3, 32, 32) uint8
    names: tuple[str, ...]  # of the files, in order
    labels: np.ndarray  # (T,) class, -1 where unknown
    frame_rate: float | None = None  # frames/s, where there is one moving file and it tells
    notes: tuple[str, ...] = ()  # sentences for the one who uploaded them


@dataclass(frozen=True)
class _File:
    name: str
    size: int  # bytes
    read: Callable[[], bytes]


def read_pictures(
    files: Sequence[tuple[str, bytes]], classes: Sequence[str] = (), budget: Budget | None = None
) -> Pictures:
    """Frames of (name, bytes) files: one zip, one moving picture, or many stills; labels by number or class name."""
    with only_value_errors(files[0][0] if files else "the upload"):
        return _read(_files(files, budget := budget or Budget()), classes, budget)


def _files(files: Sequence[tuple[str, bytes]], budget: Budget) -> list[_File]:
    """What was given, or what is in the zip that was given."""
    zips = [file for file in files if PurePosixPath(file[0]).suffix.lower() == ".zip"]
    if zips and len(files) > 1:
        raise ValueError(f"{short(zips[0][0])} is one of {len(files)} files, expected a zip alone")
    if zips:
        members = archive.members(*zips[0], budget)
        return [_File(member.name, member.size, partial(member.read, budget)) for member in members]
    return [_File(name, len(content), partial(bytes, content)) for name, content in files]  # bytes(content) is content


def _read(files: list[_File], classes: Sequence[str], budget: Budget) -> Pictures:
    if sum(file.size for file in files) > MAX_UNPACKED:
        raise ValueError(f"the pictures have more than {MAX_UNPACKED:,} bytes together")
    longest = max((file.name for file in files), key=len, default="")
    if len(longest) > MAX_NAME:  # `natural` makes an object of every number in it
        raise ValueError(f"{short(longest)} has {len(longest):,} characters in its name, expected at most {MAX_NAME:,}")
    tables = [file for file in files if PurePosixPath(file.name).name == LABELS]
    if len(tables) > 1:
        raise ValueError(f"there are {len(tables)} files called {LABELS}, expected one at most")
    for table in tables:
        require_size(table.name, table.size, MAX_LABELS_BYTES)
    shown = sorted((file for file in files if file not in tables), key=lambda file: natural(file.name))
    if not shown:
        raise ValueError("there is no picture, expected at least one")
    found: list[PictureFrames] = []
    names: list[str] = []
    for file in shown:
        found.append(_frames(file, MAX_PICTURES + 1 - len(names), budget))
        names += [file.name] * len(found[-1].images)
        if len(names) > MAX_PICTURES:
            raise ValueError(
                f"{short(file.name)}: there are more than {MAX_PICTURES:,} frames in all, expected a shorter video"
            )
    labels, notes = np.full(len(names), UNKNOWN), tuple[str, ...]()
    if tables:
        labels, notes = read_labels(tables[0].read(), names, classes, lambda: budget.check(LABELS))
    rate = found[0].frame_rate if len(found) == 1 else None
    return Pictures(np.concatenate([frames.images for frames in found]), tuple(names), labels, rate, notes)


def _frames(file: _File, most_frames: int, budget: Budget) -> PictureFrames:
    kind, name = PurePosixPath(file.name).suffix.lower(), short(file.name)
    if kind not in KINDS:
        raise ValueError(f"{name} is a {kind[:10] or 'nameless'} file, expected one of {', '.join(KINDS)}")
    budget.check(name)
    require_size(name, file.size)  # before it is unpacked
    read = read_in_process if kind in video.CONTAINERS else stills.read
    return read(name, kind, file.read(), budget, most_frames)


def natural(name: str) -> list[tuple[int, int | str]]:
    """A key that puts frame2 before frame10."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"(\d{1,18})", name) if part]
