"""A class at work: thirty browsers do lessons against one served app. `python -m tests.soak.class_of_thirty`.

By hand only: it takes ten minutes (--seconds) and a Chromium. Every student has a number of their own, predicts, turns
dials wrongly and rightly, and goes on to the next lesson, with pauses as people make. Printed at the end: how long the
figures took to answer a turned dial, what went wrong, and the server's memory. Browsers and server share the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.lessons import course
from app.lessons.model_answers import model_answer
from tools.screenshots import FLAGS, HOW, READY, ROOT, chromium, served

PATIENCE = 60_000  # milliseconds
PAUSE = (4.0, 14.0)  # seconds between two turns of a student


@dataclass
class Notes:
    """What was seen."""

    answers: list[float] = field(default_factory=list)  # seconds from Enter to the new figure
    pages: list[float] = field(default_factory=list)  # seconds from a click to the next lesson
    errors: list[str] = field(default_factory=list)
    done: int = 0


def memory(pid: int) -> float:
    """The server's resident memory, MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return float("nan")


async def updates(page: Any) -> int:
    return int(await page.locator(".figure-sheet").get_attribute("data-updates") or 0)


async def turn(page: Any, place: int, value: float, notes: Notes) -> None:
    """Type a number beside a dial, and wait for the figure."""
    dial = page.locator(".knob-value input").nth(place)
    if float(await dial.input_value()) == value:
        return
    before, began = await updates(page), time.monotonic()
    await dial.fill(f"{value:g}")
    await dial.press("Enter")
    while await updates(page) <= before:
        if time.monotonic() - began > PATIENCE / 1000:
            raise TimeoutError("the figure did not follow the dial")
        await asyncio.sleep(0.02)
    notes.answers.append(time.monotonic() - began)


async def predict(page: Any, lesson: Any) -> None:
    asked = lesson.prediction
    if asked.choices:
        await page.locator('[data-testid="stRadio"] label').filter(has_text=asked.choices[0]).first.click()
    else:
        await page.locator('[data-testid="stNumberInput"] input').fill("1")
    await page.get_by_role("button", name="That is my prediction").click()
    await page.locator(".figure-sheet[data-updates]").wait_for()


async def student(number: int, chrome: Any, url: str, until: float, notes: Notes) -> None:
    """One student: lesson after lesson until the time is over."""
    rng, name = random.Random(number), str(1000 + number)
    context = await chrome.new_context(viewport={"width": 1000, "height": 760})
    page = await context.new_page()
    page.set_default_timeout(PATIENCE)
    page.on("pageerror", lambda error: notes.errors.append(f"{name}: {error}"))
    try:
        await page.goto(f"{url}/lessons?student={name}&name=Student+{name}")
        lessons = course(name)
        for id, lesson in lessons.items():
            began = time.monotonic()
            await page.get_by_role("heading", name=lesson.title).wait_for()
            notes.pages.append(time.monotonic() - began)
            await page.wait_for_selector(READY)
            await predict(page, lesson)
            for attempt in (lesson.start | {"omega_n": 1.1}, model_answer(id, name)):
                for place, knob in enumerate(lesson.knobs):
                    await asyncio.sleep(rng.uniform(*PAUSE))
                    if time.monotonic() > until:
                        return
                    await turn(page, place, attempt[knob["id"]], notes)
            await page.get_by_text("Done at").wait_for()
            notes.done += 1
            await page.get_by_role("button", name="Next →").click()
    except Exception as error:
        notes.errors.append(f"{name}: {str(error)[:200]}")
    finally:
        await context.close()


async def play(url: str, pid: int, students: int, seconds: float) -> tuple[Notes, list[float]]:
    """All students at once; memory once in ten seconds."""
    from playwright.async_api import async_playwright

    notes, used = Notes(), []
    async with async_playwright() as playwright:
        chrome = await playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        began = time.monotonic()
        until = began + seconds
        tasks = []
        for number in range(students):  # they come in over the first minute
            tasks.append(asyncio.create_task(student(number, chrome, url, until, notes)))
            await asyncio.sleep(min(2.0, seconds / 4 / students))
        while not all(task.done() for task in tasks):
            used.append(memory(pid))
            await asyncio.sleep(10)
        await chrome.close()
    return notes, used


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=600.0)
    args = parser.parse_args()
    if chromium() is None:
        raise SystemExit(HOW)
    with served(ROOT / "app" / "main.py") as app:
        notes, used = asyncio.run(play(app.url, app.pid, args.students, args.seconds))
    late = sorted(notes.answers)
    print(f"{args.students} students, {args.seconds:.0f} s: {len(late)} turns answered, {notes.done} lessons done")
    if late:
        often = late[int(0.9 * len(late))]
        print(f"answer to a dial: median {statistics.median(late):.2f} s, 90 % {often:.2f} s, longest {late[-1]:.2f} s")
    if len(used) > 4:
        quarters = (used[int(part * (len(used) - 1))] for part in (0, 0.25, 0.5, 0.75, 1))
        print("server's memory at each quarter of the time, MB:", *(f"{mb:.0f}" for mb in quarters))
    print(f"errors: {len(notes.errors)}", *notes.errors[:10], sep="\n  ")
    raise SystemExit(bool(notes.errors))


if __name__ == "__main__":
    main()
