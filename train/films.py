"""Make the film strips of every shipped stream: `python -m train.films`."""

from __future__ import annotations

import argparse

import numpy as np
from tqdm import tqdm

from knob_core import films, shipped
from knob_core.shipped import StreamKey


def strip(key: StreamKey) -> np.ndarray:
    """(images, FILM, SIDE, SIDE, 3) uint8: every image's first realisation at the film's frames."""
    stream = shipped.render(key)
    rows = []
    for image in range(len(key.images)):
        frames = [stream.frames(int(t), int(t) + 1, image)[0] for t in films.film_frames(key.frames)]
        rows.append([np.rint(frame.permute(1, 2, 0).numpy() * 255).astype(np.uint8) for frame in frames])
    return np.array(rows)


def main() -> None:
    """Every strip that is not there yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--again", action="store_true", help="make those that are there, too")
    again = parser.parse_args().again
    wanted = {films.path_of(key): key for key in shipped.streams()}
    for path, key in tqdm(wanted.items(), desc="films"):
        if again or not path.is_file():
            films.save(strip(key), path)


if __name__ == "__main__":
    main()
