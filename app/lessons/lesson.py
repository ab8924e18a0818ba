"""What a lesson is: texts (`ID.md`), and two pure functions of where its knobs stand: `goals` and `figures`.

Every lesson comes in variants, which differ in their numbers; a student's number chooses one (`Family.of`).
No Streamlit in here: pages place it, tests run it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.lessons import prose
from app.widgets.untrusted import clamp

Values = Mapping[str, float]


@dataclass(frozen=True)
class Goal:
    """One condition of a lesson's check, with the number that it looks at."""

    words: str  # what is wanted
    now: str  # what there is
    met: bool


@dataclass(frozen=True)
class Lesson(prose.Prose):
    """One step of the course, with the numbers of one variant."""

    id: str
    knobs: tuple[dict[str, Any], ...]
    start: dict[str, float]  # where the knobs stand at first: a place at which the goals are not met
    goals: Callable[[Values], tuple[Goal, ...]]
    figures: Callable[[Values], list[dict[str, Any]]]

    def done(self, values: Values) -> bool:
        """The check: every goal is met here."""
        return all(goal.met for goal in self.goals(values))

    def held(self, values: Mapping[str, object]) -> dict[str, float]:
        """Knob values from outside, each held within its knob's range; `start` where it is no number."""
        return {
            knob["id"]: clamp(values.get(knob["id"]), (knob["low"], knob["high"]), self.start[knob["id"]])
            for knob in self.knobs
        }


@dataclass(frozen=True)
class Family:
    """All variants of one lesson: a table of numbers, and what is computed of one row of it."""

    id: str
    variants: tuple[Any, ...]  # NamedTuples; the first is for everybody who has no number
    knobs: tuple[dict[str, Any], ...]
    start: dict[str, float]
    goals: Callable[[Any, Values], tuple[Goal, ...]]
    figures: Callable[[Any, Values], list[dict[str, Any]]]
    words: Callable[[Any], dict[str, object]] = lambda numbers: {}  # what the texts name beside the row's own numbers

    def build(self, numbers: Any) -> Lesson:
        """The lesson with these numbers."""
        texts = prose.read(self.id, {**numbers._asdict(), **self.words(numbers)})
        return Lesson(
            **vars(texts), id=self.id, knobs=self.knobs, start=dict(self.start),
            goals=partial(self.goals, numbers), figures=partial(self.figures, numbers),
        )  # fmt: skip

    def of(self, student: str) -> Lesson:
        """The variant of a student's number; the same for ever, on every machine."""
        return self.build(self.variants[self.place(student)])

    def place(self, student: str) -> int:
        """Which row of the table."""
        if not student:
            return 0
        digest = hashlib.sha256(f"{student}/{self.id}".encode()).digest()
        return int.from_bytes(digest[:4], "big") % len(self.variants)
