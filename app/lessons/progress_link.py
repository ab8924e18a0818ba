"""Progress through the lessons, as evidence: where the knobs stood when the goals were met.

A link carries the knob positions, not the claim: whoever opens it, the goals are checked again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from app.lessons import LESSONS

Evidence = dict[str, dict[str, float]]  # lesson -> knob positions that meet its goals
MOST = 1000  # characters of a link that are looked at


def write(done: Mapping[str, Mapping[str, float]]) -> str:
    """`ring_0.2_0.4-critical_1_0.4`: lessons in order, knob positions in the order of the knobs."""
    parts = []
    for id, lesson in LESSONS.items():
        if id in done:
            parts.append("_".join([id, *(f"{done[id][knob['id']]:.6g}" for knob in lesson.knobs)]))
    return "-".join(parts)


def read(text: str) -> tuple[Evidence, list[str]]:
    """What a link proves, and what in it does not hold."""
    done: Evidence = {}
    problems = []
    for part in text[:MOST].split("-") if text else []:
        id, *numbers = part.split("_")
        lesson = LESSONS.get(id)
        if lesson is None:
            problems.append(f"lessons: {id[:24]!r} in the link is unknown")
            continue
        try:
            found = [float(number) for number in numbers]
        except ValueError:
            found = []
        if len(found) != len(lesson.knobs) or not all(math.isfinite(value) for value in found):
            problems.append(f"lessons: {id!r} in the link needs {len(lesson.knobs)} numbers")
            continue
        values = lesson.held(dict(zip((knob["id"] for knob in lesson.knobs), found, strict=True)))
        if lesson.done(values):
            done[id] = values
        else:
            problems.append(f"lessons: the knob positions in the link do not meet the goals of {lesson.title!r}")
    return done, problems
