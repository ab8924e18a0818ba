"""Draw the nineteen corruptions on one sheet: a row each, clean and severities 1 to 5.

python -m train.contact_sheet [--out FILE] [--seed S]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from knob_core import files
from knob_core.assets import ASSETS
from knob_core.corruptions import NAMES, TRAINING
from knob_core.data import Images, load_sample
from knob_core.data.cifar10c import SEVERITIES, make
from train import commands

PLACES = (10, 17, 23)  # in the sample: an airplane, a horse, a truck
SHEET = ASSETS / "contact_sheet.webp"
ZOOM = 2  # pixels of the sheet for one of the image
MARGIN, GAP, GUTTER, LABEL, HEAD = 20, 4, 18, 190, 44  # pixels
PAPER, INK, FAINT = (255, 255, 255), (32, 36, 44), (110, 116, 128)


def sheet(images: Images, seed: int = 0, names: tuple[str, ...] = NAMES) -> Image.Image:
    """The images (k, 3, 32, 32) under every corruption, k in a cell."""
    side = 32 * ZOOM
    cell = len(images) * (side + GAP) - GAP + GUTTER
    width = 2 * MARGIN + LABEL + cell * (1 + len(SEVERITIES)) - GUTTER
    page = Image.new("RGB", (width, 2 * MARGIN + HEAD + len(names) * (side + GAP) - GAP), PAPER)
    draw = ImageDraw.Draw(page)
    large, small = ImageFont.load_default(20), ImageFont.load_default(14)
    for column, severity in enumerate((0, *SEVERITIES)):
        centre = MARGIN + LABEL + column * cell + (cell - GUTTER) // 2
        draw.text((centre, MARGIN + 10), f"severity {severity}" if severity else "clean", INK, large, anchor="mt")
    for row, name in enumerate(names):
        top = MARGIN + HEAD + row * (side + GAP)
        seen = name in TRAINING
        draw.text((MARGIN, top + side // 2 + (0 if seen else 7)), name.replace("_", " "), INK, large, anchor="ls")
        if seen:
            draw.text((MARGIN, top + side // 2 + 18), "seen in training", FAINT, small, anchor="ls")
        for column, severity in enumerate((0, *SEVERITIES)):
            for k, image in enumerate(make(images, name, severity, seed)):
                tile = Image.fromarray(image.transpose(1, 2, 0)).resize((side, side), Image.Resampling.NEAREST)
                page.paste(tile, (MARGIN + LABEL + column * cell + k * (side + GAP), top))
    return page


def write(out: Path, seed: int) -> None:
    page = sheet(load_sample()[0][list(PLACES)], seed)
    with files.replacing(out) as temporary:
        page.save(temporary, format="WEBP", lossless=True, method=6)
    print(out)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = commands.parser("train.contact_sheet", __doc__)
    parser.add_argument("--out", metavar="FILE", type=commands.path, default=SHEET, help="default: %(default)s")
    parser.add_argument("--seed", metavar="S", type=commands.seed, default=0, help="default: %(default)s")
    given = parser.parse_args(arguments)
    return commands.run("train.contact_sheet", lambda: write(given.out, given.seed))


if __name__ == "__main__":
    sys.exit(main())
