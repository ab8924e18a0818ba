"""A student without a browser: predicts, turns the dials wrongly and rightly, goes on, and hands in a summary."""

from __future__ import annotations

import asyncio
import random
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field

from streamlit.proto.WidgetStates_pb2 import WidgetState

from app.lessons import Lesson, course
from app.lessons.model_answers import model_answer
from tests.helpers.page_visitor import PageVisitor

MOVES = 5  # messages of one drag; the last one lets the dial go


@dataclass
class Notes:
    """What was seen of the whole class; times in seconds."""

    answers: list[float] = field(default_factory=list)  # from a moved dial to its new figure
    pages: list[float] = field(default_factory=list)  # from a press or a success to the whole new page
    drags: list[float] = field(default_factory=list)  # from a moved knob of the console to its answer
    errors: list[str] = field(default_factory=list)
    done: int = 0
    summaries: list[bytes] = field(default_factory=list)


class Student(PageVisitor):
    """One session on the lessons page."""

    def __init__(self, url: str, number: str, notes: Notes) -> None:
        super().__init__(url, f"student={number}&name=Student+{number}", "lessons")
        self.number, self.notes, self.seq = number, notes, 0

    async def predict(self, lesson: Lesson) -> None:
        """Answer the question before the lesson."""
        asked = lesson.prediction
        if asked.choices:
            radio, _ = self.find("radio")
            self.states[radio.id] = WidgetState(id=radio.id, string_value=asked.choices[0])
        else:
            box, _ = self.find("number_input")
            self.states[box.id] = WidgetState(id=box.id, double_value=1.0)
        began = time.monotonic()
        await self.press("That is my prediction")
        if "knob_dials" not in self.components():  # the page is run once more with what was predicted
            before = self.finished
            await self.until(lambda: self.finished > before)
        self.notes.pages.append(time.monotonic() - began)
        self.seq = 0

    async def drag(self, name: str, values: Mapping[str, float], target: float) -> dict[str, float]:
        """Move a dial to its target in a few steps, each after the answer to the last."""
        id, fragment, data = self.component("knob_dials")
        start = values[name]
        for move in range(1, MOVES + 1):
            self.seq += 1
            values = {**values, name: start + (target - start) * move / MOVES}
            state = {"epoch": data["epoch"], "seq": self.seq, "released": move == MOVES, **values}
            self.set_component(id, {"controls": state})
            began = time.monotonic()
            await self.rerun(fragment)
            await self.until(lambda: self.drawn() >= self.seq)
            self.notes.answers.append(time.monotonic() - began)
        return dict(values)

    def drawn(self) -> int:
        """The sequence number that the figure answers; -1 while the page is being made anew."""
        return self.component("knob_sheet")[2]["seq"] if "knob_sheet" in self.components() else -1

    def components(self) -> set[str]:
        """Which of our components are on the page."""
        kinds = [element for element, _ in self.shown.values() if element.WhichOneof("type") == "bidi_component"]
        return {element.bidi_component.component_name for element in kinds}

    async def do(self, lesson: Lesson, pause: float, rng: random.Random) -> None:
        """One lesson: a prediction, a wrong setting, the right one."""
        await self.predict(lesson)
        before, values = self.finished, dict(lesson.start)
        wrong = lesson.held({knob["id"]: values[knob["id"]] * 1.07 for knob in lesson.knobs})
        for attempt in (wrong, model_answer(lesson.id, self.number)):
            for knob in lesson.knobs:
                await asyncio.sleep(rng.uniform(0.5, 1.5) * pause)
                values = await self.drag(knob["id"], values, attempt[knob["id"]])
        began = time.monotonic()
        await self.until(lambda: self.finished > before and "**Done** at" in self.text())
        self.notes.pages.append(time.monotonic() - began)
        self.notes.done += 1

    async def hand_in(self) -> bytes:
        """The summary that this student downloads."""
        address = self.file_address("Printable summary")
        return await asyncio.to_thread(lambda: urllib.request.urlopen(address, timeout=60).read())


async def try_the_console(url: str, notes: Notes) -> None:
    """Look at the console in between, and swing a knob there."""
    async with PageVisitor(url) as visitor:
        notes.drags += await visitor.drag(await visitor.line(), 20, pause=0.05)
        notes.errors += visitor.problems


async def study(url: str, number: str, until: float, pause: float, notes: Notes) -> None:
    """Lesson after lesson until the time is over; then the summary is handed in."""
    rng = random.Random(number)
    try:
        async with Student(url, number, notes) as student:
            for place, lesson in enumerate(course(number).values()):
                await student.do(lesson, pause, rng)
                if time.monotonic() > until or place == len(course()) - 1:
                    break
                if place == 1:
                    await try_the_console(url, notes)
                await asyncio.sleep(rng.uniform(0.5, 1.5) * pause)
                began = time.monotonic()
                await student.press("Next →")
                notes.pages.append(time.monotonic() - began)
            notes.summaries.append(await student.hand_in())
            notes.errors += [f"{number}: {problem}" for problem in student.problems]
    except Exception as error:
        notes.errors.append(f"{number}: {type(error).__name__} {str(error)[:300]}")
