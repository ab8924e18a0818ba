"""Picture files: every frame's real size and cost is known before it is decoded."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps

from knob_core.uploads import Budget, Stopped, archive, limits, picture_blocks, picture_sizes, read_pictures, stills
from tests.fuzz.samples import zipped


def saved(picture: Image.Image, kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def moving(kind: str, colours: list[int], size: tuple[int, int] = (32, 32), **options: object) -> bytes:
    frames = [Image.new("RGB", size, (colour, 0, 0)) for colour in colours]
    return saved(frames[0], kind, save_all=True, append_images=frames[1:], **options)


def growing_gif(width: int, height: int, dispose: int = 0, left: int = 0) -> bytes:
    """Two frames of one pixel; the second says that it is larger, or lies elsewhere."""
    frame = b"!\xf9\x04" + bytes([dispose << 2, 5, 0, 0, 0]) + b",%b\0\x02\x02D\x01\0"
    small, large = (frame % struct.pack("<HHHH", *place) for place in ((0, 0, 1, 1), (left, 0, width, height)))
    return b"GIF89a" + struct.pack("<HH", 1, 1) + b"\x80\0\0" + bytes(6) + small + large + b";"


@pytest.mark.parametrize("dispose", [0, 2, 3])
@pytest.mark.parametrize("size", [(12_000, 12_000), (65_535, 65_535)], ids=str)
def test_a_gif_that_grows_is_refused_before_memory_is_taken(size: tuple[int, int], dispose: int):
    """Pillow's own limit is 179 million pixels, and it is asked after the second frame was begun."""
    content = growing_gif(*size, dispose)
    assert len(content) < 100
    with pytest.raises(ValueError, match=f"{size[0]} x {size[1]} pixels, expected at most 40,000,000") as caught:
        read_pictures([("a.gif", content)])
    assert type(caught.value) is ValueError
    assert len(read_pictures([("a.gif", growing_gif(1, 1, dispose, left=50))]).images) == 2  # a little is allowed


def test_blocks_of_a_gif_are_walked_as_the_decoder_walks_them():
    """Comments, empty extensions and stray bytes do not hide a frame."""
    content = growing_gif(9_000, 9_000)
    at = content.index(b"!\xf9", 30)
    for hidden in (b"!\xfe\x03abc\0", b"!\xfe\0", b"!\xff\x02ab\x01c\0", b"zzz", b"!\x01\0\0", b"!\xf9\0\x04abcd\0"):
        with pytest.raises(ValueError, match="9000 x 9000 pixels"):
            picture_sizes.require_canvas("a.gif", content[:at] + hidden + content[at:], lambda: None)
        with pytest.raises(ValueError, match="9000 x 9000 pixels"):
            read_pictures([("a.gif", content[:at] + hidden + content[at:])])


def test_a_gif_cut_anywhere_is_walked_to_its_end():
    content = moving("GIF", [0, 90, 180])
    for end in range(len(content)):
        picture_sizes.require_canvas("a.gif", content[:end], lambda: None)


def run_length_bmp(width: int, height: int) -> bytes:
    """Row by row one colour: row r, from below, is r bright."""
    palette = b"".join(bytes([i, i, i, 0]) for i in range(256))
    runs = b"".join(bytes([width, row, 0, 0]) for row in range(height)) + b"\0\1"
    head = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 1, len(runs), 2835, 2835, 256, 0)
    start = 14 + len(head) + len(palette)
    return b"BM" + struct.pack("<IHHI", start + len(runs), 0, 0, start) + head + palette + runs


def test_run_lengths_are_read_and_limited_apart():
    got = read_pictures([("a.bmp", run_length_bmp(32, 32))]).images[0]
    np.testing.assert_array_equal(got[0, ::-1, 7], np.arange(32))
    large = bytearray(run_length_bmp(32, 32))
    large[18:26] = struct.pack("<ii", 5_000, 5_000)
    with pytest.raises(ValueError, match="5000 x 5000 pixels, expected at most 4,000,000"):
        read_pictures([("a.bmp", bytes(large))])


def test_a_slow_decoder_is_stopped_on_its_way():
    """A run-length-encoded BMP is unpacked by a loop that reads two bytes at a time."""
    asked: list[int] = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 50

    with pytest.raises(Stopped, match="cancelled"):
        read_pictures([("a.bmp", run_length_bmp(32, 200))], budget=Budget(cancelled=cancelled))


def test_a_jpeg_of_endless_scans_is_refused():
    content = saved(Image.new("RGB", (64, 64)), "JPEG", progressive=True)
    scan = content[content.index(picture_blocks.SCAN) : content.rindex(b"\xff\xd9")]
    assert 1 < content.count(picture_blocks.SCAN) < 20
    with pytest.raises(ValueError, match=r"has 1\d\d scans, expected at most 100"):
        read_pictures([("a.jpg", content[:-2] + scan * 11 + b"\xff\xd9")])


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_every_frame_is_paid_for_before_it_is_decoded(kind: str):
    content = moving(kind, [0, 80, 160, 240], (100, 50))
    budget = Budget()
    assert len(read_pictures([(f"a.{kind.lower()}", content)], budget=budget).images) == 4
    assert budget.spent == 4 * 3 * 100 * 50
    with pytest.raises(ValueError, match="decoded has more than 40,000 bytes in all"):
        read_pictures([(f"a.{kind.lower()}", content)], budget=Budget(decoded=40_000))


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_the_rate_of_a_moving_picture_is_the_files(kind: str):
    name = f"a.{kind.lower()}"
    assert read_pictures([(name, moving(kind, [0, 80, 160], duration=40))]).frame_rate == pytest.approx(25)
    assert read_pictures([(name, moving(kind, [0, 80, 160], duration=0))]).frame_rate is None
    assert read_pictures([("a.png", saved(Image.new("RGB", (9, 9)), "PNG"))]).frame_rate is None


def test_a_photograph_is_one_frame_whatever_its_camera_adds():
    """Phones append a second picture, such as a depth map, to a JPEG."""
    content = saved(
        Image.new("RGB", (40, 40), (200, 0, 0)), "MPO", save_all=True, append_images=[Image.new("RGB", (9, 9))]
    )
    assert len(read_pictures([("a.jpg", content)]).images) == 1


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_a_photograph_is_read_as_its_camera_was_held(kind: str):
    """Also where the rest of its Exif is odd: a resolution in words made a good photograph a damaged one."""
    lights = np.full((40, 60, 3), 40, np.uint8)
    lights[:20, :30] = 250  # one corner only: no two of the eight positions look alike
    name = f"a.{kind.lower()}"
    for held in range(1, 9):
        orientation, resolution = (
            struct.pack(">HHIHH", 0x112, 3, 1, held, 0),
            struct.pack(">HHI4s", 0x11A, 2, 4, b"odd"),
        )
        exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x02" + orientation + resolution + bytes(4)
        picture = Image.fromarray(lights)
        want = stills.small(ImageOps.exif_transpose(with_orientation(picture, held)))
        got = read_pictures([(name, saved(picture, kind, exif=exif))]).images[0]
        assert np.abs(got.astype(float) - want).mean() < 4, held
    assert read_pictures([(name, saved(picture, kind, exif=b"Exif\0\0MM\0*\xff\xff\xff\xff"))]).images.shape[0] == 1


def with_orientation(picture: Image.Image, held: int) -> Image.Image:
    exif = Image.Exif()
    exif[stills.ORIENTATION] = held
    return Image.open(io.BytesIO(saved(picture, "PNG", exif=exif.tobytes())))


def test_only_a_file_at_a_time_is_unpacked():
    """Ten pictures that are not squeezed by zip: at no time are all of them in memory."""
    import zipfile

    noise = np.random.default_rng(0).integers(0, 256, (400, 400, 3), dtype=np.uint8)
    still, file = saved(Image.fromarray(noise), "BMP"), io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for i in range(10):
            archive.writestr(f"{i}.bmp", still)
    content = file.getvalue()
    tracemalloc.start()
    try:
        assert len(read_pictures([("a.zip", content)]).images) == 10
        assert tracemalloc.get_traced_memory()[1] < 6 * len(still)
    finally:
        tracemalloc.stop()


def test_a_picture_with_too_many_bytes_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch):
    """390 KB in a zip took 400 MB."""
    monkeypatch.setattr(archive.Member, "read", lambda *_: pytest.fail("it was unpacked"))
    for size, cause in ((limits.MAX_BYTES + 1, "has 200,000,001 bytes, expected at most"), (0, "is empty")):
        content = bytearray(zipped({"a.png": b"x"}))
        at = content.index(archive.ENTRY) + 24
        content[at : at + 4] = struct.pack("<I", size)  # as the archive declares it
        with pytest.raises(ValueError, match=rf"a\.png {cause}"):
            read_pictures([("a.zip", bytes(content))])


def test_names_without_end_are_refused_before_they_are_sorted():
    """10 MB of them took 680 MB."""
    name, good = "1a" * 2_000_000 + ".png", "1a" * 498 + ".png"
    content = saved(Image.new("RGB", (9, 9)), "PNG")
    tracemalloc.start()
    for files in ([(name, content)], [("a.png", content), (name, content)]):
        with pytest.raises(ValueError, match=r"1a\.png has 4,000,004 characters in its name, expected at most 1,000"):
            read_pictures(files)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 10 * len(name)  # some copies, more of them on Python 3.13, and not an object for every number
    assert read_pictures([("a.zip", zipped({good: content}))]).names == (good,)


def test_the_limits_of_pictures_are_those_of_a_machine_of_4_gb():
    assert 4 * limits.MAX_PIXELS <= 4e8 and limits.MAX_RLE_PIXELS < limits.MAX_PIXELS
    assert 16 * 6 * limits.MAX_FILM_PIXELS <= 1e9 < limits.MAX_PROCESS_MEMORY
    assert set(stills.MOVING) <= set(stills.FORMATS)


def test_sixteen_bits_of_grey_take_little_more_than_the_picture() -> None:
    """As floats it took twelve times as much."""
    grey = np.random.default_rng(0).integers(0, 2**16, (1500, 1500), np.uint16)
    content = saved(Image.fromarray(grey), "PNG")
    tracemalloc.start()
    seen = read_pictures([("a.png", content)], ("cat", "dog")).images[0]
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 3 * grey.nbytes + len(content)
    np.testing.assert_allclose(seen.mean(), grey.mean() / 257, atol=2)


@pytest.mark.parametrize("size", [(32, 32), (33, 32), (1, 1), (1, 5), (64, 65), (65, 200), (1000, 3), (641, 480)])
def test_shrunk_strip_by_strip_and_at_once_the_same(size: tuple[int, int]):
    pixels = np.random.default_rng(0).integers(0, 256, (size[1], size[0], 4), np.uint8)
    whole = Image.fromarray(pixels)
    indexed = whole.convert("RGB").quantize(200)
    indexed.info["transparency"] = 3
    for picture in (whole, indexed, *map(whole.convert, ("RGB", "L", "LA", "1", "CMYK", "YCbCr"))):
        side = min(size)
        left, top = (size[0] - side) // 2, (size[1] - side) // 2
        square = picture.crop((left, top, left + side, top + side)).convert("RGB")
        want = np.asarray(square.resize((stills.SIZE, stills.SIZE), Image.Resampling.BILINEAR))
        np.testing.assert_array_equal(stills.small(picture), np.moveaxis(want, -1, 0), strict=True)


def test_pictures_that_move_and_webp_have_a_smaller_limit(monkeypatch: pytest.MonkeyPatch):
    """A decoder holds several copies of such a frame."""
    for module in (stills, picture_sizes):
        monkeypatch.setattr(module, "MAX_MOVING_PIXELS", 40 * 30)
    for kind in ("GIF", "WEBP", "PNG"):
        name = f"a.{kind.lower()}"
        assert len(read_pictures([(name, moving(kind, [0, 90], (40, 30)))]).images) == 2
        with pytest.raises(ValueError, match=f"{name} has 40 x 31 pixels, expected at most 1,200"):
            read_pictures([(name, moving(kind, [0, 90], (40, 31)))])
        if kind != "WEBP":
            assert len(read_pictures([(name, moving(kind, [0], (40, 31)))]).images) == 1


@pytest.mark.parametrize("options", [{}, {"lossless": True}, {"exif": b"Exif\0\0"}, {"lossless": True, "exif": b"Ex"}])
def test_the_size_of_a_webp_is_told_by_its_head(options: dict[str, object]):
    content = saved(Image.new("RGB", (4000, 300), (1, 2, 3)), "WEBP", **options)
    assert picture_sizes.webp_size(content) == (4000, 300)
    assert picture_sizes.webp_size(moving("WEBP", [0, 90], (50, 31))) == (50, 31)
    assert picture_sizes.webp_size(content[:29]) == (0, 0)


PEAK = """
import sys
from knob_core.uploads import read_pictures
def held(key):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(key)) * 1024
name, content = sys.argv[1], open(sys.argv[1], "rb").read()
read_pictures([(name, open(sys.argv[2], "rb").read())])  # so that the decoder is loaded
before = held("VmRSS")
read_pictures([(name, content)])
print(held("VmHWM") - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is told by /proc")
@pytest.mark.parametrize("kind", ["png", "jpg", "bmp"])
def test_a_large_picture_is_held_once(kind: str, tmp_path: Path):
    """Decoded, its middle square and that in colour: there were three of it."""
    for name, side in (("large", 3000), ("little", 9)):
        picture = Image.new("RGB", (side, side), (90, 20, 30))
        picture.save(tmp_path / f"{name}.{kind}")
    command = [sys.executable, "-c", PEAK, *(str(tmp_path / f"{name}.{kind}") for name in ("large", "little"))]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    file = (tmp_path / f"large.{kind}").stat().st_size
    assert int(done.stdout) < 1.8 * 4 * 3000**2 + 2 * file
