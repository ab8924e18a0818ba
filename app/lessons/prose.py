"""The texts of a lesson: `ID.md`, one section each, with numbers of the variant as {name} or {name:.2f}.

# Title, then `short title, 8 minutes`; ## Aim, Idea, Equation (LaTeX, then without), Units, Where it holds, Predict,
Why, Do, Hints, What it means. Under Predict stand the choices, `- [x]` before the right one, or `In s: {right}, within
0.1.` where a number is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.widgets.untrusted import clamp

FOLDER = Path(__file__).parent
MOST = 1e9  # a predicted number is not larger


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
class Prose:
    """All texts, filled with the numbers of one variant."""

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


def read(id: str, numbers: Mapping[str, object]) -> Prose:
    """The texts of a lesson with these numbers; lessons on change streams share `{streams_are}`."""
    sections = _sections(id)
    numbers = {"streams_are": _line((FOLDER / "streams.md").read_text("utf-8")), **numbers}
    said = {name: body.format_map(numbers) for name, body in sections.items() if name not in ("", "Equation")}
    head = re.fullmatch(r"# (.+)\n\n(.+), (\d+) minutes\s*", sections[""])
    equation = re.fullmatch(r"\s*\$\$ (.+) \$\$\n\n(.+?)\s*", sections["Equation"])
    assert head and equation, f"{id}.md begins with title, short title and minutes, and its equation stands twice"
    lines = {name: _line(body) for name, body in said.items()}
    return Prose(
        head[1], head[2], int(head[3]), lines["Aim"], lines["Idea"], equation[1], equation[2], lines["Units"],
        lines["Where it holds"], _prediction(said["Predict"], lines["Why"]), lines["Do"], tuple(_items(said["Hints"])),
        lines["What it means"],
    )  # fmt: skip


@cache
def _sections(id: str) -> dict[str, str]:
    """{heading: body}; what stands before the first heading is under ""."""
    head, *rest = re.split(r"^## (.+)\n", (FOLDER / f"{id}.md").read_text("utf-8"), flags=re.MULTILINE)
    return {"": head, **dict(zip(rest[::2], rest[1::2], strict=True))}


def _prediction(body: str, why: str) -> Prediction:
    question, answer = body.strip().rsplit("\n\n", 1)
    if number := re.fullmatch(r"In (\S+): (\S+), within (\S+)\.", answer):
        return Prediction(_line(question), float(number[2]), why, unit=number[1], within=float(number[3]))
    choices = _items(answer)
    right = [choice.startswith("[x] ") for choice in choices]
    return Prediction(_line(question), right.index(True), why, tuple(choice[4:] for choice in choices))


def _items(body: str) -> list[str]:
    return [_line(item) for item in re.split(r"^- ", body, flags=re.MULTILINE)[1:]]


def _line(body: str) -> str:
    return " ".join(body.split())
