"""The read-outs: six numbers, each now, before this turn, for the pinned setting, and without Knob."""

from __future__ import annotations

import math
from typing import NamedTuple

from app.console.protocol import ReadoutUpdate
from knob_core.measures.stability import StreamMeasures

WITHOUT_KNOB = "without Knob"


class Readout(NamedTuple):
    """One number of StreamMeasures, and how it is written."""

    id: str
    label: str
    field: str
    scale: float
    digits: int
    unit: str
    help: str
    more_is_better: bool = False


READOUTS = (
    Readout("flips", "flips per 100 frames", "flips", 1, 1, "",
            "How often the answer changes from one frame to the next"),
    Readout("jitter", "jitter of confidence", "jitter", 1, 3, "",
            "How much confidence trembles while nothing changes"),
    Readout("lag", "lag, frames to 63 %", "lag63", 1, 1, "",
            "Frames after a sudden change until the gate has gone 63 %"),
    Readout("confident_errors", "confident errors per 100", "sure_wrong", 1, 1, "",
            "Confident errors per 100 frames: the answer is wrong, and its confidence above 90 %"),
    Readout("accuracy", "right answers", "accuracy", 100, 1, " %", "Frames whose answer is right", True),
    Readout("ece", "miscalibration (ECE)", "ece", 1, 3, "",
            "How far confidence is from the truth, debiased; the floor is what a perfect predictor would show"),
)  # fmt: skip


def updates(
    now: StreamMeasures,
    before: StreamMeasures,
    without: StreamMeasures,
    pinned: StreamMeasures | None,
    frame_rate: float,
) -> list[ReadoutUpdate]:
    """Every read-out's texts; `frame_rate` (frames/s) turns the lag into seconds."""
    out: list[ReadoutUpdate] = []
    for readout in READOUTS:
        rest = [["before", text(readout, before)]]
        if pinned is not None:
            rest.append(["A", text(readout, pinned)])
        rest.append([WITHOUT_KNOB, text(readout, without)])
        beside = ""
        if readout.id == "ece" and math.isfinite(now.ece_floor):
            beside = f"floor {now.ece_floor:.3f}"
        if readout.id == "lag" and math.isfinite(now.lag63):
            beside = f"{now.lag63 / frame_rate:.2f} s"
        out.append({"now": text(readout, now), "beside": beside, "rest": rest, "worse": worse(readout, now, without)})
    return out


def text(readout: Readout, measures: StreamMeasures) -> str:
    """The number as it is shown; a dash where there is none."""
    value = getattr(measures, readout.field) * readout.scale
    return f"{value:.{readout.digits}f}{readout.unit}" if math.isfinite(value) else "–"


def worse(readout: Readout, now: StreamMeasures, without: StreamMeasures) -> bool:
    """By more than 5 % of what it is without Knob; lag is always longer and never counts as worse."""
    a, b = getattr(now, readout.field), getattr(without, readout.field)
    loss = (b - a) if readout.more_is_better else (a - b)
    return bool(loss > 0.05 * abs(b) and readout.id != "lag")
