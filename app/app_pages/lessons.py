"""Lessons: a course in the analogy. Each lesson: predict, do one thing on a live figure, and read why."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal

import streamlit as st

from app.console import session
from app.console.problem_notes import problem_notes
from app.console.setting_words import damping, rise_in_words
from app.lessons import FAMILIES, Lesson, assignment, glossary, progress_link, summary
from app.lessons.assignment import Assignment
from app.lessons.lesson_state import LessonState, clean_name, clean_student, goal_cards
from app.widgets import page_layout
from app.widgets.browser_component import component_value
from app.widgets.controls import lesson_knobs
from app.widgets.figure_sheet import sheet
from app.widgets.untrusted import escape_markdown
from knob_core.gates import SECOND_ORDER

ORDER = tuple(FAMILIES)
OF_AN_ASSIGNMENT = ("dials", "hide")  # words of a link
NOTHING_ASSIGNED: tuple[str, Assignment, dict[str, str]] = ("", Assignment({}, frozenset()), {})


def lesson_state() -> LessonState:
    """This visitor's lessons; what the link proves is done from the start."""
    if "lesson_state" not in st.session_state:
        own = LessonState(clean_student(linked("student")), clean_name(linked("name")))
        found, problems = progress_link.read(linked("lessons"), own.lessons)
        session.problems().extend(problems)
        id = linked("lesson")
        if id in FAMILIES:
            words = {name: linked(name) for name in OF_AN_ASSIGNMENT}
            asked, problems = assignment.read(**words, lesson=own.lessons[id])
            session.problems().extend(problems)
            st.session_state["assigned"] = (id, asked, words)
            own.starts[id] = asked.dials
        st.session_state["lesson_state"] = LessonState(own.student, own.name, found.done, found.predicted, own.starts)
    return st.session_state["lesson_state"]


def linked(name: str) -> str:
    """A word of the link, one of session.OTHER_PAGES."""
    return session.page_link_value(name)


def keep() -> None:
    """Put what was done into the link."""
    own = lesson_state()
    for name, value in (("student", own.student), ("name", own.name)):
        session.page_link_value(name, value)
    session.page_link_value("lessons", progress_link.write(own.progress, own.lessons))


def assigned(id: str) -> Assignment:
    """What the link asks for in this lesson."""
    of, asked, _ = st.session_state.get("assigned", NOTHING_ASSIGNED)
    return asked if of == id else NOTHING_ASSIGNED[1]


def keep_assignment(id: str) -> None:
    """The link names the open lesson, and what was asked for in it: in another one the same words mean nothing."""
    of, _, words = st.session_state.get("assigned", NOTHING_ASSIGNED)
    session.page_link_value("lesson", id)
    for name in OF_AN_ASSIGNMENT:
        session.page_link_value(name, words[name] if of == id else "")


def at() -> str:
    """The open lesson: the one chosen, the link's, or the first that is not done."""
    if st.session_state.get("lesson_at") not in ORDER:
        st.session_state["lesson_at"] = linked("lesson") if linked("lesson") in ORDER else lesson_state().next()
    return st.session_state["lesson_at"]


def go(id: str) -> None:
    """Open a lesson."""
    st.session_state["lesson_at"] = id


def regime(values: Mapping[str, float]) -> tuple[str, str]:
    """(under | critical | over, what that means in numbers); nothing for a lesson without both knobs."""
    if not {"zeta", "omega_n"} <= set(values):
        return "", ""
    knobs = values["zeta"], values["omega_n"]
    info = SECOND_ORDER.step_info(*knobs)
    return damping(*knobs), f"After a step: rises in {rise_in_words(info)}, overshoots by {info.Overshoot:.0f} %."


@st.fragment(key="lesson")
def live(lesson: Lesson) -> None:
    """What moves with a knob: knobs, goals, figures."""
    own, key, asked = lesson_state(), f"lesson_knobs_{lesson.id}", assigned(lesson.id)
    released = own.take(lesson, component_value(key, "controls"), asked.hidden)
    values, epoch, seq = own.values[lesson.id], own.epoch[lesson.id], own.seq[lesson.id]
    goals, shown = lesson.goals(values), asked.knobs(lesson)
    widths = [1.0, 2.9] if len(shown) < 3 else [1.55, 2.6]  # three knobs need two abreast
    left, right = page_layout.columns("lesson", widths)
    with left:
        name, words = regime(values)
        lesson_knobs(shown, values, key=key, epoch=epoch, seq=seq, regime=name, words=words)
    with right:
        label = f"{lesson.title}: goals and live figure"
        sheet(lesson.figures(values), key=f"sheet_{lesson.id}", seq=seq, cards=goal_cards(goals), label=label)
    if released and own.check(lesson, goals):
        keep()
        st.rerun()


def kind(chosen: bool) -> Literal["primary", "secondary"]:
    """How a button looks."""
    return "primary" if chosen else "secondary"


def contents() -> None:
    """All lessons in a row: a tick for those that are done."""
    with st.container(horizontal=True, gap="small", key="lesson_row"):
        for number, id in enumerate(ORDER, 1):
            lesson = lesson_state().lessons[id]
            name = f"{'✓' if id in lesson_state().done else number} {lesson.short}"
            st.button(name, key=f"open_{id}", on_click=go, args=(id,), type=kind(id == at()), help=lesson.aim)


def introduce(lesson: Lesson, number: int, equation: bool) -> None:
    """What it is about."""
    st.title(f"{number}. {lesson.title}", anchor=False)
    st.markdown(f"**{lesson.minutes} minutes.** After this lesson you can {lesson.aim}")
    if not equation:
        st.markdown(lesson.idea)
    else:
        words, formula = page_layout.columns("words", [1.2, 1], "top", "large")
        words.markdown(lesson.idea)
        with formula:
            st.latex(lesson.equation)
            st.caption(lesson.units)
    with st.expander("Words of this lesson, and where its equation holds"):
        st.markdown("\n".join(f"- **{word}**: {meaning}" for word, meaning in glossary.words(lesson)))
        st.markdown(f"**Where it holds.** {lesson.validity}")


def predict(lesson: Lesson) -> bool:
    """Ask for the prediction; True once there is one."""
    own, asked = lesson_state(), lesson.prediction
    st.header("Predict", anchor=False)
    if lesson.id in own.predicted:
        said = asked.words(own.predicted[lesson.id])
        st.markdown(f"{asked.question} **You said: {escape_markdown(said)}.**")
        return True
    if lesson.id in own.done:  # a link from before there were predictions
        return True
    with st.form(f"predict_{lesson.id}", border=False):
        given: float | None
        if asked.choices:
            places = list(range(len(asked.choices)))
            given = st.radio(asked.question, places, index=None, format_func=lambda i: asked.choices[i])
        else:
            given = st.number_input(f"{asked.question} ({asked.unit})", min_value=0.0, value=None, format="%g")
        sent = st.form_submit_button("That is my prediction", type="primary")
    if sent and given is not None:
        own.predict(lesson, given)
        keep()
        st.rerun()
    if sent:
        st.warning("Choose or type an answer first; a guess is fine.")
    else:
        st.caption("A guess is fine: it is not marked. Then the knobs appear.")
    return False


def hint(id: str) -> None:
    """Open one more."""
    own = lesson_state()
    own.hints[id] = own.hints.get(id, 0) + 1


def hints(lesson: Lesson) -> None:
    """Hints that open one by one."""
    opened, all = lesson_state().hints.get(lesson.id, 0), len(lesson.hints)
    for number, words in enumerate(lesson.hints[:opened], 1):
        st.markdown(f"**Hint {number}.** {words}")
    if opened < all:
        name = f"Show hint {opened + 1} of {all}"
        st.button(name, key=f"hint_{lesson.id}", on_click=hint, args=(lesson.id,), icon=":material/lightbulb:")


def explain(lesson: Lesson) -> None:
    """Why it came out so, once it was done; until then, the room for it, so that nothing moves when it comes."""
    own, asked = lesson_state(), lesson.prediction
    done = own.done.get(lesson.id)
    st.header("Why", anchor=False)
    said = []
    if lesson.id in own.predicted:
        verdict = "That is what happened." if asked.is_right(own.predicted[lesson.id]) else "It came out otherwise."
        words = escape_markdown(asked.words(own.predicted[lesson.id]))
        said.append(f"**Your prediction: {words}.** {verdict} {asked.why}")
    said.append(f"**What it means.** {lesson.meaning}")
    with st.container(key="why" if done else "why_to_come"):
        if done:
            where = summary.positions(lesson, done.values)
            st.success(f"**Done** at {where}.", icon=":material/check_circle:")
        else:
            st.info("Not done yet: all boxes must have a tick together.", icon=":material/hourglass_empty:")
        for words in said:
            st.markdown(words if done else unreadable(words))


def unreadable(words: str) -> str:
    """Text that takes the same room and tells nothing: each word with its letters in alphabetical order."""
    return re.sub(r"\w+", lambda word: "".join(sorted(word[0])), words)


def steps(number: int, alone: bool) -> None:
    """On, back, again."""
    own, id = lesson_state(), ORDER[number - 1]
    with st.container(horizontal=True, gap="small", key="lesson_steps"):
        if not alone:
            before, after = ORDER[max(0, number - 2)], ORDER[min(len(ORDER) - 1, number)]
            last = number == len(ORDER)
            st.button("← Previous", key="previous", on_click=go, args=(before,), disabled=number == 1)
            st.button("Next →", key="next", on_click=go, args=(after,), disabled=last, type=kind(id in own.done))
        help = "Put the knobs back to where they began; what was done stays done"
        st.button("Start this one again", key="again", on_click=own.again, args=(id,), help=help)


def class_key() -> str:
    """The key that signs summaries: from the environment, or from Streamlit's secrets; "" where there is none."""
    if found := summary.key_from_environment():
        return found
    return str(st.secrets.get(summary.SECRET, "")) if st.secrets.load_if_toml_exists() else ""


def hand_in() -> None:
    """Whose lessons they are, and the page to hand in."""
    own = lesson_state()
    name, number, page = page_layout.columns("class", [1.4, 1, 1], "bottom")
    own.name = clean_name(name.text_input("Your name, for the summary", own.name, max_chars=80, key="name"))
    help = "It chooses the numbers of your lessons. Leave it empty if nobody gave you one."
    given = number.text_input("Your number, from your teacher", own.student, max_chars=32, key="student", help=help)
    if clean_student(given) != own.student:
        own.be(clean_student(given))
        keep()
        st.rerun()
    if own.opened_again:
        st.info(
            f"Open again: {own.opened_again} of the lessons that you had done: this number changes their tasks. "
            "The number that you had before brings them back, until you close this page.",
            icon=":material/undo:",
        )
    key = class_key()
    with page:
        session.downloads().link(
            "Printable summary",
            "knob-lessons.html",
            lambda: summary.made(own, datetime.now(UTC).date(), key),
            "What you did, with its numbers, for the printer or for your teacher",
        )
    st.caption(
        f"{len(own.done)} of {len(ORDER)} done. The address of this page holds your progress: save it as a "
        "bookmark to go on later. The dials' positions in it are checked again when it is opened."
    )


def teacher(lesson: Lesson) -> None:
    """Make a link to this lesson."""
    with st.expander("For teachers: a link to this lesson"):
        names = {knob["id"]: f"{knob['name']} {knob['symbol']}" for knob in lesson.knobs} | assignment.PARTS
        chosen = st.multiselect("Hide", list(names), format_func=names.__getitem__, key=f"hide_{lesson.id}")
        alone = st.checkbox("To embed in a course page (the lesson alone)", key=f"alone_{lesson.id}")
        st.button("Take the dials as they stand now", key=f"anew_{lesson.id}")  # runs the page anew
        own = lesson_state()
        query = assignment.write(lesson, own.values[lesson.id], chosen, own.student, alone)
        st.code(f"{(st.context.url or '').split('?')[0]}?{query}", language=None, wrap_lines=True)
        st.caption("It opens with the dials where they stood when it was made; a hidden dial stays there.")


page_layout.style()
own, lesson = lesson_state(), lesson_state().lessons[at()]
number, asked, alone = ORDER.index(lesson.id) + 1, assigned(lesson.id), bool(st.context.is_embedded)
with st.container(key="notes"):
    problem_notes()
if not alone and "course" not in asked.hidden:
    contents()
introduce(lesson, number, "equation" not in asked.hidden)
if "prediction" in asked.hidden or predict(lesson):
    st.header("Do", anchor=False)
    st.info(f"**Do this:** {lesson.task}", icon=":material/touch_app:")
    live(lesson)
    if "hints" not in asked.hidden:
        hints(lesson)
    explain(lesson)
steps(number, alone or "course" in asked.hidden)
if "class" not in asked.hidden:
    hand_in()
if not alone and "class" not in asked.hidden:
    teacher(lesson)
keep_assignment(lesson.id)
keep()
session.write_link()
