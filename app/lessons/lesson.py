"""What a lesson is: a learning goal, a prediction, one thing to do on a live figure, and why it came out so.

A lesson is data and two pure functions of where its knobs stand: `goals` (the check) and `figures` (what is seen).
Every lesson comes in variants, which differ in their numbers; a student's number chooses one (`Family.of`).
No Streamlit in here: pages place it, tests run it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.widgets.untrusted import clamp

Values = Mapping[str, float]
MOST = 1e9  # a predicted number is not larger


@dataclass(frozen=True)
class Goal:
    """One condition of a lesson's check, with the number that it looks at."""

    words: str  # what is wanted
    now: str  # what there is
    met: bool


@dataclass(frozen=True)
class Prediction:
    """A question that is answered before a knob is touched: one of several choices, or a number."""

    question: str
    right: float  # place of the right choice, or the number
    why: str  # told when the lesson was done
    choices: tuple[str, ...] = ()  # none: a number is asked for
    unit: str = ""  # of the number
    within: float = 0.0  # how far off a number still counts as right

    def is_right(self, given: float) -> bool:
        """A prediction is never marked; it is compared."""
        return abs(given - self.right) <= self.within

    def held(self, given: object) -> float | None:
        """A prediction from outside, None where it is none."""
        value = clamp(given, (-1.0, MOST), -1.0)
        allowed = value in range(len(self.choices)) if self.choices else value >= 0
        return value if allowed else None

    def words(self, given: float) -> str:
        """A prediction as it is printed."""
        return self.choices[int(given)] if self.choices else f"{given:g} {self.unit}".strip()


@dataclass(frozen=True)
class Lesson:
    """One step of the course, with the numbers of one variant."""

    id: str
    title: str
    short: str  # the title on a button
    minutes: int  # what a first reader needs
    aim: str  # the learning goal: after "After this lesson you can"
    idea: str  # words first, a few sentences
    equation: str  # LaTeX
    plain: str  # the same equation where LaTeX is not rendered
    units: str  # what the letters are, and in what units
    validity: str  # where the equation holds, and how the sampled plot differs from it
    prediction: Prediction
    task: str  # the one thing to do
    hints: tuple[str, ...]  # opened one by one
    meaning: str  # what it means for the model, told when it was done
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
    """All variants of one lesson: a table of numbers, and what makes a lesson of one row."""

    id: str
    variants: tuple[Any, ...]  # the first is for everybody who has no number
    build: Callable[[Any], Lesson]

    def of(self, student: str) -> Lesson:
        """The variant of a student's number; the same for ever, on every machine."""
        return self.build(self.variants[self.place(student)])

    def place(self, student: str) -> int:
        """Which row of the table."""
        if not student:
            return 0
        digest = hashlib.sha256(f"{student}/{self.id}".encode()).digest()
        return int.from_bytes(digest[:4], "big") % len(self.variants)
