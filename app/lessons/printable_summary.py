"""The printable summary: whose it is, every lesson with its equation and, where it was done, the figures that did it.

A summary is a record (what was done, as data) and a page made of nothing but the record; the record lies in the page,
so that `check_summaries` can compute everything anew and compare.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from html import escape
from typing import Any

from app.lessons import Lesson, course
from app.lessons import summary_code as codes
from app.lessons.lesson_state import LessonState

VERSION = 1  # of the record
_STYLE = """
body { font: 11pt/1.45 system-ui, sans-serif; color: #1c2430; background: #fff; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 18pt; margin-bottom: 0; } h2 { font-size: 12.5pt; margin: 1.4rem 0 .2rem; break-after: avoid; }
section { break-inside: avoid; border-top: 1px solid #c9ced6; } p { margin: .25rem 0; }
.equation { font-family: Cambria, "Times New Roman", serif; font-size: 12pt; margin: .4rem 0 .4rem 1.2rem; }
.open { color: #5b6675; } .units { color: #5b6675; font-size: 10pt; } .done { color: #00594f; font-weight: 600; }
.code { font-family: ui-monospace, monospace; }
"""


def positions(lesson: Lesson, values: Mapping[str, float]) -> str:
    """`ζ = 0.2, ωₙ = 0.4 rad/frame`."""
    return ", ".join(
        f"{knob['symbol']} = {values[knob['id']]:.4g}{' ' + knob['unit'] if knob['unit'] else ''}"
        for knob in lesson.knobs
    )


def record(own: LessonState, today: date, key: str) -> dict[str, Any]:
    """What a summary says, as data."""
    done = {}
    for id, lesson in own.lessons.items():
        if id in own.done:
            found = own.done[id]
            done[id] = {
                "minute": found.minute,
                "values": {name: float(f"{value:.6g}") for name, value in found.values.items()},
                "figures": figures(lesson, found.values),
                "prediction": own.predicted.get(id),
            }
    about = {"version": VERSION, "name": own.name, "student": own.student, "date": today.isoformat()}
    return {**about, "keyed": bool(key), "lessons": done}


def figures(lesson: Lesson, values: Mapping[str, float]) -> list[list[str]]:
    """What the goals showed: pairs of what was wanted and what there was."""
    return [[goal.words, goal.now] for goal in lesson.goals({name: float(f"{v:.6g}") for name, v in values.items()})]


def html(said: Mapping[str, Any], code: str) -> str:
    """A page by itself, for paper or for a file, made of a record and its code."""
    lessons, done = course(said["student"]), said["lessons"]
    sections = [_section(i, lesson, done.get(lesson.id)) for i, lesson in enumerate(lessons.values(), 1)]
    who = escape(said["name"]) or "(no name)"
    number = f", number {escape(said['student'])}" if said["student"] else ""
    kind = "code" if said["keyed"] else "check code, not signed (this server has no class key)"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Knob: lessons</title>'
        f'<style>{_STYLE}</style></head><body data-record="{escape(codes.canonical(said))}"><h1>Knob: lessons</h1>'
        f"<p><strong>{who}</strong>{number}, {escape(said['date'])}: {len(done)} of {len(lessons)} done</p>"
        f'<p>{kind}: <span class="code" id="code">{escape(code)}</span></p>{"".join(sections)}</body></html>'
    )


def _section(number: int, lesson: Lesson, done: Mapping[str, Any] | None) -> str:
    return (
        f'<section id="{lesson.id}"><h2>{number}. {escape(lesson.title)}</h2><p>{escape(lesson.task)}</p>'
        f'<p class="equation">{escape(lesson.plain)}</p><p class="units">{escape(lesson.units)}</p>'
        f"{_result(lesson, done)}</section>"
    )


def _result(lesson: Lesson, done: Mapping[str, Any] | None) -> str:
    if done is None:
        return '<p class="open">not done yet</p>'
    met = "; ".join(f"{words}: {now}" for words, now in done["figures"])
    given, asked = done["prediction"], lesson.prediction
    predicted = ""
    if given is not None:
        verdict = "that is what happened" if asked.is_right(given) else "it came out otherwise"
        predicted = f"<p>Predicted: {escape(asked.words(given))} ({verdict}). {escape(asked.why)}</p>"
    return (
        f'<p class="done">✓ done at {escape(positions(lesson, done["values"]))}{when(done["minute"])}</p>'
        f"<p>{escape(met)}</p>{predicted}<p>{escape(lesson.meaning)}</p>"
    )


def when(minute: int) -> str:
    """`, 2026-11-17 06:21 UTC`; nothing where the time is unknown."""
    return f", {datetime.fromtimestamp(60 * minute, UTC):%Y-%m-%d %H:%M} UTC" if minute else ""


def made(own: LessonState, today: date, key: str) -> str:
    """The summary of a visitor's lessons."""
    said = record(own, today, key)
    return html(said, codes.code(said, key))
