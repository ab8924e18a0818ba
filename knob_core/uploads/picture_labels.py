"""The labels.csv beside uploaded pictures: lines `file,label`, or under the heading `frame,label` frames from 0 on.

A label is a class's name or number; what is not listed is unknown, -1. A video's label is that of all its frames.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

import numpy as np

from knob_core import csv_text
from knob_core.uploads.labels import UNKNOWN, class_number, numbers_of
from knob_core.uploads.limits import MAX_CLASSES

LABELS = "labels.csv"
LONGEST_NUMBER = 9  # digits of a frame's
MOST_CELLS = 100  # a file's name may have commas in it


def read_labels(
    content: bytes, names: Sequence[str], classes: Sequence[str], check: Callable[[], None] = lambda: None
) -> np.ndarray:
    """The class of every frame (T,), where frame t is of the file names[t]."""
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
        key = str(int(key)) if by_frame else key
        if key in known:
            raise ValueError(f"{text.where(line)}: {key[:60]!r} has a label already")
        known[key] = value
    if by_frame:
        return np.array([known.get(str(t), UNKNOWN) for t in range(len(names))])
    found = [known.get(name, known.get(PurePosixPath(name).name, UNKNOWN)) for name in names]
    if not {*known} & {*names, *(PurePosixPath(name).name for name in names)}:
        raise ValueError(f"{LABELS} names none of the pictures")
    return np.array(found)


def _class(label: str, places: dict[str, int], numbers: dict[float, int]) -> int | None:
    number = class_number(label, places, numbers)
    most = len(places) or MAX_CLASSES
    return int(number) if number is not None and UNKNOWN <= number < most and number == int(number) else None
