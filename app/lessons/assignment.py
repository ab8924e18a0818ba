"""An assignment: a link that opens a chosen lesson in a chosen dial state, with chosen controls hidden.

    lessons?lesson=fogbank&dials=1_0.3&hide=zeta,equation&student=4711&embed=true
`dials` has one number a knob, in the lesson's order; `hide` takes ids of knobs, which then stay where they are, and the
parts below. `embed` is Streamlit's own: the lesson is shown alone, for a frame in a course page.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from app.lessons import Lesson

PARTS = {
    "prediction": "the prediction",
    "equation": "the equation",
    "hints": "the hints",
    "course": "the other lessons",
    "class": "name, number and summary",
}


@dataclass(frozen=True)
class Assignment:
    """What a link asks for."""

    dials: dict[str, float]  # where the knobs begin; empty: where the lesson says
    hidden: frozenset[str]  # ids of knobs and of PARTS

    def knobs(self, lesson: Lesson) -> list[dict]:
        """The knobs that are shown."""
        return [knob for knob in lesson.knobs if knob["id"] not in self.hidden]


def read(dials: str, hide: str, lesson: Lesson) -> tuple[Assignment, list[str]]:
    """A link's words, and what in them could not be used."""
    problems: list[str] = []
    return Assignment(_dials(dials, lesson, problems), _hidden(hide, lesson, problems)), problems


def _dials(text: str, lesson: Lesson, problems: list[str]) -> dict[str, float]:
    if not text:
        return {}
    try:
        numbers = [float(word) for word in text[:200].split("_")]
    except ValueError:
        numbers = []
    if len(numbers) != len(lesson.knobs) or not all(map(math.isfinite, numbers)):
        problems.append(
            f"dials = {text[:24]!r} in the link: {lesson.title!r} needs {len(lesson.knobs)} numbers, parted by _"
        )
        return {}
    return lesson.held(dict(zip((knob["id"] for knob in lesson.knobs), numbers, strict=True)))


def _hidden(text: str, lesson: Lesson, problems: list[str]) -> frozenset[str]:
    words = [word for word in text[:200].split(",") if word]
    ids = {knob["id"] for knob in lesson.knobs}
    unknown = [word for word in words if word not in ids and word not in PARTS]
    if unknown:
        allowed = ", ".join([*sorted(ids), *PARTS])
        problems.append(f"hide = {unknown[0][:24]!r} in the link is unknown, expected some of {allowed}")
    if ids <= set(words):
        problems.append("hide has every knob of the lesson; one at least must be left to turn, so all are shown")
        words = [word for word in words if word not in ids]
    return frozenset(words) - set(unknown)


def write(
    lesson: Lesson, dials: Mapping[str, float], hidden: Collection[str], student: str = "", embed: bool = False
) -> str:
    """The part of the address after the question mark."""
    query = {"lesson": lesson.id}
    if any(dials[id] != value for id, value in lesson.start.items()):
        query["dials"] = "_".join(f"{dials[knob['id']]:.6g}" for knob in lesson.knobs)
    if hidden:
        query["hide"] = ",".join(sorted(hidden))
    if student:
        query["student"] = student
    if embed:
        query["embed"] = "true"
    return urlencode(query, safe=",@")
