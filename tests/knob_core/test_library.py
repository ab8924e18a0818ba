"""What ships is found by its manifest, verified once, and missed by name."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from knob_core import library
from knob_core.assets import ASSETS, ROOT
from knob_core.library import StreamKey
from knob_core.methods import METHODS

KEY = StreamKey("knob-ode", 0, "shot_noise", "step", 12, (3, 5), 2, 0)
ALONE = StreamKey("static", 0, "shot_noise", "step", 12, (3, 5), 2, 0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small assets folder: two streams, cells of two models, one of them with a single branch."""
    rng = np.random.default_rng(0)
    z_static, z_dyn = rng.normal(0, 3, (2, 4, 12, 10)).astype(np.float32)
    u_star = rng.normal(0, 1, (4, 12)).astype(np.float32)
    extra = {"labels": np.array([1, 1, 2, 2], np.int16), "severity": np.linspace(1, 5, 12).astype(np.float32)}
    library.save(tmp_path / "streams/gated.npz", z_static, z_dyn, u_star, **extra)
    library.save(tmp_path / "streams/alone.npz", z_static, z_static, np.zeros_like(u_star), **extra)
    cells = rng.normal(0, 3, (2, 6, 7, 10))
    library.save(tmp_path / "branches/gated.npz", *cells, rng.normal(0, 1, (6, 7)), labels=np.arange(7, dtype=np.int16))
    files = ["streams/gated.npz", "streams/alone.npz", "branches/gated.npz"]
    listing = {
        "format": library.FORMAT,
        "corruptions": ["fog", "snow", "frost"],
        "severities": [1, 2],
        "cells": [{"method": "knob-ode", "seed": 0, "noise_seed": 4, "file": files[2]}],
        "streams": [library.entry(KEY, files[0]), library.entry(ALONE, files[1])],
        "files": {name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in files},
    }
    (tmp_path / library.MANIFEST).write_text(json.dumps(listing))
    return tmp_path


def test_round_trip_in_half_precision(root: Path) -> None:
    assert library.streams(root) == [KEY, ALONE]
    branches = library.load_stream(KEY, root)
    z_static, z_dyn = np.random.default_rng(0).normal(0, 3, (2, 4, 12, 10))
    assert branches.z_static.dtype == np.float32
    assert np.allclose(branches.z_static, z_static, atol=4e-3)
    assert np.allclose(branches.z_dyn, z_dyn, atol=4e-3)
    assert branches.labels.tolist() == [1, 1, 2, 2]
    assert branches.severity[-1] == 5


def test_a_single_branch_stands_for_both(root: Path) -> None:
    branches = library.load_stream(ALONE, root)
    assert np.array_equal(branches.z_static, branches.z_dyn)
    assert not branches.u_star.any()
    assert (root / "streams/alone.npz").stat().st_size < 0.7 * (root / "streams/gated.npz").stat().st_size


def test_cells_say_which_they_are(root: Path) -> None:
    cells = library.load_cells("knob-ode", 0, root)
    assert cells.z_static.shape == (6, 7, 10)
    assert cells.u_star.shape == (6, 7)
    assert cells.cells == (("fog", 1), ("fog", 2), ("snow", 1), ("snow", 2), ("frost", 1), ("frost", 2))
    assert cells.noise_seed == 4
    assert library.models(root) == [("knob-ode", 0)]


def test_a_changed_byte_is_noticed_and_named(root: Path) -> None:
    path = root / "streams/gated.npz"
    library.load_stream(KEY, root)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))
    os.utime(path, ns=(1, 1))  # also where the clock is too coarse to see the change
    with pytest.raises(ValueError, match=r"gated\.npz is damaged.*train\.library"):
        library.load_stream(KEY, root)


def test_a_missing_file_is_named(root: Path) -> None:
    (root / "branches/gated.npz").unlink()
    with pytest.raises(FileNotFoundError, match=r"gated\.npz is missing.*train\.library"):
        library.load_cells("knob-ode", 0, root)


def test_a_missing_or_foreign_manifest_is_named(root: Path) -> None:
    (root / library.MANIFEST).write_text("{")
    with pytest.raises(ValueError, match=r"manifest\.json is damaged"):
        library.streams(root)
    (root / library.MANIFEST).write_text('{"format": "other"}')
    os.utime(root / library.MANIFEST, ns=(2, 2))
    with pytest.raises(ValueError, match="format"):
        library.streams(root)
    (root / library.MANIFEST).unlink()
    with pytest.raises(FileNotFoundError, match=r"train\.library"):
        library.streams(root)


def test_what_does_not_ship_is_refused(root: Path) -> None:
    with pytest.raises(ValueError, match="does not ship"):
        library.load_stream(StreamKey("knob-ode", 9, "fog", "step", 12, (3, 5), 2, 0), root)
    with pytest.raises(ValueError, match="no cells ship for 'attention'"):
        library.load_cells("attention", 0, root)


def test_a_file_outside_the_list_is_refused(root: Path) -> None:
    (root / "streams/other.npz").write_bytes(b"x")
    with pytest.raises(ValueError, match="not in"):
        library.verified("streams/other.npz", root)


@pytest.mark.skipif(not (ASSETS / library.MANIFEST).is_file(), reason="nothing shipped yet: python -m train.library")
class TestWhatShips:
    def test_every_file_is_whole_and_all_of_it_small(self) -> None:
        listing = library.manifest()
        for name in listing["files"]:
            library.verified(name)
        on_disk = {
            str(p.relative_to(ASSETS)) for folder in ("streams", "branches") for p in (ASSETS / folder).rglob("*.npz")
        }
        assert on_disk == set(listing["files"])
        assert sum(p.stat().st_size for p in ASSETS.rglob("*") if p.is_file()) <= 80e6

    def test_every_method_of_the_paper_ships(self) -> None:
        keys = library.streams()
        methods = {method for method, _ in library.models()}
        assert {key for key, method in METHODS.items() if method.paper} <= methods <= set(METHODS)
        assert methods == {key.method for key in keys}
        for method in methods:
            mine = [key for key in keys if key.method == method and key.seed == 0]
            assert len({key.schedule for key in mine}) >= 5
            assert len({key.corruption for key in mine}) >= 6
            assert library.load_cells(method).z_static.shape == (95, 1000, 10)

    def test_a_stream_is_what_its_key_says(self) -> None:
        key = next(key for key in library.streams() if (key.method, key.schedule) == ("knob-ode", "step"))
        branches = library.load_stream(key)
        assert branches.z_static.shape == (len(key.images) * key.realisations, key.frames, 10)
        assert (branches.labels == np.repeat(shipped_labels()[list(key.images)], key.realisations)).all()

    def test_loading_needs_no_torch(self) -> None:
        code = (
            "import sys; from knob_core import library; k = library.streams()[0]; library.load_stream(k); "
            "library.load_cells(k.method, k.seed); sys.exit('torch' in sys.modules)"
        )
        assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def shipped_labels() -> np.ndarray:
    from knob_core.data import load_sample

    return load_sample()[1]
