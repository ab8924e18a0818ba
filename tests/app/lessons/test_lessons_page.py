"""The Lessons page: predict, do, why; links, assignments and the summary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.lessons import course, progress_link
from app.lessons.model_answers import model_answer
from app.lessons.progress_link import Done, Progress

ROOT = Path(__file__).resolve().parents[3]
LESSONS = course()
ORDER = list(LESSONS)
MANY = len(LESSONS)
DONE = {id: model_answer(id) for id in LESSONS}


def app(**query: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app" / "app_pages" / "lessons.py"), default_timeout=60)
    for name, value in query.items():
        at.query_params[name] = value
    return at


def link(*ids: str) -> str:
    return progress_link.write(Progress({id: Done(DONE[id]) for id in ids}), LESSONS)


def said(at: AppTest) -> str:
    kinds = ("title", "header", "markdown", "caption", "subheader", "success", "info", "warning", "code")
    return "\n".join(element.value for kind in kinds for element in at.get(kind))


def knobs(at: AppTest) -> list[Any]:
    return at.get("bidi_component")


def predict(at: AppTest, id: str) -> AppTest:
    asked = LESSONS[id].prediction
    if asked.choices:
        at.radio[0].set_value(int(asked.right))
    else:
        at.number_input[0].set_value(asked.right)
    return at.button[next(i for i, b in enumerate(at.button) if b.label == "That is my prediction")].click().run()


def turn(at: AppTest, id: str, values: dict[str, float], **more: Any) -> AppTest:
    at.session_state[f"lesson_knobs_{id}"] = {"controls": {**values, "epoch": 0, "seq": 1, "released": True, **more}}
    return at.run()


def test_the_prediction_comes_first_then_the_knobs_then_why() -> None:
    at = app().run()
    assert not at.exception and "1. Make it ring" in said(at)
    assert [h.value for h in at.header] == ["Predict"] and not knobs(at)
    at.button[next(i for i, b in enumerate(at.button) if b.label == "That is my prediction")].click().run()
    assert "Choose or type an answer first" in said(at) and not knobs(at)
    predict(at, "ring")
    assert [h.value for h in at.header] == ["Predict", "Do", "Why"] and len(knobs(at)) == 2
    assert "Not done yet" in said(at)  # the room for it is kept, so that nothing moves when it comes
    assert LESSONS["ring"].prediction.why not in said(at) and LESSONS["ring"].meaning not in said(at)
    turn(at, "ring", DONE["ring"])
    assert [h.value for h in at.header] == ["Predict", "Do", "Why"]
    assert LESSONS["ring"].prediction.why in said(at) and LESSONS["ring"].meaning in said(at)
    assert "That is what happened." in said(at)


@pytest.mark.slow
def test_the_page_passes_a_lesson_only_when_its_dials_say_so() -> None:
    at = predict(app().run(), "ring")
    turn(at, "ring", {"zeta": 0.9, "omega_n": 0.4})
    assert not at.success and f"0 of {MANY} done" in said(at)
    turn(at, "ring", DONE["ring"], released=False, seq=2)  # still in the hand
    assert not at.success
    turn(at, "ring", DONE["ring"], seq=3)
    assert len(at.success) == 1 and f"1 of {MANY} done" in said(at)
    assert at.query_params["lessons"].startswith("ring_") and "_p1_t" in at.query_params["lessons"]
    at.button(key="next").click().run()
    assert "2. Find critical damping" in said(at) and at.query_params["lesson"] == "critical"
    at.button(key=f"open_{ORDER[-1]}").click().run()
    assert f"{MANY}. {LESSONS[ORDER[-1]].title}" in said(at) and at.button(key="next").disabled
    at.button(key="previous").click().run()
    assert f"{MANY - 1}. {LESSONS[ORDER[-2]].title}" in said(at)


@pytest.mark.slow
def test_hints_open_one_by_one() -> None:
    at = predict(app().run(), "ring")
    shown = lambda: [hint in said(at) for hint in LESSONS["ring"].hints]  # noqa: E731
    assert not any(shown())
    for number in range(1, len(LESSONS["ring"].hints) + 1):
        at.button(key="hint_ring").click().run()
        assert sum(shown()) == number
    assert not [b for b in at.button if b.key == "hint_ring"]


@pytest.mark.slow
def test_every_lesson_can_be_done_on_the_page() -> None:
    at = app().run()
    for id, values in DONE.items():
        at.button(key=f"open_{id}").click().run()
        predict(at, id)
        turn(at, id, values)
        assert len(at.success) == 1, id
    assert f"{MANY} of {MANY} done" in said(at)


@pytest.mark.slow
def test_a_link_puts_the_dials_where_it_proves_them() -> None:
    at = app(lessons=link(*ORDER), lesson="ring").run()
    own = at.session_state["lesson_state"]
    assert own.values["ring"] == pytest.approx(DONE["ring"]) and not at.warning
    assert f"{MANY} of {MANY} done" in said(at) and knobs(at)  # done before: no prediction is asked for


@pytest.mark.slow
def test_the_page_reads_a_link_and_names_what_it_cannot_use() -> None:
    at = app(lessons=link("ring") + "-critical_3_0.4-nonsense_1", lesson="poles").run()
    assert not at.exception
    assert "4. Put the poles" in said(at) and f"1 of {MANY} done" in said(at)
    assert [True for warning in at.warning if "Find critical damping" in warning.value]
    assert [True for warning in at.warning if "nonsense" in warning.value]


@pytest.mark.slow
def test_a_link_cannot_put_a_picture_on_the_page() -> None:
    at = app(z="![](//evil.co/x)").run()
    assert r"\!\[\](//evil.co/x)" in at.warning[0].value


@pytest.mark.slow
def test_a_reload_keeps_number_name_prediction_and_progress() -> None:
    at = app(student="4711", name="Ada").run()
    predict(at, "ring")
    turn(at, "ring", model_answer("ring", "4711"))
    at.button(key="next").click().run()
    again = app(**dict(at.query_params.items())).run()
    own = again.session_state["lesson_state"]
    assert (own.student, own.name, list(own.done)) == ("4711", "Ada", ["ring"])
    assert own.predicted == {"ring": 1} and own.done["ring"].minute > 29_000_000
    assert "2. Find critical damping" in said(again)


@pytest.mark.slow
def test_a_number_changes_the_task() -> None:
    at = predict(app().run(), "ring")
    at.text_input(key="student").set_value("4711").run()
    assert at.session_state["lesson_state"].student == "4711" and not at.exception
    assert at.query_params["student"] == "4711"
    predict(at, "ring")
    assert course("4711")["ring"].task in said(at) and LESSONS["ring"].task not in said(at)


def test_an_assignment_opens_its_lesson_with_its_dials_and_without_what_is_hidden() -> None:
    at = app(lesson="fogbank", dials="1.5_0.2", hide="zeta,prediction,equation,hints,course").run()
    assert not at.exception and not at.warning
    assert [h.value for h in at.header] == ["Do", "Why"] and not at.get("latex")
    assert at.session_state["lesson_state"].values["fogbank"] == {"zeta": 1.5, "omega_n": 0.2}
    labels = [b.label for b in at.button]
    assert "Next →" not in labels and not any("hint" in label for label in labels) and "1 Ring" not in labels
    turn(at, "fogbank", {"zeta": 0.7, "omega_n": 0.3})
    assert at.session_state["lesson_state"].values["fogbank"] == {"zeta": 1.5, "omega_n": 0.3}
    at.button(key="again").click().run()
    assert at.session_state["lesson_state"].values["fogbank"] == {"zeta": 1.5, "omega_n": 0.2}
    assert "dials=1.5_0.2" in said(at)  # the teacher's link to what is seen now


def test_what_an_assignment_cannot_mean_is_said() -> None:
    at = app(lesson="ring", dials="x", hide="everything").run()
    assert len(at.warning) == 2 and "needs 2 numbers" in at.warning[0].value and "everything" in at.warning[1].value


def test_starting_again_puts_the_dials_back_and_keeps_what_was_done() -> None:
    at = app(lessons=link("ring"), lesson="ring").run()
    at.button(key="again").click().run()
    assert at.session_state["lesson_state"].values["ring"] == LESSONS["ring"].start
    assert f"1 of {MANY} done" in said(at)


def test_an_assignment_stays_with_its_lesson() -> None:
    at = app(lesson="ring", dials="0.9_0.4", hide="zeta,prediction").run()
    assert (at.query_params["dials"], at.query_params["hide"]) == ("0.9_0.4", "zeta,prediction")
    at.button(key="next").click().run()
    assert at.query_params["lesson"] == "critical" and not {"dials", "hide"} & set(at.query_params)
    again = app(**dict(at.query_params.items())).run()  # a reload: all knobs of the next lesson are there
    assert not again.warning and [h.value for h in again.header] == ["Predict"]
    at.button(key="previous").click().run()
    assert (at.query_params["dials"], at.query_params["hide"]) == ("0.9_0.4", "zeta,prediction")


def test_another_number_says_what_is_open_again_and_the_old_one_brings_it_back() -> None:
    at = app(lessons=link(*ORDER), lesson="ring").run()
    at.text_input(key="student").set_value("4711").run()
    left = len(at.session_state["lesson_state"].done)
    assert 0 < left < MANY and f"Open again: {MANY - left} of the lessons" in said(at)
    at.text_input(key="student").set_value("").run()
    assert f"{MANY} of {MANY} done" in said(at) and "Open again" not in said(at)


def test_what_a_link_cannot_mean_can_be_closed() -> None:
    at = app(z="nonsense").run()
    assert len(at.warning) == 1
    at.button(key="close_notes").click().run()
    assert not at.exception and not at.warning and not [b for b in at.button if b.key == "close_notes"]
