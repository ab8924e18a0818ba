"""Read one uploaded .npy array; its header is read and judged before anything is allocated.

Numbers are returned as float64, text as `Words`; whatever would need unpickling is refused.
"""

from __future__ import annotations

import io
import math
from tokenize import TokenError
from typing import Any, NamedTuple

import numpy as np

from knob_core.csv_columns import Words
from knob_core.uploads.budget import Budget
from knob_core.uploads.limits import LARGE_BYTES, MAX_CLASSES, MAX_VALUES, MAX_WORD_BYTES, MAX_WORDS, said

HEADER = (ValueError, SyntaxError, TokenError, TypeError, LookupError, RecursionError, MemoryError)  # it is Python text
LONGEST_HEADER = 70_000  # bytes
MOST_AXES = 3  # streams, frames, classes
READERS: dict[tuple[int, int], Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def read_npy(name: str, content: bytes | memoryview, budget: Budget, most: int = MAX_VALUES) -> np.ndarray | Words:
    """At most `most` numbers as float64, or words, in the shape the file has; they may take `content`'s place."""
    header = read_header(name, content[:LONGEST_HEADER], most)
    dtype, values = header.dtype, math.prod(header.shape)
    if (held := len(content) - header.size) != values * dtype.itemsize:
        raise ValueError(f"{name} is cut short or padded: {held:,} bytes for shape {str(header.shape)[:80]}")
    if header.decoded > LARGE_BYTES:
        budget.wait_for_turn(name)
    budget.spend(name, header.decoded)
    array = np.ndarray(header.shape, dtype, content, header.size, order="F" if header.fortran else "C")
    if dtype.kind == "U":
        return _words(name, array)
    with np.errstate(over="ignore"):  # more than float64 holds becomes infinite, which is refused by its place
        return array.astype(np.float64, copy=not (array.flags.writeable and array.flags.aligned))


class Header(NamedTuple):
    """What an array says of itself."""

    shape: tuple[int, ...]
    fortran: bool  # whether its first axis runs fastest
    dtype: np.dtype
    size: int  # bytes before its numbers

    @property
    def decoded(self) -> int:
        """Bytes as float64, or as text."""
        return math.prod(self.shape) * max(self.dtype.itemsize, 8)


def read_header(name: str, beginning: bytes | memoryview, most: int = MAX_VALUES) -> Header:
    """Of at most `most` numbers or words; anything else is refused."""
    header = _header(name, io.BytesIO(beginning))
    dtype, values, shape = header.dtype, math.prod(header.shape), str(header.shape)[:80]
    if dtype.kind not in "fiuU":
        raise ValueError(f"{name} has dtype {str(dtype)[:40]}, expected real numbers, or text for names")
    if values > most:
        raise ValueError(f"{name} declares shape {shape}, expected at most {most:,} numbers")
    if dtype.kind == "U" and (values > MAX_WORDS or values * dtype.itemsize > MAX_WORD_BYTES or not dtype.itemsize):
        raise ValueError(
            f"{name} declares text of {dtype.itemsize // 4:,} characters in shape {shape}, expected at most "
            f"{MAX_WORDS:,} texts with {MAX_WORD_BYTES:,} bytes; numbers of classes take less"
        )
    return header


def _header(name: str, file: io.BytesIO) -> Header:
    try:
        version = np.lib.format.read_magic(file)
        if version not in READERS:
            raise ValueError(f"format {version} is not read here")
        shape, fortran, dtype = READERS[version](file)
    except HEADER as error:
        raise ValueError(f"{name} is damaged, or no .npy array ({said(error)})") from error
    if any(type(n) is not int or n < 0 for n in shape):
        raise ValueError(f"{name} declares shape {str(shape)[:80]}, expected whole numbers")
    if len(shape) > MOST_AXES or max(shape, default=0) > MAX_VALUES:
        raise ValueError(
            f"{name} declares shape {str(shape)[:80]}, expected at most {MOST_AXES} axes of at most {MAX_VALUES:,} each"
        )
    return Header(shape, fortran, dtype, file.tell())


def _words(name: str, array: np.ndarray) -> Words:
    """Text as `Words`; numpy's own text may hold what is no character."""
    try:
        texts, codes = np.unique(array, return_inverse=True)
        found = tuple(str(text).strip() for text in texts)
    except (ValueError, UnicodeError, SystemError) as error:
        raise ValueError(f"{name} holds text that is no Unicode") from error
    if len(found) > MAX_CLASSES + 1:
        raise ValueError(f"{name} has {len(found):,} different names, expected at most {MAX_CLASSES:,}")
    return Words(codes.reshape(array.shape), found)
