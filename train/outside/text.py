"""Which way up: the text-direction classifier of PP-OCR, 0 or 180 degrees, on made lines of text.

A line is drawn with Pillow in the fonts that matplotlib ships, dark on light or light on dark, and taken by a coarse
camera of 20 x 80 pixels, where corruption and motion act; the network sees it enlarged to 48 x 192 and gives
probabilities. Every line is there twice, upright and turned by 180 degrees.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from train.outside import packages, pictures, streams
from train.outside.packages import NotInstalled, Weights
from train.outside.speech import WORDS
from train.outside.streams import OutsideStreams

WEIGHTS = Weights("rapidocr", "3.10.0", "rapidocr", "models/ch_ppocr_mobile_v2.0_cls_mobile.onnx", "Apache-2.0")
CLASSES = ("0 degrees", "180 degrees")
HEIGHT, WIDTH = 20, 80  # pixels of the camera
ENLARGED = (48, 192)  # pixels of the network
FINE = 4  # times: lines are drawn finer than the camera sees them
LINES = 1_000
FONT_SIZES = (12.5, 17.5)  # camera pixels: a line fills its picture, as it does after text detection
CORRUPTIONS = (
    "gaussian_noise", "impulse_noise", "defocus_blur", "glass_blur", "motion_blur", "snow", "frost", "spatter",
)  # fmt: skip


def make(seed: int = 0, count: int = streams.STREAMS, frames: int = 300, kind: str = "mixed") -> OutsideStreams:
    """Streams of the direction classifier."""
    classify = network()
    return pictures.run(classify, *lines(seed), CORRUPTIONS, seed, count, frames, kind)


def network() -> Callable[[torch.Tensor], np.ndarray]:
    """Pictures (B, 3, 20, 80) in [0, 1] -> logs of the two probabilities (B, 2)."""
    session = packages.onnx_session(WEIGHTS.path())
    name = session.get_inputs()[0].name

    def classify(x: torch.Tensor) -> np.ndarray:
        large = functional.interpolate(x, size=ENLARGED, mode="bilinear")
        return streams.logs(session.run(None, {name: (2 * large - 1).numpy()})[0])

    return classify


def lines(seed: int, count: int = LINES) -> tuple[np.ndarray, np.ndarray]:
    """(pictures (2 N, 3, 20, 80) of bytes, 0 for upright and 1 for turned (2 N,)), a line's two pictures together."""
    draw = np.random.default_rng([seed, 3])
    files = fonts()
    upright = np.stack([line(draw, files[int(draw.integers(len(files)))]) for _ in range(count)])  # (N, 3, H, W)
    both = np.stack([upright, upright[:, :, ::-1, ::-1]], 1)  # (N, 2, 3, H, W)
    return np.ascontiguousarray(both.reshape(-1, 3, HEIGHT, WIDTH)), np.tile([0, 1], count)


def line(draw: np.random.Generator, font_file: Path) -> np.ndarray:
    """One line of two words and a number, cut off at the right, (3, 20, 80) bytes."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.truetype(str(font_file), FINE * float(draw.uniform(*FONT_SIZES)))
    words = [*draw.choice(WORDS, 2), str(draw.integers(10, 1000))]
    draw.shuffle(words)
    dark, light = draw.integers(0, 90, 3), draw.integers(160, 256, 3)
    ground, ink = (light, dark) if draw.random() < 0.7 else (dark, light)
    image = Image.new("RGB", (FINE * WIDTH, FINE * HEIGHT), tuple(int(c) for c in ground))
    place = (FINE * float(draw.uniform(2, 8)), FINE * (HEIGHT / 2 + float(draw.uniform(-1.5, 1.5))))
    ImageDraw.Draw(image).text(place, " ".join(words).capitalize(), tuple(int(c) for c in ink), font, anchor="lm")
    return np.asarray(image.reduce(FINE)).transpose(2, 0, 1)


def fonts() -> list[Path]:
    """The DejaVu fonts of matplotlib."""
    folder = packages.folder("matplotlib", "pip install 'knob-core[train]'") / "mpl-data" / "fonts" / "ttf"
    found = sorted(path for path in folder.glob("DejaVu*.ttf") if "Display" not in path.name)
    if not found:
        raise NotInstalled(f"{folder} has no DejaVu fonts; install matplotlib: pip install 'knob-core[train]'")
    return found
