"""One visitor's lessons: where the dials stand, and what was done. No Streamlit in here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.desk import whole
from app.lessons import LESSONS, Goal, Lesson
from app.lessons.progress import Evidence


def _starts() -> Evidence:
    return {id: dict(lesson.start) for id, lesson in LESSONS.items()}


@dataclass
class Book:
    """Survives changes of page and of lesson."""

    done: Evidence = field(default_factory=dict)
    values: Evidence = field(default_factory=_starts)
    epoch: dict[str, int] = field(default_factory=lambda: dict.fromkeys(LESSONS, 0))  # raised when Python moves a dial
    seq: dict[str, int] = field(default_factory=lambda: dict.fromkeys(LESSONS, 0))  # the last hand that was taken

    def __post_init__(self) -> None:
        for id, values in self.done.items():  # a link shows what it proves
            self.values[id] = dict(values)

    def take(self, lesson: Lesson, hand: object) -> bool:
        """What the hand did, clamped; True where it has let go. Hands of another epoch are stale."""
        if not isinstance(hand, Mapping) or hand.get("epoch") != self.epoch[lesson.id]:
            return False
        self.values[lesson.id] = lesson.held(hand)
        self.seq[lesson.id] = whole(hand.get("seq"), self.seq[lesson.id])
        return bool(hand.get("done", False))

    def check(self, lesson: Lesson, goals: tuple[Goal, ...]) -> bool:
        """Note that a lesson was done, if it was; True the first time."""
        if lesson.id in self.done or not all(goal.met for goal in goals):
            return False
        self.done[lesson.id] = dict(self.values[lesson.id])
        return True

    def again(self, id: str) -> None:
        """Put a lesson's dials back to where they began; what was done stays done."""
        self.values[id] = dict(LESSONS[id].start)
        self.epoch[id] += 1
        self.seq[id] = 0

    def next(self) -> str:
        """The first lesson that is not done."""
        return next((id for id in LESSONS if id not in self.done), next(iter(LESSONS)))


def goal_cards(goals: tuple[Goal, ...]) -> list[dict[str, Any]]:
    """The goals as the sheet's cards."""
    return [
        {
            "id": f"goal{i}",
            "label": goal.words,
            "now": f"✓ {goal.now}" if goal.met else goal.now,
            "rest": [],
            "help": "A goal of this lesson; all must be met at once, with the hand off the dial",
            "mood": "good" if goal.met else "",
        }
        for i, goal in enumerate(goals)
    ]
