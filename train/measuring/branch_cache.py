"""Branch outputs on disk, one file for each unit and set of weights: a stopped evaluation goes on from there."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from tqdm import tqdm

from knob_core import files
from knob_core.data import Images
from train.measuring.branch_outputs import BranchArrays, Member, compute
from train.training import distributed

NAMES = ("z_static", "z_dyn", "u_star")


class Pixels(Protocol):
    @property
    def identity(self) -> str: ...
    def render(self, unit: str) -> list[Images]: ...


class BranchCache:
    """Files `<folder>/<pixels>/<weights>/<unit>.npz`, float32; new pixels or weights have a new path."""

    def __init__(self, folder: Path, pixels: Pixels, members: Sequence[Member]) -> None:
        self.folder, self.pixels, self.members = folder / pixels.identity, pixels, members

    def path(self, member: Member, unit: str) -> Path:
        return self.folder / member.branches / f"{unit.replace(' ', '-')}.npz"

    def missing(self, unit: str) -> list[Member]:
        return [member for member in self.members if not self.path(member, unit).is_file()]

    def fill(self, unit: str) -> None:
        """Render a unit and run every model that has not seen it."""
        missing = self.missing(unit)
        if not missing:
            return
        images = self.pixels.render(unit)
        found = [compute(missing, part) for part in images]  # one for each severity
        for member in missing:
            parts = [result[member.branches] for result in found]
            buffer = io.BytesIO()
            arrays = {name: np.stack([getattr(part, name) for part in parts]) for name in NAMES}
            np.savez(buffer, allow_pickle=False, **arrays)
            files.write_bytes(self.path(member, unit), buffer.getvalue())

    def load(self, member: Member, unit: str) -> list[BranchArrays]:
        """The outputs of a unit, one for each severity."""
        with np.load(self.path(member, unit), allow_pickle=False) as file:
            arrays = [file[name] for name in NAMES]
        return [BranchArrays(*parts) for parts in zip(*arrays, strict=True)]


def fill_all(caches: Sequence[tuple[BranchCache, Sequence[str]]], rank: int = 0, world: int = 1) -> None:
    """Compute whatever branch outputs are missing; processes take units by turns."""
    work = [(cache, unit) for cache, units in caches for unit in units]
    todo = [(cache, unit) for cache, unit in work[rank::world] if cache.missing(unit)]
    with tqdm(todo, unit="unit", disable=True if rank else None, dynamic_ncols=True) as bar:  # None: on a terminal
        for cache, unit in bar:
            bar.set_postfix_str(unit)
            cache.fill(unit)
    distributed.wait_for_all()
