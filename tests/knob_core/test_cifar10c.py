"""The official layout is read as it is, and our own pixels do not depend on how many are made."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from knob_core.corruptions import NAMES
from knob_core.data import cifar10c, load_sample


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three images: image i at severity s is all 10 s + i."""
    levels = (10 * np.arange(1, 6)[:, None] + np.arange(3)).ravel().astype(np.uint8)
    pixels = np.broadcast_to(levels[:, None, None, None], (15, 32, 32, 3)).copy()
    pixels[..., 2] = 200  # blue is the last channel on disk
    (tmp_path / "CIFAR-10-C").mkdir()
    np.save(tmp_path / "CIFAR-10-C/fog.npy", pixels)
    np.save(tmp_path / "CIFAR-10-C/labels.npy", np.tile(np.array([7, 8, 9], np.int32), 5))
    return tmp_path / "CIFAR-10-C"


def test_blocks_are_severities(folder: Path) -> None:
    assert cifar10c.find(folder.parent) == folder == cifar10c.find(folder)
    assert cifar10c.find(folder.parent.parent) is None
    assert cifar10c.available(folder) == ("fog",)
    for severity in cifar10c.SEVERITIES:
        images, labels = cifar10c.read(folder, "fog", severity)
        assert images.shape == (3, 3, 32, 32) and images.dtype == np.uint8 and images.flags.c_contiguous
        assert images[:, 0, 5, 6].tolist() == [10 * severity + i for i in range(3)]
        assert (images[:, 2] == 200).all() and labels.tolist() == [7, 8, 9] and labels.dtype == np.int64
    assert len(cifar10c.read(folder, "fog", 5, count=2)[0]) == 2


def test_bad_questions_are_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match="name is 'rain', expected one of"):
        cifar10c.read(folder, "rain", 1)
    for severity in (0, 6, 2.5, float("nan")):
        with pytest.raises(ValueError, match=r"severity is .*, expected one of \(1, 2, 3, 4, 5\)"):
            cifar10c.read(folder, "fog", severity)  # type: ignore[arg-type]
    for count in (0, 4):
        with pytest.raises(ValueError, match=f"count is {count}, expected 1 to 3"):
            cifar10c.read(folder, "fog", 1, count)
    with pytest.raises(FileNotFoundError, match="snow"):
        cifar10c.read(folder, "snow", 1)


@pytest.mark.parametrize("file", ["fog.npy", "labels.npy"])
@pytest.mark.parametrize("length", [0, 5, 60, -1])
def test_truncated_files_are_refused_by_name(file: str, length: int, folder: Path) -> None:
    (folder / file).write_bytes((folder / file).read_bytes()[:length])
    with pytest.raises(ValueError, match=file):
        cifar10c.read(folder, "fog", 1)


@pytest.mark.parametrize(
    ("file", "array"),
    [
        ("fog.npy", np.zeros((14, 32, 32, 3), np.uint8)),
        ("fog.npy", np.zeros((15, 3, 32, 32), np.uint8)),
        ("fog.npy", np.zeros((15, 32, 32, 3), np.float32)),
        ("labels.npy", np.zeros(14, np.int64)),
        ("labels.npy", np.zeros(15, np.float64)),
    ],
)
def test_other_arrays_are_refused(file: str, array: np.ndarray, folder: Path) -> None:
    np.save(folder / file, array)
    with pytest.raises(ValueError, match=f"{file}.*expected"):
        cifar10c.read(folder, "fog", 1)


def test_objects_and_archives_are_refused(folder: Path) -> None:
    np.save(folder / "fog.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(ValueError, match="fog"):
        cifar10c.read(folder, "fog", 1)
    np.savez(folder / "fog.npz", a=np.zeros(3))
    (folder / "fog.npz").replace(folder / "fog.npy")
    with pytest.raises(ValueError, match="archive"):
        cifar10c.read(folder, "fog", 1)


@pytest.mark.parametrize("name", NAMES)
def test_pixels_do_not_depend_on_the_count(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cifar10c, "CHUNK", 20)
    images = load_sample()[0][:60]
    full = cifar10c.make(images, name, 3, seed=2)
    assert full.shape == images.shape and full.dtype == np.uint8
    for count in (1, 20, 47):
        assert (cifar10c.make(images, name, 3, seed=2, count=count) == full[:count]).all()
        assert (cifar10c.make(images[:count], name, 3, seed=2) == full[:count]).all()
    assert (np.concatenate(list(cifar10c.chunks(images, name, 3, seed=2, start=1))) == full[20:]).all()


def test_seeds_and_chunks_have_noise_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cifar10c, "CHUNK", 2)
    images = np.full((4, 3, 32, 32), 128, np.uint8)
    made = cifar10c.make(images, "speckle_noise", 3)
    assert len(np.unique(made.reshape(4, -1), axis=0)) == 4
    assert not np.array_equal(made, cifar10c.make(images, "speckle_noise", 3, seed=1))
    assert np.array_equal(made, cifar10c.make(images, "speckle_noise", 3, seed=0))
    assert np.array_equal(images, cifar10c.make(images, "speckle_noise", 0))


@pytest.mark.parametrize("count", [0, 5])
def test_bad_count(count: int) -> None:
    with pytest.raises(ValueError, match=f"count is {count}, expected 1 to 4"):
        cifar10c.make(np.zeros((4, 3, 32, 32), np.uint8), "saturate", 1, count=count)
