"""Links are evidence and not claims, and an assignment opens what it says."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.lessons import FAMILIES, assignment, course, progress_link
from app.lessons.model_answers import model_answer
from app.lessons.progress_link import Done, Progress

LESSONS = course()


@pytest.mark.parametrize("student", ["", "4711"])
def test_a_link_is_evidence_and_not_a_claim(student: str) -> None:
    lessons = course(student)
    progress = Progress(
        {id: Done(model_answer(id, student), 29_000_000 + i) for i, id in enumerate(lessons)},
        {id: lesson.prediction.right for id, lesson in lessons.items() if id != "ring"},
    )
    link = progress_link.write(progress, lessons)
    found, problems = progress_link.read(link, lessons)
    assert not problems and found.done == progress.done
    assert found.predicted == pytest.approx(progress.predicted, rel=1e-5)
    assert len(link) < progress_link.MOST
    assert progress_link.read("", lessons) == (Progress(), [])
    for id, lesson in lessons.items():
        found, problems = progress_link.read(progress_link.write(Progress({id: Done(lesson.start)}), lessons), lessons)
        assert not found.done and lesson.title in problems[0]


def test_links_from_before_predictions_and_predictions_alone_are_read() -> None:
    found, problems = progress_link.read("ring_0.25_0.4-critical_p1", LESSONS)
    assert not problems and list(found.done) == ["ring"] and found.done["ring"].minute == 0
    assert found.predicted == {"critical": 1}


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300) | st.from_regex(r"(ring|critical|poles)(_[pt]?[0-9e.+naif-]{1,8}){0,5}", fullmatch=True))
def test_hostile_links_prove_nothing_they_do_not_show(text: str) -> None:
    found, _ = progress_link.read(text, LESSONS)
    for id, done in found.done.items():
        assert LESSONS[id].done(done.values) and 0 <= done.minute < 10**9
    for id, given_value in found.predicted.items():
        assert LESSONS[id].prediction.held(given_value) == given_value


@pytest.mark.parametrize("id", FAMILIES)
def test_an_assignment_survives_its_link(id: str) -> None:
    lesson = LESSONS[id]
    dials, hidden = model_answer(id), {lesson.knobs[-1]["id"], "equation"}
    query = {
        name: values[0] for name, values in parse_qs(assignment.write(lesson, dials, hidden, "47@11", True)).items()
    }
    assert (query["lesson"], query["student"], query["embed"]) == (id, "47@11", "true")
    asked, problems = assignment.read(query["dials"], query["hide"], lesson)
    assert not problems and asked.dials == pytest.approx(dials) and asked.hidden == hidden
    assert len(asked.knobs(lesson)) == len(lesson.knobs) - 1


def test_what_an_assignment_cannot_mean_is_named() -> None:
    lesson = LESSONS["ring"]
    assert assignment.write(lesson, lesson.start, ()) == "lesson=ring"
    asked, problems = assignment.read("1_2_3", "zeta,omega_n,<b>", lesson)
    assert not asked.dials and not asked.hidden
    assert "needs 2 numbers" in problems[0] and "'<b>'" in problems[1] and "one at least must be left" in problems[2]
    asked, problems = assignment.read("99_-5", "hints", lesson)
    assert asked.dials == {"zeta": 3.0, "omega_n": 0.02} and asked.hidden == {"hints"} and not problems
    assert not assignment.read("nan_1", "", lesson)[0].dials
