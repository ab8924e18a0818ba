"""Lessons: a teacher's path through the analogy; one idea, one thing to do, and a check that notices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import streamlit as st

from app.console import session
from app.console.setting_words import damping, rise_in_words
from app.lessons import LESSONS, Lesson, printable_summary, progress_link
from app.lessons.lesson_state import LessonState, goal_cards
from app.server.streamlit_internals import component_value
from app.widgets import page_layout
from app.widgets.controls import lesson_knobs
from app.widgets.figure_sheet import sheet
from app.widgets.untrusted import escape_markdown
from knob_core.gates import SECOND_ORDER

ORDER = tuple(LESSONS)


def lesson_state() -> LessonState:
    """This visitor's lessons; what the link proves is done from the start."""
    if "lesson_state" not in st.session_state:
        done, problems = progress_link.read(session.page_link_value("lessons"))
        session.problems().extend(problems)
        st.session_state["lesson_state"] = LessonState(done)
    return st.session_state["lesson_state"]


def at() -> str:
    """The open lesson: the one chosen, the link's, or the first that is not done."""
    if st.session_state.get("lesson_at") not in ORDER:
        linked = session.page_link_value("lesson")
        st.session_state["lesson_at"] = linked if linked in ORDER else lesson_state().next()
    return st.session_state["lesson_at"]


def go(id: str) -> None:
    """Open a lesson."""
    st.session_state["lesson_at"] = id


def regime(values: Mapping[str, float]) -> tuple[str, str]:
    """(under | critical | over, what that means in numbers)."""
    knobs = values["zeta"], values["omega_n"]
    info = SECOND_ORDER.step_info(*knobs)
    return damping(*knobs), f"After a jump: rises in {rise_in_words(info)}, overshoots by {info.Overshoot:.0f} %."


@st.fragment(key="lesson")
def live(lesson: Lesson) -> None:
    """What moves with a knob: knobs, goals, figures."""
    own, key = lesson_state(), f"lesson_knobs_{lesson.id}"
    released = own.take(lesson, component_value(key, "controls"))
    values, epoch, seq = own.values[lesson.id], own.epoch[lesson.id], own.seq[lesson.id]
    goals = lesson.goals(values)
    widths = [1.0, 2.9] if len(lesson.knobs) < 3 else [1.55, 2.6]  # three knobs need two abreast
    left, right = page_layout.columns("lesson", widths)
    with left:
        name, words = regime(values)
        lesson_knobs(lesson.knobs, values, key=key, epoch=epoch, seq=seq, regime=name, words=words)
    with right:
        label = f"{lesson.title}: goals and live figure"
        sheet(lesson.figures(values), key=f"sheet_{lesson.id}", seq=seq, cards=goal_cards(goals), label=label)
    if released and own.check(lesson, goals):
        session.page_link_value("lessons", progress_link.write(own.done))
        st.rerun()


def kind(chosen: bool) -> Literal["primary", "secondary"]:
    """How a button looks."""
    return "primary" if chosen else "secondary"


def contents() -> None:
    """All lessons in a row: a tick for those that are done."""
    with st.container(horizontal=True, gap="small", key="lesson_row"):
        for number, (id, lesson) in enumerate(LESSONS.items(), 1):
            name = f"{'✓' if id in lesson_state().done else number} {lesson.short}"
            st.button(name, key=f"open_{id}", on_click=go, args=(id,), type=kind(id == at()), help=lesson.task)


def steps(number: int) -> None:
    """On, back, again, and the summary."""
    own, id = lesson_state(), ORDER[number - 1]
    with st.container(horizontal=True, gap="small", key="lesson_steps"):
        before, after = ORDER[max(0, number - 2)], ORDER[min(len(ORDER) - 1, number)]
        st.button("← Previous", key="previous", on_click=go, args=(before,), disabled=number == 1)
        st.button(
            "Next →", key="next", on_click=go, args=(after,), disabled=number == len(ORDER), type=kind(id in own.done)
        )
        help = "Put the knobs back to where they began; what was done stays done"
        st.button("Start this one again", key="again", on_click=own.again, args=(id,), help=help)
        help = "All lessons with their equations and what you did, as one page for the printer"
        page = printable_summary.html(own.done)
        st.download_button(
            "Printable summary", page, "knob-lessons.html", "text/html", key="summary", on_click="ignore", help=help
        )
    st.caption(
        f"{len(own.done)} of {len(ORDER)} done. The link in the address bar keeps your progress: it holds the knob "
        "positions, and they are checked again when it is opened."
    )


page_layout.style()
lesson = LESSONS[at()]
number = ORDER.index(lesson.id) + 1
lesson_state()
for problem in session.problems():
    st.warning(escape_markdown(problem))
contents()
words, formula = page_layout.columns("words", [1.2, 1], "center", "large")
with words:
    st.subheader(f"{number}. {lesson.title}", anchor=False)
    st.markdown(lesson.idea)
with formula:
    st.latex(lesson.equation)
    st.caption(lesson.units)
st.info(f"**Do this:** {lesson.task}", icon=":material/touch_app:")
live(lesson)
if lesson.id in lesson_state().done:
    where = printable_summary.positions(lesson, lesson_state().done[lesson.id])
    st.success(f"**Done** at {where}. {lesson.meaning}", icon=":material/check_circle:")
steps(number)
session.page_link_value("lesson", lesson.id)
session.write_link()
