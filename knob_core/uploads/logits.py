"""Read uploaded logits: npz or npy arrays, CSV, TSV or parquet tables.

Arrays by name: `logits` (T, K) or (R, T, K), or `z_static` and `z_dyn`; optional `u_star`, `labels` (R,), (T,) or
(R, T), `severity`, `classes` (K,) names.
Tables: one row a frame, one column a class (or columns z_static_0.., z_dyn_0..), optional columns `stream`, `label`,
`severity`, `u_star`.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from knob_core.csv_columns import Words
from knob_core.uploads import archive
from knob_core.uploads.budget import Budget, only_value_errors
from knob_core.uploads.limits import LARGE_BYTES, MAX_VALUES, require_size, short
from knob_core.uploads.npy import LONGEST_HEADER, read_header, read_npy
from knob_core.uploads.parquet_process import read_in_process
from knob_core.uploads.tables import Arranged, arrange, read_csv
from knob_core.uploads.uploaded import KNOWN, Held, Uploaded, uploaded

KINDS = (".npz", ".npy", ".csv", ".tsv", ".parquet")


def read_logits(name: str, content: bytes, classes: int | None = None, budget: Budget | None = None) -> Uploaded:
    """The stream in a file called `name`; with `classes`, another number of classes is refused."""
    with only_value_errors(name):
        kind, name = PurePosixPath(name).suffix.lower(), short(name)
        if kind not in KINDS:
            raise ValueError(f"{name} is a {kind[:10] or 'nameless'} file, expected one of {', '.join(KINDS)}")
        require_size(name, len(content))
        budget = budget or Budget()
        budget.check(name)
        with budget.turns():
            held, notes = _arranged(name, kind, content, budget)
            return uploaded(name, held, classes, notes)


def _arranged(name: str, kind: str, content: bytes, budget: Budget) -> Arranged:
    if kind == ".npy":
        return {"logits": read_npy(name, content, budget)}, ()
    if kind == ".parquet":
        budget.wait_for_turn(name)  # it tells its size to its own process only
        return arrange(name, read_in_process(name, content, budget))
    if kind != ".npz":
        return read_csv(name, content, budget)
    return _arrays(name, content, budget), ()


def _arrays(name: str, content: bytes, budget: Budget) -> Held:
    """What an .npz file holds."""
    held: Held = {}
    room, decoded = 2 * MAX_VALUES, 0  # numbers of two branches, bytes
    for member in archive.members(name, content, budget):
        if not member.name.endswith(".npy") or "/" in member.name:
            raise ValueError(f"{name} holds '{short(member.name)}', expected .npy arrays only")
        key = member.name.removesuffix(".npy")
        if key not in KNOWN:
            raise ValueError(f"{name} holds '{short(key)}', expected {', '.join(sorted(KNOWN))}")
        named, most = f"{name}: {short(member.name)}", min(room, MAX_VALUES)
        decoded += read_header(named, member.beginning(LONGEST_HEADER), most).decoded
        if decoded > LARGE_BYTES:
            budget.wait_for_turn(named)
        array = read_npy(named, member.buffer(budget), budget, most)
        room -= array.codes.size if isinstance(array, Words) else array.size
        held[key] = array
    return held
