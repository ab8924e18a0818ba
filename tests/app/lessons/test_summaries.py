"""Summaries: what is printed is what was done, and what was forged or edited is found."""

from __future__ import annotations

import csv
import io
import json
import os
from dataclasses import asdict, replace
from datetime import date
from html import escape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.lessons import check_summaries, course
from app.lessons import summary as summaries
from app.lessons.lesson_state import LessonState
from app.lessons.model_answers import model_answer
from app.lessons.progress_link import Done
from knob_core import cli

KEY, DAY = "a class key", date(2026, 11, 17)


def student(number: str = "4711", name: str = "Ada", done: tuple[str, ...] = ("ring", "critical")) -> LessonState:
    work = {id: Done(model_answer(id, number), 29_000_000) for id in done}
    return LessonState(number, name, work, {id: course(number)[id].prediction.right for id in done})


def summary(key: str = KEY, **about: Any) -> str:
    return summaries.made(student(**about), DAY, key)


def edited(text: str, key: str | None = None, **changes: Any) -> str:
    """A forger's work: the record changed, the page written anew, the old code left, or one of a guessed key."""
    said, code = summaries.read(text)
    said = replace(said, **changes)
    return summaries.html(said, code if key is None else said.code(key))


def check(text: str, key: str = KEY) -> check_summaries.Checked:
    return check_summaries.check("f.html", text.encode(), key)


def test_the_summary_prints_who_did_what_and_what_is_open() -> None:
    page = summary()
    lessons = course("4711")
    assert "<strong>Ada</strong>, number 4711, 2026-11-17: 2 of" in page and f"2 of {len(lessons)} done" in page
    assert "ζ = 0.3169, ωₙ = 0.4 rad/frame, 2025-02-19 21:20 UTC" in page and "35.6 %" in page
    assert page.count("not done yet") == len(lessons) - 2
    for lesson in lessons.values():
        assert escape(lesson.plain) in page and escape(lesson.title) in page
    assert "<script" not in page and "http" not in page  # nothing from outside
    assert "no class key" in summary(key="")


def test_a_true_summary_is_ok_and_one_without_a_key_is_unsigned() -> None:
    row = check(summary())
    assert (row.verdict, row.notes) == ("ok", "")
    assert (row.name, row.student, row.date, row.done, row.lessons) == ("Ada", "4711", "2026-11-17", 2, "ring critical")
    assert row.predicted_right == 2
    for page, key in ((summary(), ""), (summary(key=""), ""), (summary(key=""), KEY)):
        assert check(page, key).verdict == "unsigned"
    assert check(summary().replace("\n", "\r\n")).verdict == "ok"  # other line ends are no edit


def test_another_name_on_it_is_found() -> None:
    page = summary()
    assert "something else than its record" in check(page.replace("<strong>Ada", "<strong>Bob")).notes  # on paper alone
    for forged in (edited(page, name="Bob"), edited(page, "guess", name="Bob"), edited(page, "", name="Bob")):
        assert check(forged).verdict == "wrong" and "not that of the record" in check(forged).notes
    assert check(edited(page, "", name="Bob", keyed=False)).verdict == "unsigned"  # never ok


@pytest.mark.parametrize("more", ["<!-- > -->", "<style>p { display: none }</style>", "<p>and more</p>", "< p"])
def test_nothing_is_added_to_a_page(more: str) -> None:
    assert check(summary().replace("</body>", f"{more}</body>")).verdict == "wrong"


def test_dials_that_do_not_fit_are_found_without_a_key() -> None:
    page = summary(key="")
    assert check(page.replace("35.6 %", "39.9 %"), "").verdict == "wrong"
    for progress in ("ring_0.7_0.4", "ring_99_0.4", "ring_1", "nothing_1_2"):
        row = check(edited(page, "", progress=progress), "")
        assert row.verdict == "wrong" and row.notes.startswith("lessons: "), progress


def test_a_neighbour_s_dials_do_not_do_under_one_s_own_number() -> None:
    other = next(str(n) for n in range(100) if not course(str(n))["ring"].done(model_answer("ring", "4711")))
    row = check(edited(summary(key=""), "", student=other), "")
    assert row.verdict == "wrong" and "do not meet the goals" in row.notes


@pytest.mark.parametrize(
    "content",
    [b"", b"hello", b"\xff\xfe", b"<html><body>printed</body></html>", b'<body data-record="[1]">', b"<" * 5000,
     b'<body data-record="' + b"[" * 100_000 + b'" id="code">x<'],
)  # fmt: skip
def test_what_is_no_summary_is_said_to_be_none(content: bytes) -> None:
    row = check_summaries.check("f", content, KEY)
    assert row.verdict == "wrong" and row.notes.startswith("this is not a lesson summary: ") and not row.name


@pytest.mark.parametrize(
    "change",
    [{"name": "x" * 100}, {"name": 3}, {"student": "<b>"}, {"date": "soon"}, {"progress": []}, {"version": 1},
     {"version": 10**400}, {"keyed": float("nan")}, {"keyed": 1}, {"more": 1}],
)  # fmt: skip
def test_records_of_another_shape_are_refused(change: dict[str, Any]) -> None:
    said = {**asdict(summaries.record(student(), DAY, "")), **change}
    text = f'<body data-record="{escape(json.dumps(said))}"><p id="code">A</p>'
    assert check(text, "").notes.startswith("this is not a lesson summary: ")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 255))
def test_no_byte_can_be_changed_and_stay_ok(place: int, byte: int) -> None:
    page = summary().encode()
    at = place % len(page)
    changed = page[:at] + bytes([byte]) + page[at + 1 :]
    assert check_summaries.check("f", changed, KEY).verdict == "wrong" or changed.split() == page.split()


def test_a_class_at_once_as_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    names = ["Ada", "=2+3", "Grace"]
    for i, name in enumerate(names):
        (tmp_path / f"{i}.html").write_text(summary(number=str(i), name=name), "utf-8")
    (tmp_path / "forged.html").write_text(edited(summary(number="9"), name="Mallory"), "utf-8")
    (tmp_path / "copy.html").write_text(summary(number="0", name="Eve"), "utf-8")
    files = [str(tmp_path / f"{name}.html") for name in (0, 1, 2, "forged", "copy")]
    monkeypatch.setenv(summaries.VARIABLE, KEY)
    assert check_summaries.main([*files, "--out", str(tmp_path / "class.csv")]) == 1
    rows = list(csv.DictReader(io.StringIO((tmp_path / "class.csv").read_text("utf-8"))))
    assert [row["verdict"] for row in rows] == ["ok", "ok", "ok", "wrong", "ok"]
    assert rows[1]["name"] == "'=2+3"  # no formula for a spreadsheet
    assert "the same number as" in rows[4]["notes"] and "the same work as" in rows[4]["notes"]
    assert "5 checked, 1 wrong" in capsys.readouterr().err
    assert check_summaries.main(files[:1]) == 0 and capsys.readouterr().out.startswith("file,verdict,name")
    (tmp_path / "key").write_text("another key\n")
    assert check_summaries.main([files[0], "--key-file", str(tmp_path / "key")]) == 1
    assert check_summaries.main([str(tmp_path / "nothing.html")]) == 2


def test_the_command_exists() -> None:
    assert cli.COMMANDS["check-lessons"].module == "app.lessons.check_summaries"


def test_a_file_name_that_cannot_be_printed_is_still_a_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names come from whoever hands in; one with stray bytes or a line break ended the check, or broke its table."""
    file = tmp_path / os.fsdecode(b"\xff\n=1.html")
    file.write_text(summary(), "utf-8")
    assert check_summaries.main([str(file), "--key-file", str(_key(tmp_path))]) == 0
    head, row, *rest = capsys.readouterr().out.encode("utf-8").decode().splitlines()
    assert head.startswith("file,") and ",ok," in row and not rest


def _key(folder: Path) -> Path:
    (folder / "key").write_text(KEY, "utf-8")
    return folder / "key"
