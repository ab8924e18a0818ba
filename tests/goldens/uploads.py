"""A corpus of uploaded files, in uploads.zip: good ones and the arrays they give, damaged ones that must be refused.

good/CASE/FILE, damaged/CASE/FILE; several files in one folder come together, as a picture and its labels.csv.
"""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from knob_core.uploads import read_logits, read_pictures

CORPUS = Path(__file__).parent / "uploads.zip"
SCORES = (".npz", ".npy", ".csv", ".tsv", ".parquet")  # all else are pictures
CLASSES = ("cat", "dog", "owl", "eel")


def cases(folder: str) -> list[tuple[str, list[tuple[str, bytes]]]]:
    """(case, its files as name and content)."""
    found: dict[str, list[tuple[str, bytes]]] = {}
    with zipfile.ZipFile(CORPUS) as archive:
        for name in archive.namelist():
            parts = PurePosixPath(name).parts
            if parts[0] == folder:
                found.setdefault(parts[1], []).append((parts[2], archive.read(name)))
    return sorted(found.items())


def good() -> dict[str, Any]:
    return {case: _as_read(files) for case, files in cases("good")}


def read(files: list[tuple[str, bytes]]) -> Any:
    """As the app reads them; a ValueError where they cannot be."""
    if files[0][0].endswith(SCORES):
        return read_logits(*files[0])
    return read_pictures(files, CLASSES)


def _as_read(files: list[tuple[str, bytes]]) -> dict[str, Any]:
    got = read(files)
    if files[0][0].endswith(SCORES):
        arrays = {name: getattr(got, name) for name in ("z_static", "z_dyn", "u_star", "labels", "severity")}
        return {"classes": got.class_names, **{name: _about(x) for name, x in arrays.items() if x is not None}}
    return {"frame rate": got.frame_rate, "images": _about(got.images), "labels": _about(got.labels)}


def _about(array: np.ndarray) -> dict[str, Any]:
    real = array.dtype.kind == "f"
    rounded = array.astype(np.float32) if real else array  # a reader of texts may differ in a double's last bit
    return {
        "shape": list(array.shape),
        "dtype": "float" if real else str(array.dtype),
        "first": array.reshape(-1)[:8].tolist(),
        "sha256": hashlib.sha256(np.ascontiguousarray(rounded).tobytes()).hexdigest()[:16],
    }
