"""Which way up: the text-direction classifier of PP-OCR, 0 or 180 degrees, on made lines of text.

A line is 48 x 192 pixels, drawn with Pillow in the fonts that matplotlib ships: dark on light or light on dark.
Every line is there twice, upright and turned by 180 degrees. The network gives probabilities.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from train.outside import packages, pictures, streams
from train.outside.packages import NotInstalled, Weights
from train.outside.streams import OutsideStreams

WEIGHTS = Weights("rapidocr", "3.10.0", "rapidocr", "models/ch_ppocr_mobile_v2.0_cls_mobile.onnx", "Apache-2.0")
CLASSES = ("0 degrees", "180 degrees")
HEIGHT, WIDTH = 48, 192  # pixels
LINES = 200
FONT_SIZES = (15, 34)  # pixels, both included
SIGNS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789-/."
CORRUPTIONS = (
    "gaussian_noise", "impulse_noise", "defocus_blur", "glass_blur", "motion_blur", "fog", "contrast", "pixelate",
)  # fmt: skip


def make(seed: int = 0, count: int = streams.STREAMS, frames: int = 300, kind: str = "mixed") -> OutsideStreams:
    """Streams of the direction classifier."""
    classify = network()
    return pictures.run(classify, *lines(seed), CORRUPTIONS, seed, count, frames, kind)


def network() -> Callable[[torch.Tensor], np.ndarray]:
    """Pictures (B, 3, 48, 192) in [0, 1] -> logs of the two probabilities (B, 2)."""
    session = packages.onnx_session(WEIGHTS.path())
    name = session.get_inputs()[0].name
    return lambda x: streams.logs(session.run(None, {name: (2 * x - 1).numpy().astype(np.float32)})[0])


def lines(seed: int, count: int = LINES) -> tuple[np.ndarray, np.ndarray]:
    """(pictures (2 N, 3, 48, 192) of bytes, 0 for upright and 1 for turned (2 N,)), a line's two pictures together."""
    draw = np.random.default_rng([seed, 3])
    files = fonts()
    upright = np.stack([line(draw, files[int(draw.integers(len(files)))]) for _ in range(count)])  # (N, 3, H, W)
    both = np.stack([upright, upright[:, :, ::-1, ::-1]], 1)  # (N, 2, 3, H, W)
    return np.ascontiguousarray(both.reshape(-1, 3, HEIGHT, WIDTH)), np.tile([0, 1], count)


def line(draw: np.random.Generator, font_file: Path) -> np.ndarray:
    """One line of made words, (3, 48, 192) bytes."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.truetype(str(font_file), int(draw.integers(*FONT_SIZES, endpoint=True)))
    words = ["".join(draw.choice(list(SIGNS), draw.integers(2, 8))) for _ in range(draw.integers(1, 4))]
    dark, light = draw.integers(0, 90, 3), draw.integers(160, 256, 3)
    ground, ink = (light, dark) if draw.random() < 0.7 else (dark, light)
    image = Image.new("RGB", (WIDTH, HEIGHT), tuple(int(c) for c in ground))
    place = (float(draw.uniform(4, 16)), HEIGHT / 2 + float(draw.uniform(-4, 4)))
    ImageDraw.Draw(image).text(place, " ".join(words), tuple(int(c) for c in ink), font, anchor="lm")
    return np.asarray(image).transpose(2, 0, 1)


def fonts() -> list[Path]:
    """The DejaVu fonts of matplotlib."""
    folder = packages.folder("matplotlib", "pip install 'knob[report]'") / "mpl-data" / "fonts" / "ttf"
    found = sorted(path for path in folder.glob("DejaVu*.ttf") if "Display" not in path.name)
    if not found:
        raise NotInstalled(f"{folder} has no DejaVu fonts; install matplotlib: pip install 'knob[report]'")
    return found
