"""Branch outputs for the library that ships: the sample under 95 cells, streams, and probe E-3's streams."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from knob_core import data
from knob_core.branches import Branches
from knob_core.corruptions import NAMES
from train.measuring import scene_images, stream_images
from train.measuring.branch_cache import BranchCache, fill_all
from train.measuring.branch_outputs import Member
from train.measuring.cell_images import CellPixels
from train.measuring.scene_images import ScenePixels
from train.measuring.stream_images import StreamPixels

SHIPPED_SEED = 0  # all streams, tones and cells of this one; of the others what the claims need
NOISE_SEED = 0
NOISES = ("shot_noise", "gaussian_noise", "impulse_noise")
CLAIMED = tuple(stream_images.unit(name, schedule) for name in NOISES for schedule in ("step", "spikes"))
TRADE_OFF = tuple(stream_images.unit(name, "step") for name in NOISES)


class LibraryBranches:
    """The sample, the models, and their branch outputs on every stream."""

    def __init__(self, members: Sequence[Member], cache: Path) -> None:
        self.members = members
        self.images, self.labels, _ = data.load_sample()
        self.places = stream_images.stills(self.labels)
        stills = self.images[list(self.places)]
        self.library = StreamPixels(stills, stream_images.library(), NOISE_SEED)
        self.scenes = ScenePixels(self.images, self.labels, scene_images.units(), NOISE_SEED)
        self.probe = StreamPixels(stills, stream_images.tones() | stream_images.step(), NOISE_SEED)
        first = [member for member in members if member.seed == SHIPPED_SEED]
        if not first:
            raise ValueError(f"no checkpoint of seed {SHIPPED_SEED}, which is the one whose branches ship")
        self.sample_cache = BranchCache(cache, CellPixels(self.images, self.labels, NOISE_SEED), first)
        self.library_cache = BranchCache(cache, self.library, first)
        self.scene_cache = BranchCache(cache, self.scenes, first)
        self.claims_cache = BranchCache(cache, self.library, members)
        self.probe_cache = BranchCache(cache, self.probe, [member for member in members if member.gated])

    def fill(self, rank: int = 0, world: int = 1) -> None:
        work = [
            (self.library_cache, tuple(self.library.streams)),
            *self._scene_work(),
            (self.sample_cache, NAMES),
            (self.probe_cache, tuple(self.probe.streams)),
            (self.claims_cache, tuple(unit for unit in CLAIMED if unit in self.library.streams)),
        ]
        fill_all(work, rank, world)

    def fill_scenes(self, rank: int = 0, world: int = 1) -> None:
        """The streams in which scenes change, and nothing else."""
        fill_all(self._scene_work(), rank, world)

    def _scene_work(self) -> list[tuple[BranchCache, tuple[str, ...]]]:
        return [(self.scene_cache, tuple(self.scenes.units))]

    def branches(self, member: Member, pixels: StreamPixels, cache: BranchCache, unit: str) -> Branches:
        """A stream's outputs, path by path."""
        stream = pixels.streams[unit]
        (flat,) = cache.load(member, unit)
        labels = np.repeat(self.labels[list(self.places)], stream.realisations)
        shape = (len(labels), len(stream.severity))
        z_static, z_dyn = (z.reshape(*shape, -1) for z in (flat.z_static, flat.z_dyn))
        return Branches(z_static, z_dyn, flat.u_star.reshape(shape), labels, stream.severity)

    def by_seed(self) -> dict[int, dict[str, Member]]:
        found: dict[int, dict[str, Member]] = {}
        for member in self.members:
            found.setdefault(member.seed, {})[member.method] = member
        return found
