"""Film strips: written whole, read by image, damaged ones named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from knob_core.library import StreamKey, film_strips

KEY = StreamKey("knob-ode", 0, "fog", "step", 240, (5, 9, 2), 4, 7)


def test_round_trip_for_the_eye(tmp_path: Path) -> None:
    ramp = np.linspace(0, 255, 32).astype(np.uint8)
    fading = ramp[None, :, None, None] // np.arange(1, 4)[:, None, None, None]  # (3, 32, 1, 1)
    pixels = np.broadcast_to(fading[:, None], (3, film_strips.FILM, 32, 32, 3)).astype(np.uint8)
    film_strips.save(pixels, film_strips.path_of(KEY, tmp_path))
    assert [p.name for p in (tmp_path / "films").iterdir()] == ["fog-step-240-7.webp"]
    for place in range(3):
        seen = film_strips.load(KEY, place, tmp_path)
        assert seen is not None and seen.shape == (film_strips.FILM, 32, 32, 3)
        assert np.abs(seen.astype(int) - pixels[place]).mean() < 4


def test_frames_are_spread_and_inside() -> None:
    for frames in (40, 240, 1000):
        where = film_strips.film_frames(frames)
        assert len(where) == film_strips.FILM and where[0] >= 0 and where[-1] < frames
        assert np.ptp(np.diff(where)) <= 1


def test_absent_is_none_and_damaged_is_named(tmp_path: Path) -> None:
    assert film_strips.load(KEY, 0, tmp_path) is None
    path = film_strips.path_of(KEY, tmp_path)
    path.parent.mkdir()
    path.write_bytes(b"not a picture")
    with pytest.raises(ValueError, match=r"fog-step-240-7\.webp is damaged"):
        film_strips.load(KEY, 0, tmp_path)
    film_strips.save(np.zeros((2, film_strips.FILM, 32, 32, 3), np.uint8), path)
    with pytest.raises(ValueError, match="768 x 64 pixels"):
        film_strips.load(KEY, 0, tmp_path)
