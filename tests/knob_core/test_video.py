"""Videos: every common container is read frame by frame, and no header is believed."""

from __future__ import annotations

import io
import struct
from typing import Any

import damaged_files
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knob_core.uploads import pictures, video
from knob_core.uploads.pictures import read as read_pictures

av = pytest.importorskip("av", reason="videos need PyAV: pip install av")
FRAMES = 12


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
    "junk": ("a.mp4", b"hello" * 100, r"a \.mp4 video"),
    "empty": ("a.mp4", b"", "is empty"),
    "another container": ("a.mp4", lambda: video_file("avi", "mpeg4"), r"a \.mp4 video"),
    "play list": ("a.mp4", b"#EXTM3U\n#EXTINF:10,\nfile:///etc/passwd\n", r"a \.mp4 video"),
    "script": ("a.mkv", b"ffconcat version 1.0\nfile /etc/passwd\n", r"a \.mkv video"),
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


def test_an_endless_video_is_stopped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pictures, "MAX_PICTURES", 5)
    with pytest.raises(ValueError, match="more than 5 frames"):
        read_pictures([("a.avi", video_file("avi", "mpeg4"))])


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


WHOLE = [(name, video_file(*MADE[name])) for name in ("a.mp4", "a.avi", "a.mkv", "a.mpg")]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damage_anywhere_is_refused_or_harmless(data: st.DataObject):
    damaged_files.check(data, WHOLE)
