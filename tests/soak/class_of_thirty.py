"""A class at work against one served app: `python -m tests.soak.class_of_thirty [--seconds 600] [--students 30]`.

Students are clients without a browser that speak Streamlit's own protocol, so that the server is measured and not
thirty browsers. Each has a number of its own, predicts, drags dials wrongly and rightly, goes on to the next lesson,
looks at the console once, and hands in a summary. Printed: how long answers took, what went wrong, the server's memory,
and what `knob check-lessons` says of the summaries. Exit 1 where something went wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from pathlib import Path

from app.lessons import check_summaries, summary
from tests.soak.student import Notes, study
from tools.screenshots import ROOT, served

KEY = "the key of the class"
LATE = 1.0  # seconds: the median answer must come within


def memory(pid: int) -> float:
    """The resident memory of a process, MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return float("nan")


async def attend(url: str, pid: int, students: int, seconds: float, pause: float) -> tuple[Notes, list[float]]:
    """All students at once, who come in over the first tenth of the time; what was seen, and memory every 2 % of it."""
    notes, used, until = Notes(), [], time.monotonic() + seconds
    tasks = []
    for number in range(students):
        tasks.append(asyncio.create_task(study(url, str(1000 + number), until, pause, notes)))
        await asyncio.sleep(seconds / 10 / students)
    while not all(task.done() for task in tasks):
        used.append(memory(pid))
        await asyncio.sleep(seconds / 50)
    return notes, used


def verdicts(notes: Notes) -> list[str]:
    """What the checker says of each summary."""
    return [check_summaries.check(f"{i}.html", text, KEY).verdict for i, text in enumerate(notes.summaries)]


def faults(notes: Notes, students: int) -> list[str]:
    """What must not be: errors, summaries that are missing or wrong, answers that come late."""
    found = list(notes.errors)
    said = verdicts(notes)
    if said != ["ok"] * students:
        found.append(f"{said.count('ok')} of {students} summaries are right")
    if not notes.answers or statistics.median(notes.answers) > LATE:
        found.append(f"the median answer took more than {LATE:g} s")
    return found


def times(name: str, took: list[float]) -> str:
    """`answers to a dial: 900, median 0.05 s, 90 % 0.1 s, longest 0.4 s`."""
    if not took:
        return f"{name}: none"
    often = sorted(took)[int(0.9 * len(took))]
    return (
        f"{name}: {len(took):,}, median {statistics.median(took):.3f} s, 90 % {often:.3f} s, longest {max(took):.2f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--pause", type=float, default=7.0, help="seconds between two drags of a student, in the mean")
    args = parser.parse_args()
    with served(ROOT / "app" / "main.py", **{summary.VARIABLE: KEY}) as app:
        notes, used = asyncio.run(attend(app.url, app.pid, args.students, args.seconds, args.pause))
    print(f"{args.students} students, {args.seconds:.0f} s, {notes.done} lessons done")
    print(times("answers to a dial of a lesson", notes.answers))
    print(times("answers to a knob of the console", notes.drags))
    print(times("pages", notes.pages))
    quarters = [used[int(part * (len(used) - 1))] for part in (0, 0.25, 0.5, 0.75, 1)]
    print("server's memory at each quarter of the time, MB:", *(f"{mb:.0f}" for mb in quarters))
    wrong = faults(notes, args.students)
    print(f"faults: {len(wrong)}", *wrong[:10], sep="\n  ")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
