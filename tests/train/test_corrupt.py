"""`python -m train.corrupt` writes the official layout, survives being killed, and leaves nothing half done."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from knob_core.corruptions import NAMES
from knob_core.data import cifar10c, load_sample
from train import corrupt

ROOT = Path(__file__).resolve().parent.parent.parent
SOME = ("speckle_noise", "gaussian_blur")


@pytest.fixture
def sample() -> tuple[np.ndarray, np.ndarray]:
    images, labels, _ = load_sample()
    return images[:50], labels[:50]


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> int:
    for module in (cifar10c, corrupt):
        monkeypatch.setattr(module, "CHUNK", 10)
    return 10


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_nineteen_files_in_the_official_layout(
    sample: tuple[np.ndarray, np.ndarray], small_chunks: int, tmp_path: Path
) -> None:
    images, labels = sample
    corrupt.write_all(tmp_path / "new/folder", images, labels[:25], seed=4)
    out = cifar10c.find(tmp_path / "new/folder")
    assert out is not None and cifar10c.available(out) == NAMES and len(NAMES) == 19
    assert sorted(path.name for path in out.iterdir()) == sorted(
        [*(f"{name}.npy" for name in NAMES), "labels.npy", "settings.json"]
    )
    assert np.load(out / "fog.npy").shape == (125, 32, 32, 3)
    for name in NAMES:
        for severity in (1, 5):
            written, written_labels = cifar10c.read(out, name, severity)
            assert (written == cifar10c.make(images, name, severity, seed=4, count=25)).all()
            assert (written_labels == labels[:25]).all()


def start(out: Path) -> subprocess.Popen:
    command = [sys.executable, "-m", "train.corrupt", "--sample", "--out", str(out), "--only", "zoom_blur", "frost"]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill_when(process: subprocess.Popen, part: Path, size: int) -> None:
    """SIGKILL as soon as the part has grown to `size` bytes."""
    while process.poll() is None and not (part.exists() and part.stat().st_size >= size):
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL


@pytest.mark.slow
def test_killed_twice_and_still_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, part = tmp_path / "out", tmp_path / "out/zoom_blur.npy.part"
    ends = corrupt.chunk_ends(1000) + len(corrupt.header(1000))
    for chunks_before in (2, 7):
        kill_when(start(out), part, ends[chunks_before - 1])
        assert not (out / "zoom_blur.npy").exists() and part.stat().st_size < ends[-1]
    with part.open("ab") as file:
        file.write(b"half a chunk")
    done = int(np.searchsorted(ends, part.stat().st_size, side="right"))
    assert 7 <= done < 20

    made = []
    monkeypatch.setattr(corrupt, "chunks", lambda *a: (made.append(a[1]) or chunk for chunk in cifar10c.chunks(*a)))
    corrupt.main(["--sample", "--out", str(out), "--only", "zoom_blur", "frost"])
    assert made.count("zoom_blur") == 20 - done and made.count("frost") == 20  # what was there was not made again

    images, labels, _ = load_sample()
    corrupt.write_all(tmp_path / "uncut", images, labels, ("zoom_blur", "frost"))
    assert contents(out) == contents(tmp_path / "uncut")


def test_a_finished_folder_is_left_alone(
    sample: tuple[np.ndarray, np.ndarray], small_chunks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corrupt.write_all(tmp_path, *sample, SOME[:1])
    before = (tmp_path / "speckle_noise.npy").stat().st_mtime_ns
    corrupt.write_all(tmp_path, *sample, SOME)  # adds what is missing
    assert (tmp_path / "speckle_noise.npy").stat().st_mtime_ns == before and (tmp_path / "gaussian_blur.npy").exists()


def test_an_error_leaves_no_file_with_its_final_name(
    sample: tuple[np.ndarray, np.ndarray], small_chunks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*arguments: object):
        yield from list(cifar10c.chunks(*arguments))[:2]  # type: ignore[arg-type]
        raise OSError("No space left on device")

    monkeypatch.setattr(corrupt, "chunks", failing)
    with pytest.raises(OSError, match="No space"):
        corrupt.write_all(tmp_path, *sample, SOME)
    assert not (tmp_path / "speckle_noise.npy").exists()
    monkeypatch.setattr(corrupt, "chunks", cifar10c.chunks)
    corrupt.write_all(tmp_path, *sample, SOME)
    corrupt.write_all(tmp_path / "uncut", *sample, SOME)
    assert (tmp_path / "speckle_noise.npy").read_bytes() == (tmp_path / "uncut/speckle_noise.npy").read_bytes()


@pytest.mark.parametrize("change", ["seed", "count", "images", "chunk"])
def test_another_run_does_not_mix_with_a_begun_one(
    change: str,
    sample: tuple[np.ndarray, np.ndarray],
    small_chunks: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    images, labels = sample
    corrupt.write_all(tmp_path, images, labels, SOME[:1])
    before = contents(tmp_path)
    if change == "chunk":
        monkeypatch.setattr(corrupt, "CHUNK", 11)
    with pytest.raises(ValueError, match=r"was begun with .*choose another folder"):
        corrupt.write_all(
            tmp_path,
            255 - images if change == "images" else images,
            labels[:30] if change == "count" else labels,
            SOME,
            seed=1 if change == "seed" else 0,
        )
    assert contents(tmp_path) == before


def test_foreign_files_are_not_touched(sample: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    (tmp_path / "fog.npy").write_bytes(b"official")
    with pytest.raises(ValueError, match="did not make"):
        corrupt.write_all(tmp_path, *sample)
    assert contents(tmp_path) == {"fog.npy": b"official"}
    (tmp_path / "settings.json").write_text("{")
    with pytest.raises(ValueError, match="damaged"):
        corrupt.write_all(tmp_path, *sample)


def test_two_runs_do_not_write_at_once(sample: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    with pytest.raises(ValueError, match="another run"):
        corrupt.write_all(tmp_path, *sample)
    os.close(folder)
    assert not contents(tmp_path)


def test_the_bar_counts_every_chunk(
    sample: tuple[np.ndarray, np.ndarray],
    small_chunks: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    corrupt.write_all(tmp_path / "a", *sample, SOME)
    lines = capsys.readouterr()
    assert lines.out.splitlines() == [f"{name}.npy: 5 x 50 images" for name in SOME] and not lines.err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    corrupt.write_all(tmp_path / "b", *sample, SOME)
    assert "50/50" in capsys.readouterr().err  # 2 files x 5 severities x 5 chunks


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["--sample", "--seed", "-1"], "seed is -1, expected a whole number"),
        (["--sample", "--only", "rain"], "invalid choice: 'rain'"),
        (["--sample", "--device", "toaster"], "toaster"),
    ],
)
def test_bad_commands_write_nothing(
    arguments: list[str], cause: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        corrupt.main(["--out", str(tmp_path / "out"), *arguments])
    assert caught.value.code == 2 and cause in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "cause", "code"),
    [
        (["--sample", "--count", "0"], "--count is 0, expected 1 to 1000", 2),
        (["--sample", "--count", "1001"], "--count is 1001", 2),
        (["--data", "nowhere"], "Three ways", 1),
    ],
)
def test_what_the_data_shows_to_be_wrong_writes_nothing(
    arguments: list[str], cause: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert corrupt.main(["--out", str(tmp_path / "out"), *arguments]) == code
    assert cause in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(os.name != "posix", reason="limits are POSIX")
def test_a_full_disk_names_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, before[1]))
    try:
        assert corrupt.main(["--sample", "--count", "4", "--only", "brightness", "--out", str(tmp_path)]) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    cause = f"the file is larger than the system allows: {tmp_path / 'brightness.npy'} could not be written"
    assert capsys.readouterr().err == f"train.corrupt: {cause}\n"
