"""The labels.csv beside uploaded pictures: lines `file,label`, or under the heading `frame,label` frames from 0 on.

A label is a class's name or number; what is not listed is unknown, -1. A video's label is that of all its frames.
Lines for other pictures are passed over, and a sentence says so.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

import numpy as np

from knob_core import csv_text
from knob_core.uploads.labels import UNKNOWN, class_number, numbers_of
from knob_core.uploads.limits import MAX_CLASSES, MAX_NAME, short

LABELS = "labels.csv"
LONGEST_NUMBER = 9  # digits of a frame's
MOST_CELLS = 100  # a file's name may have commas in it


def read_labels(
    content: bytes, names: Sequence[str], classes: Sequence[str], check: Callable[[], None] = lambda: None
) -> tuple[np.ndarray, tuple[str, ...]]:
    """The class of every frame (T,), where frame t is of the file names[t]; and what its reader should know."""
    text = csv_text.opened(LABELS, content, check)
    places, numbers = {each: i for i, each in enumerate(classes)}, numbers_of(classes)
    known: dict[str, int] = {}
    by_frame = False
    for number, (line, cells) in enumerate(csv_text.rows(text, MOST_CELLS)):
        key, label = text.delimiter.join(cells[:-1]), cells[-1]
        if number == 0 and label.lower() in ("label", "labels") and label not in places:
            by_frame = key.lower() == "frame"
            continue
        if not key or (value := _class(label, places, numbers)) is None:
            said = text.delimiter.join(cells)[:60]
            wanted = "`frame,label`" if by_frame else "`file,label`"
            raise ValueError(f"{text.where(line)}: {said!r}, expected {wanted} with a class name or number")
        if by_frame and not (key.isdecimal() and len(key) <= LONGEST_NUMBER and int(key) < len(names)):
            raise ValueError(f"{text.where(line)}: {key[:40]!r} is no frame, expected 0 to {len(names) - 1}")
        key = str(int(key)) if by_frame else _path(key)
        if key in known:
            raise ValueError(f"{text.where(line)}: {key[:60]!r} has a label already")
        known[key] = value
    if by_frame:
        return np.array([known.get(str(t), UNKNOWN) for t in range(len(names))]), ()
    paths = [_path(name) for name in names]
    found = [known.get(path, known.get(PurePosixPath(path).name, UNKNOWN)) for path in paths]
    pictures = {*paths, *(PurePosixPath(path).name for path in paths)}
    others = [key for key in known if key not in pictures]
    if len(others) == len(known):
        raise ValueError(f"{LABELS} names none of the pictures")
    if not others:
        return np.array(found), ()
    share, one = f"{len(others):,} of {len(known):,}", short(others[0])
    return np.array(found), (f"{share} lines of {LABELS} name no picture that is here: '{one}' is the first one.",)


def _path(name: str) -> str:
    """With / between folders, and an accent as one with its letter: systems differ in both."""
    path = str(PurePosixPath(name.replace("\\", "/")))
    return unicodedata.normalize("NFC", path) if len(path) <= MAX_NAME else path  # a long one may take minutes


def _class(label: str, places: dict[str, int], numbers: dict[float, int]) -> int | None:
    number = class_number(label, places, numbers)
    most = len(places) or MAX_CLASSES
    return int(number) if number is not None and UNKNOWN <= number < most and number == int(number) else None
