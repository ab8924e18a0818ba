"""Recorded answers as files, and how near another answer must come: NAME.npz for arrays, NAME.json(.gz) for the rest.

Words, whole numbers and truth values must be equal; floats may differ by `within`, absolutely and relatively.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Golden:
    """One recorded answer, and how to give it anew."""

    file: str  # in this folder; its ending says how it is stored
    answer: Callable[[], dict[str, Any]]  # arrays by name for .npz, else what JSON can hold
    within: float = 1e-9

    def record(self) -> None:
        """Write the present answer over the recorded one."""
        path, found = FOLDER / self.file, self.answer()
        if path.suffix == ".npz":
            np.savez_compressed(path, **found)
            return
        text = json.dumps(found, indent=None if path.suffix == ".gz" else 1, ensure_ascii=False) + "\n"
        path.write_bytes(gzip.compress(text.encode(), mtime=0) if path.suffix == ".gz" else text.encode())

    def recorded(self) -> dict[str, Any]:
        path = FOLDER / self.file
        if path.suffix == ".npz":
            with np.load(path) as arrays:
                return {name: arrays[name] for name in arrays}
        text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        return json.loads(text)

    def differences(self) -> list[str]:
        """Where the present answer differs from the recorded one."""
        found = self.answer()
        if not self.file.endswith(".npz"):
            found = json.loads(json.dumps(found))  # tuples become lists, as in the file
        return list(differences(self.recorded(), found, self.within))


def differences(wanted: Any, found: Any, within: float, where: str = "") -> Iterator[str]:
    """One line for each place in which two answers differ."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for name in wanted.keys() | found.keys():
            if name not in wanted or name not in found:
                yield f"{where}/{name}: only in {'found' if name in found else 'recorded'}"
            else:
                yield from differences(wanted[name], found[name], within, f"{where}/{name}")
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for i, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from differences(one, other, within, f"{where}/{i}")
    elif isinstance(wanted, np.ndarray):
        yield from _array_differences(wanted, np.asarray(found), within, where)
    elif isinstance(wanted, float) and isinstance(found, (int, float)):
        both_nan = math.isnan(wanted) and math.isnan(found)
        if not both_nan and not math.isclose(wanted, found, rel_tol=within, abs_tol=within):
            yield f"{where}: {found!r}, recorded {wanted!r}"
    elif wanted != found:
        yield f"{where}: {str(found)[:200]!r}, recorded {str(wanted)[:200]!r}"


def _array_differences(wanted: np.ndarray, found: np.ndarray, within: float, where: str) -> Iterator[str]:
    if wanted.shape != found.shape:
        yield f"{where}: shape {found.shape}, recorded {wanted.shape}"
        return
    real = wanted.dtype.kind == "f"
    same = np.isclose(found, wanted, within, within, equal_nan=True) if real else found == wanted
    if not same.all():
        first = tuple(int(i) for i in np.argwhere(~same)[0])
        worst = f", at most {np.nanmax(np.abs(found - wanted)):.3g} apart" if real else ""
        yield (
            f"{where}: {(~same).sum()} of {same.size} values differ{worst}; "
            f"at {first} {found[first]!r}, recorded {wanted[first]!r}"
        )
