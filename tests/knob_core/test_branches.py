"""Branch files: what was saved comes back, and a damaged or odd file is refused by name."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from knob_core import branches
from knob_core.branches import Branches


@pytest.fixture
def stream() -> Branches:
    rng = np.random.default_rng(0)
    z_static, z_dyn = rng.normal(size=(2, 3, 7, 10)).astype(np.float32)
    return Branches(z_static, z_dyn, rng.normal(size=(3, 7)).astype(np.float32), np.arange(3), np.linspace(0, 5, 7))


@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 2e-3), ("float32", 0)])
def test_round_trip(stream: Branches, tmp_path: Path, dtype: str, tolerance: float) -> None:
    branches.save(stream, tmp_path / "s.npz", dtype)
    loaded = branches.load(tmp_path / "s.npz")
    for field in fields(Branches):
        np.testing.assert_allclose(getattr(loaded, field.name), getattr(stream, field.name), atol=tolerance, rtol=1e-6)
    assert loaded.z_static.dtype == np.float32
    assert [path.name for path in tmp_path.iterdir()] == ["s.npz"]


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"z_dyn": np.zeros((3, 7, 9))}, "must share one shape"),
        ({"u_star": np.zeros((3, 6))}, r"u_star must have shape \(3, 7\), got \(3, 6\)"),
        ({"severity": np.zeros(6)}, "severity must have shape"),
        ({"u_star": np.full((3, 7), np.nan)}, "u_star has values that are not finite"),
    ],
)
def test_odd_shapes_and_values_are_refused(stream: Branches, change: dict, cause: str) -> None:
    with pytest.raises(ValueError, match=cause):
        replace(stream, **change)


def test_damaged_files_are_refused_by_name(stream: Branches, tmp_path: Path) -> None:
    path = tmp_path / "s.npz"
    branches.save(stream, path)
    whole = path.read_bytes()
    for bad in (b"", b"PK", whole[: len(whole) // 2], b"\x00" * 100):
        path.write_bytes(bad)
        with pytest.raises(ValueError, match=r"s\.npz is not a whole branches file"):
            branches.load(path)
    np.savez(path, z_static=np.zeros(3))
    with pytest.raises(ValueError, match=r"wanted an \.npz with z_static, z_dyn"):
        branches.load(path)
    with pytest.raises(FileNotFoundError):
        branches.load(tmp_path / "none.npz")


def test_pickled_objects_are_never_opened(stream: Branches, tmp_path: Path) -> None:
    arrays = {field.name: getattr(stream, field.name) for field in fields(Branches)}
    np.savez(tmp_path / "s.npz", **{**arrays, "labels": np.array([object(), 1, 2], dtype=object)})
    with pytest.raises(ValueError, match="not a whole branches file"):
        branches.load(tmp_path / "s.npz")
