"""Check lesson summaries: `knob check-lessons FILE...` reads downloaded summaries and writes one CSV row for each.

The code tells whether the record is as the server signed it (where the class key is known); the recorded dial positions
are checked anew against the goals of the student's number, and the page is made anew, which needs no key.
"""

from __future__ import annotations

import argparse
import csv
import hmac
import io
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from app.lessons import course, progress_link, summary
from app.lessons.summary import Record
from app.widgets.untrusted import spreadsheet_cell
from knob_core import files


@dataclass(frozen=True)
class Checked:
    """One file's row."""

    file: str
    verdict: str  # ok; unsigned: all fits, but there is no key to tell by; wrong
    name: str = ""
    student: str = ""
    date: str = ""
    done: int = 0
    lessons: str = ""  # ids, parted by spaces
    predicted_right: int = 0
    notes: str = ""


def check(name: str, content: bytes, key: str) -> Checked:
    """Check one summary; `key` is the class key, "" where it is not known."""
    try:
        page = content.decode("utf-8")
        said, code = summary.read(page)
    except (ValueError, RecursionError) as error:  # a UnicodeDecodeError is a ValueError
        return Checked(name, "wrong", notes=f"this is not a lesson summary: {str(error)[:160]}")
    lessons = course(said.student)
    progress, notes = progress_link.read(said.progress, lessons)
    signed = said.keyed and bool(key)
    if (signed or not said.keyed) and not hmac.compare_digest(said.code(key if signed else "").encode(), code.encode()):
        notes.insert(0, "the code is not that of the record")
    if _words(summary.html(said, code)) != _words(page):
        notes.append("the page says something else than its record")
    return Checked(
        name,
        "wrong" if notes else "ok" if signed else "unsigned",
        said.name,
        said.student,
        said.date,
        len(progress.done),
        " ".join(progress.done),
        sum(lessons[id].prediction.is_right(given) for id, given in progress.predicted.items()),
        "; ".join(notes),
    )


def _words(page: str) -> list[str]:
    """The page without its line breaks and indents, which mail and editors change; no other character is a blank."""
    return re.split(r"[ \t\r\n]+", page.strip(" \t\r\n"))


def with_copies_marked(rows: Sequence[Checked], contents: Sequence[bytes]) -> list[Checked]:
    """Note in each row which earlier file has the same dial positions and times, or is for the same number."""
    seen: dict[str, str] = {}
    marked = []
    for row, content in zip(rows, contents, strict=True):
        notes = [row.notes] if row.notes else []
        if row.verdict != "wrong" and row.done:
            said: Record = summary.read(content.decode("utf-8"))[0]
            for what, mark in (("the same work as", said.progress), ("the same number as", f"#{said.student}")):
                if mark != "#" and seen.setdefault(mark, row.file) != row.file:
                    notes.append(f"{what} {seen[mark]}")
        marked.append(replace(row, notes="; ".join(notes)))
    return marked


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
    parser.add_argument("--key-file", type=Path, help=f"a file with the class key (default: {summary.VARIABLE})")
    parser.add_argument("--out", type=Path, help="where to write the CSV (default: to the screen)")
    args = parser.parse_args(arguments)
    try:
        key = args.key_file.read_text("utf-8").strip() if args.key_file else summary.key_from_environment()
        contents = [path.read_bytes() for path in args.files]
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


if __name__ == "__main__":
    sys.exit(main())
