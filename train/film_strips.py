"""Make the film strips of every shipped stream: `python -m train.film_strips`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from tqdm import tqdm

from knob_core import library
from knob_core.library import StreamKey, film_strips
from train import commands


def strip(key: StreamKey) -> np.ndarray:
    """(strips, FILM, SIDE, SIDE, 3) uint8: every image's first realisation at the film's frames."""
    stream, where = library.render(key), film_strips.film_frames(key.frames)
    rows = [stream.frames(0, key.frames, image)[where] for image in range(film_strips.strips(key))]  # (FILM, 3, 32, 32)
    return np.stack([np.rint(row.permute(0, 2, 3, 1).numpy() * 255).astype(np.uint8) for row in rows])


def write_missing(again: bool) -> None:
    """Every strip that is not there yet, or all of them."""
    wanted = {film_strips.path_of(key): key for key in library.streams()}
    for path, key in tqdm(wanted.items(), desc="films"):
        if again or not path.is_file():
            film_strips.save(strip(key), path)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = commands.parser("train.film_strips", __doc__)
    parser.add_argument("--again", action="store_true", help="make those that are there, too")
    given = parser.parse_args(arguments)
    return commands.run("train.film_strips", lambda: write_missing(given.again))


if __name__ == "__main__":
    sys.exit(main())
