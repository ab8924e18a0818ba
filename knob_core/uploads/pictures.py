"""Read uploaded pictures: a zip, some files, one animated file or video, as 32 x 32 frames in the order of their names.

A labels.csv may lie beside them: lines `file,label`, or `frame,label` with frames counted from 0. A label is a class's
name or number; what is not listed is unknown, -1. A video's label is that of all its frames.
"""

from __future__ import annotations

import io
import re
import unicodedata
import zipfile
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from knob_core import csv_text
from knob_core.uploads import stills, video
from knob_core.uploads.labels import UNKNOWN, class_number, numbers_of
from knob_core.uploads.refusals import readable, short
from knob_core.uploads.stills import Frames
from knob_core.uploads.uploaded import Pictures

KINDS = (*stills.FORMATS, *video.CONTAINERS)
MAX_PICTURES = 3_000  # frames of a stream
LABELS = "labels.csv"
CLUTTER = ("__MACOSX/", ".DS_Store", "Thumbs.db", "desktop.ini", "/._")  # what systems add by themselves

File = tuple[str, bytes]


def answer(files: Sequence[File], classes: Sequence[str]) -> dict[str, Any]:
    """What crosses from the process that reads: the fields of `Pictures`."""
    return vars(read(files, classes))


def read(files: Sequence[File], classes: Sequence[str] = ()) -> Pictures:
    """Frames of (name, bytes) files, read here."""
    files = _unpacked(files)
    listed = [file for file in files if PurePosixPath(file[0]).name == LABELS]
    if len(listed) > 1:
        raise ValueError(f"there are {len(listed)} files called {LABELS}, expected one at most")
    shown = sorted((file for file in files if file not in listed), key=lambda file: natural(file[0]))
    if not shown:
        raise ValueError("there is no picture, expected at least one")
    found: list[Frames] = []
    names: list[str] = []
    for name, content in shown:
        found.append(_frames(name, content, MAX_PICTURES + 1 - len(names)))
        names += [name] * len(found[-1].images)
        if len(names) > MAX_PICTURES:
            raise ValueError(f"{short(name)}: there are more than {MAX_PICTURES:,} frames, expected a shorter video")
    labels, notes = read_labels(listed[0][1], names, classes) if listed else (np.full(len(names), UNKNOWN), ())
    rate = found[0].frame_rate if len(found) == 1 else None
    return Pictures(np.concatenate([frames.images for frames in found]), tuple(names), labels, rate, notes)


def _unpacked(files: Sequence[File]) -> list[File]:
    """What was given, or what is in the zip that was given; some programs write \\ between folders."""
    zips = [file for file in files if PurePosixPath(file[0]).suffix.lower() == ".zip"]
    if zips and len(files) > 1:
        raise ValueError(f"{short(zips[0][0])} is one of {len(files)} files, expected a zip alone")
    if not zips:
        return list(files)
    name, content = short(zips[0][0]), zips[0][1]
    with readable(name, "a zip archive of pictures, without a password"), zipfile.ZipFile(io.BytesIO(content)) as file:
        members = {info.filename.replace("\\", "/"): info for info in file.infolist()}
        members = {
            path: info
            for path, info in members.items()
            if not path.endswith("/") and not any(part in f"/{path}" for part in CLUTTER)
        }
        unpacked = [(path, file.read(info)) for path, info in members.items()]
    for path, _ in unpacked:
        if ".." in PurePosixPath(path).parts:
            raise ValueError(f"{name} holds '{short(path)}', expected files inside it; zip the pictures again")
    return unpacked


def _frames(name: str, content: bytes, most: int) -> Frames:
    kind, name = PurePosixPath(name).suffix.lower(), short(name)
    if kind not in KINDS:
        raise ValueError(f"{name} is a {kind[:10] or 'nameless'} file, expected one of {', '.join(KINDS)}")
    if not content:
        raise ValueError(f"{name} is empty, expected a picture or a video")
    return (video if kind in video.CONTAINERS else stills).read(name, kind, content, most)


def natural(name: str) -> list[tuple[int, int | str]]:
    """A key that puts frame2 before frame10."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"(\d{1,18})", name) if part]


def read_labels(content: bytes, names: Sequence[str], classes: Sequence[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """The class of every frame (T,), where frame t is of the file names[t]; and a note on lines for other pictures."""
    places, numbers = {each: i for i, each in enumerate(classes)}, numbers_of(classes)
    known: dict[str, int] = {}
    by_frame = False
    for number, (line, cells) in enumerate(csv_text.rows(LABELS, csv_text.decoded(LABELS, content))):
        key, label = ",".join(cells[:-1]), cells[-1]  # a file's name may have commas in it
        if number == 0 and label.lower() in ("label", "labels") and label not in places:
            by_frame = key.lower() == "frame"
            continue
        where, value = csv_text.at(LABELS, line), class_number(label, places, numbers)
        if not key or value not in range(UNKNOWN, len(places)):
            wanted = "`frame,label`" if by_frame else "`file,label`"
            raise ValueError(f"{where}: {','.join(cells)[:60]!r}, expected {wanted} with a class name or number")
        if by_frame and not (key.isdecimal() and len(key) < 10 and int(key) < len(names)):
            raise ValueError(f"{where}: {key[:40]!r} is no frame, expected 0 to {len(names) - 1}")
        key = str(int(key)) if by_frame else _path(key)
        if key in known:
            raise ValueError(f"{where}: {key[:60]!r} has a label already")
        known[key] = int(value or 0)
    if by_frame:
        return np.array([known.get(str(t), UNKNOWN) for t in range(len(names))]), ()
    paths = [_path(name) for name in names]
    found = [known.get(path, known.get(PurePosixPath(path).name, UNKNOWN)) for path in paths]
    pictures = {*paths, *(PurePosixPath(path).name for path in paths)}
    others = [key for key in known if key not in pictures]
    if len(others) == len(known):
        raise ValueError(f"{LABELS} names none of the pictures, expected lines `file,label` with their names")
    share = f"{len(others):,} of {len(known):,} lines of {LABELS} name no picture that is here"
    return np.array(found), (f"{share}: '{short(others[0])}' is the first one.",) if others else ()


def _path(name: str) -> str:
    """With / between folders, and an accent as one with its letter: systems differ in both."""
    return unicodedata.normalize("NFC", str(PurePosixPath(name.replace("\\", "/"))))
