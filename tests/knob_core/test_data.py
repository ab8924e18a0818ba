"""CIFAR-10 is the same from every layout, and nothing damaged or missing gets through."""

from __future__ import annotations

import hashlib
import json
import pickle
import shutil
import socket
import struct
import subprocess
import sys
import urllib.error
from pathlib import Path

import numpy as np
import pytest

from knob_core import data
from knob_core._torchvision import torchvision
from knob_core.assets import ROOT
from knob_core.data import CLASSES, MEAN, STD, load_cifar10, load_sample
from knob_core.data.layouts import BATCHES, PER_BATCH, PICKLE_MD5, PIXELS, RECORD_MD5, write_grid

# A made test split of the right size: the sample's images ten times over, each time a little darker.


@pytest.fixture(scope="module")
def records() -> np.ndarray:
    images, labels, _ = load_sample()
    planes = np.concatenate([images.reshape(-1, PIXELS) - np.minimum(images.reshape(-1, PIXELS), k) for k in range(10)])
    return np.concatenate([np.tile(labels, 10).astype(np.uint8)[:, None], planes], axis=1)  # (10000, 3073)


@pytest.fixture(scope="module")
def laid(records: np.ndarray, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The made split in each of the three layouts."""
    root = tmp_path_factory.mktemp("laid")
    for place, lay in LAY.items():
        (root / place).mkdir()
        lay(root / place, records)
    return root


@pytest.fixture
def accepted(laid: Path, records: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """The made split, with its checksums in place of the official ones."""
    for table, file in (
        (RECORD_MD5, "cifar-10-batches-bin/test_batch.bin"),
        (PICKLE_MD5, "cifar-10-batches-py/test_batch"),
    ):
        monkeypatch.setitem(table, "test_batch", hashlib.md5((laid / file).read_bytes()).hexdigest())
    monkeypatch.delenv("KNOB_DATA", raising=False)
    return records


def python2_batch(records: np.ndarray) -> bytes:
    """The bytes that Python 2 pickled: a dict of strings, a list of small integers and one NumPy array."""

    def text(s: bytes) -> bytes:
        return b"U" + bytes([len(s)]) + s if len(s) < 256 else b"T" + struct.pack("<i", len(s)) + s

    labels = b"".join(
        b"(" + b"".join(b"K" + bytes([k]) for k in block) + b"e" for block in records[:, 0].reshape(-1, 1000)
    )
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00t" + text(b"b") + b"tR"
        b"(K\x01(M\x10'M\x00\x0ctcnumpy\ndtype\n(" + text(b"u1") + b"K\x00K\x01tR"
        b"(K\x03"
        + text(b"|")
        + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89"
        + text(records[:, 1:].tobytes())
        + b"tb"
    )
    items = text(b"batch_label") + text(b"testing batch 1 of 1") + text(b"labels") + b"]" + labels
    names = text(b"filenames") + b"](" + text(b"a_s_000001.png") + text(b"b_s_000002.png") + b"e"
    return b"\x80\x02}(" + items + text(b"data") + array + names + b"u."


def lay_binary(folder: Path, records: np.ndarray) -> None:
    (folder / "test_batch.bin").write_bytes(records.tobytes())


def lay_python(folder: Path, records: np.ndarray) -> None:
    (folder / "test_batch").write_bytes(python2_batch(records))


def lay_grids(folder: Path, records: np.ndarray) -> None:
    for k in range(2):
        images = records[5000 * k : 5000 * (k + 1), 1:].reshape(-1, 3, 32, 32)
        write_grid(folder / f"test_{k:02d}.webp", images, method=0)
    np.save(folder / "test_labels.npy", records[:, 0])


LAY = {"cifar-10-batches-bin": lay_binary, "cifar-10-batches-py": lay_python, "cifar10": lay_grids}
ONE_FILE = {"cifar-10-batches-bin": "test_batch.bin", "cifar-10-batches-py": "test_batch", "cifar10": "test_01.webp"}
BINARY = "cifar-10-batches-bin"


@pytest.mark.parametrize("place", LAY)
@pytest.mark.parametrize("inside", [True, False])
def test_every_layout_gives_the_same_images(
    place: str, inside: bool, accepted: np.ndarray, laid: Path, tmp_path: Path
) -> None:
    (tmp_path / place).symlink_to(laid / place)
    images, labels = load_cifar10(tmp_path / place if inside else tmp_path, split="test")
    assert images.shape == (PER_BATCH, 3, 32, 32) and images.dtype == np.uint8 and labels.dtype == np.int64
    assert (images.reshape(PER_BATCH, PIXELS) == accepted[:, 1:]).all() and (labels == accepted[:, 0]).all()


def test_the_made_python_batch_is_what_pickle_reads(records: np.ndarray) -> None:
    batch = pickle.loads(python2_batch(records), encoding="latin1")  # ours, a line above: safe to load
    assert (batch["data"] == records[:, 1:]).all() and batch["labels"] == records[:, 0].tolist()


@pytest.mark.parametrize("place", LAY)
@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty"])
def test_damaged_files_are_refused_by_name(
    place: str, damage: str, accepted: np.ndarray, laid: Path, tmp_path: Path
) -> None:
    shutil.copytree(laid / place, tmp_path / place)
    path = tmp_path / place / ONE_FILE[place]
    content = bytearray(path.read_bytes())
    if damage == "flipped":
        content[len(content) // 2] ^= 0xFF
    path.write_bytes(content[: {"truncated": len(content) // 2, "flipped": len(content), "empty": 0}[damage]])
    with pytest.raises(ValueError, match=path.name):
        load_cifar10(tmp_path, split="test")


@pytest.mark.parametrize(
    "labels", [b"", b"\x93NUMPY", b"no array", np.zeros(7, np.uint8), np.zeros(PER_BATCH, np.float32)]
)
def test_damaged_labels_are_refused_by_name(labels: bytes | np.ndarray, laid: Path, tmp_path: Path) -> None:
    shutil.copytree(laid / "cifar10", tmp_path, dirs_exist_ok=True)
    if isinstance(labels, bytes):
        (tmp_path / "test_labels.npy").write_bytes(labels)
    else:
        np.save(tmp_path / "test_labels.npy", labels)
    with pytest.raises(ValueError, match=r"test_labels\.npy"):
        load_cifar10(tmp_path, split="test")


def test_wrong_label_and_wrong_size_are_refused(accepted: np.ndarray, laid: Path, tmp_path: Path) -> None:
    shutil.copytree(laid / "cifar10", tmp_path, dirs_exist_ok=True)
    labels = accepted[:, 0].copy()
    labels[4] = (labels[4] + 1) % 10
    np.save(tmp_path / "test_labels.npy", labels)
    with pytest.raises(ValueError, match="MD5"):
        load_cifar10(tmp_path, split="test")
    write_grid(tmp_path / "test_01.webp", np.zeros((100, 3, 32, 32), np.uint8))
    with pytest.raises(ValueError, match=r"test_01\.webp.*\(3200, 32\).*\(3200, 1600\)"):
        load_cifar10(tmp_path, split="test")


def test_a_hostile_pickle_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marker = tmp_path / "ran"

    class Hostile:
        def __reduce__(self) -> tuple:
            return (Path.touch, (marker,))

    content = pickle.dumps(Hostile(), protocol=2)
    (tmp_path / "test_batch").write_bytes(content)
    with pytest.raises(ValueError, match="MD5"):
        load_cifar10(tmp_path, split="test")
    monkeypatch.setitem(PICKLE_MD5, "test_batch", hashlib.md5(content).hexdigest())
    with pytest.raises(ValueError, match="0 labels"):  # not even where the checksum is right
        load_cifar10(tmp_path, split="test")
    assert not marker.exists()
    pickle.loads(content)
    assert marker.exists()  # it would have run


def test_nothing_found_names_three_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNOB_DATA", str(tmp_path / "named"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(data, "ROOT", tmp_path)
    with pytest.raises(FileNotFoundError) as caught:
        load_cifar10(split="train")
    for words in (str(tmp_path / "named"), "--data DIR", "KNOB_DATA", "./data", "--download", "data_batch_1.bin"):
        assert words in str(caught.value)
    with pytest.raises(FileNotFoundError, match="elsewhere"):
        load_cifar10(tmp_path / "elsewhere", split="test")


def test_sources_in_their_order(
    accepted: np.ndarray, laid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(data, "ROOT", tmp_path / "project")
    with pytest.raises(FileNotFoundError):
        load_cifar10(split="test")
    (tmp_path / "data").symlink_to(laid / BINARY)
    assert len(load_cifar10(split="test")[1]) == PER_BATCH  # ./data
    (tmp_path / "named").mkdir()
    (tmp_path / "named/test_batch.bin").write_bytes(b"damaged")
    monkeypatch.setenv("KNOB_DATA", str(tmp_path / "named"))
    with pytest.raises(ValueError, match="named"):  # KNOB_DATA comes first
        load_cifar10(split="test")
    assert len(load_cifar10(tmp_path / "data", split="test")[1]) == PER_BATCH  # and the argument before it


def test_a_read_only_folder_will_do(accepted: np.ndarray, laid: Path, tmp_path: Path) -> None:
    shutil.copy(laid / BINARY / "test_batch.bin", tmp_path / "test_batch.bin")
    (tmp_path / "test_batch.bin").chmod(0o444)
    tmp_path.chmod(0o555)
    before = sorted(tmp_path.iterdir())
    assert len(load_cifar10(tmp_path, split="test")[1]) == PER_BATCH
    assert sorted(tmp_path.iterdir()) == before
    tmp_path.chmod(0o755)


def test_a_missing_batch_is_named(
    accepted: np.ndarray, laid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RECORD_MD5, "data_batch_1", RECORD_MD5["test_batch"])
    (tmp_path / "data_batch_1.bin").symlink_to(laid / BINARY / "test_batch.bin")
    with pytest.raises(FileNotFoundError, match=r"data_batch_2\.bin"):
        load_cifar10(tmp_path, split="train")


def test_unknown_split() -> None:
    with pytest.raises(ValueError, match="split is 'valid', expected one of 'train', 'test'"):
        load_cifar10(split="valid")


def test_download_is_only_on_request_and_fails_clearly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def no_network(url: str, root: str, **kwargs: str) -> None:
        asked.append((url, root, kwargs, socket.getdefaulttimeout()))
        raise urllib.error.URLError("no network")

    monkeypatch.setattr(torchvision.datasets.utils, "download_and_extract_archive", no_network)
    before = socket.getdefaulttimeout()
    with pytest.raises(FileNotFoundError):
        load_cifar10(tmp_path, split="test")
    assert not asked
    with pytest.raises(FileNotFoundError, match=r"(?s)no network.*Three ways"):
        load_cifar10(tmp_path, split="test", download=True)
    ((url, root, kwargs, timeout),) = asked
    assert url.endswith("cifar-10-python.tar.gz") and root == str(tmp_path) and timeout == data.DOWNLOAD_TIMEOUT
    assert kwargs["md5"] == torchvision.datasets.CIFAR10.tgz_md5
    assert socket.getdefaulttimeout() == before


def test_download_is_read_where_it_was_put(
    accepted: np.ndarray, laid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def archive(url: str, root: str, **kwargs: str) -> None:
        (Path(root) / "cifar-10-batches-py").symlink_to(laid / "cifar-10-batches-py")

    monkeypatch.setattr(torchvision.datasets.utils, "download_and_extract_archive", archive)
    images, _ = load_cifar10(tmp_path / "new", split="test", download=True)
    assert (images.reshape(PER_BATCH, PIXELS) == accepted[:, 1:]).all()


def test_checksums_are_the_ones_torchvision_lists() -> None:
    dataset = torchvision.datasets.CIFAR10
    assert dict(dataset.train_list + dataset.test_list) == PICKLE_MD5
    assert [name for split in BATCHES.values() for name in split] == list(RECORD_MD5)


@pytest.mark.slow
def test_the_whole_of_cifar10(shared: Path) -> None:
    images, labels = load_cifar10(shared, split="train")  # its official checksums are verified on the way
    assert images.shape == (50_000, 3, 32, 32)
    assert np.bincount(labels).tolist() == [5000] * 10
    moments = np.zeros((2, 3))
    for part in np.split(images, 50):
        unit = part.astype(np.float32).transpose(1, 0, 2, 3).reshape(3, -1) / 255
        moments += [unit.mean(axis=1, dtype=np.float64) / 50, np.square(unit).mean(axis=1, dtype=np.float64) / 50]
    assert moments[0] == pytest.approx(MEAN, abs=6e-5)
    assert np.sqrt(moments[1] - moments[0] ** 2) == pytest.approx(STD, abs=6e-5)


def test_the_sample_is_a_hundred_of_every_class() -> None:
    images, labels, indices = load_sample()
    assert images.shape == (1000, 3, 32, 32) and images.dtype == np.uint8
    assert np.bincount(labels).tolist() == [100] * len(CLASSES)
    assert (np.diff(indices) > 0).all() and indices[0] == 0 and indices[-1] < 10_000


def test_the_sample_is_cut_from_the_test_split(shared: Path) -> None:
    all_images, all_labels = load_cifar10(shared, split="test")
    images, labels, indices = load_sample()
    assert (images == all_images[indices]).all() and (labels == all_labels[indices]).all()
    for k in range(10):
        assert (indices[labels == k] == np.flatnonzero(all_labels == k)[:100]).all()


@pytest.mark.parametrize("change", ["labels", "indices"])
def test_a_damaged_sample_is_refused(change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(data.SAMPLE, tmp_path / "sample")
    monkeypatch.setattr(data, "SAMPLE", tmp_path / "sample")
    listing = json.loads((tmp_path / "sample/sample.json").read_text())
    listing[change][7] += 1
    (tmp_path / "sample/sample.json").write_text(json.dumps(listing))
    with pytest.raises(ValueError, match="damaged"):
        load_sample()


def test_images_are_read_without_torch() -> None:
    code = "import sys; from knob_core.data import load_sample; load_sample(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
