"""Files appear whole or not at all, whatever interrupts their writing."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from knob_core import files


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_bytes_and_text_arrive_in_folders_that_did_not_exist(tmp_path: Path) -> None:
    files.write_bytes(tmp_path / "a" / "b.bin", b"\x00\r\n")
    files.write_text(tmp_path / "a" / "c.txt", "ζ\n", sync=True)
    assert (tmp_path / "a" / "b.bin").read_bytes() == b"\x00\r\n"
    assert (tmp_path / "a" / "c.txt").read_bytes() == b"\xce\xb6\n"  # no \r\n on any system
    assert names(tmp_path / "a") == ["b.bin", "c.txt"]


def test_an_error_leaves_the_old_file_and_no_temporary_one(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    files.write_text(path, "old")
    with pytest.raises(ZeroDivisionError), files.replacing(path) as temporary:
        temporary.write_text("half of the n")
        assert path.read_text() == "old"
        raise ZeroDivisionError
    assert path.read_text() == "old" and names(tmp_path) == ["x.txt"]
    with pytest.raises(KeyboardInterrupt), files.replacing(path):
        raise KeyboardInterrupt
    assert names(tmp_path) == ["x.txt"]


def test_two_writers_of_one_file_do_not_meet(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    with files.replacing(path) as first, files.replacing(path) as second:
        assert first != second and first.parent == second.parent == tmp_path
        assert first.suffix == second.suffix == ".part"
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"  # whoever ends last
    assert names(tmp_path) == ["x.npz"]


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_mode_is_what_the_umask_says(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        files.write_text(tmp_path / "x", "")
    finally:
        os.umask(before)
    assert (tmp_path / "x").stat().st_mode & 0o777 == mode


def test_a_writer_that_replaces_the_temporary_file_does_not_decide_the_mode(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with files.replacing(tmp_path / "x") as temporary:  # as safetensors does
            (tmp_path / "own").touch(0o600)
            (tmp_path / "own").replace(temporary)
    finally:
        os.umask(before)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("number", files.CAUSES)
def test_a_full_disk_is_named_in_one_line(tmp_path: Path, number: int) -> None:
    outer, inner = files.replacing(tmp_path / "x"), files.replacing(tmp_path / "within")
    with pytest.raises(OSError, match=files.CAUSES[number]) as caught, outer, inner:
        raise OSError(number, os.strerror(number))
    assert str(tmp_path / "x") in str(caught.value) and "\n" not in str(caught.value)
    assert names(tmp_path) == []


def test_what_a_killed_writer_leaves_has_not_the_suffix_of_the_file(tmp_path: Path) -> None:
    with files.replacing(tmp_path / "x.safetensors") as temporary:
        assert names(tmp_path) == [temporary.name] and not list(tmp_path.glob("*.safetensors"))
    with files.replacing(tmp_path / "x.pt2", suffix=".pt2") as temporary:
        assert temporary.name.endswith(".part.pt2")


@pytest.mark.skipif(os.name != "posix", reason="limits are POSIX")
def test_a_limit_on_the_size_of_files_names_the_file(tmp_path: Path) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OSError, match="the file is larger than the system allows") as caught:
            files.write_bytes(tmp_path / "x", bytes(2000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(tmp_path / "x") in str(caught.value) and names(tmp_path) == []


def test_other_errors_keep_their_number(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError) as caught:
        files.write_text(tmp_path / "folder", "")
    assert caught.value.errno == errno.EISDIR
    assert names(tmp_path) == ["folder"]


@pytest.mark.skipif(os.name != "posix", reason="pipes are POSIX")
def test_what_is_no_plain_file_is_not_replaced(tmp_path: Path) -> None:
    """Root's `--out /dev/null` made a file of the device."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="pipe is a device or a pipe, expected a file"):
        files.write_text(tmp_path / "pipe", "x")
    assert (tmp_path / "pipe").is_fifo() and names(tmp_path) == ["pipe"]


def test_a_long_name_still_has_room_for_the_temporary_one(tmp_path: Path) -> None:
    name = "n" * 250 + ".txt"
    files.write_text(tmp_path / name, "x")
    assert names(tmp_path) == [name]
