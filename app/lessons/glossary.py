"""The words that lessons use, explained once. A lesson shows those that occur in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from app.lessons.lesson import Lesson

GLOSSARY = {  # a word as it occurs (a pattern), the word as it is listed, what it means
    r"\bframes?\b": ("frame", "one picture of the camera; time is counted in frames"),
    r"\bgate\b": ("gate", "the slider between two ways of looking at a picture: 0 is the robust one, 1 the sharp one"),
    r"\bbranch(es)?\b": ("branch", "one of the two ways of looking, a part of the network that gives its own answer"),
    r"\bcommand\b": ("command, u\\*", "where the program wants the gate to be, newly said with every frame"),
    r"\b(a|the) step\b": ("step", "a sudden jump of the command; in a figure 0 is where it was, 1 where it is now"),
    r"\bdamp(ing|ed)\b": ("damping, ζ", "how strongly the movement is braked; ζ is the Greek letter zeta"),
    r"\bωₙ": (
        "natural frequency, ωₙ",
        "how fast the spring pulls, in radians per frame: larger is quicker; ω is the Greek letter omega",
    ),
    r"\bovershoots?\b": ("overshoot", "how far a movement passes its target, in percent of the way"),
    r"\brises\b": ("rises in", "the time from 10 to 90 % of the way to a new level"),
    r"\blogits?\b": (
        "logit",
        "the scale on which a network computes: 0 is undecided, +2 fairly sure, −2 fairly sure not",
    ),
    r"\bpoles?\b": ("pole", "a number that says how a movement dies away and how fast it swings meanwhile"),
    r"\bgain\b": ("gain", "how many times larger a swing comes out than it went in"),
    r"\bdB\b": ("dB, decibel", "a ratio counted in powers: 0 dB is all of it, −20 dB a tenth, −40 dB a hundredth"),
    r"\bdecade\b": ("decade", "a factor of ten in frequency"),
    r"\blag\b": ("lag", "frames until the gate has gone 63 % of the way after a change"),
    r"\btrembl(es|ing)\b": ("trembling", "the mean change from one frame to the next while nothing really changes"),
    r"\binertia\b": ("inertia", "that the gate, or an answer, cannot jump but has to move there"),
    r"\bEMA\b": ("EMA", "exponential moving average: each new value moves it a fixed share of the way"),
    r"\bmemory\b": ("memory", "what the pictures have shown so far; it follows each frame's answer as a spring does"),
    r"\bcuts?\b": ("cut", "the moment when the stream shows another picture"),
    r"\bnats\b": ("nat", "a unit of evidence: 1 nat makes something 2.7 times as likely as before, 2.3 nats ten times"),
    r"\bz-plane\b": ("z-plane", "a map of the poles for a movement in frames; inside the circle it dies away"),
    r"\bexcess flips?\b": (
        "excess flips",
        "changes of the answer that no change of the picture explains, per 100 frames",
    ),
    r"\bdelay\b": (
        "delay",
        "frames after a cut until the new answer is shown and stays; here the mean over all cuts. The console says "
        "*frames to a new class*",
    ),
}
REGIMES = (
    (
        "under-damped, critical, over-damped",
        "ζ below 1: it overshoots; ζ = 1: as quick as it can be without; above 1: it creeps to its target",
    ),
)


def words(lesson: Lesson) -> list[tuple[str, str]]:
    """(word, meaning) of all that occur in a lesson's own texts or beside its dials, in the glossary's order."""
    both = {"zeta", "omega_n"} <= {knob["id"] for knob in lesson.knobs}
    text = " ".join(texts(lesson)) + (" rises overshoots" if both else "")
    found = [entry for pattern, entry in GLOSSARY.items() if re.search(pattern, text)]
    return found + list(REGIMES if both else ())


def texts(lesson: Lesson) -> list[str]:
    """Everything that a lesson says before it is done, but for its equation."""
    goals = [goal.words for goal in lesson.goals(lesson.start)]
    drawn = [
        words for figure in lesson.figures(lesson.start) for words in (figure["title"], figure["note"], *axes(figure))
    ]
    asked = [lesson.prediction.question, *lesson.prediction.choices]
    return [lesson.aim, lesson.idea, lesson.units, lesson.task, *lesson.hints, *asked, *goals, *drawn]


def axes(figure: Mapping[str, Any]) -> list[str]:
    """The words beside a figure's axes."""
    parts = [part for name, part in figure["figure"]["layout"].items() if "axis" in name]
    return [part["title"]["text"] for part in parts if "title" in part]
