"""What a lesson is: one idea, one thing to do on a live figure, and goals that notice when it was done.

A lesson is data and two pure functions of where its knobs stand: `goals` (the check) and `figures` (what is seen).
No Streamlit in here: pages place it, tests run it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.widgets.untrusted import clamp

Values = Mapping[str, float]


@dataclass(frozen=True)
class Goal:
    """One condition of a lesson's check, with the number that it looks at."""

    words: str  # what is wanted
    now: str  # what there is
    met: bool


@dataclass(frozen=True)
class Lesson:
    """One step of the path."""

    id: str
    title: str
    short: str  # the title on a button
    idea: str  # words first, a few sentences
    equation: str  # LaTeX
    plain: str  # the same equation where LaTeX is not rendered
    units: str  # what the letters are, and in what units
    task: str  # the one thing to do
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
