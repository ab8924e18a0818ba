"""The explanation of a lesson that is not done yet: its room is kept, and nobody sees or hears a letter of it."""

from __future__ import annotations

from typing import Any

import pytest
from pages import drawn, opened, settle

pytestmark = pytest.mark.browser

SEEN = """(room) => [...room.querySelectorAll("*")].filter((el) => getComputedStyle(el).visibility === "visible")
  .flatMap((el) => [...el.childNodes]).filter((node) => node.nodeType === Node.TEXT_NODE)
  .map((node) => node.textContent.trim()).filter((text) => text && text !== "hourglass_empty")"""


def test_the_room_for_why_is_empty_to_the_eye(chrome: Any, full_app: str) -> None:
    with opened(chrome, f"{full_app}/lessons") as page:
        page.locator('[data-testid="stRadio"] label').nth(1).click()
        page.get_by_role("button", name="That is my prediction").click()
        drawn(page)
        settle(page)
        room = page.locator(".st-key-why_to_come")
        assert room.evaluate(SEEN) == ["Not done yet: all boxes must have a tick together."]
        assert room.bounding_box()["height"] > 100
