"""Whose labels are whose: class names of a file, and a label for every frame, given by name or number.

Labels may be one a stream (R,), one a frame for all streams (T,), or one a frame (R, T); -1 or nothing is unknown.
A number is a class's place from 0 on, unless the classes' names are numbers themselves: then it is a name.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from knob_core.csv_text import number_of
from knob_core.uploads.refusals import listed, short

UNKNOWN = -1
NUMBERED = "The classes' names are numbers: labels are taken as names, not as places."
AMBIGUOUS = "There are as many labels as streams and as frames: they are taken as one a stream."


def class_names(name: str, classes: np.ndarray | None, count: int) -> tuple[str, ...]:
    """`count` names in the order of the logits, () where there are none."""
    if classes is None:
        return ()
    if classes.dtype.kind != "U" or classes.shape != (count,):
        found = f"shape {classes.shape}" if classes.dtype.kind == "U" else "numbers"
        raise ValueError(f"{name}: classes have {found}, expected {count} names, one for each logit")
    names = tuple(str(each).strip() for each in classes)
    if "" in names:
        raise ValueError(f"{name}: class {names.index('')} has an empty name")
    if len(set(names)) != count:
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(f"{name}: two classes are called '{short(twice)}'")
    return names


def class_number(text: str, classes: Mapping[str, int], numbers: Mapping[float, int]) -> float | None:
    """The class a text stands for: a name, a number, UNKNOWN for nothing; None where it is none of them."""
    if text in classes or not text:
        return classes.get(text, UNKNOWN)
    number = number_of(text)
    if numbers and number is not None:
        return numbers.get(number, UNKNOWN if number == UNKNOWN else None)
    return number


def numbers_of(classes: Sequence[str]) -> dict[float, int]:
    """{name: place} where all names are numbers, and other ones than their places; else {}."""
    names = [number_of(each) for each in classes]
    found = {name: place for place, name in enumerate(names) if name is not None and math.isfinite(name)}
    counted = all(name == place for name, place in found.items())
    return found if len(found) == len(classes) and not counted else {}


def frame_labels(
    name: str, labels: np.ndarray | None, shape: tuple[int, int], classes: Sequence[str], count: int
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Labels of every frame (R, T), and a sentence where they could have been meant otherwise."""
    if labels is None:
        return np.full(shape, UNKNOWN), ()
    numbers = numbers_of(classes)
    y = labels
    if labels.dtype.kind == "U" or numbers:
        y = _by_name(name, labels, classes, numbers)
    wrong = (y != np.rint(y)) | (y < UNKNOWN) | (y >= count)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        allowed = f"whole numbers in [0, {count - 1}], or -1 for unknown"
        raise ValueError(f"{name}: labels hold {y[at]:g} at index {at}, expected {allowed}")
    paths, frames = shape
    notes: tuple[str, ...] = (NUMBERED,) if numbers else ()
    if y.shape in ((paths, frames), (paths, 1)):
        each = y
    elif y.shape == (paths,):
        each = y[:, None]
        notes += (AMBIGUOUS,) if 1 < paths == frames else ()
    elif y.shape == (frames,):
        each = y[None]
    else:
        raise ValueError(f"{name}: labels have shape {y.shape}, expected ({paths},), ({frames},) or {shape}")
    return np.broadcast_to(each, shape).astype(np.int64), notes


def _by_name(name: str, labels: np.ndarray, classes: Sequence[str], numbers: Mapping[float, int]) -> np.ndarray:
    """The class of every label, text or numbers."""
    places = {each: i for i, each in enumerate(classes)}
    texts, codes = np.unique(labels, return_inverse=True)
    found = [class_number(str(text).strip(), places, numbers) for text in texts]
    if None in found:
        label = str(texts[found.index(None)]).strip().removesuffix(".0")
        named = (
            f"one of {len(classes)} names ({listed(classes)})" if classes else "a number (the file names no classes)"
        )
        raise ValueError(f"{name}: a label is '{short(label)[:40]}', expected {named}")
    return np.array(found, np.float64)[codes].reshape(labels.shape)
