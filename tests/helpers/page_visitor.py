"""A visitor without a browser who uses a page: presses its buttons, fills its forms, turns its knobs.

As a browser does, it keeps what the page shows and the state of every control, and sends all of it with each rerun.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState

from tests.helpers.visitors import PATIENCE, Visitor


class PageVisitor(Visitor):
    """`shown` has the elements by their place on the page, `problems` what went wrong in the page's script."""

    def __init__(self, url: str, query: str = "", page: str = "") -> None:
        super().__init__(url, query, page)
        self.shown: dict[tuple[int, ...], tuple[Any, str]] = {}  # place -> element, id of its fragment ("": none)
        self._fresh = self.shown  # what the run that is under way has shown so far
        self.states: dict[str, WidgetState] = {}
        self.problems: list[str] = []
        self.finished = 0  # runs of the whole script
        self.page_hash = ""

    def _heard(self, message: ForwardMsg) -> bool:
        last = super()._heard(message)
        kind = message.WhichOneof("type")
        if kind == "new_session" and not message.metadata.run.fragment_ids:
            self._fresh = {}
        elif kind == "navigation":
            self.page_hash = message.navigation.page_script_hash
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._show(message)
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "script_finished":
            if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                self.problems.append("the page does not compile")
            if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:  # of the whole page: the rest is gone
                self.shown = self._fresh
                self.finished += 1
        return last

    def _show(self, message: ForwardMsg) -> None:
        element = message.delta.new_element
        for places in (self.shown, self._fresh):
            places[tuple(message.metadata.delta_path)] = element, message.delta.fragment_id
        if element.WhichOneof("type") == "exception":
            self.problems.append(f"{element.exception.type}: {element.exception.message[:300]}")

    async def until(self, happened: Callable[[], bool]) -> None:
        """Listen until something has happened."""
        async with asyncio.timeout(PATIENCE):
            while not happened():
                self._heard(await self._next())

    async def rerun(self, fragment: str = "", trigger: str = "") -> None:
        """Ask for a run, with the state of all controls; `trigger` is the id of a button that was pressed."""
        message = BackMsg()
        run = message.rerun_script
        run.query_string, run.page_script_hash, run.fragment_id = self.query, self.page_hash, fragment
        run.widget_states.widgets.extend(self.states.values())
        if trigger:
            run.widget_states.widgets.add(id=trigger, trigger_value=True)
        await self.send(message)

    def find(self, kind: str, label: str = "") -> tuple[Any, str]:
        """The first element of a kind (with this label) and its fragment."""
        for element, fragment in self.shown.values():
            found = getattr(element, kind) if element.WhichOneof("type") == kind else None
            if found is not None and (not label or found.label == label):
                return found, fragment
        raise LookupError(f"no {kind} {label!r} on the page; it shows {self.text()[:200]!r}")

    def component(self, name: str) -> tuple[str, str, dict[str, Any]]:
        """Id, fragment and data of one of our own components."""
        for element, fragment in self.shown.values():
            if element.WhichOneof("type") == "bidi_component" and element.bidi_component.component_name == name:
                return element.bidi_component.id, fragment, json.loads(element.bidi_component.json or "{}")
        raise LookupError(f"no component {name!r} on the page; it shows {self.text()[:200]!r}")

    def text(self) -> str:
        """What the page says in Markdown, headings and messages."""
        words = []
        for element, _ in self.shown.values():
            kind = element.WhichOneof("type")
            words.append(getattr(getattr(element, kind), "body", ""))
        return "\n".join(filter(None, words))

    async def press(self, label: str) -> None:
        """Press a button, and wait until the whole page is there."""
        before, (button, fragment) = self.finished, self.find("button", label)
        await self.rerun(fragment, button.id)
        await self.until(lambda: self.finished > before)

    def set_component(self, id: str, value: dict[str, Any]) -> None:
        """What a component reports with the next run."""
        self.states[id] = WidgetState(id=id, json_value=json.dumps(value))

    def file_address(self, label: str) -> str:
        """Where the file of a link lies."""
        link = re.search(rf'<a class="knob-file" href="([^"]+)"[^>]*>{re.escape(label)}</a>', self.text())
        if link is None:
            raise LookupError(f"no link {label!r} on the page")
        return f"{self.url}/{link[1]}"
