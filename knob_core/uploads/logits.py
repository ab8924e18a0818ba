"""Read uploaded logits: npz or npy arrays, CSV, TSV or parquet tables.

Arrays by name: `logits` (T, K) or (R, T, K), or `z_static` and `z_dyn`; optional `u_star`, `labels` (R,), (T,) or
(R, T), `severity`, `classes` (K,) names.
Tables: one row a frame, one column a class (or columns z_static_0.., z_dyn_0..), optional columns `stream`, `label`,
`severity`, `u_star`.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from knob_core.uploads import tables
from knob_core.uploads.refusals import readable, short
from knob_core.uploads.uploaded import Held, Uploaded, uploaded

KINDS = (".npz", ".npy", ".csv", ".tsv", ".parquet")
KNOWN = ("logits", "z_static", "z_dyn", "u_star", "labels", "severity", "classes")
WRITTEN = {
    ".npz": "arrays by numpy.savez, without pickled objects",
    ".npy": "an array by numpy.save, without pickled objects",
}


def answer(files: Sequence[tuple[str, bytes]], label: str | None) -> dict[str, Any]:
    """What crosses from the process that reads: the fields of `Uploaded`, without z_dyn where it is z_static."""
    found = vars(read(*files[0], label))
    return {key: value for key, value in found.items() if key != "z_dyn" or value is not found["z_static"]}


def read(name: str, content: bytes, label: str | None = None) -> Uploaded:
    """The streams in a file called `name`, read here; `label` answers what a table asks (`Uploaded.asks`)."""
    kind, name = PurePosixPath(name).suffix.lower(), short(name)
    if kind not in KINDS:
        raise ValueError(f"{name} is a {kind[:10] or 'nameless'} file, expected one of {', '.join(KINDS)}")
    if not content:
        raise ValueError(f"{name} is empty")
    if kind in WRITTEN:
        return uploaded(name, _arrays(name, kind, content))
    return uploaded(name, *(tables.parquet if kind == ".parquet" else tables.csv_table)(name, content, label))


def _arrays(name: str, kind: str, content: bytes) -> Held:
    """Arrays of numbers as float64, of text as they are."""
    with readable(name, WRITTEN[kind]):
        file = np.load(io.BytesIO(content), allow_pickle=False)
    held: Held = {}
    for key in ["logits"] if isinstance(file, np.ndarray) else file.files:
        if key not in KNOWN:
            raise ValueError(f"{name} holds '{short(key)}', expected only {', '.join(KNOWN)}")
        with readable(f"{name}: {key}", WRITTEN[kind]):
            array = np.asarray(file if isinstance(file, np.ndarray) else file[key])
        if array.dtype.kind not in "fiuU":
            raise ValueError(f"{name}: {key} has dtype {array.dtype}, expected real numbers, or text for names")
        with np.errstate(over="ignore"):  # more than float64 holds becomes infinite, which is refused by its place
            held[key] = array if array.dtype.kind == "U" else array.astype(np.float64)
    return held
