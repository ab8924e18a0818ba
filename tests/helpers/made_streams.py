"""Made-up streams for tests: what a trained model's branches look like, roughly, and nothing that ships."""

from __future__ import annotations

import hashlib
import json
from itertools import product
from pathlib import Path

import numpy as np

from knob_core import data, library
from knob_core.branches import Branches, save
from knob_core.library import film_strips
from knob_core.schedules import SCHEDULES

ROOT = Path(__file__).resolve().parent.parent.parent


def branches(
    images: int = 4,
    realisations: int = 8,
    frames: int = 240,
    schedule: str = "step",
    seed: int = 0,
    labels: np.ndarray | None = None,
) -> Branches:
    """Noise grows with severity; the dynamic branch is sharp and suffers from it, the static one modest and robust."""
    rng = np.random.default_rng(seed)
    severity = SCHEDULES[schedule](frames)
    labels = np.repeat(rng.integers(0, 10, images) if labels is None else labels, realisations)
    rival = (labels + 1 + rng.integers(0, 8)) % 10
    paths = np.arange(images * realisations)
    u_star = 1.8 - 0.75 * severity + rng.normal(0, 0.15 + 0.12 * severity, (len(paths), frames))
    harder = np.repeat(rng.uniform(0.5, 1.2, images), realisations)[:, None] * severity

    def logits(sharp: float, suffers: float) -> np.ndarray:
        z = rng.normal(0, 0.4 + suffers * severity[None, :, None] / 5, (len(paths), frames, 10))
        z[paths, :, labels] += sharp * (1 - 0.12 * harder)
        z[paths, :, rival] += sharp * 0.16 * harder
        return z

    z_static, z_dyn = logits(4.0, 0.9), logits(7.0, 2.6)
    return Branches(
        *(a.astype(np.float32) for a in (z_static, z_dyn, u_star)), labels.astype(np.int64), severity.astype(np.float32)
    )


def assets(root: Path, methods: tuple[str, ...] = ("knob-ode", "ode-lite", "static"), frames: int = 240) -> Path:
    """A folder like `assets/` with made-up streams: two corruptions, three schedules, three images of the sample."""
    root.mkdir(parents=True, exist_ok=True)
    for folder in ("sample", "frost"):
        (root / folder).symlink_to(ROOT / "assets" / folder)
    images, labels, _ = data.load_sample()
    places = tuple(int(np.flatnonzero(labels == k)[0]) for k in (8, 3, 0))
    files, listed = {}, []
    for i, (corruption, schedule) in enumerate(product(("shot_noise", "fog"), ("step", "sine", "spikes"))):
        made = branches(len(places), 6, frames, schedule, seed=i, labels=labels[list(places)])
        name = f"streams/{corruption}-{schedule}.npz"
        (root / name).parent.mkdir(exist_ok=True)
        save(made, root / name)
        files[name] = hashlib.sha256((root / name).read_bytes()).hexdigest()
        for method in methods:
            key = library.StreamKey(method, 0, corruption, schedule, frames, places, 6, 0)
            listed.append(library.entry(key, name))
        severity = made.severity[film_strips.film_frames(frames)]
        noise = (
            np.random.default_rng(i).normal(0, 12, (len(places), film_strips.FILM, 32, 32, 3))
            * severity[:, None, None, None]
        )
        stills = images[list(places)].transpose(0, 2, 3, 1)[:, None]
        film_strips.save(np.clip(stills + noise, 0, 255).astype(np.uint8), film_strips.path_of(key, root))
    made = scenes(6, frames, 20)
    name = "streams/shot_noise-step-mixed.npz"
    save(made, root / name)
    files[name] = hashlib.sha256((root / name).read_bytes()).hexdigest()
    shown = tuple(range(frames // 20))
    for method in methods:
        key = library.StreamKey(method, 0, "shot_noise", "step", frames, shown, 6, 0, "mixed")
        listed.append(library.entry(key, name))
    where = made.content[0, film_strips.film_frames(frames)]
    film_strips.save(images[where].transpose(0, 2, 3, 1)[None], film_strips.path_of(key, root))
    manifest = {
        "format": library.FORMAT,
        "corruptions": [],
        "severities": [],
        "cells": [],
        "streams": listed,
        "files": files,
    }
    (root / library.MANIFEST).write_text(json.dumps(manifest))
    return root


def checkpoint(root: Path, method: str) -> None:
    """A model with random weights beside the made-up streams, so that others can be computed."""
    import torch

    from knob_core import checkpoint as file
    from knob_core import models

    torch.manual_seed(0)
    file.save(models.build(method, width=4).eval(), root / "checkpoints" / f"{method}-s0.safetensors")


def scenes(realisations: int = 6, frames: int = 120, every: int = 20, seed: int = 0) -> Branches:
    """Paths of one plan in which another picture, of another class, begins every so many frames."""
    rng = np.random.default_rng(seed)
    made = branches(1, realisations, frames, "step", seed, labels=np.zeros(1, np.int64))
    picture = np.arange(frames) // every
    labels = (3 * picture) % 10
    shape = made.u_star.shape
    z_static, z_dyn = (np.array([np.roll(z[:, t], labels[t], axis=-1) for t in range(frames)]).swapaxes(0, 1)
                       for z in (made.z_static, made.z_dyn))  # fmt: skip
    u_star = (made.u_star + rng.normal(0, 0.2, frames)).astype(np.float32)
    whole = (np.broadcast_to(values, shape).astype(np.int64) for values in (labels, picture))
    truth, content = whole
    return Branches(z_static, z_dyn, u_star, truth, made.severity, content)
