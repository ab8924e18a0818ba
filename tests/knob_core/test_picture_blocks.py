"""Files of nothing but blocks are refused before a decoder makes objects of them; pictures with many are read."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
from PIL import Image, TiffImagePlugin

from knob_core.serving.decode import decoded
from knob_core.uploads import Budget, Stopped, picture_blocks, read_pictures, stills
from knob_core.uploads.limits import MAX_BLOCKS, MAX_SEGMENTS, MAX_STRAY
from knob_core.uploads.picture_blocks import EXIF
from knob_core.uploads.picture_sizes import require_canvas


def saved(kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (40, 32), (200, 0, 0)).save(file, kind, **options)
    return file.getvalue()


def chunk(kind: bytes, data: bytes = b"") -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def put(content: bytes, at: bytes | int, what: bytes) -> bytes:
    place = content.index(at) if isinstance(at, bytes) else at
    return content[:place] + what + content[place:]


def jpeg(count: int) -> bytes:
    return put(saved("JPEG"), 2, b"\xff\xe5\x00\x02" * count)


def jpeg_comments(count: int) -> bytes:
    return put(saved("JPEG"), 2, b"\xff\xff\xfe\x00\x04abzz" * count)


def png(count: int) -> bytes:
    return put(saved("PNG"), 33, chunk(b"abCd") * count)


def png_texts(count: int) -> bytes:
    return put(saved("PNG"), 33, b"".join(chunk(b"tEXt", b"%d\0" % i) for i in range(count)))


def png_behind(count: int) -> bytes:
    return put(saved("PNG"), -12, chunk(b"tEXt", b"a\0b") * count)


def webp(count: int) -> bytes:
    head = b"VP8X" + struct.pack("<II", 10, 0) + (39).to_bytes(3, "little") + (31).to_bytes(3, "little")
    body = b"WEBP" + head + saved("WEBP", lossless=True)[12:] + b"abcd\x01\0\0\0x\0" * count
    return b"RIFF" + struct.pack("<I", len(body)) + body


def gif(count: int) -> bytes:
    return put(saved("GIF"), b",", b"!\xfe" + b"\x02ab" * count + b"\0")


def gif_stray(count: int) -> bytes:
    return put(saved("GIF"), b",", b"\x01" * count)


MADE_OF = {
    "a.jpg": (jpeg, MAX_SEGMENTS - 20, "a.jpg has more than 1,000 segments before its first scan, expected fewer"),
    "b.jpg": (jpeg_comments, MAX_SEGMENTS - 20, "more than 1,000 segments"),
    "a.png": (png, MAX_BLOCKS - 20, "a.png has more than 10,000 chunks besides its pixels, expected fewer"),
    "b.png": (png_texts, MAX_BLOCKS - 20, "more than 10,000 chunks"),
    "c.png": (png_behind, MAX_BLOCKS - 20, "more than 10,000 chunks"),
    "a.webp": (webp, MAX_BLOCKS - 20, "a.webp has more than 10,000 chunks, expected fewer"),
    "a.gif": (gif, MAX_BLOCKS, "a.gif has more than 10,000 blocks of comments, expected fewer"),
    "b.gif": (gif_stray, MAX_STRAY, "b.gif has 60,000 bytes that belong to no block, expected at most 1,000"),
}


@pytest.mark.parametrize("name", MADE_OF)
def test_a_picture_of_endless_blocks_is_refused_before_they_are_held(name: str):
    made, most, cause = MADE_OF[name]
    assert len(read_pictures([(name, made(most))]).images) == 1
    content = made(60_000)
    tracemalloc.start()
    with pytest.raises(ValueError, match=cause) as caught:
        read_pictures([(name, content)])
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert type(caught.value) is ValueError and held < 1_000_000


@pytest.mark.parametrize("made", [jpeg, png, webp])
def test_a_service_refuses_such_frames_too(made: Callable[[int], bytes]):
    assert decoded(made(100)).shape == (32, 40, 3)
    with pytest.raises(ValueError, match="frame has more than"):
        decoded(made(60_000))


def test_pixels_in_many_pieces_are_no_blocks():
    content = saved("PNG")
    at = content.index(b"IDAT") - 4
    (size,) = struct.unpack(">I", content[at : at + 4])
    data = content[at + 8 : at + 8 + size]
    pieces = b"".join(chunk(b"IDAT", data[i : i + 1]) for i in range(size)) + chunk(b"IDAT") * MAX_BLOCKS
    many = content[:at] + pieces + content[at + 12 + size :]
    assert (read_pictures([("a.png", many)]).images == read_pictures([("a.png", content)]).images).all()


def test_a_thumbnail_is_no_segment():
    """A second picture inside the first one's Exif has markers of its own."""
    small = b"\xff\xd8" + b"\xff\xe5\x00\x02" * 10_000
    content = put(saved("JPEG"), 2, b"\xff\xe1" + struct.pack(">H", 2 + len(small)) + small)
    assert len(read_pictures([("a.jpg", content)]).images) == 1


RAW = b"Raw profile type exif\0\nexif\n320026\n"


def endless_exif(tag: int, count: int = 250_000) -> bytes:
    """`tag` with so many fractions."""
    head = b"II*\0" + struct.pack("<IHHHIII", 8, 1, tag, 5, count, 26, 0)
    return head + struct.pack("<II", 3, 7) * count


def in_parts(exif: bytes) -> bytes:
    """A JPEG without a resolution of its own, so that its Exif is asked for one when the file is opened."""
    content = saved("JPEG")
    parts = [EXIF + exif[at : at + 65_500] for at in range(0, len(exif), 65_500)]
    return (
        content[:2] + b"".join(b"\xff\xe1" + struct.pack(">H", 2 + len(part)) + part for part in parts) + content[20:]
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jpg", in_parts(endless_exif(stills.ORIENTATION))),
        ("a.jpg", in_parts(endless_exif(0x11A))),
        ("a.png", put(saved("PNG"), 33, chunk(b"eXIf", endless_exif(stills.ORIENTATION)))),
        ("a.png", put(saved("PNG"), 33, chunk(b"tEXt", RAW + endless_exif(stills.ORIENTATION, 40_000).hex().encode()))),
        ("a.webp", saved("WEBP", exif=endless_exif(stills.ORIENTATION))),
    ],
    ids=["jpg", "jpg opened", "png", "png text", "webp"],
)
def test_endless_exif_is_not_read(name: str, content: bytes, monkeypatch: pytest.MonkeyPatch):
    """30 MB of it, 44 KB in a zip, took 18 s and 750 MB, and nothing could stop it on its way."""
    made: list[int] = []
    monkeypatch.setattr(TiffImagePlugin, "IFDRational", lambda *_: made.append(1))
    for read in (lambda: read_pictures([(name, content)]), lambda: decoded(content)):
        if name == "a.jpg":
            with pytest.raises(ValueError, match="has 31 parts of Exif, expected at most 4"):
                read()
        else:
            read()
    assert not made


def test_exif_in_some_parts_is_read():
    content = in_parts(endless_exif(0x11A, 20_000))
    assert len(read_pictures([("a.jpg", content)]).images) == 1 and content.count(EXIF) == 3


@pytest.mark.parametrize(
    "walk",
    [
        lambda check: picture_blocks.require_blocks("a", "PNG", bytes(8) + chunk(b"IDAT") * 50_000, check),
        lambda check: require_canvas("a", b"GIF89a\2\0\2\0\0\0\0!\x01" + b"\1a" * 50_000, check),
        lambda check: require_canvas("a", b"GIF89a\2\0\2\0\0\0\0," + bytes(10) + b"\1a" * 50_000, check),
    ],
    ids=["chunks", "extension", "pixels"],
)
def test_a_walk_can_be_cancelled_on_its_way(walk: Callable[[Callable[[], None]], None]):
    asked: list[int] = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 5

    with pytest.raises(Stopped, match="cancelled"):
        walk(lambda: Budget(cancelled=cancelled).check("a"))
    assert len(asked) == 6


@pytest.mark.parametrize("made", [jpeg, png, webp, gif, gif_stray])
def test_a_file_cut_anywhere_is_walked_to_its_end(made: Callable[[int], bytes]):
    content = made(3)
    for end in range(len(content)):
        for kind in picture_blocks.WALKS:
            picture_blocks.require_blocks("a", kind, content[:end])
        if made in (gif, gif_stray):
            require_canvas("a", content[:end], lambda: None)
