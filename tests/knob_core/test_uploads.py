"""Uploads: what is right is read as it is, what is wrong is refused with its cause named; here, in this process."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import damaged_files
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from knob_core.response import respond
from knob_core.settings import Settings
from knob_core.uploads.logits import read as read_logits
from knob_core.uploads.pictures import MAX_PICTURES, natural
from knob_core.uploads.pictures import read as read_pictures
from knob_core.uploads.stills import FORMATS

RNG = np.random.default_rng(0)
Z = RNG.normal(0, 3, (2, 6, 4))


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def npy(array) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def zipped(files: dict[str, bytes], **kind) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **kind) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def parquet(columns) -> bytes:
    import pyarrow
    from pyarrow import parquet as pq

    file = io.BytesIO()
    pq.write_table(pyarrow.table(columns), file)
    return file.getvalue()


def picture(seed: int = 0, size: tuple[int, int] = (40, 32), kind: str = "PNG") -> bytes:
    file = io.BytesIO()
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


# What is right


def test_arrays_come_back_as_they_were():
    labels, severity, u_star = np.array([1, 3]), np.linspace(0, 5, 6), RNG.normal(0, 1, (2, 6))
    got = read_logits("a.npz", npz(z_static=Z, z_dyn=-Z, u_star=u_star, labels=labels, severity=severity))
    np.testing.assert_array_equal(got.z_static, Z)
    np.testing.assert_array_equal(got.z_dyn, -Z)
    np.testing.assert_array_equal(got.u_star, u_star)
    np.testing.assert_array_equal(got.labels, np.repeat(labels[:, None], 6, 1))
    b = got.branches()
    np.testing.assert_array_equal(b.labels, labels)
    np.testing.assert_array_equal(b.severity, severity)


@pytest.mark.parametrize("name", ["a.npz", "a.npy", "a.csv", "a.parquet"])
def test_one_stream_of_logits_in_every_format(name):
    z = Z[0]
    contents = {
        "a.npz": npz(logits=z),
        "a.npy": npy(z),
        "a.csv": "\n".join(",".join(map(repr, map(float, row))) for row in z).encode(),
        "a.parquet": parquet({f"c{i}": z[:, i] for i in range(4)}),
    }
    got = read_logits(name, contents[name])
    np.testing.assert_array_equal(got.z_static, z[None])
    assert got.z_dyn is got.z_static and got.u_star is None and not got.labelled
    answer, _ = respond(got.branches(), Settings())
    assert answer.probabilities.shape == (1, 6, 4)


def table(with_branches: bool) -> dict[str, np.ndarray]:
    columns = {
        "stream": np.repeat([7.0, 3.0], 6),
        "frame": np.tile(np.arange(6.0), 2),
        "label": np.repeat([2.0, 0.0], 6),
    }
    columns["severity"] = np.tile(np.linspace(1, 5, 6), 2)
    for i in range(4):
        for prefix in ("z_static_", "z_dyn_") if with_branches else ("class",):
            columns[f"{prefix}{i}"] = Z[:, :, i].ravel() * (-1 if prefix == "z_dyn_" else 1)
    return columns


@pytest.mark.parametrize("branches", [False, True])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_tables_with_streams_labels_and_severity(kind, branches):
    columns = table(branches)
    lines = [",".join(columns), *(",".join(map(repr, map(float, row))) for row in zip(*columns.values(), strict=True))]
    content = parquet(columns) if kind == "parquet" else b"\xef\xbb\xbf" + "\r\n".join(lines).encode()
    got = read_logits(f"table.{kind}", content)
    np.testing.assert_array_equal(got.z_static, Z[::-1])  # streams in the order of their numbers
    np.testing.assert_array_equal(got.z_dyn, -Z[::-1] if branches else Z[::-1])
    np.testing.assert_array_equal(got.labels[:, 0], [0, 2])
    np.testing.assert_array_equal(got.severity, np.linspace(1, 5, 6))


SHORTER = np.array([6, 3, 4])  # frames of three streams


def uneven(columns: str = "stream,label,cat,dog") -> tuple[np.ndarray, bytes]:
    """Logits (3, 6, 2) with NaN beyond each stream's end, and the same as a table."""
    z = np.where(np.arange(6)[:, None] < SHORTER[:, None, None], Z[[0, 1, 0], :, :2], np.nan)
    rows = [(("c", "a", "b")[r], t % 2, *z[r, t]) for r in range(3) for t in range(SHORTER[r])]
    return z, "\n".join([columns, *(",".join(map(str, row)) for row in rows)]).encode()


def test_streams_of_unequal_length_from_arrays_and_tables():
    z, text = uneven()
    labels = np.where(np.isnan(z[..., 0]), -1, np.arange(6) % 2)
    array = read_logits("a.npz", npz(logits=z, labels=labels, u_star=np.where(labels < 0, np.nan, 1.0)))
    np.testing.assert_array_equal(array.z_static, z)
    np.testing.assert_array_equal(array.labels, labels)
    assert array.lengths.tolist() == [6, 3, 4] and array.z_dyn is array.z_static
    table = read_logits("a.csv", text)
    order = [1, 2, 0]  # by name
    np.testing.assert_array_equal(table.z_static, z[order])
    np.testing.assert_array_equal(table.labels, labels[order])
    frame = {name: [row[i] for row in csv_rows(text)[1:]] for i, name in enumerate(("stream", "label", "cat", "dog"))}
    stored = read_logits("a.parquet", parquet({**frame, **{k: np.array(frame[k], float) for k in ("cat", "dog")}}))
    np.testing.assert_array_equal(stored.z_static, table.z_static)
    padded = read_logits("a.csv", b"a,b,label\n1,2,0\n3,4,1\nnan,nan,-1\n")
    assert padded.lengths.tolist() == [2] and padded.labels.tolist() == [[0, 1, -1]]
    with pytest.raises(ValueError, match="z_static and z_dyn end in different frames"):
        read_logits("a.npz", npz(z_static=z, z_dyn=z[::-1]))


def csv_rows(text: bytes) -> list[list[str]]:
    return [line.split(",") for line in text.decode().split("\n")]


@pytest.mark.parametrize("heading", ["truth", "y", "Target", "class", "ground truth"])
def test_a_column_of_small_whole_numbers_may_be_the_label(heading: str):
    """As a class it would be the right one at 1.0 and never at 0.0; asked about, it is neither."""
    text = f"{heading},cat,dog\n0,2,1\n1,1,3\n0,4,1\n".encode()
    got = read_logits("a.csv", text)
    assert got.asks == heading and got.class_names == ("cat", "dog") and not got.labelled
    label = read_logits("a.csv", text, heading)
    assert label.labels.tolist() == [[0, 1, 0]] and label.asks == "" and label.class_names == ("cat", "dog")
    assert read_logits("a.csv", text, "").class_names == (heading, "cat", "dog")
    words = read_logits("a.csv", f"{heading},cat,dog\ncat,2,1\n,1,3\n".encode())
    assert words.labels.tolist() == [[0, -1]] and words.asks == ""
    logits = read_logits("a.csv", f"{heading},cat,dog\n0.5,2,1\n-3,1,3\n".encode())
    assert logits.class_names == (heading, "cat", "dog") and logits.asks == ""
    columns = {heading: [0, 1, 0], "cat": [2.0, 1.0, 4.0], "dog": [1.0, 3.0, 1.0]}
    assert read_logits("a.parquet", parquet(columns)).asks == heading
    known = read_logits("a.csv", f"{heading},label,cat,dog\n0,1,2,1\n".encode())
    assert known.labels.tolist() == [[1]] and known.class_names == (heading, "cat", "dog")


def test_zips_of_other_systems():
    """Some write \\ between folders, also behind one; a stick of macOS's has a ._ beside each file."""
    still = picture(1)
    files = {
        "walk\\": b"",
        "walk\\1.png": still,
        "walk\\labels.csv": b"1.png,cat",
        "walk/._1.png": b"x",
        "._walk": b"y",
    }
    got = read_pictures([("a.zip", zipped(files))], classes=("dog", "cat"))
    assert (got.names, got.labels.tolist(), got.notes) == (("walk/1.png",), [1], ())


def test_pictures_of_a_zip_in_the_order_of_their_numbers():
    files = {f"walk/frame{i}.png": picture(i) for i in (10, 2, 1)}
    files |= {
        "__MACOSX/walk/._frame1.png": b"x",
        "walk/.DS_Store": b"x",
        "walk/labels.csv": b"file,label\nframe2.png,cat\n",
    }
    got = read_pictures([("walk.zip", zipped(files))], classes=("dog", "cat"))
    assert got.names == ("walk/frame1.png", "walk/frame2.png", "walk/frame10.png")
    assert got.images.shape == (3, 3, 32, 32) and got.labels.tolist() == [-1, 1, -1]
    whole = np.asarray(Image.open(io.BytesIO(files["walk/frame1.png"])))
    np.testing.assert_array_equal(got.images[0], np.moveaxis(whole[:, 4:36], -1, 0))  # the middle square


def test_names_with_blanks_of_every_kind_are_names():
    """macOS writes a narrow one between the time and AM; U+3000 is that of Japanese text."""
    files = {f"Screenshot at 9.41.00{blank}AM.png": picture(1) for blank in ("\u202f", "\u3000", "\xa0", " ")}
    labels = "\n".join(["file,label", *(f"{name},cat" for name in files)]).encode()
    got = read_pictures([("a.zip", zipped({**files, "labels.csv": labels}))], classes=("dog", "cat"))
    assert set(got.names) == set(files) and got.labels.tolist() == [1] * 4


def test_a_shrunk_picture_is_what_the_runtime_makes_of_it():
    torch = pytest.importorskip("torch")
    from knob_core.runtime.frames import as_images

    content = picture(3, (150, 96))
    small = read_pictures([("a.png", content)]).images[0]
    whole = np.asarray(Image.open(io.BytesIO(content)))
    theirs = as_images(whole[None], torch.device("cpu"))[0].numpy() * 255
    assert np.abs(small - theirs).max() <= 1.0


@pytest.mark.parametrize("kind", ["gif", "webp", "png"])
def test_animated_pictures(kind):
    frames = [Image.new("RGB", (32, 32), (60 * i, 0, 0)) for i in range(4)]
    file = io.BytesIO()
    options = {"lossless": True} if kind == "webp" else {}
    frames[0].save(file, kind.upper(), save_all=True, append_images=frames[1:], duration=50, **options)
    got = read_pictures([(f"a.{kind}", file.getvalue())])
    np.testing.assert_allclose(got.images[:, 0, 5, 5], [0, 60, 120, 180], atol=2)


@pytest.mark.parametrize("kind", ["jpg", "bmp", "webp"])
def test_other_stills(kind):
    got = read_pictures([(f"a.{kind}", picture(kind={"jpg": "JPEG"}.get(kind, kind.upper())))])
    assert got.images.shape == (1, 3, 32, 32)


def test_natural_order():
    assert sorted(["b10", "b9", "a", "10", "9"], key=natural) == ["9", "10", "a", "b9", "b10"]


# What is wrong


def linked() -> bytes:
    file, info = io.BytesIO(), zipfile.ZipInfo("a.png")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    return file.getvalue()


def encrypted() -> bytes:
    content = bytearray(zipped({"logits.npy": npy(Z)}))
    for signature, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + at] |= 1
    return bytes(content)


def headed(text: bytes) -> bytes:
    """An .npy whose header is `text`."""
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(64)


GOOD = npz(logits=Z)
SAVE = r"damaged, cut short or of another kind; save it again as"
HOSTILE_LOGITS = {
    "path escape": ("a.npz", zipped({"../../logits.npy": npy(Z)}), r"a.npz holds '../../logits', expected only logits"),
    "encrypted": ("a.npz", encrypted, f"a.npz: logits is {SAVE} arrays by numpy.savez"),
    "truncated zip": ("a.npz", GOOD[: len(GOOD) // 2], f"a.npz is {SAVE}"),
    "flipped bits": ("a.npz", GOOD[:60] + bytes([GOOD[60] ^ 255]) + GOOD[61:], SAVE),
    "not a zip": ("a.npz", b"hello", SAVE),
    "empty": ("a.npz", b"", "is empty"),
    "empty zip": ("a.npz", zipped({}), "nothing"),
    "wrong member": ("a.npz", zipped({"run.sh": b"rm"}), "holds 'run.sh', expected only logits"),
    "no array": ("a.npz", zipped({"logits": b"rm"}), "dtype"),
    "wrong extension": ("a.exe", b"MZ", "expected one of"),
    "no extension": ("logits", GOOD, "nameless"),
    "pickle": ("a.npy", npy(np.array([{"a": 1}], dtype=object)), "an array by numpy.save, without pickled objects"),
    "pickle in a zip": ("a.npz", npz(logits=np.array([{"a": 1}], dtype=object)), "without pickled objects"),
    "text array": ("a.npz", npz(logits=np.array([["a", "b"]])), "dtype"),
    "complex": ("a.npy", npy(Z.astype(complex)), "dtype"),
    "negative shape": ("a.npy", headed(b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 4)}\n"), SAVE),
    "label beyond whole numbers": (
        "a.npz", npz(logits=np.zeros((2, 2)), labels=np.array([0, 2**63], np.uint64)), r"labels hold 9\.22337e\+18 at"
    ),
    "text for logits": ("a.npy", npy(np.array([["a", "b"]])), "dtype text"),
    "open bracket": ("a.npy", b"\x93NUMPY\x01\x00\x10\x00" + b"{'descr': ('<f8'", SAVE),
    "junk header": ("a.npy", b"\x93NUMPY\x01\x00\x10\x00" + b"__import__('os')", SAVE),
    "infinity": ("a.npz", npz(logits=np.where(Z > 5, np.inf, Z)), "inf at index"),
    "nan": ("a.npz", npz(logits=np.full((3, 4), np.nan)), "in logits frame 0 of stream 0 is NaN, expected frames of"),
    "frame between": ("a.npy", npy(np.where(np.arange(6)[:, None] == 3, np.nan, Z[0])), "frame 3 of stream 0 is NaN"),
    "half a frame": ("a.npy", npy(np.where(Z[0] == Z[0].max(), np.nan, Z[0])), "nan at index"),
    "huge logits": ("a.npz", npz(logits=Z * 1e9), "no logits"),
    "one class": ("a.npz", npz(logits=np.zeros((5, 1))), "classes"),
    "no frames": ("a.npz", npz(logits=np.zeros((0, 4))), "shape"),
    "four axes": ("a.npz", npz(logits=np.zeros((1, 1, 5, 4))), "shape"),
    "branches differ": ("a.npz", npz(z_static=Z, z_dyn=Z[:, :5]), "the same"),
    "one branch": ("a.npz", npz(z_static=Z), "no z_dyn"),
    "logits and branches": ("a.npz", npz(logits=Z, z_dyn=Z), "expected logits, or"),
    "unknown name": ("a.npz", npz(logits=Z, weights=Z), "'weights'"),
    "label too large": ("a.npz", npz(logits=Z, labels=np.array([1, 4])), "labels hold 4"),
    "half a label": ("a.npz", npz(logits=Z, labels=np.array([1, 0.5])), "labels hold 0.5"),
    "label count": ("a.npz", npz(logits=Z, labels=np.array([1, 2, 3])), "labels have shape"),
    "severity range": ("a.npz", npz(logits=Z, severity=np.full(6, 9.0)), "severity lies"),
    "severity count": ("a.npz", npz(logits=Z, severity=np.zeros(5)), "severity has shape"),
    "command shape": ("a.npz", npz(logits=Z, u_star=np.zeros((2, 5))), "u_star has shape"),
    "csv latin-1": ("a.csv", "é,b\n1,2\n".encode("latin-1"), "not UTF-8 text .byte 0xe9 at 0.; save it as CSV in UTF"),
    "csv utf-16": ("a.csv", "a,b\n1,2\n".encode("utf-16"), "not UTF-8"),
    "csv binary": ("a.csv", bytes(range(256)), "not UTF-8"),
    "csv nul": ("a.csv", b"a,\0", "NUL bytes"),
    "csv open quote": ("a.csv", b'a,b\n1,2\n"3,4\n', "line 3 is not CSV .*; close its quotes"),
    "csv ragged": ("a.csv", b"a,b,c,d\n1,2,3,4\n1,2,3\n", "line 3 has 3 cells, expected 4"),
    "csv word": ("a.csv", b"a,b,c,d\n1,2,three,4\n", "line 2 holds 'three', expected a number"),
    "csv hole": ("a.csv", b"a,b,c,d\n1,,3,4\n", "''"),
    "csv infinity": ("a.csv", b"a,b,c,d\n1,inf,3,4\n", "inf in row 1"),
    "csv header only": ("a.csv", b"a,b,c,d\n", "no rows"),
    "csv blank": ("a.csv", b"\n\n \n", "is empty"),
    "csv endless cell": ("a.csv", lambda: b"9" * 200_000 + b",1\n", "line 1 is not CSV"),
    "csv nan": ("a.csv", b"a,b\n1,2\nnan,3\n", "'a' is nan in row 2"),
    "csv doubled": ("a.csv", b"a,a,b,c\n1,2,3,4\n", "one name"),
    "csv one class": ("a.csv", b"label,a\n0,1\n", "at least 2"),
    "csv nameless stream": ("a.csv", b"stream,a,b\nx,1,2\n,1,2\n", "a.csv names no stream in row 2"),
    "csv words for truth": ("a.csv", b"truth,label,a,b\nx,0,1,2\n", "'truth' holds words, expected numbers"),
    "csv two schedules": ("a.csv", b"stream,severity,a,b\n0,1,1,2\n1,2,1,2\n", "severity differs"),
    "csv half branches": ("a.csv", b"z_static_0,z_static_1,z_dyn_0\n1,2,3\n", "expected the same classes twice"),
    "csv branches and more": ("a.csv", b"z_static_0,z_dyn_0,x\n1,2,3\n", "other columns 'x', expected .* no others"),
    "parquet junk": ("a.parquet", b"PAR1" + bytes(100) + b"PAR1", f"{SAVE} a parquet table"),
    "parquet truncated": ("a.parquet", lambda: parquet({"a": Z[0, :, 0], "b": Z[0, :, 1]})[:-20], SAVE),
    "parquet text": ("a.parquet", lambda: parquet({"a": ["x", "y"], "b": ["x", "y"]}), "expected numbers"),
    "parquet nested": ("a.parquet", lambda: parquet({"a": [[1.0], [2.0]], "b": [1.0, 2.0]}), "expected numbers"),
    "parquet null": ("a.parquet", lambda: parquet({"a": [1.0, None], "b": [1.0, 2.0]}), "nan in row 2"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE_LOGITS)
def test_hostile_logits_are_refused_with_the_cause(case):
    name, content, cause = HOSTILE_LOGITS[case]
    with pytest.raises(ValueError, match=cause) as caught:
        read_logits(name, content() if callable(content) else content)
    assert type(caught.value) is ValueError and len(str(caught.value)) < 400


def gif_of(frames: int) -> bytes:
    file, still = io.BytesIO(), [Image.new("P", (2, 2), i % 2) for i in range(frames)]
    still[0].save(file, "GIF", save_all=True, append_images=still[1:], optimize=False)
    return file.getvalue()


HOSTILE_PICTURES = {
    "path escape": (lambda: [("a.zip", zipped({"../a.png": picture()}))], "'../a.png', expected files inside it"),
    "link": (lambda: [("a.zip", linked())], "a.png is damaged"),
    "encrypted": (lambda: [("a.zip", encrypted())], "a.zip is damaged, .* without a password"),
    "empty zip": (lambda: [("a.zip", zipped({}))], "no picture"),
    "zip in zip": (lambda: [("a.zip", zipped({"b.zip": zipped({})}))], "expected one of"),
    "zip and more": (lambda: [("a.png", picture()), ("b.zip", zipped({}))], "b.zip is one of 2 files"),
    "wrong type": (lambda: [("a.zip", zipped({"a.svg": b"<svg/>"}))], "expected one of"),
    "text as png": (lambda: [("a.png", b"hello")], f"{SAVE} a PNG picture"),
    "jpeg as png": (lambda: [("a.png", picture(kind="JPEG"))], SAVE),
    "truncated": (lambda: [("a.png", picture()[:200])], SAVE),
    "truncated jpeg": (lambda: [("a.jpg", picture(size=(200, 200), kind="JPEG")[:900])], SAVE),
    "empty file": (lambda: [("a.png", b"")], "is empty"),
    "none": (list, "no picture"),
    "too many frames": (lambda: [("a.gif", gif_of(MAX_PICTURES + 2))], "more than 3,000 frames"),
    "labels latin-1": (lambda: [("a.png", picture()), ("labels.csv", "a.png,é".encode("latin-1"))], "not UTF-8"),
    "labels unknown": (lambda: [("a.png", picture()), ("labels.csv", b"a.png,bird")], "line 1"),
    "labels twice": (lambda: [("a.png", picture()), ("labels.csv", b"a.png,1\na.png,0")], "line 2: 'a.png' has"),
    "two lists of labels": (
        lambda: [("a.png", picture()), ("x/labels.csv", b"a.png,1"), ("y/labels.csv", b"a.png,1")], "2 files called"
    ),
    "labels elsewhere": (lambda: [("a.png", picture()), ("labels.csv", b"b.png,1")], "none of the pictures"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE_PICTURES)
def test_hostile_pictures_are_refused_with_the_cause(case):
    files, cause = HOSTILE_PICTURES[case]
    with pytest.raises(ValueError, match=cause) as caught:
        read_pictures(files(), classes=("dog", "cat"))
    assert type(caught.value) is ValueError


def everything_hostile() -> list[tuple[Callable[..., object], tuple[Any, ...]]]:
    """(reader, arguments) of every case above; made before anything is watched."""
    logits = [(name, content() if callable(content) else content) for name, content, _ in HOSTILE_LOGITS.values()]
    pictures = [files() for files, _ in HOSTILE_PICTURES.values()]
    return [(read_logits, file) for file in logits] + [(read_pictures, (files,)) for files in pictures]


def test_nothing_is_written_whatever_comes():
    """No file is opened for writing, made, moved or removed."""
    cases = everything_hostile()
    for reader, arguments in cases:  # once before: imports may write their caches
        with contextlib.suppress(ValueError):
            reader(*arguments)
    CHANGED.clear()
    sys.addaudithook(watch)  # stays for the process, so it is told when to look
    WATCHING.append(True)
    try:
        for reader, arguments in cases:
            with contextlib.suppress(ValueError):
                reader(*arguments)
        with Path(os.devnull).open("w"):
            pass  # the watch does see
    finally:
        WATCHING.clear()
    assert [("open", os.devnull)] == CHANGED


WATCHING: list[bool] = []
CHANGED: list[tuple[str, str]] = []
CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod")


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    if WATCHING and (event in CHANGES or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))):
        CHANGED.append((event, str(arguments[0])))


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damage_anywhere_is_refused_or_harmless(data):
    """Bytes changed or cut at random: a ValueError or a stream, never another exception."""
    name, content = data.draw(
        st.sampled_from([("a.npz", GOOD), ("a.csv", b"a,b\n1,2\n3,4\n"), ("a.npy", npy(Z)), ("a.parquet", PARQUET)])
    )
    spoiled = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        spoiled[data.draw(st.integers(0, len(spoiled) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(1, len(spoiled)))
    try:
        got = read_logits(name, bytes(spoiled[:cut]))
    except ValueError:
        return
    assert np.isfinite(got.z_static).all() and got.z_static.ndim == 3


PARQUET = parquet({"a": Z[0, :, 0], "b": Z[0, :, 1]})


def moving(kind: str) -> bytes:
    file, frames = io.BytesIO(), [Image.fromarray(np.full((20, 20, 3), 60 * i, np.uint8)) for i in range(3)]
    frames[0].save(file, kind, save_all=True, append_images=frames[1:])
    return file.getvalue()


SPOILT = [
    *((f"a.{kind}", picture(kind=FORMATS[f".{kind}"])) for kind in ("png", "jpg", "webp", "bmp")),
    *((f"a.{kind}", moving(kind)) for kind in ("png", "gif", "webp")),
    ("a.zip", zipped({"1.png": picture(1), "labels.csv": b"1.png,0"}, compression=zipfile.ZIP_DEFLATED)),
]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_damaged_pictures_are_refused_or_harmless(data):
    damaged_files.check(data, SPOILT, within=401)


@pytest.mark.parametrize("index", [False, True])
def test_pandas_own_files_are_read_as_meant(index):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(Z[0])
    text = frame.to_csv(index=index).encode()
    assert np.allclose(read_logits("z.csv", text).z_static, Z[:1])
    buffer = io.BytesIO()
    frame.rename(columns=str).set_index(pd.Index(np.arange(6) + 5)).to_parquet(buffer, index=index)
    assert np.allclose(read_logits("z.parquet", buffer.getvalue()).z_static, Z[:1])


def test_sixteen_bits_of_grey_are_scaled():
    ramp = np.tile(np.linspace(0, 65535, 32), (32, 1))
    buffer = io.BytesIO()
    Image.fromarray(ramp.astype(np.uint16)).save(buffer, "PNG")
    images = read_pictures([("ramp.png", buffer.getvalue())]).images
    assert np.abs(images[0].astype(float) - ramp / 257).max() <= 1
