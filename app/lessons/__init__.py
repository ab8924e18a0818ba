"""The course: lessons in order, each in variants that a student's number chooses. A registry is a dict."""

from functools import lru_cache

from app.lessons import (
    aliasing,
    attention,
    calm,
    critical,
    fogbank,
    lowpass,
    poles,
    pumping,
    resonance,
    ring,
    rivals,
    speed,
    third,
)
from app.lessons.lesson import Family, Goal, Lesson
from app.lessons.prose import Prediction

__all__ = ["FAMILIES", "Goal", "Lesson", "Prediction", "course"]

FAMILIES: dict[str, Family] = {
    module.FAMILY.id: module.FAMILY
    for module in (
        ring,
        critical,
        speed,
        poles,
        resonance,
        lowpass,
        fogbank,
        aliasing,
        pumping,
        calm,
        attention,
        rivals,
        third,
    )
}


@lru_cache(maxsize=256)
def course(student: str = "") -> dict[str, Lesson]:
    """All lessons in the variants of a student's number; "" has the first of each."""
    return {id: family.of(student) for id, family in FAMILIES.items()}
