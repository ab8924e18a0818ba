"""Model answers, for teachers: `python -m app.lessons.model_answers [NUMBER]` prints one way to do each lesson.

One way, not the only one: most lessons have a whole region of right answers. docs/teaching_answers.md says how to get
there by thinking. No page imports this file.
"""

from __future__ import annotations

import cmath
import math
import sys
from collections.abc import Callable
from typing import Any

from app.lessons import FAMILIES, course, summary
from app.lessons.lesson_state import clean_student

Answer = dict[str, float]
MODEL_ANSWERS: dict[str, Callable[[Any], Answer]] = {}  # lesson id: from the numbers of a variant


def of_lesson(answer: Callable[[Any], Answer]) -> Callable[[Any], Answer]:
    """Register an answer; its name is the lesson's id."""
    MODEL_ANSWERS[answer.__name__] = answer
    return answer


@of_lesson
def ring(n: Any) -> Answer:
    """Overshoot = exp(-π ζ / √(1 - ζ²)), solved for ζ in the middle of what is wanted."""
    log = math.log((n.low + n.high) / 200)
    return {"zeta": -log / math.hypot(math.pi, log), "omega_n": 0.4}


@of_lesson
def critical(n: Any) -> Answer:
    """98 % are made at ωₙ t = 5.834."""
    return {"zeta": 1.0, "omega_n": 5.834 / n.frames}


@of_lesson
def speed(n: Any) -> Answer:
    """At ζ = 0.7, 90 % are made at ωₙ t = 2.6."""
    return {"zeta": 0.7, "omega_n": 2.6 / (n.fps * n.seconds)}


@of_lesson
def poles(n: Any) -> Answer:
    """s = 2 (z - 1) / (z + 1);  ωₙ = |s|, ζ = -cos(arg s)."""
    s = 2 * (n.aim - 1) / (n.aim + 1)
    return {"zeta": -math.cos(cmath.phase(s)), "omega_n": abs(s)}


@of_lesson
def resonance(n: Any) -> Answer:
    """Little damping, and the lamp's own frequency."""
    return {"zeta": 0.1, "omega_n": 2 * math.pi / n.period}


@of_lesson
def lowpass(n: Any) -> Answer:
    """The geometric middle of the two."""
    return {"zeta": 0.7, "omega_n": 2 * math.pi / math.sqrt(n.drift * n.flicker)}


@of_lesson
def fogbank(n: Any) -> Answer:
    """As calm as the allowed lag lets it be."""
    return {"zeta": 0.7, "omega_n": {3.5: 0.5, 4: 0.36, 5: 0.3, 6: 0.25, 7: 0.24}[n.lag]}


@of_lesson
def aliasing(n: Any) -> Answer:
    """Half a hertz beside the lamp."""
    return {"frame_rate": n.lamp + 0.5, "zeta": 0.7, "omega_n": 0.4}


@of_lesson
def pumping(n: Any) -> Answer:
    """Found by trying; a longer rhythm for a slower knob."""
    rhythm, zeta = {0.6: (8, 0.08), 0.3: (7, 0.05), 1.0: (2, 0.17), 0.2: (11, 0.05), 0.45: (5, 0.13)}[n.omega_n]
    return {"rhythm": rhythm, "zeta": zeta}


@of_lesson
def calm(n: Any) -> Answer:
    """Over-damped, and as slow as the delay allows."""
    return {"zeta": 1.3, "omega_n": {0: 0.78, 3: 0.87, 4: 0.5, 5: 1.15, 1: 0.44}[n.streams]}


@of_lesson
def attention(n: Any) -> Answer:
    """Found by trying: slow, and all ears."""
    b, omega_n = {0: (3, 0.2), 1: (4, 0.05), 3: (1, 0.316), 4: (2, 0.2), 5: (1.5, 0.2)}[n.streams]
    return {"attention": b, "omega_n": omega_n}


@of_lesson
def rivals(n: Any) -> Answer:
    """Found by trying: it differs from set to set."""
    return {"zeta": 0.31, "omega_n": {0: 0.351, 5: 0.289, 3: 0.196, 4: 0.196, 1: 0.161}[n.streams]}


@of_lesson
def third(n: Any) -> Answer:
    """Three poles of equal weight; ωₙ from the allowed lag."""
    return {"third": 1.0, "zeta": 0.55, "omega_n": 2.48 / n.lag}


def model_answer(id: str, student: str = "") -> Answer:
    """One way to do a lesson in a student's variant, as a dial shows it: four digits."""
    family = FAMILIES[id]
    found = MODEL_ANSWERS[id](family.variants[family.place(student)])
    return {name: float(f"{value:.4g}") for name, value in found.items()}


def main(arguments: list[str]) -> None:
    student = clean_student(arguments[0]) if arguments else ""
    print(f"number {student or '(none)'}")
    for i, (id, lesson) in enumerate(course(student).items(), 1):
        answer = model_answer(id, student)
        print(f"{i:2}. {lesson.title}: {summary.positions(lesson, answer)}\n    {summary.goals_met(lesson, answer)}")


if __name__ == "__main__":
    main(sys.argv[1:])
