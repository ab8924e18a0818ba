"""The state of one visitor's lessons: where the knobs stand, and what was done. No Streamlit in here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.lessons import LESSONS, Goal, Lesson
from app.lessons.progress_link import Evidence
from app.widgets.untrusted import whole


def _starts() -> Evidence:
    return {id: dict(lesson.start) for id, lesson in LESSONS.items()}


@dataclass
class LessonState:
    """Survives changes of page and of lesson."""

    done: Evidence = field(default_factory=dict)
    values: Evidence = field(default_factory=_starts)
    epoch: dict[str, int] = field(default_factory=lambda: dict.fromkeys(LESSONS, 0))  # raised when Python moves a knob
    seq: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(LESSONS, 0)
    )  # sequence number of the last message that was taken

    def __post_init__(self) -> None:
        for id, values in self.done.items():  # a link shows what it proves
            self.values[id] = dict(values)

    def take(self, lesson: Lesson, controls: object) -> bool:
        """Take reported knob positions, clamped; True where no knob is held. Those of an outdated epoch are ignored."""
        if not isinstance(controls, Mapping) or controls.get("epoch") != self.epoch[lesson.id]:
            return False
        self.values[lesson.id] = lesson.held(controls)
        self.seq[lesson.id] = whole(controls.get("seq"), self.seq[lesson.id])
        return bool(controls.get("released", False))

    def check(self, lesson: Lesson, goals: tuple[Goal, ...]) -> bool:
        """Note that a lesson was done, if it was; True the first time."""
        if lesson.id in self.done or not all(goal.met for goal in goals):
            return False
        self.done[lesson.id] = dict(self.values[lesson.id])
        return True

    def again(self, id: str) -> None:
        """Put a lesson's knobs back to where they began; what was done stays done."""
        self.values[id] = dict(LESSONS[id].start)
        self.epoch[id] += 1
        self.seq[id] = 0

    def next(self) -> str:
        """The first lesson that is not done."""
        return next((id for id in LESSONS if id not in self.done), next(iter(LESSONS)))


def goal_cards(goals: tuple[Goal, ...]) -> list[dict[str, Any]]:
    """The goals as cards of the figure sheet."""
    return [
        {
            "id": f"goal{i}",
            "label": goal.words,
            "now": f"✓ {goal.now}" if goal.met else goal.now,
            "rest": [],
            "help": "A goal of this lesson; all must be met at once, with no knob held",
            "mood": "good" if goal.met else "",
        }
        for i, goal in enumerate(goals)
    ]
