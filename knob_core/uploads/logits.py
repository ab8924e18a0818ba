"""Read uploaded logits: npz or npy arrays, CSV or parquet tables.

Arrays by name: `logits` (T, K) or (R, T, K), or `z_static` and `z_dyn`; optional `u_star`, `labels`, `severity`.
Tables: one row a frame, one column a class (or columns z_static_0.., z_dyn_0..), optional columns `stream`, `label`,
`severity`, `u_star`.
"""

from __future__ import annotations

import io
import math
from pathlib import PurePosixPath
from tokenize import TokenError
from typing import Any

import numpy as np

from knob_core.uploads import archive
from knob_core.uploads.limits import MAX_VALUES, require_size, short
from knob_core.uploads.tables import read_csv, read_parquet
from knob_core.uploads.uploaded import KNOWN, Uploaded, uploaded

KINDS = (".npz", ".npy", ".csv", ".parquet")
HEADER = (ValueError, SyntaxError, TokenError, TypeError, LookupError, RecursionError, MemoryError)  # it is Python text


def read_logits(name: str, content: bytes, classes: int | None = None) -> Uploaded:
    """The stream in a file called `name`; with `classes`, another number of classes is refused."""
    kind, name = PurePosixPath(name).suffix.lower(), short(name)
    if kind not in KINDS:
        raise ValueError(f"{name} is a {kind[:10] or 'nameless'} file, expected one of {', '.join(KINDS)}")
    require_size(name, len(content))
    if kind == ".npz":
        arrays = {}
        for member, data in archive.members(name, content):
            if not member.endswith(".npy") or "/" in member:
                raise ValueError(f"{name} holds '{short(member)}', expected .npy arrays only")
            key = member.removesuffix(".npy")
            if key not in KNOWN:
                raise ValueError(f"{name} holds '{short(key)}', expected {', '.join(sorted(KNOWN))}")
            arrays[key] = read_npy(f"{name}: {member}", data)
    elif kind == ".npy":
        arrays = {"logits": read_npy(name, content)}
    else:
        arrays = (read_csv if kind == ".csv" else read_parquet)(name, content)
    return uploaded(name, arrays, classes)


def read_npy(name: str, content: bytes) -> np.ndarray:
    """One array; its header is read and judged before anything is allocated."""
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        readers: dict[tuple[int, int], Any] = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }
        if version not in readers:
            raise ValueError(f"format {version} is not read here")
        shape, _, dtype = readers[version](file)
    except HEADER as error:
        raise ValueError(f"{name} is damaged, or no .npy array ({str(error)[:120]})") from error
    if dtype.kind not in "fiu":
        raise ValueError(f"{name} has dtype {str(dtype)[:40]}, expected real numbers")
    values = math.prod(shape)
    if any(n < 0 for n in shape) or values > MAX_VALUES:
        raise ValueError(f"{name} declares shape {str(shape)[:80]}, expected at most {MAX_VALUES:,} numbers")
    if len(content) - file.tell() != values * dtype.itemsize:
        raise ValueError(f"{name} is cut short or padded: {len(content) - file.tell():,} bytes for shape {shape}")
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)
