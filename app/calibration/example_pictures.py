"""The pictures behind a bin or a cell: which ones are worth seeing, and how they are shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from app.calibration.predictions import ShownPredictions
from app.widgets.webp import data_url
from knob_core.data import CLASSES
from knob_core.reset_mode import Fused

SHOWN = 24
CHUNKS = 3  # different renderings that a bin's pictures may come from: each costs time
CHUNK = 250  # images, as `knob_core.data.cifar10c` renders them

Render = Callable[[str, int, int, int], np.ndarray]


@dataclass(frozen=True)
class Picture:
    """One prediction: where it is, what is true, what was predicted, how confidently."""

    cell: int
    sample: int
    truth: int
    predicted: int
    confidence: float

    @property
    def right(self) -> bool:
        return self.truth == self.predicted


def members(pick: str, shown: ShownPredictions, confidence: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, str]:
    """(M,) bool: the predictions in a picked bin ("gaps/b3") or cell ("ece/fog.2"), and its name."""
    figure, _, id = pick.partition("/")
    if figure in ("reliability", "gaps") and id[:1] == "b" and id[1:].isdigit() and int(id[1:]) < len(edges) - 1:
        b = int(id[1:])
        low, high = edges[b], edges[b + 1]
        first = confidence >= low if b == 0 else confidence > low
        return first & (confidence <= high), f"confidence {low:.2f} to {high:.2f}"
    if figure in ("ece", "accuracy"):
        name, _, severity = id.partition(".")
        for cell, (corruption, level) in enumerate(shown.cells):
            if (corruption, str(level)) == (name, severity):
                inside = np.zeros(len(confidence), bool)
                inside[cell * shown.samples : (cell + 1) * shown.samples] = True
                return inside, f"{corruption.replace('_', ' ')}, severity {level}"
    raise ValueError(f"{pick[:40]!r} is no bin and no cell of this selection")


def choose(inside: np.ndarray, shown: ShownPredictions, fused: Fused, predicted: np.ndarray) -> list[Picture]:
    """The pictures to show: confident errors first, then a few right ones, from few renderings."""
    found = np.flatnonzero(inside)
    if not len(found):
        return []
    cell, sample = np.divmod(found, shown.samples)
    group = cell * (shown.samples // CHUNK + 1) + sample // CHUNK
    names, counts = np.unique(group, return_counts=True)
    kept = np.isin(group, names[np.argsort(-counts, kind="stable")[:CHUNKS]])
    found = found[kept]
    order = np.lexsort(
        (-fused.confidence[found], fused.correct[found])
    )  # errors first, the most confident of them first
    wrong = int((~fused.correct[found]).sum())
    few = order[: min(wrong, SHOWN * 2 // 3)]
    rest = order[wrong : wrong + SHOWN - len(few)]
    labels = shown.predictions.labels
    return [
        Picture(
            int(i // shown.samples),
            int(i % shown.samples),
            int(labels[i]),
            int(predicted[i]),
            float(fused.confidence[i]),
        )
        for i in found[np.concatenate([few, rest])]
    ]


def predicted_classes(shown: ShownPredictions, g: np.ndarray) -> np.ndarray:
    """(M,) the class that each prediction names under a gate g (M,)."""
    p = shown.predictions
    return (p.difference * g + p.z_static).argmax(0)


def html(chosen: list[Picture], shown: ShownPredictions, render: Render) -> str:
    """The pictures with true and predicted class, as one block of HTML."""
    out = []
    for picture in chosen:
        corruption, severity = shown.cells[picture.cell]
        pixels = render(corruption, severity, shown.noise_seed, picture.sample // CHUNK)[picture.sample % CHUNK]
        truth, predicted = CLASSES[picture.truth], CLASSES[picture.predicted]
        words = f"{predicted} {picture.confidence:.0%}" if picture.right else f"✕ {predicted} {picture.confidence:.0%}"
        where = f"{corruption.replace('_', ' ')} {severity}"
        out.append(
            f'<figure class="{"right" if picture.right else "wrong"}"><img src="{data_url(pixels)}" width="80" '
            f'height="80" '
            f'alt="{truth} in {where}, taken for {predicted}, confidence {picture.confidence:.0%}">'
            f"<figcaption>{words}<br><small>is {truth}<br>{where}</small></figcaption></figure>"
        )
    return f'<div class="knob-pictures">{"".join(out)}</div>{STYLE}'


STYLE = """<style>
.knob-pictures { display: flex; flex-wrap: wrap; gap: .5rem; }
.knob-pictures figure { margin: 0; width: 7rem; text-align: center; font-size: .8rem; line-height: 1.2; }
.knob-pictures img { image-rendering: pixelated; border-radius: .3rem; border-bottom: 4px solid #00796b; }
.knob-pictures .wrong img { border-color: #d32f45; } .knob-pictures .wrong figcaption { font-weight: 600; }
.knob-pictures small { opacity: .75; font-weight: 400; }
</style>"""
