"""Eighteen of the nineteen corruptions with the constants of ImageNet-C, for pictures of 224 x 224 pixels.

The same functions as for small images; each table is the published one, row 0 the identity. Frost is not among them:
its photographs, which are larger than 224 pixels, do not ship.
Reference: Hendrycks & Dietterich (ICLR 2019), `make_imagenet_c.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from torch import Generator, Tensor

from knob_core.corruptions import _kernels, blur, digital, noise, weather

SIDE = 224  # pixels
PUBLISHED_SIDE = 244 / SIDE  # the published constants of elastic_transform are multiples of 244 pixels
ALIASED_DISKS = [(0, 0.0), (3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)]  # radius, sigma of its own blur

TABLES = {
    "gaussian_noise": [[0.0], [0.08], [0.12], [0.18], [0.26], [0.38]],
    "shot_noise": [[0.0], [1 / 60], [1 / 25], [1 / 12], [1 / 5], [1 / 3]],
    "impulse_noise": [[0.0], [0.03], [0.06], [0.09], [0.17], [0.27]],
    "speckle_noise": [[0.0], [0.15], [0.2], [0.35], [0.45], [0.6]],
    "gaussian_blur": [[0.0], [1.0], [2.0], [3.0], [4.0], [6.0]],
    "glass_blur": [
        [0.0, 0.0, 1.0],
        [0.7, 2.0, 1.0],
        [0.9, 1.0, 2.0],
        [1.0, 3.0, 2.0],
        [1.1, 2.0, 3.0],
        [1.5, 2.0, 4.0],
    ],
    "motion_blur": [[0.0, 0.0], [10.0, 3.0], [15.0, 5.0], [15.0, 8.0], [15.0, 12.0], [20.0, 15.0]],
    "zoom_blur": [
        [],
        np.arange(1, 1.11, 0.01).tolist(),
        np.arange(1, 1.16, 0.01).tolist(),
        np.arange(1, 1.21, 0.02).tolist(),
        np.arange(1, 1.26, 0.02).tolist(),
        np.arange(1, 1.31, 0.03).tolist(),
    ],
    "snow": [
        [0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 1.0],
        [0.1, 0.3, 3.0, 0.5, 10.0, 4.0, 0.8],
        [0.2, 0.3, 2.0, 0.5, 12.0, 4.0, 0.7],
        [0.55, 0.3, 4.0, 0.9, 12.0, 8.0, 0.7],
        [0.55, 0.3, 4.5, 0.85, 12.0, 8.0, 0.65],
        [0.55, 0.3, 2.5, 0.85, 12.0, 12.0, 0.55],
    ],
    "fog": [[0.0, 2.0], [1.5, 2.0], [2.0, 2.0], [2.5, 1.7], [2.5, 1.5], [3.0, 1.4]],
    "spatter": [
        [0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [0.65, 0.3, 4.0, 0.69, 0.6, 0.0],
        [0.65, 0.3, 3.0, 0.68, 0.6, 0.0],
        [0.65, 0.3, 2.0, 0.68, 0.5, 0.0],
        [0.65, 0.3, 1.0, 0.65, 1.5, 1.0],
        [0.67, 0.4, 1.0, 0.65, 1.5, 1.0],
    ],
    "brightness": [[0.0], [0.1], [0.2], [0.3], [0.4], [0.5]],
    "contrast": [[1.0], [0.4], [0.3], [0.2], [0.1], [0.05]],
    "saturate": [[1.0, 0.0], [0.3, 0.0], [0.1, 0.0], [2.0, 0.0], [5.0, 0.1], [20.0, 0.2]],
    "elastic_transform": [
        [0.0, 0.0, 0.0],
        *(
            [PUBLISHED_SIDE * c for c in row]
            for row in ([2.0, 0.7, 0.1], [2.0, 0.08, 0.2], [0.05, 0.01, 0.02], [0.07, 0.01, 0.02], [0.12, 0.01, 0.02])
        ),
    ],
}

PIXELATE = [1.0, 0.6, 0.5, 0.4, 0.3, 0.25]
JPEG_COMPRESSION = [100, 25, 18, 15, 10, 7]

CORRUPTIONS: dict[str, Callable[[Tensor, Tensor, Generator | None], Tensor]] = {
    "gaussian_noise": partial(noise.gaussian_noise, table=TABLES["gaussian_noise"]),
    "shot_noise": partial(noise.shot_noise, table=TABLES["shot_noise"]),
    "impulse_noise": partial(noise.impulse_noise, table=TABLES["impulse_noise"]),
    "defocus_blur": partial(blur.defocus_blur, kernels=[_kernels.large_disk(*row, 10) for row in ALIASED_DISKS]),
    "glass_blur": partial(blur.glass_blur, table=TABLES["glass_blur"]),
    "motion_blur": partial(blur.motion_blur, table=TABLES["motion_blur"], taps=41),
    "zoom_blur": partial(blur.zoom_blur, table=TABLES["zoom_blur"]),
    "snow": partial(weather.snow, table=TABLES["snow"]),
    "fog": partial(weather.fog, table=TABLES["fog"]),
    "brightness": partial(digital.brightness, table=TABLES["brightness"]),
    "contrast": partial(digital.contrast, table=TABLES["contrast"]),
    "elastic_transform": partial(digital.elastic_transform, table=TABLES["elastic_transform"]),
    "pixelate": partial(digital.pixelate, table=PIXELATE),
    "jpeg_compression": partial(digital.jpeg_compression, table=JPEG_COMPRESSION),
    "speckle_noise": partial(noise.speckle_noise, table=TABLES["speckle_noise"]),
    "gaussian_blur": partial(blur.gaussian_blur, table=TABLES["gaussian_blur"]),
    "spatter": partial(weather.spatter, table=TABLES["spatter"], radii=(16, 6), reach=SIDE),
    "saturate": partial(digital.saturate, table=TABLES["saturate"]),
}
