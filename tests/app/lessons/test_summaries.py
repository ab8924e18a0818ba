"""Summaries: what is printed is what was done, and what was forged or edited is found."""

from __future__ import annotations

import csv
import io
import json
import os
import time
from datetime import date
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.lessons import check_summaries, course, printable_summary
from app.lessons import summary_code as codes
from app.lessons.lesson_state import LessonState
from app.lessons.model_answers import model_answer
from app.lessons.progress_link import Done
from knob_core import cli

KEY, DAY = "a class key", date(2026, 11, 17)


def student(number: str = "4711", name: str = "Ada", done: tuple[str, ...] = ("ring", "critical")) -> LessonState:
    work = {id: Done(model_answer(id, number), 29_000_000) for id in done}
    return LessonState(number, name, work, {id: course(number)[id].prediction.right for id in done})


def summary(key: str = KEY, **about: Any) -> str:
    return printable_summary.made(student(**about), DAY, key)


def edited(text: str, change: dict[str, Any], key: str | None = None) -> str:
    """A forger's work: the record changed, the page written anew, the old code left, or one of a guessed key."""
    said = json.loads(unescape(text.split('data-record="')[1].split('"')[0]))
    code = text.split('id="code">')[1].split("<")[0]
    said.update(change)
    return printable_summary.html(said, code if key is None else codes.code(said, key))


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
    assert (row.verdict, row.code, row.figures, row.text) == ("ok", "right", "right", "as written")
    assert (row.name, row.student, row.date, row.done, row.lessons) == ("Ada", "4711", "2026-11-17", 2, "ring critical")
    assert row.predicted_right == 2
    assert (check(summary(), "").verdict, check(summary(), "").code) == ("unsigned", "not checked")
    assert (check(summary(key="")).verdict, check(summary(key="")).code) == ("unsigned", "not signed")


def test_another_name_on_it_is_found() -> None:
    page = summary()
    assert check(page.replace("<strong>Ada", "<strong>Bob")).text == "edited"  # on the paper alone
    assert check(edited(page, {"name": "Bob"})).code == "wrong"  # in the record too, the page written anew
    assert check(edited(page, {"name": "Bob"}, key="guess")).code == "wrong"
    assert check(edited(page, {"name": "Bob", "keyed": False}, key="")).verdict == "unsigned"  # never ok


def test_figures_and_dials_that_do_not_fit_are_found_without_a_key() -> None:
    page = summary(key="")
    assert check(page.replace("35.6 %", "39.9 %"), "").verdict == "wrong"
    said = printable_summary.record(student(), DAY, "")
    for path, value in ((("ring", "values", "zeta"), 0.7), (("ring", "values", "zeta"), 99), (("ring", "figures"), [])):
        forged = json.loads(json.dumps(said))
        place = forged["lessons"]
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = value
        row = check(printable_summary.html(forged, codes.code(forged, "")), "")
        assert row.verdict == "wrong" and row.figures == "wrong" and row.notes.startswith("ring:"), value


def test_a_neighbour_s_dials_do_not_do_under_one_s_own_number() -> None:
    said = printable_summary.record(student(), DAY, "")
    said["student"] = next(str(n) for n in range(100) if not course(str(n))["ring"].done(model_answer("ring", "4711")))
    row = check(printable_summary.html(said, codes.code(said, "")), "")
    assert row.verdict == "wrong" and "do not meet the goals of number" in row.notes


@pytest.mark.parametrize(
    "content",
    [b"", b"hello", b"\xff\xfe", b"<html><body>printed</body></html>", b'<body data-record="[1]">', b"<" * 5000,
     b'<body data-record="' + b"[" * 100_000 + b'">', b"x" * (check_summaries.MOST_BYTES + 1)],
)  # fmt: skip
def test_what_is_no_summary_is_said_to_be_none(content: bytes) -> None:
    row = check_summaries.check("f", content, KEY)
    assert row.verdict == "wrong" and row.notes and not row.name


@pytest.mark.parametrize(
    "change",
    [{"name": "x" * 100}, {"name": 3}, {"student": "<b>"}, {"date": "soon"}, {"lessons": []}, {"lessons": {"no": {}}},
     {"lessons": {"ring": {"minute": -1, "values": {}, "figures": [], "prediction": None}}}, {"version": 2},
     {"more": 1}],
)  # fmt: skip
def test_records_of_another_shape_are_refused(change: dict[str, Any]) -> None:
    said = {**printable_summary.record(student(), DAY, ""), **change}
    text = f'<body data-record="{escape(codes.canonical(said))}">'
    assert check_summaries.check("f", text.encode(), "").verdict == "wrong"


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 255))
def test_no_byte_can_be_changed_and_stay_ok(place: int, byte: int) -> None:
    """Any visible byte or byte of the record; spaces and the style do not count."""
    page = summary().encode()
    body = page.index(b"<body")
    at = body + place % (len(page) - body)
    changed = page[:at] + bytes([byte]) + page[at + 1 :]
    same_words = changed.lower().split() == page.lower().split()
    row = check_summaries.check("f", changed, KEY)
    before = check_summaries.check("f", page, KEY)
    if row.verdict == "ok" and not same_words:  # markup around the words may differ; what it says may not
        assert (row.name, row.student, row.lessons, row.date) == (
            before.name,
            before.student,
            before.lessons,
            before.date,
        )


def test_a_class_at_once_as_csv(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    names = ["Ada", "=2+3", "Grace"]
    for i, name in enumerate(names):
        (tmp_path / f"{i}.html").write_text(summary(number=str(i), name=name), "utf-8")
    (tmp_path / "forged.html").write_text(edited(summary(number="9"), {"name": "Mallory"}), "utf-8")
    (tmp_path / "copy.html").write_text(summary(number="0", name="Eve"), "utf-8")
    files = [str(tmp_path / f"{name}.html") for name in (0, 1, 2, "forged", "copy")]
    monkeypatch.setenv(codes.VARIABLE, KEY)
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


HUGE = 10**400  # a whole number that no float can hold


@pytest.mark.parametrize("entry", [{"minute": HUGE}, {"prediction": HUGE}, {"values": {"zeta": HUGE, "omega_n": 1.0}}])
def test_a_number_too_large_for_anything_is_refused(entry: dict[str, Any]) -> None:
    """It ended the whole check with an OverflowError."""
    said = json.loads(unescape(summary().split('data-record="')[1].split('"')[0]))
    said["lessons"]["ring"].update(entry)
    assert check(f'<body data-record="{escape(json.dumps(said))}">').verdict == "wrong"


@pytest.mark.parametrize("keyed", [float("nan"), float("inf"), 1, "yes", None])
def test_whether_it_was_signed_is_yes_or_no(keyed: object) -> None:
    """NaN stopped the check of a whole class."""
    said = {**printable_summary.record(student(), DAY, ""), "keyed": keyed}
    assert check(f'<body data-record="{escape(json.dumps(said))}">').verdict == "wrong"


@pytest.mark.parametrize("broken", ["<", "<!--", "<a =", "</", "<a>x", "<style>", "<body data-record=", "&#9", "&a"])
def test_a_file_of_broken_tags_does_not_hold_up_the_check(broken: str) -> None:
    """A megabyte of "<" took two minutes, one of "<!--" more than ten."""
    for count in (10**6, 2000):
        text = (broken * count).ljust(check_summaries.MOST_BYTES, "x")[: check_summaries.MOST_BYTES]
        began = time.process_time()
        assert check(text).verdict == "wrong"
        assert time.process_time() - began < 2


def test_nothing_is_hidden_beside_the_words() -> None:
    """A comment or a second style may cover what is printed, so their text counts as words."""
    for more in ("<!-- > -->", "<style>p { display: none }</style>", "<p>and more</p>", "< p"):
        assert check(summary().replace("</body>", f"{more}</body>")).text == "edited"
    assert check(summary().replace("</style>", "p { color: red }</style>").replace("><p", ">\n <p")).verdict == "ok"


def test_a_true_summary_is_far_below_the_limit() -> None:
    assert 10 * len(summary(name="A" * 80).encode()) < check_summaries.MOST_BYTES


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
