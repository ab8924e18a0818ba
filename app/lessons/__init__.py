"""A teacher's path through the analogy: nine lessons, in order. A registry is a dict."""

from app.lessons import aliasing, critical, fogbank, lowpass, poles, pumping, resonance, ring, speed
from app.lessons.lesson import Goal, Lesson

__all__ = ["LESSONS", "Goal", "Lesson"]

LESSONS: dict[str, Lesson] = {
    module.LESSON.id: module.LESSON
    for module in (ring, critical, speed, poles, resonance, lowpass, fogbank, aliasing, pumping)
}
