"""Picture files: still and moving, as their camera was held, at the files' own rate."""

from __future__ import annotations

import io
import struct

import numpy as np
import pytest
from PIL import Image, ImageOps

from knob_core.uploads import stills
from knob_core.uploads.pictures import read as read_pictures


def saved(picture: Image.Image, kind: str, **options: object) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def moving(kind: str, colours: list[int], size: tuple[int, int] = (32, 32), **options: object) -> bytes:
    frames = [Image.new("RGB", size, (colour, 0, 0)) for colour in colours]
    return saved(frames[0], kind, save_all=True, append_images=frames[1:], **options)


def run_length_bmp(width: int, height: int) -> bytes:
    """Row by row one colour: row r, from below, is r bright."""
    palette = b"".join(bytes([i, i, i, 0]) for i in range(256))
    runs = b"".join(bytes([width, row, 0, 0]) for row in range(height)) + b"\0\1"
    head = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 1, len(runs), 2835, 2835, 256, 0)
    start = 14 + len(head) + len(palette)
    return b"BM" + struct.pack("<IHHI", start + len(runs), 0, 0, start) + head + palette + runs


def test_run_lengths_are_read():
    got = read_pictures([("a.bmp", run_length_bmp(32, 32))]).images[0]
    np.testing.assert_array_equal(got[0, ::-1, 7], np.arange(32))


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
