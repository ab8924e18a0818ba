"""Write what `knob_core.library` reads: branch outputs of cells and streams, and the manifest that lists them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from knob_core import files, library
from knob_core.corruptions import NAMES
from knob_core.data.cifar10c import SEVERITIES
from knob_core.library import StreamKey
from train.measuring import stream_images
from train.measuring.branch_outputs import Member
from train.measuring.library_branches import NOISE_SEED, LibraryBranches


def write(made: LibraryBranches, root: Path) -> int:
    """Write branches, controlled streams and the manifest under `root`; gives the number of bytes.

    Files are called after their weights; new ones come before the listing and old ones go after it, so a kill leaves a
    listing whose files are all there.
    """
    cells, streams = [], []
    written: dict[str, str] = {}  # file -> SHA-256
    for member in made.sample_cache.members:
        name = f"branches/{short(member)}.npz"
        if name not in written:
            units = [made.sample_cache.load(member, unit) for unit in NAMES]
            parts = [part for unit in units for part in unit]  # corruption by corruption, severity by severity
            arrays = (np.stack([getattr(part, a) for part in parts]) for a in ("z_static", "z_dyn", "u_star"))
            library.save(root / name, *arrays, labels=made.labels.astype(np.int16))
            written[name] = sha256(root / name)
        cells.append({"method": member.method, "seed": member.seed, "noise_seed": NOISE_SEED, "file": name})
        for corruption in stream_images.CORRUPTIONS:
            for schedule in stream_images.LIBRARY_SCHEDULES:
                unit = stream_images.unit(corruption, schedule)
                name = f"streams/{short(member)}/{unit}.npz"
                if name not in written:
                    b = made.branches(member, made.library, made.library_cache, unit)
                    labels, severity = b.labels.astype(np.int16), b.severity.astype(np.float32)
                    library.save(root / name, b.z_static, b.z_dyn, b.u_star, labels=labels, severity=severity)
                    written[name] = sha256(root / name)
                key = StreamKey(
                    member.method, member.seed, corruption, schedule, stream_images.FRAMES, made.places,
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


def short(member: Member) -> str:
    """The name of a model's folder: its seed and its weights."""
    return f"s{member.seed}-{member.branches[:8]}"


def sha256(path: Path) -> str:
    """Of a file's bytes, as the manifest has it."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
