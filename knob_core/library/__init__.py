"""What ships for the console: branch outputs of the sample under 95 cells, and of a library of controlled streams.

`assets/manifest.json` lists every file with its SHA-256; a file is verified when it is first loaded. NumPy only.
Models whose branches are the same numbers share a file; a path's frames are made anew from the key (`render`).
"""

from __future__ import annotations

import functools
import hashlib
import io
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from knob_core import files
from knob_core.assets import ASSETS, advice
from knob_core.branches import Branches
from knob_core.streams import scenes
from knob_core.streams.scenes import FIXED

if TYPE_CHECKING:
    from knob_core.streams import ControlledStream, SceneStream

FORMAT = "knob-assets-1"
MANIFEST = "manifest.json"
AGAIN = advice("python -m train.library")


@dataclass(frozen=True, order=True)
class StreamKey:
    """One stream of one model: all that decides its pixels is in here."""

    method: str
    seed: int  # of the model's training
    corruption: str
    schedule: str  # a name of `knob_core.schedules.SCHEDULES`, with its default parameters
    frames: int
    images: tuple[int, ...]  # places in the sample (`knob_core.data.load_sample`)
    realisations: int  # draws of the noise for each image
    noise_seed: int  # where content changes also of its cuts and pictures
    content: str = FIXED  # a name of `knob_core.streams.scenes.CONTENTS`

    @property
    def changing(self) -> bool:
        """Its picture changes: `images` are those of its scenes, in their order, and every path shows all of them."""
        return self.content != FIXED


@dataclass(frozen=True)
class Cells:
    """Branch outputs of N sample images under C cells."""

    z_static: np.ndarray  # (C, N, K) float32
    z_dyn: np.ndarray  # (C, N, K)
    u_star: np.ndarray  # (C, N)
    labels: np.ndarray  # (N,)
    cells: tuple[tuple[str, int], ...]  # (corruption, severity) of each cell
    noise_seed: int  # pixels: cifar10c.make(sample images, corruption, severity, noise_seed)


def streams(root: Path = ASSETS) -> list[StreamKey]:
    """Every stream that ships."""
    return list(_streams(root))


def models(root: Path = ASSETS) -> list[tuple[str, int]]:
    """(method, seed) of every model whose cells ship."""
    return [(entry["method"], entry["seed"]) for entry in manifest(root)["cells"]]


def load_stream(key: StreamKey, root: Path = ASSETS) -> Branches:
    """Branch outputs of a stream: R = images x realisations paths, image by image; one path a realisation of scenes."""
    known = _streams(root)
    if key not in known:
        raise ValueError(f"{key} does not ship; `knob_core.library.streams()` lists what does")
    arrays = _read(verified(known[key], root), ("z_static", "labels", "severity"))
    truth = {name: arrays[name].astype(np.int64) for name in ("labels", "content") if name in arrays}
    return Branches(**_floats(arrays), **truth, severity=arrays["severity"].astype(np.float32))


def render(key: StreamKey) -> ControlledStream | SceneStream:
    """The stream's pixels, made anew when asked for; this needs torch."""
    from knob_core.data import load_sample
    from knob_core.schedules import SCHEDULES
    from knob_core.streams import ControlledStream, SceneStream

    images, labels, _ = load_sample()
    severity = SCHEDULES[key.schedule](key.frames)
    if key.changing:
        plan = scenes.plan(key.content, labels, severity, key.noise_seed)
        return SceneStream(images, plan, key.corruption, key.realisations, key.noise_seed)
    return ControlledStream(images[list(key.images)], severity, key.corruption, key.realisations, key.noise_seed)


def load_cells(method: str, seed: int = 0, root: Path = ASSETS) -> Cells:
    """Branch outputs of the whole sample under every corruption and severity."""
    listing = manifest(root)
    for entry in listing["cells"]:
        if (entry["method"], entry["seed"]) == (method, seed):
            break
    else:
        raise ValueError(f"no cells ship for {method!r} with seed {seed!r}; shipped: {models(root)}")
    arrays = _read(verified(entry["file"], root), ("z_static", "labels"))
    cells = tuple((name, severity) for name in listing["corruptions"] for severity in listing["severities"])
    if arrays["z_static"].shape[0] != len(cells):
        raise ValueError(f"{entry['file']} has {arrays['z_static'].shape[0]} cells, expected {len(cells)}; {AGAIN}")
    labels = arrays["labels"].astype(np.int64)
    return Cells(**_floats(arrays), labels=labels, cells=cells, noise_seed=entry["noise_seed"])


def save(path: Path, z_static: np.ndarray, z_dyn: np.ndarray, u_star: np.ndarray, **others: np.ndarray) -> None:
    """Write branches in half precision, of a single-branch model only that one; whole or not at all."""
    arrays = {"z_static": z_static.astype(np.float16)}
    if not np.array_equal(z_static, z_dyn) or u_star.any():
        arrays |= {"z_dyn": z_dyn.astype(np.float16), "u_star": u_star.astype(np.float16)}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays, **others)
    files.write_bytes(path, buffer.getvalue())


def _read(path: Path, wanted: tuple[str, ...]) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file.items())
    except Exception as error:  # zipfile, zlib and numpy each have errors of their own for a damaged file
        raise ValueError(f"{path} is damaged ({error}); {AGAIN}") from error
    lacking = [name for name in wanted if name not in arrays]
    if lacking:
        raise ValueError(f"{path} lacks {', '.join(lacking)}; {AGAIN}")
    return arrays


def _floats(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The branches as float32; a single branch stands for both, with a gate that is never asked."""
    z_static = arrays["z_static"].astype(np.float32)
    if "z_dyn" not in arrays:
        return {"z_static": z_static, "z_dyn": z_static, "u_star": np.zeros(z_static.shape[:-1], np.float32)}
    others = {name: arrays[name].astype(np.float32) for name in ("z_dyn", "u_star")}
    return {"z_static": z_static, **others}


def manifest(root: Path = ASSETS) -> dict[str, Any]:
    """The list of what ships."""
    path = root / MANIFEST
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; {AGAIN}")
    return _manifest(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=4)
def _manifest(path: Path, changed: int) -> dict[str, Any]:
    try:
        listing = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is damaged ({error}); {AGAIN}") from error
    if not isinstance(listing, dict) or listing.get("format") != FORMAT:
        raise ValueError(f"{path} is not a list of format {FORMAT!r}; {AGAIN}")
    return listing


def _streams(root: Path) -> dict[StreamKey, str]:
    path = root / MANIFEST
    manifest(root)  # says what is wrong, if anything
    return _stream_files(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=4)
def _stream_files(path: Path, changed: int) -> dict[StreamKey, str]:
    names = [field.name for field in fields(StreamKey)]
    files = {}
    for entry in _manifest(path, changed)["streams"]:
        values = {name: entry[name] for name in names if name in entry} | {"images": tuple(entry["images"])}
        files[StreamKey(**values)] = entry["file"]
    return files


def entry(key: StreamKey, file: str) -> dict[str, Any]:
    """A stream's line in the manifest."""
    values = {**asdict(key), "images": list(key.images), "file": file}
    return values if key.changing else {name: value for name, value in values.items() if name != "content"}


def verified(name: str, root: Path = ASSETS) -> Path:
    """The path of a shipped file whose bytes are what the manifest says."""
    path = root / name
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; {AGAIN}")
    wanted = manifest(root)["files"].get(name)
    if wanted is None:
        raise ValueError(f"{name} is not in {root / MANIFEST}; {AGAIN}")
    status = path.stat()
    if _sha256(path, status.st_mtime_ns, status.st_size) != wanted:
        raise ValueError(f"{path} is damaged: its SHA-256 is not the one in {MANIFEST}; {AGAIN}")
    return path


@functools.lru_cache(maxsize=1024)
def _sha256(path: Path, changed: int, size: int) -> str:
    """Once for every state of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
