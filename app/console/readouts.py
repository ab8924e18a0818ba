"""The read-outs: cards with one number each, now, before this turn, for the drawn pin, and without Knob.

Which cards there are depends on the stream: frames to a new class where the class changes, the gate's lag where it
does not, and nothing that needs labels where there are none. The first three are always in sight, the others on
request. Four of them take a goal (`knob_core.goals`) and say whether it is met.
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import NamedTuple

from app.console.protocol import GoalUpdate, ReadoutUpdate
from app.console.shown_stream import ShownStream
from app.figures.scope import short
from knob_core.goals import KINDS, Goals, verdict
from knob_core.measures.operator import OperatorMeasures

WITHOUT_KNOB = "without Knob"
LONGEST_NAME = 6  # characters of a pin on a card
NOTABLE = 0.02  # of miscalibration above the floor: less is not worth a word


class Readout(NamedTuple):
    """One number of OperatorMeasures, and how it is written."""

    id: str
    label: str
    field: str
    scale: float
    digits: int
    unit: str
    help: str
    goal: str = ""  # the kind of goal it takes
    more_is_better: bool = False


READOUTS = {
    readout.id: readout
    for readout in (
        Readout("excess_flips", "excess flips", "excess_flips", 1, 1, "",
                "How often the answer changes in 100 frames, less the changes that a new class explains",
                "excess_flips"),
        Readout("flips", "flips", "flips", 1, 1, "",
                "How often the answer changes from one frame to the next", "excess_flips"),
        Readout("delay", "frames to a new class", "delay_mean", 1, 1, "",
                "Frames until a new class is shown and stays, on average over the changes that the model can "
                "recognise; one change in ten takes at least as long as the slowest tenth says", "delay"),
        Readout("lag", "lag, frames to 63 %", "lag63", 1, 1, "",
                "Frames after a sudden change until the gate has gone 63 %"),
        Readout("disagreement", "longest disagreement", "disagreement", 1, 0, "",
                "Most frames in a row in which the class shown is another than the frame's own: what stays long is "
                "stuck"),
        Readout("jitter", "jitter of confidence", "jitter", 1, 3, "",
                "How much confidence trembles while nothing changes"),
        Readout("confident_errors", "confident errors", "sure_wrong", 1, 1, "",
                "Confident errors per 100 frames: the answer is wrong, and its confidence above 90 %",
                "confident_errors"),
        Readout("accuracy", "right answers", "accuracy", 100, 1, " %", "Frames whose answer is right", "accuracy",
                True),
        Readout("ece", "miscalibration (ECE)", "ece", 1, 3, "",
                "How far confidence is from the truth, debiased; the floor is what a perfect predictor would show"),
    )
}  # fmt: skip

NOTHING = OperatorMeasures(**{entry.name: math.nan for entry in fields(OperatorMeasures)})  # is measured yet
LATER = ("lag", "delay", "disagreement")  # the price of calm
PER_100 = ("excess_flips", "flips", "confident_errors")  # cards whose number is per 100 frames
MISSING = {  # why a card may have no number
    "lag": "not measurable (no step, or noise)",
    "delay": "not measurable: no new class is recognised",
}
NEEDS_LABELS = "not measurable without labels"


def shown_on(stream: ShownStream, goals: Goals) -> list[str]:
    """The ids of the cards that this stream has something to say for; a goal's card is there in any case."""
    changes = stream.labelled and stream.changing
    calm = "excess_flips" if changes else "flips"
    late = ["delay"] if changes else [*(["delay"] if goals.delay is not None else []), "lag"]
    if stream.drawn_severity is None and "lag" in late:
        late.remove("lag")
    right, judged = (["accuracy"], ["confident_errors", "ece"]) if stream.labelled else ([], [])
    return [calm, *late, *right, "disagreement", *judged, "jitter"]


def updates(
    ids: list[str],
    now: OperatorMeasures,
    before: OperatorMeasures,
    without: OperatorMeasures,
    pinned: tuple[str, OperatorMeasures] | None,
    frame_rate: float,
    goals: Goals,
) -> list[ReadoutUpdate]:
    """The cards' texts; `pinned`: the drawn pin's name and measures; `frame_rate` (frames/s) gives seconds."""
    out: list[ReadoutUpdate] = []
    for readout in (READOUTS[id] for id in ids):
        rest = [["previous setting", text(readout, before)]]
        if pinned is not None:
            rest.append([short(pinned[0], LONGEST_NAME), text(readout, pinned[1])])
        rest.append([f"{comparison(readout, now, without)}{WITHOUT_KNOB}", text(readout, without)])
        out.append({
            "id": readout.id, "now": text(readout, now), "beside": beside(readout, now, frame_rate), "rest": rest,
            "worse": worse(readout, now, without), "goal": judged(readout, now, goals),
            "why": why(now) if readout.id == "ece" else "",
        })  # fmt: skip
    return out


def beside(readout: Readout, now: OperatorMeasures, frame_rate: float) -> str:
    """What stands small after the number."""
    if readout.id in PER_100:
        return "per 100\nframes"
    if readout.id == "disagreement" and math.isfinite(now.disagreement):
        return "frames\nin a row"
    if readout.id == "ece" and math.isfinite(now.ece_floor):
        return f"floor {now.ece_floor:.3f}\n{fault(now)}".rstrip()
    if readout.id == "lag" and math.isfinite(now.lag63):
        return f"{now.lag63 / frame_rate:.2f} s"
    if readout.id == "delay" and math.isfinite(now.delay_median):
        return f"median {now.delay_median:.0f}\nslowest tenth {now.delay_90:.0f}"
    if readout.id in MISSING and now is not NOTHING and not math.isfinite(getattr(now, readout.field)):
        labelled = math.isfinite(now.accuracy)
        return MISSING[readout.id] if readout.id != "delay" or labelled else NEEDS_LABELS
    return ""


def judged(readout: Readout, now: OperatorMeasures, goals: Goals) -> GoalUpdate | None:
    """The card's goal; None where the read-out takes none. Its limit is None where none is set."""
    if not readout.goal:
        return None
    kind, limit = KINDS[readout.goal], getattr(goals, readout.goal)
    if limit is None:
        return {"limit": None, "verdict": "", "words": ""}
    asked = f"{'≥' if kind.at_least else '≤'} {kind.shown(limit)}"
    found = verdict(readout.goal, limit, float(getattr(now, kind.measure)))
    if not math.isfinite(found.value):
        cause = "nothing measured yet" if now is NOTHING else "not measurable here"
        return {"limit": kind.scale * limit, "verdict": "unknown", "words": f"{asked}: {cause}"}
    gap = f"{kind.scale * abs(found.value - limit):.{readout.digits + 1}f}".rstrip("0").rstrip(".") or "0"
    how = f"✓ met by {gap}" if found.met else f"✕ missed by {gap}"
    return {"limit": kind.scale * limit, "verdict": "met" if found.met else "missed", "words": f"{asked}: {how}"}


def fault(now: OperatorMeasures) -> str:
    """What is wrong with confidence, in two words; nothing where it is as good as so few frames can tell."""
    if not math.isfinite(now.ece) or now.ece < now.ece_floor + NOTABLE:
        return ""
    gap = now.confidence - now.accuracy
    if abs(gap) < 0.5 * now.ece:
        return "uneven"
    return "too sure" if gap > 0 else "too modest"


def why(now: OperatorMeasures) -> str:
    """What it says and what it keeps; nothing where nothing is wrong."""
    if fault(now) == "uneven":
        return "sure here, modest there"
    return f"says {100 * now.confidence:.0f} %, is right {100 * now.accuracy:.0f} %" if fault(now) else ""


def text(readout: Readout, measures: OperatorMeasures) -> str:
    """The number as it is shown; a dash where there is none."""
    value = getattr(measures, readout.field) * readout.scale
    return f"{value:.{readout.digits}f}{readout.unit}" if math.isfinite(value) else "–"


def worse(readout: Readout, now: OperatorMeasures, without: OperatorMeasures) -> bool:
    """By more than 5 % of what it is without Knob; what takes time by its nature never counts as worse."""
    return readout.id not in LATER and loses(readout, now, without)


def loses(readout: Readout, now: OperatorMeasures, without: OperatorMeasures) -> bool:
    """It is on the bad side of what it is without Knob, by more than 5 %."""
    a, b = getattr(now, readout.field), getattr(without, readout.field)
    loss = (b - a) if readout.more_is_better else (a - b)
    return bool(loss > 0.05 * abs(b))


def comparison(readout: Readout, now: OperatorMeasures, without: OperatorMeasures) -> str:
    """The words before "without Knob" where the number is on the bad side of it."""
    if readout.id == "disagreement" or not loses(readout, now, without):
        return ""
    return "later than " if readout.id in LATER else "worse than "
