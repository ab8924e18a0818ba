"""Make what ships for the console and measure streams: `python -m train.library [CHECKPOINT ...]`.

Writes assets/branches (1,000 sample images x 95 cells), assets/streams (the library of controlled streams) with
assets/manifest.json, and the stream tables and probe E-3 in assets/results. Goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from knob_core import data, files, library
from knob_core.assets import ASSETS
from knob_core.branches import Branches
from knob_core.corruptions import NAMES
from knob_core.data.cifar10c import SEVERITIES
from knob_core.library import StreamKey, result_files
from knob_core.methods import DEFAULT, GATED, METHODS
from knob_core.settings import Settings
from train import commands
from train.evaluate import fill
from train.measuring import branch_outputs, dynamics_tables, stream_images, stream_tables
from train.measuring.branch_cache import BranchCache
from train.measuring.branch_outputs import Member
from train.measuring.cell_images import CellPixels
from train.measuring.stream_images import StreamPixels
from train.training import distributed

SHIPPED_SEED = 0  # all streams, tones and cells of this one; of the others what the claims need
NOISE_SEED = 0
NOISES = ("shot_noise", "gaussian_noise", "impulse_noise")
CLAIMED = tuple(stream_images.unit(name, schedule) for name in NOISES for schedule in ("step", "spikes"))
TRADE_OFF = tuple(stream_images.unit(name, "step") for name in NOISES)


class Workshop:
    """The sample, the models, and their branch outputs on every stream."""

    def __init__(self, members: Sequence[Member], cache: Path) -> None:
        self.members = members
        self.images, self.labels, _ = data.load_sample()
        self.places = stream_images.stills(self.labels)
        stills = self.images[list(self.places)]
        self.library = StreamPixels(stills, stream_images.library(), NOISE_SEED)
        self.probe = StreamPixels(stills, stream_images.tones() | stream_images.step(), NOISE_SEED)
        first = [member for member in members if member.seed == SHIPPED_SEED]
        if not first:
            raise ValueError(f"no checkpoint of seed {SHIPPED_SEED}, which is the one whose branches ship")
        self.sample_cache = BranchCache(cache, CellPixels(self.images, self.labels, NOISE_SEED), first)
        self.library_cache = BranchCache(cache, self.library, first)
        self.claims_cache = BranchCache(cache, self.library, members)
        self.probe_cache = BranchCache(cache, self.probe, [member for member in members if member.gated])

    def fill(self, rank: int = 0, world: int = 1) -> None:
        work = [
            (self.library_cache, tuple(self.library.streams)),
            (self.sample_cache, NAMES),
            (self.probe_cache, tuple(self.probe.streams)),
            (self.claims_cache, tuple(unit for unit in CLAIMED if unit in self.library.streams)),
        ]
        fill(work, rank, world)

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


def ship(shop: Workshop, root: Path) -> int:
    """Write branches, streams and the manifest under `root`; gives the number of bytes.

    Files are called after their weights; new ones come before the listing and old ones go after it, so a kill leaves a
    listing whose files are all there.
    """
    cells, streams = [], []
    written: dict[str, str] = {}  # file -> SHA-256
    for member in shop.sample_cache.members:
        name = f"branches/{_short(member)}.npz"
        if name not in written:
            units = [shop.sample_cache.load(member, unit) for unit in NAMES]
            parts = [part for unit in units for part in unit]  # corruption by corruption, severity by severity
            arrays = (np.stack([getattr(part, a) for part in parts]) for a in ("z_static", "z_dyn", "u_star"))
            library.save(root / name, *arrays, labels=shop.labels.astype(np.int16))
            written[name] = _sha256(root / name)
        cells.append({"method": member.method, "seed": member.seed, "noise_seed": NOISE_SEED, "file": name})
        for corruption in stream_images.CORRUPTIONS:
            for schedule in stream_images.LIBRARY_SCHEDULES:
                unit = stream_images.unit(corruption, schedule)
                name = f"streams/{_short(member)}/{unit}.npz"
                if name not in written:
                    b = shop.branches(member, shop.library, shop.library_cache, unit)
                    labels, severity = b.labels.astype(np.int16), b.severity.astype(np.float32)
                    library.save(root / name, b.z_static, b.z_dyn, b.u_star, labels=labels, severity=severity)
                    written[name] = _sha256(root / name)
                key = StreamKey(
                    member.method, member.seed, corruption, schedule, stream_images.FRAMES, shop.places,
                    stream_images.REALISATIONS, NOISE_SEED,
                )  # fmt: skip
                streams.append(library.entry(key, name))
    listing = {
        "format": library.FORMAT,
        "corruptions": list(NAMES),
        "severities": list(SEVERITIES),
        "cells": cells,
        "streams": streams,
        "files": written,
    }
    files.write_text(root / library.MANIFEST, json.dumps(listing, indent=0) + "\n")
    for folder in ("branches", "streams"):
        for path in (root / folder).rglob("*.npz"):
            if path.relative_to(root).as_posix() not in written:
                path.unlink()
        for path in (root / folder).iterdir():
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()
    return sum((root / name).stat().st_size for name in written)


def _short(member: Member) -> str:
    return f"s{member.seed}-{member.branches[:8]}"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def trained_settings(members: dict[str, Member]) -> dict[str, Settings]:
    """What each method with knobs learnt, without static memory."""
    found = {}
    for method in (method for method in METHODS if method in members and METHODS[method].gate.knobs):
        knobs: Any = members[method].model.knobs
        found[method] = Settings(knobs.zeta, knobs.omega_n, memory=False)
    return found


def measure(shop: Workshop, out: Path) -> None:
    """Stream measures, the trade-off, and probe E-3."""
    rows: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("streams", "trade_off", "e3_stream_bode", "e3_step", "e3_step_info")
    }
    for seed, members in shop.by_seed().items():
        trained = trained_settings(members)
        for corruption in stream_images.CORRUPTIONS:
            for schedule in stream_images.LIBRARY_SCHEDULES:
                unit = stream_images.unit(corruption, schedule)
                if seed != SHIPPED_SEED and unit not in CLAIMED:
                    continue
                by_method = {
                    method: shop.branches(member, shop.library, shop.claims_cache, unit)
                    for method, member in members.items()
                }
                context = {"seed": seed, "corruption": corruption, "schedule": schedule}
                rows["streams"] += stream_tables.table(by_method, trained, context)
                if unit in TRADE_OFF:
                    rows["trade_off"] += stream_tables.trade_off(by_method, context)
        _probe(shop, seed, members, rows)
    for name, found in rows.items():
        result_files.write(found, out / f"{name}.csv")
    result_files.write(dynamics_tables.gate_bode(), out / "e3_gate_bode.csv")


def _probe(shop: Workshop, seed: int, members: dict[str, Member], rows: dict[str, list[dict[str, Any]]]) -> None:
    settings = {method: stream_tables.unturned(method) for method in reversed(GATED)}
    units = [unit for unit in shop.probe.streams if unit != "step"]
    for method, setting in settings.items():
        tones = {unit: shop.branches(members[method], shop.probe, shop.probe_cache, unit) for unit in units}
        step = shop.branches(members[method], shop.probe, shop.probe_cache, "step")
        rows["e3_stream_bode"] += dynamics_tables.stream_bode(tones, method, setting, {"seed": seed})
        rows["e3_step"] += dynamics_tables.step_curves(step, method, setting, {"seed": seed})
        if method == DEFAULT:
            for zeta, omega_n in dynamics_tables.STEP_SETTINGS:
                turned = Settings(zeta, omega_n, memory=False)
                rows["e3_step_info"] += dynamics_tables.step_info(step, turned, {"seed": seed})


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = commands.parser("train.library", __doc__)
    parser.add_argument(
        "checkpoints", nargs="*", type=Path, default=[branch_outputs.CHECKPOINTS], metavar="CHECKPOINT",
        help="files or folders of them; default: what ships",
    )  # fmt: skip
    parser.add_argument("--device", type=commands.device, default="auto", help="auto, cpu, cuda, cuda:1, ...")
    parser.add_argument("--assets", type=Path, default=ASSETS, metavar="DIR", help="default: assets")
    parser.add_argument("--out", type=Path, default=result_files.RESULTS, metavar="DIR", help="default: assets/results")
    parser.add_argument("--runs", type=Path, default=Path("runs"), metavar="DIR", help="where the cache lies")
    return parser.parse_args(arguments)


def work(args: argparse.Namespace) -> None:
    device = distributed.own_device(args.device)
    rank, world = distributed.start(device)
    members = branch_outputs.load(branch_outputs.find(args.checkpoints), device)
    shop = Workshop(members, args.runs / "library")
    shop.fill(rank, world)
    if rank == 0:
        size = ship(shop, args.assets)
        measure(shop, args.out)
        print(f"{len(library.streams(args.assets))} streams, {size / 1e6:.1f} MB: {args.assets}")


def main(arguments: Sequence[str] | None = None) -> int:
    args = parse(arguments)
    return commands.run("train.library", lambda: work(args))


if __name__ == "__main__":
    sys.exit(main())
