"""Write the shipped streams in which scenes change, and their lines of the manifest; all other lines stay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from knob_core import files, library
from knob_core.library import StreamKey
from train.measuring import scene_images
from train.measuring.library_branches import NOISE_SEED, LibraryBranches
from train.measuring.library_files import sha256, short


def write(made: LibraryBranches, root: Path) -> int:
    """Write the streams and list them under `root`; gives the number of bytes. New files come before the listing."""
    listing: dict[str, Any] = library.manifest(root)
    written: dict[str, str] = {}  # file -> SHA-256
    lines = []
    for member in made.scene_cache.members:
        for unit, of in made.scenes.units.items():
            plan, name = made.scenes.plan(unit), f"streams/{short(member)}/{unit}.npz"
            if name not in written:
                (flat,) = made.scene_cache.load(member, unit)
                shape = (scene_images.REALISATIONS, of.frames)
                library.save(
                    root / name, flat.z_static.reshape(*shape, -1), flat.z_dyn.reshape(*shape, -1),
                    flat.u_star.reshape(shape), severity=plan.severity.astype(np.float32),
                    labels=np.broadcast_to(plan.labels, shape).astype(np.int16),
                    content=np.broadcast_to(plan.picture, shape).astype(np.int16),
                )  # fmt: skip
                written[name] = sha256(root / name)
            shown = tuple(int(picture) for picture in plan.picture[[0, *plan.cuts]])
            key = StreamKey(
                member.method, member.seed, of.corruption, of.schedule, of.frames, shown,
                scene_images.REALISATIONS, NOISE_SEED, of.content,
            )  # fmt: skip
            lines.append(library.entry(key, name))
    old = {line["file"] for line in listing["streams"] if "content" in line}
    fixed = [line for line in listing["streams"] if "content" not in line]
    kept = {name: sha for name, sha in listing["files"].items() if name not in old}
    listing = {**listing, "streams": [*fixed, *lines], "files": kept | written}
    files.write_text(root / library.MANIFEST, json.dumps(listing, indent=0) + "\n")
    for name in old - written.keys():
        (root / name).unlink(missing_ok=True)
    return sum((root / name).stat().st_size for name in written)
