"""Film strips of the shipped streams: the corrupted frames themselves, one picture a stream, for the eye.

Rows are the stream's images (their first realisation), columns FILM evenly spread frames. They depend on no model;
`python -m train.film_strips` makes them, and reading them needs no torch.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from knob_core import files
from knob_core.assets import ASSETS
from knob_core.library import StreamKey

FILM = 24  # pictures on a strip
SIDE = 32  # pixels
QUALITY = 80  # lossless noise would be five times the size


def film_frames(frames: int) -> np.ndarray:
    """(FILM,) which frames of a stream are on its strip: the middle of each of FILM equal parts."""
    return ((np.arange(FILM) + 0.5) * frames / FILM).astype(int)


def path_of(key: StreamKey, root: Path = ASSETS) -> Path:
    """The strip's file; models that look at the same pictures share it."""
    scenes = f"{key.content}-" if key.changing else ""
    return root / "films" / f"{key.corruption}-{key.schedule}-{scenes}{key.frames}-{key.noise_seed}.webp"


def strips(key: StreamKey) -> int:
    """How many strips a file holds: one for each image, or one with all scenes."""
    return 1 if key.changing else len(key.images)


def save(pixels: np.ndarray, path: Path) -> None:
    """Write strips (images, FILM, SIDE, SIDE, 3) uint8; the file appears whole or not at all."""
    from PIL import Image

    grid = pixels.transpose(0, 2, 1, 3, 4).reshape(len(pixels) * SIDE, FILM * SIDE, 3)
    with files.replacing(path) as temporary:
        Image.fromarray(grid).save(temporary, "WEBP", quality=QUALITY, method=6)


def load(key: StreamKey, place: int, root: Path = ASSETS) -> np.ndarray | None:
    """(FILM, SIDE, SIDE, 3) of the stream's image in `place`; None where no film ships, ValueError where damaged."""
    path = path_of(key, root)
    if not path.is_file():
        return None
    from PIL import Image

    try:
        with Image.open(path) as picture:
            if picture.size != (FILM * SIDE, strips(key) * SIDE):
                raise ValueError(f"it has {picture.size[0]} x {picture.size[1]} pixels")
            grid = np.asarray(picture.convert("RGB"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is damaged ({error}); make it anew: python -m train.film_strips") from error
    row = grid[place * SIDE : (place + 1) * SIDE]  # (SIDE, FILM * SIDE, 3)
    return row.reshape(SIDE, FILM, SIDE, 3).swapaxes(0, 1)
