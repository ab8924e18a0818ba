"""The state of one visitor's lessons: whose they are, where the knobs stand, what was done. No Streamlit in here."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.lessons import FAMILIES, Goal, Lesson, course
from app.lessons.progress_link import Done, Progress
from app.widgets.untrusted import whole

MOST_NUMBERS = 50  # of students whose progress is kept in one session


def clean_student(text: str) -> str:
    """A student's number as it is used: letters, digits, dot, dash and @, 32 at most."""
    return re.sub(r"[^A-Za-z0-9.@-]", "", text)[:32]


def clean_name(text: str) -> str:
    """A name as it is printed: one line of 80 characters at most, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:80].strip()


@dataclass
class LessonState:
    """Survives changes of page and of lesson."""

    student: str = ""  # the number that chooses the variants; "": the first of each
    name: str = ""
    done: dict[str, Done] = field(default_factory=dict)
    predicted: dict[str, float] = field(default_factory=dict)
    starts: dict[str, dict[str, float]] = field(default_factory=dict)  # dials that an assignment begins with
    values: dict[str, dict[str, float]] = field(default_factory=dict)
    hints: dict[str, int] = field(default_factory=dict)  # how many are open
    kept: dict[str, Progress] = field(default_factory=dict)  # by number: what was done before another one was typed
    opened_again: int = 0  # lessons that were done before the last change of the number, and are not done under it
    epoch: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FAMILIES, 0))  # raised when Python moves a knob
    seq: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(FAMILIES, 0)
    )  # sequence number of the last message that was taken

    def __post_init__(self) -> None:
        for id in FAMILIES:  # a link shows what it proves
            self.values[id] = dict(self.done[id].values) if id in self.done else self.start(id)

    @property
    def lessons(self) -> dict[str, Lesson]:
        """The course in this student's variants."""
        return course(self.student)

    @property
    def progress(self) -> Progress:
        """What a link keeps."""
        return Progress(self.done, self.predicted)

    def start(self, id: str) -> dict[str, float]:
        """Where a lesson's knobs begin."""
        return {**self.lessons[id].start, **self.starts.get(id, {})}

    def be(self, student: str) -> None:
        """Another student's number: other numbers, so what was done must hold under them, or it is open again.

        Nothing is lost: the former number brings its progress back.
        """
        if student == self.student:
            return
        self.kept[self.student] = before = self.progress
        if len(self.kept) > MOST_NUMBERS:
            self.kept.pop(next(iter(self.kept)))
        self.student, known = student, self.kept.get(student, Progress())
        hold = {id: done for id, done in before.done.items() if self.lessons[id].done(done.values)}
        guessed = {id: given for id, given in before.predicted.items() if id in hold}
        self.done, self.predicted = {**hold, **known.done}, {**guessed, **known.predicted}
        self.opened_again = len(set(before.done) - set(self.done))
        for id in FAMILIES:
            self.again(id)

    def take(self, lesson: Lesson, controls: object, hidden: Collection[str] = ()) -> bool:
        """Take reported knob positions, clamped; True where no knob is held. Those of an outdated epoch are ignored."""
        if not isinstance(controls, Mapping) or controls.get("epoch") != self.epoch[lesson.id]:
            return False
        shown = {name: value for name, value in controls.items() if name not in hidden}
        self.values[lesson.id] = lesson.held({**self.values[lesson.id], **shown})
        self.seq[lesson.id] = whole(controls.get("seq"), self.seq[lesson.id])
        return bool(controls.get("released", False))

    def predict(self, lesson: Lesson, given: object) -> None:
        """Note a prediction, if it is one; the first counts."""
        held = lesson.prediction.held(given)
        if held is not None:
            self.predicted.setdefault(lesson.id, held)

    def check(self, lesson: Lesson, goals: tuple[Goal, ...], now: float | None = None) -> bool:
        """Note that a lesson was done, if it was; True the first time. `now` is in seconds, as time.time()."""
        if lesson.id in self.done or not all(goal.met for goal in goals):
            return False
        minute = int((time.time() if now is None else now) // 60)
        self.done[lesson.id] = Done(dict(self.values[lesson.id]), minute)
        return True

    def again(self, id: str) -> None:
        """Put a lesson's knobs back to where they began; what was done stays done."""
        self.values[id] = self.start(id)
        self.epoch[id] += 1
        self.seq[id] = 0

    def next(self) -> str:
        """The first lesson that is not done."""
        return next((id for id in FAMILIES if id not in self.done), next(iter(FAMILIES)))


def goal_cards(goals: tuple[Goal, ...]) -> list[dict[str, Any]]:
    """The goals as cards of the figure sheet."""
    return [
        {
            "id": f"goal{i}",
            "label": f"goal: {goal.words}",
            "now": f"✓ {goal.now}" if goal.met else goal.now,
            "rest": [],
            "help": "A goal of this lesson; all must be met at once, with no knob held",
            "mood": "good" if goal.met else "",
        }
        for i, goal in enumerate(goals)
    ]
