"""Progress through the lessons, as evidence: where the knobs stood when the goals were met, and what was predicted.

A link carries the knob positions, not the claim: whoever opens it, the goals are checked again. Lessons are parted by
"-", the parts of one by "_": its id, one number a knob, p and the prediction, t and the minute (since 1970) of success.
    ring_0.25_0.4_p1_t29389560-critical_p1
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from app.lessons import Lesson

MOST = 2000  # characters of a link that are looked at


@dataclass(frozen=True)
class Done:
    """A lesson that was done."""

    values: dict[str, float]  # knob positions that meet its goals
    minute: int = 0  # since 1970; 0: unknown


@dataclass(frozen=True)
class Progress:
    """What was done and what was predicted, by lesson."""

    done: dict[str, Done] = field(default_factory=dict)
    predicted: dict[str, float] = field(default_factory=dict)


def write(progress: Progress, lessons: Mapping[str, Lesson]) -> str:
    """Lessons in order, knob positions in the order of the knobs."""
    parts = []
    for id, lesson in lessons.items():
        words = [id]
        if id in progress.done:
            words += [f"{progress.done[id].values[knob['id']]:.6g}" for knob in lesson.knobs]
        if id in progress.predicted:
            words.append(f"p{progress.predicted[id]:.6g}")
        if id in progress.done and progress.done[id].minute:
            words.append(f"t{progress.done[id].minute}")
        if len(words) > 1:
            parts.append("_".join(words))
    return "-".join(parts)


def read(text: str, lessons: Mapping[str, Lesson]) -> tuple[Progress, list[str]]:
    """What a link proves, and what in it does not hold."""
    found = Progress()
    problems = []
    for part in text[:MOST].split("-") if text else []:
        id, *words = part.split("_")
        lesson = lessons.get(id)
        if lesson is None:
            problems.append(f"lessons: {id[:24]!r} in the link is unknown")
            continue
        given = next((lesson.prediction.held(word[1:]) for word in words if word.startswith("p")), None)
        if given is not None:
            found.predicted[id] = given
        minute = next((word[1:] for word in words if word.startswith("t")), "")
        numbers = [_number(word) for word in words if word[:1] not in ("p", "t")]
        if not numbers and given is not None:
            continue
        if len(numbers) != len(lesson.knobs) or not all(math.isfinite(value) for value in numbers):
            problems.append(f"lessons: {id!r} in the link needs {len(lesson.knobs)} numbers")
            continue
        values = lesson.held(dict(zip((knob["id"] for knob in lesson.knobs), numbers, strict=True)))
        if lesson.done(values):
            found.done[id] = Done(
                values, int(minute) if minute.isascii() and minute.isdigit() and len(minute) < 10 else 0
            )
        else:
            problems.append(f"lessons: the knob positions in the link do not meet the goals of {lesson.title!r}")
    return found, problems


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return math.nan
