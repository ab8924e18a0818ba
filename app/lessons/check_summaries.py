"""Check lesson summaries: `knob check-lessons FILE...` reads downloaded summaries and writes one CSV row for each.

Three things are looked at, and any edit shows in one of them at least:
    code     the keyed hash of the record, where the class key is known (KNOB_LESSONS_KEY or --key-file)
    figures  every lesson is computed anew from the recorded dial positions and the student's number; needs no key
    text     the page is written anew from the record and compared with what the file shows; needs no key
Nothing in a file is trusted: sizes are limited, and no cell begins as a formula of a spreadsheet would.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

from app.lessons import course, printable_summary
from app.lessons import summary_code as codes
from app.lessons.lesson_state import clean_name, clean_student
from app.widgets.untrusted import spreadsheet_cell
from knob_core import files

MOST_BYTES = 200_000  # a whole course has some twenty thousand
MOST_MINUTE = 10**9  # in the year 3871
_RECORD, _CODE = re.compile(r'<body data-record="([^"<>]*)"'), re.compile(r'id="code">([^<>]*)<')
_STYLE, _TAG = re.compile(r"<style>[^<]*</style>"), re.compile(r"<[^<>]*>")


@dataclass(frozen=True)
class Checked:
    """One file's row."""

    file: str
    verdict: str  # ok, unsigned, or wrong
    name: str = ""
    student: str = ""
    date: str = ""
    done: int = 0
    lessons: str = ""  # ids, parted by spaces
    predicted_right: int = 0
    code: str = ""  # right, wrong, not signed, or not checked
    figures: str = ""  # right or wrong
    text: str = ""  # as written or edited
    notes: str = ""


class _Page(NamedTuple):
    """The record, the code and the visible text of a summary."""

    record: str
    code: str
    words: str  # one blank between two


def _parsed(text: str) -> _Page:
    """By expressions that look at each character a few times only: Python's parser of HTML takes minutes for a small
    file of broken tags. What is no tag counts as visible text."""
    record, code = (found[1] if (found := form.search(text)) else "" for form in (_RECORD, _CODE))
    visible = _TAG.sub(" ", _STYLE.sub(" ", text, count=1))
    return _Page(unescape(record), unescape(code), " ".join(unescape(visible).split()))


def check(name: str, content: bytes, key: str) -> Checked:
    """Check one summary; `key` is the class key, "" where it is not known."""
    if len(content) > MOST_BYTES:
        return Checked(name, "wrong", notes=f"the file has {len(content):,} bytes, expected at most {MOST_BYTES:,}")
    try:
        page = _parsed(content.decode("utf-8"))
        said = _record(page.record)
    except (ValueError, OverflowError, RecursionError) as error:  # a UnicodeDecodeError is a ValueError
        return Checked(name, "wrong", notes=f"this is not a lesson summary: {str(error)[:160]}")
    signed = _signature(said, page.code, key)
    faults = _faults(said)
    edited = _parsed(printable_summary.html(said, page.code)).words != page.words
    fine = signed != "wrong" and not faults and not edited
    return Checked(
        name,
        ("ok" if signed == "right" else "unsigned") if fine else "wrong",
        said["name"],
        said["student"],
        said["date"],
        len(said["lessons"]),
        " ".join(id for id in course("") if id in said["lessons"]),
        _predicted_right(said),
        signed,
        "wrong" if faults else "right",
        "edited" if edited else "as written",
        "; ".join(faults),
    )


def _record(text: str) -> dict[str, Any]:
    """The record, every value of the type that it should have."""
    if not text:
        raise ValueError(
            "it has no record; hand in the file as it was downloaded, not a page that was printed or saved"
        )
    said = json.loads(text)
    wanted = {"version", "name", "student", "date", "keyed", "lessons"}
    if not isinstance(said, dict) or set(said) != wanted or said["version"] != printable_summary.VERSION:
        raise ValueError(f"its record is of another kind, expected version {printable_summary.VERSION}")
    types = {"name": str, "student": str, "date": str, "keyed": bool, "lessons": dict}
    if not all(isinstance(said[key], kind) for key, kind in types.items()):
        raise ValueError("its record has values of the wrong type")
    if said["name"] != clean_name(said["name"]) or said["student"] != clean_student(said["student"]):
        raise ValueError("its name or number has characters that the page does not let through")
    date.fromisoformat(said["date"])
    lessons = course(said["student"])
    for id, done in said["lessons"].items():
        if id not in lessons:
            raise ValueError(f"lesson {id[:24]!r} does not exist")
        _require_entry(id, done, {knob["id"] for knob in lessons[id].knobs})
    return said


def _require_entry(id: str, done: Any, knobs: set[str]) -> None:
    if not isinstance(done, dict) or set(done) != {"minute", "values", "figures", "prediction"}:
        raise ValueError(f"lesson {id!r} has other entries than expected")
    values, given = done["values"], done["prediction"]
    numbers = [*values.values()] if isinstance(values, dict) and set(values) == knobs else [math.nan]
    numbers += [done["minute"], 0.0 if given is None else given]
    if not all(isinstance(n, int | float) and not isinstance(n, bool) and math.isfinite(n) for n in numbers):
        raise ValueError(f"lesson {id!r} has values that are no numbers")
    if not isinstance(done["minute"], int) or not 0 <= done["minute"] <= MOST_MINUTE:
        raise ValueError(f"lesson {id!r} has no possible time")
    pairs = done["figures"]
    if not isinstance(pairs, list) or not all(
        isinstance(pair, list) and len(pair) == 2 and all(isinstance(word, str) for word in pair) for pair in pairs
    ):
        raise ValueError(f"lesson {id!r} has figures of another kind")
    if given is not None and course("")[id].prediction.held(given) != given:
        raise ValueError(f"lesson {id!r} has an impossible prediction")


def _signature(said: Mapping[str, Any], code: str, key: str) -> str:
    """right, wrong, "not signed" (made without a class key), or "not checked" (no class key is given here)."""
    if not said["keyed"]:
        return "not signed" if codes.same(codes.code(said, ""), code) else "wrong"
    if not key:
        return "not checked"
    return "right" if codes.same(codes.code(said, key), code) else "wrong"


def _faults(said: Mapping[str, Any]) -> list[str]:
    """What the lessons, computed anew, do not confirm."""
    faults = []
    lessons = course(said["student"])
    for id, done in said["lessons"].items():
        lesson = lessons[id]
        if lesson.held(done["values"]) != done["values"]:
            faults.append(f"{id}: a dial cannot stand there")
        elif not lesson.done(done["values"]):
            faults.append(f"{id}: the dials do not meet the goals of number {said['student'] or '(none)'}")
        elif printable_summary.figures(lesson, done["values"]) != done["figures"]:
            faults.append(f"{id}: the figures are not those of the dials")
    return faults


def _predicted_right(said: Mapping[str, Any]) -> int:
    lessons = course(said["student"])
    given = {id: done["prediction"] for id, done in said["lessons"].items() if done["prediction"] is not None}
    return sum(lessons[id].prediction.is_right(value) for id, value in given.items())


def with_copies_marked(rows: Sequence[Checked], contents: Sequence[bytes]) -> list[Checked]:
    """Note in each row which earlier file has the same dial positions and times, or is for the same number."""
    seen: dict[str, str] = {}
    out = []
    for row, content in zip(rows, contents, strict=True):
        notes = [row.notes] if row.notes else []
        if row.verdict != "wrong" and row.done:
            work = codes.canonical(_record(_parsed(content.decode("utf-8")).record)["lessons"])
            for what, mark in (("the same work as", work), ("the same number as", row.student and f"#{row.student}")):
                if mark and seen.setdefault(mark, row.file) != row.file:
                    notes.append(f"{what} {seen[mark]}")
        out.append(Checked(**{**asdict(row), "notes": "; ".join(notes)}))
    return out


def table(rows: Sequence[Checked]) -> str:
    """CSV text; a cell that a spreadsheet would take for a formula begins with an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(Checked)])
    for row in rows:
        writer.writerow([spreadsheet_cell(_printable(str(value))) for value in asdict(row).values()])
    return text.getvalue()


def _printable(text: str) -> str:
    """One line that every terminal can show: also a file's name comes from whoever handed it in."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0 where every file is ok or unsigned, 1 where one is wrong, 2 where one cannot be read."""
    parser = argparse.ArgumentParser(prog="knob check-lessons", description="Check lesson summaries; CSV out.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="summaries as they were downloaded")
    parser.add_argument("--key-file", type=Path, help=f"a file with the class key (default: {codes.VARIABLE})")
    parser.add_argument("--out", type=Path, help="where to write the CSV (default: to the screen)")
    args = parser.parse_args(arguments)
    try:
        key = args.key_file.read_text("utf-8").strip() if args.key_file else codes.key_from_environment()
        contents = [_head(path) for path in args.files]
    except (OSError, UnicodeDecodeError) as error:
        print(f"knob check-lessons: {error}", file=sys.stderr)
        return 2
    rows = [check(str(path), content, key) for path, content in zip(args.files, contents, strict=True)]
    text = table(with_copies_marked(rows, contents))
    if args.out:
        files.write_text(args.out, text)
    else:
        print(text, end="")
    wrong = sum(row.verdict == "wrong" for row in rows)
    print(f"{len(rows)} checked, {wrong} wrong{'' if key else '; no class key given'}", file=sys.stderr)
    return 1 if wrong else 0


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MOST_BYTES + 1)


if __name__ == "__main__":
    sys.exit(main())
