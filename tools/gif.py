"""The README's moving picture: `python -m tools.gif` writes docs/knob.gif.

Ten kinds of sound, a model of others (`knob_core.data.real`), weights set without labels, and one knob turned: the
flicker stops, and turned too far a new sound is shown late. Every frame is computed, none is drawn by hand.
"""

from __future__ import annotations

import math

import numpy as np
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont

from knob_core import Knob, fit
from knob_core.assets import ROOT
from knob_core.data import real
from knob_core.measures.change import count
from knob_core.measures.truth import truth as truth_of
from knob_core.palette import CLASSES_LIGHT, LIGHT

OUT = ROOT / "docs" / "knob.gif"
WIDTH, HEIGHT, LEFT = 840, 300, 230  # pixels; the ribbons begin at LEFT
STREAM, FRAMES = 3, slice(0, 400)  # of the sounds: 40 s
LOW, HIGH, STEPS, PAUSE_MS, STEP_MS = 0.02, 3.0, 30, 1400, 90
FACE = font_manager.findfont("DejaVu Sans")
SMALL, LARGE = (ImageFont.truetype(FACE, size) for size in (15, 21))
STOPS = {1.0: "flickers", 0.45: "calm, and soon there", 0.0: "too calm: late"}  # part of the way from LOW to HIGH


def way() -> list[tuple[float, int]]:
    """(position in [0, 1], milliseconds) of each picture: from alert to too calm and back, with a rest at each stop."""
    down = [1 - i / STEPS for i in range(STEPS + 1)]
    stops = [min(down, key=lambda x: abs(x - stop)) for stop in STOPS]
    return [(x, PAUSE_MS if x in stops else STEP_MS) for x in [*down, *down[-2:0:-1]]]


def words(position: float) -> str:
    return next((said for stop, said in STOPS.items() if abs(position - stop) < 0.1), "")


def ribbon(draw: ImageDraw.ImageDraw, top: int, title: str, classes: np.ndarray) -> None:
    draw.text((LEFT, top - 22), title, LIGHT["text"], SMALL)
    edges = np.linspace(LEFT, WIDTH - 16, len(classes) + 1)
    for label, left, right in zip(classes, edges, edges[1:], strict=False):
        draw.rectangle((left, top, right, top + 34), CLASSES_LIGHT[label])


def dial(draw: ImageDraw.ImageDraw, position: float, omega_n: float) -> None:
    x, y, r = 108, 128, 62
    angle = math.radians(135 + 270 * position)
    draw.arc((x - r - 10, y - r - 10, x + r + 10, y + r + 10), 135, 45, LIGHT["grid"], 6)
    draw.arc((x - r - 10, y - r - 10, x + r + 10, y + r + 10), 135, 135 + 270 * position, LIGHT["gate"], 6)
    draw.ellipse((x - r, y - r, x + r, y + r), LIGHT["plot"], LIGHT["muted"], 2)
    draw.line((x, y, x + 0.85 * r * math.cos(angle), y + 0.85 * r * math.sin(angle)), LIGHT["gate"], 6)
    draw.text((x, 18), "natural frequency ωₙ", LIGHT["text"], SMALL, "ma")
    draw.text((x, 212), f"{omega_n:.2f} rad/frame", LIGHT["text"], SMALL, "ma")
    draw.text((x, 246), words(position), LIGHT["gate"], LARGE if len(words(position)) < 16 else SMALL, "ma")


def main() -> None:
    sounds = real.load("audio")
    weights = fit(sounds.logits[:, :200]).settings.weights
    assert weights is not None
    logits, truth = sounds.logits[STREAM, FRAMES], sounds.labels[STREAM, FRAMES]
    bare = logits.argmax(-1)
    known = truth_of(truth[None], bare[None])
    pictures, times = [], []
    for position, rest in way():
        omega_n = LOW * (HIGH / LOW) ** position
        answer = Knob(1.0, omega_n, **vars(weights)).run(logits).argmax(-1)
        counts = count(answer[None], known)
        image = Image.new("RGB", (WIDTH, HEIGHT), LIGHT["background"])
        draw = ImageDraw.Draw(image)
        dial(draw, position, omega_n)
        ribbon(draw, 38, "what sounds (each colour a kind of sound, 40 seconds)", truth)
        ribbon(draw, 108, f"the model's answer: changes {int((np.diff(bare) != 0).sum())} times", bare)
        ribbon(draw, 178, f"with Knob: changes {int((np.diff(answer) != 0).sum())} times", answer)
        late = f"a new sound is shown after {float(counts.delay_mean):.0f} frames"
        draw.text((LEFT, 236), late, LIGHT["text"], LARGE)
        right = f"right answers: {(answer == truth).mean():.0%}, without Knob {(bare == truth).mean():.0%}"
        draw.text((LEFT, 266), right, LIGHT["muted"], SMALL)
        pictures.append(image.quantize(48, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE))
        times.append(rest)
    pictures[0].save(OUT, save_all=True, append_images=pictures[1:], duration=times, loop=0, optimize=True)
    print(f"{OUT}: {len(pictures)} pictures, {OUT.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
