"""The class at work, small enough for every run of the tests; at length: `python -m tests.soak.class_of_thirty`."""

from __future__ import annotations

import asyncio

import pytest

from app.lessons import summary
from tests.soak.class_of_thirty import KEY, attend, faults, verdicts
from tests.soak.student import Notes
from tools.screenshots import ROOT, served


@pytest.mark.slow
def test_three_students_do_a_lesson_each_and_hand_in_what_can_be_verified() -> None:
    with served(ROOT / "app" / "main.py", **{summary.VARIABLE: KEY}) as app:
        notes, used = asyncio.run(attend(app.url, app.pid, students=3, seconds=2, pause=0.05))
    assert notes.errors == [] and notes.done >= 3
    assert len(notes.answers) >= 3 * 20  # two dials, there and back, five messages each
    assert verdicts(notes) == ["ok"] * 3 and used


def test_what_went_wrong_is_said() -> None:
    """Late answers, errors and summaries that were edited or never came."""
    bad = Notes(answers=[1.5, 1.5], errors=["7: it broke"], summaries=[b"<html></html>"])
    assert faults(bad, 2) == ["7: it broke", "0 of 2 summaries are right", "the median answer took more than 1 s"]
