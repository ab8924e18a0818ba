"""Videos: every common container is read frame by frame, and no header is believed."""

from __future__ import annotations

import io
import struct
import sys
import time
from typing import Any

import damaged_files
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knob_core.uploads import Budget, Stopped, limits, pictures, process, read_pictures, video, video_process
from knob_core.uploads.budget import LARGE

av = pytest.importorskip("av", reason="videos need PyAV: pip install av")
FRAMES = 12


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch):
    """Decoders are asked directly; the process around them has tests of its own below."""
    monkeypatch.setattr(pictures, "read_in_process", video.read)


MADE = {
    "a.mp4": ("mp4", "libx264"),
    "a.m4v": ("mp4", "mpeg4"),
    "a.mov": ("mov", "mpeg4"),
    "a.avi": ("avi", "mpeg4"),
    "a.mkv": ("matroska", "libx264"),
    "a.webm": ("webm", "libvpx-vp9"),
    "a.mpg": ("mpeg", "mpeg2video"),
}


def video_file(
    container: str, codec: str, size: tuple[int, int] = (96, 64), frames: int = FRAMES, **options: str
) -> bytes:
    """Frame i is 20 i bright on its right half, and as much darker than white on its left."""
    file = io.BytesIO()
    with av.open(file, "w", format=container, options=options) as out:
        track = out.add_stream(codec, rate=10)
        track.width, track.height = size
        track.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        for i in range(frames):
            pixels = np.full((size[1], size[0], 3), 20 * i % 256, np.uint8)
            pixels[:, : size[0] // 2] = 255 - pixels[:, : size[0] // 2]
            out.mux(track.encode(av.VideoFrame.from_ndarray(pixels, "rgb24")))
        out.mux(track.encode(None))
    return file.getvalue()


def sound() -> bytes:
    file = io.BytesIO()
    with av.open(file, "w", format="matroska") as out:
        track = out.add_stream("pcm_s16le", rate=8000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 8000), np.int16), "s16", "mono")
        frame.sample_rate = 8000
        out.mux(track.encode(frame))
        out.mux(track.encode(None))
    return file.getvalue()


def lying(content: bytes, width: int, height: int) -> bytes:
    """An AVI whose headers declare another size."""
    spoiled = bytearray(content)
    for mark, at in ((b"avih", 40), (b"strf", 12)):
        start = spoiled.index(mark) + at
        spoiled[start : start + 8] = struct.pack("<ii", width, height)
    return bytes(spoiled)


@pytest.mark.parametrize("name", MADE)
def test_every_container_gives_its_frames_in_order(name: str):
    got = read_pictures([(name, video_file(*MADE[name]))])
    assert got.images.shape == (FRAMES, 3, 32, 32) and set(got.names) == {name}
    np.testing.assert_allclose(got.images[:, 0, 16, 26], 20 * np.arange(FRAMES), atol=6)
    np.testing.assert_allclose(got.images[:, 0, 16, 5], 255 - 20 * np.arange(FRAMES), atol=6)


def test_every_container_of_the_list_is_made_above():
    assert {f".{name.rpartition('.')[2]}" for name in MADE} | {".mpeg"} == set(video.CONTAINERS)


def test_a_phone_held_upright_gives_upright_frames():
    content = bytearray(video_file("mp4", "libx264"))
    start = content.index(b"tkhd") + 44  # its display matrix: a quarter turn clockwise
    content[start : start + 36] = struct.pack(">9i", 0, 1 << 16, 0, -(1 << 16), 0, 0, 0, 0, 1 << 30)
    images = read_pictures([("phone.mp4", bytes(content))]).images
    assert images[0, 0, 4, 16] > 240 and images[0, 0, 28, 16] < 15  # what was left is on top


def test_a_large_video_is_what_it_would_be_at_full_size(monkeypatch: pytest.MonkeyPatch):
    content = video_file("mp4", "libx264", (800, 600), 3)
    quick = read_pictures([("a.mp4", content)]).images.astype(int)
    monkeypatch.setattr(video, "SHORT", 10_000)
    assert np.abs(quick - read_pictures([("a.mp4", content)]).images).max() <= 10


def test_a_label_for_the_video_is_a_label_for_its_frames():
    got = read_pictures([("a.avi", video_file("avi", "mjpeg")), ("labels.csv", b"a.avi,cat")], classes=("dog", "cat"))
    assert got.labels.tolist() == [1] * FRAMES


@pytest.mark.parametrize("codec", ["mpeg4", "mjpeg"])
@pytest.mark.parametrize("size", [(30_000, 30_000), (16, 16), (0, 0), (-5, 7)], ids=str)
def test_a_header_that_lies_about_the_size_is_not_believed(codec: str, size: tuple[int, int]):
    got = read_pictures([("a.avi", lying(video_file("avi", codec), *size))])
    np.testing.assert_allclose(got.images[:, 0, 16, 26], 20 * np.arange(FRAMES), atol=6)


def test_a_header_that_lies_about_the_number_of_frames_is_not_believed():
    content = bytearray(video_file("avi", "mpeg4"))
    for mark, at in ((b"avih", 24), (b"strh", 40)):
        start = content.index(mark) + at
        content[start : start + 4] = struct.pack("<I", 2**31 - 1)
    assert len(read_pictures([("a.avi", bytes(content))]).images) == FRAMES


HOSTILE: dict[str, tuple[str, Any, str]] = {
    "junk": ("a.mp4", b"hello" * 100, r"no \.mp4 video"),
    "empty": ("a.mp4", b"", "is empty"),
    "another container": ("a.mp4", lambda: video_file("avi", "mpeg4"), r"no \.mp4 video"),
    "play list": ("a.mp4", b"#EXTM3U\n#EXTINF:10,\nfile:///etc/passwd\n", r"no \.mp4 video"),
    "script": ("a.mkv", b"ffconcat version 1.0\nfile /etc/passwd\n", r"no \.mkv video"),
    "without its index": ("a.mp4", lambda: video_file("mp4", "libx264")[:-400], r"cut short"),
    "cut in a frame": ("a.avi", lambda: video_file("avi", "mpeg4", frames=60)[:-9000], r"cut short"),
    "cut in the header": ("a.webm", lambda: video_file("webm", "libvpx-vp9")[:300], r"cut short"),
    "no pictures": ("a.mkv", sound, "no picture track"),
    "rare codec": ("a.mkv", lambda: video_file("matroska", "ffv1"), "packed with ffv1"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_videos_are_refused_with_the_cause(case: str):
    name, content, cause = HOSTILE[case]
    with pytest.raises(ValueError, match=cause) as caught:
        read_pictures([(name, content() if callable(content) else content)])
    assert type(caught.value) is ValueError and len(str(caught.value)) < 400


@pytest.mark.parametrize("declared", [None, (16, 16)], ids=["honest", "lying"])
@pytest.mark.parametrize("codec", ["mpeg4", "mjpeg"])
def test_frames_too_large_are_refused_before_they_are_made(codec, declared):
    content = video_file("avi", codec)
    content = lying(content, *declared) if declared else content
    with pytest.raises(ValueError, match="4,096"):
        video.read("a.avi", ".avi", content, Budget(), FRAMES, most_pixels=64 * 64)


def test_an_endless_video_is_stopped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pictures, "MAX_PICTURES", 5)
    with pytest.raises(ValueError, match="more than 5 frames"):
        read_pictures([("a.avi", video_file("avi", "mpeg4"))])


def test_limits_allow_half_a_minute_of_a_phone():
    assert limits.MAX_PICTURES >= 900 and limits.MAX_DECODED >= 3 * 900 * 1920 * 1080
    assert limits.MAX_FILM_PIXELS >= 3840 * 2160


def test_frames_that_are_never_shown_count_too():
    content = bytearray(video_file("mp4", "libx264", frames=60))
    at = content.index(b"elst") + 12  # length and start of what is to be shown: nothing is left
    content[at : at + 8] = struct.pack(">II", 1, 2**31 - 2)
    budget = Budget()
    with pytest.raises(ValueError, match="no frame that can be read"):
        video.read("a.mp4", ".mp4", bytes(content), budget, 100)
    assert budget.spent >= 10 * 3 * 96 * 64
    with pytest.raises(ValueError, match="more than 100,000 bytes in all"):
        video.read("a.mp4", ".mp4", bytes(content), Budget(decoded=100_000), 100)


@pytest.mark.parametrize("name", MADE)
def test_the_frame_rate_is_the_files(name: str):
    assert read_pictures([(name, video_file(*MADE[name]))]).frame_rate == pytest.approx(10, abs=0.01)


def test_labels_for_single_frames_of_a_video():
    content = video_file("avi", "mjpeg")
    labels = b"frame,label\n0,cat\n1,0\n11,1\n"
    got = read_pictures([("a.avi", content), ("labels.csv", labels)], classes=("dog", "cat"))
    assert got.labels.tolist() == [1, 0, *[-1] * 9, 1]
    with pytest.raises(ValueError, match=r"line 2: '12' is no frame, expected 0 to 11"):
        read_pictures([("a.avi", content), ("labels.csv", b"frame,label\n12,cat")], classes=("dog", "cat"))


# The process around the decoders


def apart(budget: Budget | None = None) -> Any:
    return video_process.read_in_process("a.avi", ".avi", video_file("avi", "mjpeg"), budget or Budget(), 100)


def test_the_process_gives_what_the_decoder_gives():
    here = video.read("a.avi", ".avi", video_file("avi", "mjpeg"), Budget(), 100)
    there = apart(spent := Budget())
    np.testing.assert_array_equal(here.images, there.images)
    assert there.frame_rate == here.frame_rate == 10 and spent.spent >= FRAMES * 3 * 96 * 64


def test_videos_are_read_one_at_a_time(monkeypatch: pytest.MonkeyPatch):
    """Four of 32 KB took 4 GB, each in a process of its own."""
    with LARGE, pytest.raises(Stopped, match=r"a\.avi: other large files were read for 0.2 s, please try again later"):
        apart(Budget(seconds=0.2))
    held: list[bool] = []

    def asked(*_: object, **__: object) -> tuple[dict[str, float], bytes]:
        held.append(LARGE.locked())
        return {"frame_rate": 9.0}, bytes(3 * 32 * 32)

    monkeypatch.setattr(process, "ask", asked)
    assert len(apart().images) == 1
    assert held == [True] and not LARGE.locked()


def test_the_process_passes_refusals_on():
    with pytest.raises(ValueError, match=r"b\.mp4 is damaged, cut short, or no \.mp4 video") as caught:
        video_process.read_in_process("b.mp4", ".mp4", b"hello" * 100, Budget(), 100)
    assert type(caught.value) is ValueError


@pytest.mark.parametrize(
    ("code", "budget", "cause"),
    [
        ("import os; os.abort()", Budget(), "whatever read it broke off"),
        ("""print('{"found": {"frame_rate": 1}, "spent": 1, "size": 9}')""", Budget(), "whatever read it broke off"),
        ("import time; time.sleep(60)", Budget(seconds=0.3), "takes longer than 0.3 s"),
        ("import time; time.sleep(60)", Budget(cancelled=iter([False] * 4 + [True]).__next__), "cancelled"),
    ],
    ids=["crash", "crash on the way", "deadline", "cancel"],
)
def test_the_process_ends_with_the_budget(code, budget, cause, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process, "COMMAND", (sys.executable, "-c", code))
    began = time.monotonic()
    budget.started = began  # its clock started when the tests were collected
    with pytest.raises(ValueError, match=cause) as caught:
        apart(budget)
    assert time.monotonic() - began < 20
    assert isinstance(caught.value, Stopped) == ("broke off" not in cause)


def test_no_process_is_no_fault_of_the_file(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process, "COMMAND", ("/nowhere/python",))
    with pytest.raises(ValueError, match=r"a\.avi: no process could be started") as caught:
        apart()
    assert "nowhere" not in str(caught.value)


@pytest.mark.skipif(sys.platform != "linux", reason="memory of a process is limited by RLIMIT_AS")
def test_the_process_has_a_limit_of_memory():
    """A table of two thousand million entries is announced, and memory asked for, before one is read."""
    content = bytearray(video_file("mp4", "libx264"))
    at = content.index(b"stts") + 8
    content[at : at + 4] = struct.pack(">I", 0x78000000)
    with pytest.raises(ValueError, match=r"a\.mp4 needs more memory than a video may take"):
        video_process.read_in_process("a.mp4", ".mp4", bytes(content), Budget(), 100)


def test_the_process_keeps_to_the_bytes():
    with pytest.raises(Stopped, match="more than 100,000 bytes in all"):
        apart(Budget(decoded=100_000))


WHOLE = [(name, video_file(*MADE[name])) for name in ("a.mp4", "a.avi", "a.mkv", "a.mpg")]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damage_anywhere_is_refused_or_harmless(data: st.DataObject):
    damaged_files.check(data, WHOLE)
