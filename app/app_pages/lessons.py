"""Lessons: a teacher's path through the analogy; one idea, one thing to do, and a check that notices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import streamlit as st

from app import layout, state
from app.components.dials import dials
from app.components.sheet import sheet
from app.lessons import LESSONS, Lesson, progress, summary
from app.lessons.book import Book, goal_cards
from app.panels import THEORY_FRAMES
from knob_core import theory

ORDER = tuple(LESSONS)


def book() -> Book:
    """This visitor's lessons; what the link proves is done from the start."""
    if "book" not in st.session_state:
        done, complaints = progress.read(state.beside("lessons"))
        state.complaints().extend(complaints)
        st.session_state["book"] = Book(done)
    return st.session_state["book"]


def at() -> str:
    """The open lesson: the one chosen, the link's, or the first that is not done."""
    if st.session_state.get("lesson_at") not in ORDER:
        linked = state.beside("lesson")
        st.session_state["lesson_at"] = linked if linked in ORDER else book().next()
    return st.session_state["lesson_at"]


def go(id: str) -> None:
    """Open a lesson."""
    st.session_state["lesson_at"] = id


def regime(values: Mapping[str, float]) -> tuple[str, str]:
    """(under | critical | over, what that means in numbers)."""
    zeta = values["zeta"]
    name = "critical" if 0.95 <= zeta <= 1.05 else "under" if zeta < 1 else "over"
    info = theory.step_info(theory.step_response(zeta, values["omega_n"], THEORY_FRAMES), final=1.0)
    rise = f"{info.RiseTime:.0f} frame{'s' * (round(info.RiseTime) != 1)}"
    return name, f"After a jump: rises in {rise}, overshoots by {info.Overshoot:.0f} %."


@st.fragment(key="lesson")
def live(lesson: Lesson) -> None:
    """What moves with the hand: dials, goals, figures."""
    own, key = book(), f"dials_{lesson.id}"
    let_go = own.take(lesson, state.component_value(key, "hand"))
    values, epoch, seq = own.values[lesson.id], own.epoch[lesson.id], own.seq[lesson.id]
    goals = lesson.goals(values)
    widths = [1.0, 2.9] if len(lesson.dials) < 3 else [1.55, 2.6]  # three dials need two abreast
    left, right = layout.columns("lesson", widths)
    with left:
        name, words = regime(values)
        dials(lesson.dials, values, key=key, epoch=epoch, seq=seq, regime=name, words=words)
    with right:
        label = f"{lesson.title}: goals and live figure"
        sheet(lesson.figures(values), key=f"sheet_{lesson.id}", seq=seq, cards=goal_cards(goals), label=label)
    if let_go and own.check(lesson, goals):
        state.beside("lessons", progress.write(own.done))
        st.rerun()


def kind(chosen: bool) -> Literal["primary", "secondary"]:
    """How a button looks."""
    return "primary" if chosen else "secondary"


def contents() -> None:
    """All lessons in a row: a tick for those that are done."""
    with st.container(horizontal=True, gap="small", key="lesson_row"):
        for number, (id, lesson) in enumerate(LESSONS.items(), 1):
            name = f"{'✓' if id in book().done else number} {lesson.short}"
            st.button(name, key=f"open_{id}", on_click=go, args=(id,), type=kind(id == at()), help=lesson.task)


def steps(number: int) -> None:
    """On, back, again, and the summary."""
    own, id = book(), ORDER[number - 1]
    with st.container(horizontal=True, gap="small", key="lesson_steps"):
        before, after = ORDER[max(0, number - 2)], ORDER[min(len(ORDER) - 1, number)]
        st.button("← Previous", key="previous", on_click=go, args=(before,), disabled=number == 1)
        st.button(
            "Next →", key="next", on_click=go, args=(after,), disabled=number == len(ORDER), type=kind(id in own.done)
        )
        help = "Put the dials back to where they began; what was done stays done"
        st.button("Start this one again", key="again", on_click=own.again, args=(id,), help=help)
        help = "All lessons with their equations and what you did, as one page for the printer"
        page = summary.html(own.done)
        st.download_button(
            "Printable summary", page, "knob-lessons.html", "text/html", key="summary", on_click="ignore", help=help
        )
    st.caption(
        f"{len(own.done)} of {len(ORDER)} done. The link in the address bar keeps your progress: it holds the dial "
        "positions, and they are checked again when it is opened."
    )


layout.style()
lesson = LESSONS[at()]
number = ORDER.index(lesson.id) + 1
book()
for complaint in state.complaints():
    st.warning(state.plain(complaint))
contents()
words, formula = layout.columns("words", [1.2, 1], "center", "large")
with words:
    st.subheader(f"{number}. {lesson.title}", anchor=False)
    st.markdown(lesson.idea)
with formula:
    st.latex(lesson.equation)
    st.caption(lesson.units)
st.info(f"**Do this:** {lesson.task}", icon=":material/touch_app:")
live(lesson)
if lesson.id in book().done:
    where = summary.positions(lesson, book().done[lesson.id])
    st.success(f"**Done** at {where}. {lesson.meaning}", icon=":material/check_circle:")
steps(number)
state.beside("lesson", lesson.id)
state.write_link()
state.freeze_garbage()
