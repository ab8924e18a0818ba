"""Whose labels are whose: class names of a file, and a label for every frame, given by name or number.

Labels may be one a stream (R,), one a frame for all streams (T,), or one a frame (R, T); -1 or nothing is unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from knob_core.csv_columns import Words
from knob_core.csv_text import number_of
from knob_core.uploads.limits import short

UNKNOWN = -1
AMBIGUOUS = "There are as many labels as streams and as frames: they are taken as one a stream."


def class_names(name: str, classes: np.ndarray | Words | None, count: int) -> tuple[str, ...]:
    """`count` names in the order of the logits, () where there are none."""
    if classes is None:
        return ()
    if not isinstance(classes, Words) or classes.codes.shape != (count,):
        found = "numbers" if not isinstance(classes, Words) else f"shape {classes.codes.shape}"
        raise ValueError(f"{name}: classes have {found}, expected {count} names, one for each logit")
    names = tuple(classes.texts[i] for i in classes.codes)
    if "" in names:
        raise ValueError(f"{name}: class {names.index('')} has an empty name")
    if len(set(names)) != count:
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(f"{name}: two classes are called '{short(twice)}'")
    return names


def class_number(text: str, places: Mapping[str, int]) -> float | None:
    """The class a text stands for: a name, a number, UNKNOWN for nothing; None where it is none of them."""
    if text in places:
        return places[text]
    return number_of(text) if text else UNKNOWN


def frame_labels(
    name: str, labels: np.ndarray | Words | None, shape: tuple[int, int], classes: Sequence[str], count: int
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Labels of every frame (R, T), and a sentence where they could have been meant otherwise."""
    if labels is None:
        return np.full(shape, UNKNOWN), ()
    y = _by_number(name, labels, classes) if isinstance(labels, Words) else labels
    wrong = (y != np.rint(y)) | (y < UNKNOWN) | (y >= count)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        allowed = f"whole numbers in [0, {count - 1}], or -1 for unknown"
        raise ValueError(f"{name}: labels hold {y[at]:g} at index {at}, expected {allowed}")
    paths, frames = shape
    notes: tuple[str, ...] = ()
    if y.shape in ((paths, frames), (paths, 1)):
        each = y
    elif y.shape == (paths,):
        each = y[:, None]
        notes = (AMBIGUOUS,) if 1 < paths == frames else ()
    elif y.shape == (frames,):
        each = y[None]
    else:
        raise ValueError(f"{name}: labels have shape {y.shape}, expected ({paths},), ({frames},) or {shape}")
    return np.broadcast_to(each, shape).astype(np.int64), notes


def _by_number(name: str, words: Words, classes: Sequence[str]) -> np.ndarray:
    places = {each: i for i, each in enumerate(classes)}
    numbers = [class_number(text, places) for text in words.texts]
    for text, number in zip(words.texts, numbers, strict=True):
        if number is None:
            some = ", ".join(f"'{each}'" for each in classes[:5]) + (" ..." if len(classes) > 5 else "")
            named = f"one of {len(classes)} names ({some})" if classes else "a number (the file names no classes)"
            raise ValueError(f"{name}: a label is '{short(text)[:40]}', expected {named}")
    return np.array(numbers, np.float64)[words.codes]
