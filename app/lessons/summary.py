"""The printable summary: a page for paper and for the teacher, with one signed record of what was done.

    code = HMAC-SHA256(class key, record), sixteen letters and digits

With a key that only the teacher's server has, nobody else can make the code, so an edited record is found. Without a
key it is a checksum that anybody can make. What was done stands in the record as in a link (`progress_link`): dial
positions, which are checked again, not claims.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from html import escape, unescape

from app.lessons import Lesson, course, progress_link
from app.lessons.lesson_state import LessonState, clean_name, clean_student
from app.lessons.progress_link import Progress

VARIABLE = "KNOB_LESSONS_KEY"  # of the environment; the page also asks Streamlit's secrets
SECRET = "lessons_key"
_RECORD, _CODE = re.compile(r'<body data-record="([^"<>]*)"'), re.compile(r'id="code">([^<>]*)<')
_STYLE = """
body { font: 11pt/1.45 system-ui, sans-serif; color: #1c2430; background: #fff; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 18pt; margin-bottom: 0; } h2 { font-size: 12.5pt; margin: 1.4rem 0 .2rem; break-after: avoid; }
section { break-inside: avoid; border-top: 1px solid #c9ced6; } p { margin: .25rem 0; }
.equation { font-family: Cambria, "Times New Roman", serif; font-size: 12pt; margin: .4rem 0 .4rem 1.2rem; }
.open { color: #5b6675; } .units { color: #5b6675; font-size: 10pt; } .done { color: #00594f; font-weight: 600; }
.code { font-family: ui-monospace, monospace; }
"""


@dataclass(frozen=True)
class Record:
    """Who did what."""

    version: int
    name: str
    student: str
    date: str  # ISO
    keyed: bool  # the server had a class key
    progress: str  # as in a link

    @property
    def text(self) -> str:
        """One text for one record."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"))

    def code(self, key: str) -> str:
        """`ABCD-EFGH-IJKL-MNOP`."""
        digest = hmac.new(key.encode(), self.text.encode(), hashlib.sha256).digest()
        text = base64.b32encode(digest[:10]).decode()
        return "-".join(text[i : i + 4] for i in range(0, 16, 4))


VERSION = 2


def key_from_environment() -> str:
    """The class key; "" where none is set."""
    return os.environ.get(VARIABLE, "").strip()


def record(own: LessonState, today: date, key: str) -> Record:
    """What a visitor has done."""
    progress = progress_link.write(own.progress, own.lessons)
    return Record(VERSION, own.name, own.student, today.isoformat(), bool(key), progress)


def read(page: str) -> tuple[Record, str]:
    """The record and the code of a page; a ValueError where it has none."""
    found, code = _RECORD.search(page), _CODE.search(page)
    if not found or not code:
        raise ValueError(
            "it has no record; hand in the file as it was downloaded, not a page that was printed or saved"
        )
    said = json.loads(unescape(found[1]))
    types = {"version": int, "name": str, "student": str, "date": str, "keyed": bool, "progress": str}
    if not isinstance(said, dict) or {name: type(value) for name, value in said.items()} != types:
        raise ValueError("its record is of another kind")
    if said["version"] != VERSION:
        raise ValueError(f"its record has version {said['version']}, expected {VERSION}")
    if said["name"] != clean_name(said["name"]) or said["student"] != clean_student(said["student"]):
        raise ValueError("its name or number has characters that the page does not let through")
    date.fromisoformat(said["date"])
    return Record(**said), unescape(code[1]).strip()


def made(own: LessonState, today: date, key: str) -> str:
    """The summary of a visitor's lessons, for paper or as a file."""
    said = record(own, today, key)
    return html(said, said.code(key))


def html(said: Record, code: str) -> str:
    """The page, made of nothing but the record and its code: who, and every lesson, done or not."""
    lessons = course(said.student)
    progress, _ = progress_link.read(said.progress, lessons)
    sections = [_section(number, lesson, progress) for number, lesson in enumerate(lessons.values(), 1)]
    number = f", number {escape(said.student)}" if said.student else ""
    kind = "code" if said.keyed else "check code, not signed (this server has no class key)"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Knob: lessons</title>'
        f'<style>{_STYLE}</style></head><body data-record="{escape(said.text)}"><h1>Knob: lessons</h1>'
        f"<p><strong>{escape(said.name) or '(no name)'}</strong>{number}, {escape(said.date)}: "
        f"{len(progress.done)} of {len(lessons)} done</p>"
        f'<p>{kind}: <span class="code" id="code">{escape(code)}</span></p>{"".join(sections)}</body></html>'
    )


def _section(number: int, lesson: Lesson, progress: Progress) -> str:
    return (
        f'<section id="{lesson.id}"><h2>{number}. {escape(lesson.title)}</h2><p>{escape(lesson.task)}</p>'
        f'<p class="equation">{escape(lesson.plain)}</p><p class="units">{escape(lesson.units)}</p>'
        f"{_result(lesson, progress)}</section>"
    )


def _result(lesson: Lesson, progress: Progress) -> str:
    if lesson.id not in progress.done:
        return '<p class="open">not done yet</p>'
    done, given, asked = progress.done[lesson.id], progress.predicted.get(lesson.id), lesson.prediction
    predicted = ""
    if given is not None:
        verdict = "that is what happened" if asked.is_right(given) else "it came out otherwise"
        predicted = f"<p>Predicted: {escape(asked.words(given))} ({verdict}). {escape(asked.why)}</p>"
    when = f", {datetime.fromtimestamp(60 * done.minute, UTC):%Y-%m-%d %H:%M} UTC" if done.minute else ""
    return (
        f'<p class="done">✓ done at {escape(positions(lesson, done.values))}{when}</p>'
        f"<p>{escape(goals_met(lesson, done.values))}</p>{predicted}<p>{escape(lesson.meaning)}</p>"
    )


def positions(lesson: Lesson, values: Mapping[str, float]) -> str:
    """`ζ = 0.2, ωₙ = 0.4 rad/frame`."""
    return ", ".join(
        f"{knob['symbol']} = {values[knob['id']]:.4g}{' ' + knob['unit'] if knob['unit'] else ''}"
        for knob in lesson.knobs
    )


def goals_met(lesson: Lesson, values: Mapping[str, float]) -> str:
    """`overshoot from 40 to 50 %: 44.9 %; ...`."""
    return "; ".join(f"{goal.words}: {goal.now}" for goal in lesson.goals(values))
