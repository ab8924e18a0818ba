"""Branch files: what was saved comes back, and a damaged or odd file is refused by name."""

from __future__ import annotations

from dataclasses import replace
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
    for name in branches.REQUIRED:
        np.testing.assert_allclose(getattr(loaded, name), getattr(stream, name), atol=tolerance, rtol=1e-6)
    assert loaded.z_static.dtype == np.float32
    assert loaded.content is None and loaded.segment is None
    assert [path.name for path in tmp_path.iterdir()] == ["s.npz"]


def test_what_a_file_cannot_hold_is_refused(stream: Branches, tmp_path: Path) -> None:
    """65537 came back as class 1, and two pictures as one; logits above 65504 made a file that could not be read."""
    wide = np.zeros((3, 7, 70_000), np.float32)
    for change, dtype, cause in (
        (
            {"z_static": wide, "z_dyn": wide, "labels": np.array([0, 1, 65_537])},
            "float16",
            "labels has the value 65537",
        ),
        ({"content": np.full((3, 7), 2**32 + 1)}, "float16", "content has the value 4.29497e"),
        ({"content": np.full((3, 7), 0.5)}, "float16", "content has the value 0.5, which int32 cannot hold"),
        ({"segment": np.full((3, 7), 300)}, "float16", "segment has the value 300"),
        ({"z_dyn": np.full((3, 7, 10), 1e5)}, "float16", "z_dyn has the value 100000, which float16 cannot hold"),
        ({}, "int8", "dtype is 'int8', expected"),
    ):
        with pytest.raises(ValueError, match=cause):
            branches.save(replace(stream, **change), tmp_path / "s.npz", dtype)
    assert not list(tmp_path.iterdir())
    branches.save(replace(stream, z_dyn=np.full((3, 7, 10), 1e5)), tmp_path / "s.npz", "float32")
    assert branches.load(tmp_path / "s.npz").z_dyn.max() == 1e5
    with np.load(tmp_path / "s.npz") as file:
        arrays = dict(file)
    for name, values in (("labels", np.full(3, 0.5)), ("z_dyn", np.ones((3, 7, 10), complex))):
        np.savez(tmp_path / "odd.npz", **{**arrays, name: values})
        with pytest.raises(ValueError, match=f"odd.npz: {name} is {values.dtype}, expected"):
            branches.load(tmp_path / "odd.npz")


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"z_dyn": np.zeros((3, 7, 9))}, "must share one shape"),
        ({"u_star": np.zeros((3, 6))}, r"u_star must have shape \(3, 7\), got \(3, 6\)"),
        ({"severity": np.zeros(6)}, r"severity must have shape \(7,\) or \(3, 7\), got \(6,\)"),
        ({"labels": np.zeros((7, 3), int)}, r"labels must have shape \(3,\) or \(3, 7\), got \(7, 3\)"),
        ({"content": np.zeros(3, int)}, r"content must have shape \(3, 7\), got \(3,\)"),
        ({"segment": np.zeros((3, 6), int)}, r"segment must have shape \(3, 7\)"),
        ({"u_star": np.full((3, 7), np.nan)}, "u_star has values that are not finite"),
        ({"z_static": np.zeros((3, 7, 1)), "z_dyn": np.zeros((3, 7, 1))}, r"K >= 2, got \(3, 7, 1\)"),
        ({"labels": np.array([0, 10, -1])}, r"labels must lie in \[-1, 9\], got 10"),
        ({"labels": np.array([0, 1, -2])}, r"labels must lie in \[-1, 9\], got -2"),
        ({"labels": np.array([0, 0.5, 1])}, r"labels must be whole numbers, got 0\.5"),
        ({"labels": np.array(["a", "b", "c"])}, "labels is <U1, expected an array of real numbers"),
        ({"labels": [0, 1, 2]}, "labels is <class 'list'>, expected an array"),
        ({"u_star": np.full((3, 7), None)}, "u_star is object, expected an array of real numbers"),
        ({"u_star": np.ma.masked_equal(np.eye(3, 7), 1)}, "u_star has 3 masked values"),
        ({"severity": np.full(7, 9.0)}, r"severity must lie in \[0, 5\], got 9\.0"),
        (
            {"z_static": np.full((3, 7, 10), 1e101)},
            r"z_static is 1e\+101 at index \(0, 0, 0\), expected ",
        ),
    ],
)
def test_odd_shapes_and_values_are_refused(stream: Branches, change: dict, cause: str) -> None:
    with pytest.raises(ValueError, match=cause):
        replace(stream, **change)


@pytest.fixture
def changing(stream: Branches) -> Branches:
    """One class, severity, picture and kind of segment for each frame of each path."""
    labels = np.array([[0, 0, 1, 1, 1, 9, -1], [2] * 7, [-1] * 7])
    severity = np.linspace(0, 5, 21).reshape(3, 7)
    content = 48_000 + np.arange(21).reshape(3, 7)
    return replace(stream, labels=labels, severity=severity, content=content, segment=np.arange(21).reshape(3, 7) % 5)


def test_one_value_a_frame_comes_back(changing: Branches, tmp_path: Path) -> None:
    branches.save(changing, tmp_path / "s.npz", corruption=np.array(["fog", "snow", "fog"]))
    loaded = branches.load(tmp_path / "s.npz")
    for name in ("labels", "content", "segment"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(changing, name))
        assert getattr(loaded, name).dtype == np.int64
    np.testing.assert_allclose(loaded.severity, changing.severity, rtol=1e-6)
    with np.load(tmp_path / "s.npz", allow_pickle=False) as file:
        assert file["corruption"].tolist() == ["fog", "snow", "fog"]
    with pytest.raises(ValueError, match="others has labels"):
        branches.save(changing, tmp_path / "s.npz", labels=np.zeros(3))


def test_labels_and_severity_of_every_frame(stream: Branches, changing: Branches) -> None:
    assert stream.frame_labels.tolist() == [[0] * 7, [1] * 7, [2] * 7]
    np.testing.assert_array_equal(stream.frame_severity, np.tile(stream.severity, (3, 1)))
    np.testing.assert_array_equal(changing.frame_labels, changing.labels)
    np.testing.assert_array_equal(changing.frame_severity, changing.severity)


def test_files_of_before_are_read_and_written_as_ever(stream: Branches, tmp_path: Path) -> None:
    """The arrays, their types and nothing else, as before labels could change."""
    branches.save(stream, tmp_path / "s.npz")
    with np.load(tmp_path / "s.npz") as file:
        assert {name: str(file[name].dtype) for name in file.files} == {
            "z_static": "float16", "z_dyn": "float16", "u_star": "float16", "labels": "int16", "severity": "float32",
        }  # fmt: skip
    loaded = branches.load(tmp_path / "s.npz")
    assert loaded.labels.shape == (3,) and loaded.severity.shape == (7,)
    np.testing.assert_array_equal(loaded.z_dyn, stream.z_dyn.astype(np.float16).astype(np.float32))


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
    arrays = {name: getattr(stream, name) for name in branches.REQUIRED}
    np.savez(tmp_path / "s.npz", **{**arrays, "labels": np.array([object(), 1, 2], dtype=object)})
    with pytest.raises(ValueError, match="not a whole branches file"):
        branches.load(tmp_path / "s.npz")
