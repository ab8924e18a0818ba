"""Tune, Live and every panel of the console as axe-core sees them, in each state, light and dark: no violation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import axe
import pytest
from browser import settle as answered
from pages import drawn, opened, settle
from running_service import RunningService

pytestmark = pytest.mark.browser

TOKEN = "operator-token-of-the-test"


def fine(page: Any, state: str) -> None:
    page.mouse.move(2, 2)  # no tooltip over it
    settle(page)
    page.locator('[role="tooltip"]').wait_for(state="detached")
    assert axe.in_both_schemes(page) == [], state
    assert page.locator("h1").count() == 1, state


def test_tune(chrome: Any, full_app: str) -> None:
    with opened(chrome, f"{full_app}/tune") as page:
        drawn(page)
        page.locator('[data-testid="stProgress"]').wait_for(state="detached")
        fine(page, "the map is whole")
        assert page.title() == "Tune · Knob"
        for goal, words in (("50", "meets every goal"), ("0", "nearest")):
            page.get_by_role("spinbutton", name="excess flips ≤").fill(goal)
            page.get_by_role("spinbutton", name="excess flips ≤").press("Enter")
            settle(page)
            page.get_by_role("button", name="Find").click()
            page.locator('[data-testid="stAlert"]').get_by_text(words).wait_for()
            fine(page, words)
        page.get_by_text("Several", exact=False).first.click()
        page.get_by_text("Streams", exact=True).wait_for()
        fine(page, "several streams")


def test_live(chrome: Any, full_app: str, tmp_path: Path) -> None:
    service = RunningService(tmp_path, {"operator": TOKEN})
    service.start()
    for t in range(40):
        service.send("gate-1", [2.0 * (t % 7 == 3), 1.0, 0.5 * (t > 20)])
    try:
        with opened(chrome, f"{full_app}/live") as page:
            page.get_by_label("Address of the service").fill("http://127.0.0.1:1")
            page.get_by_role("button", name="Attach").click()
            page.locator('[data-testid="stAlert"]').first.wait_for()
            fine(page, "no service there")
            page.get_by_label("Address of the service").fill(service.address)
            page.get_by_role("textbox", name="Token").fill(TOKEN)
            page.get_by_role("button", name="Attach").click()
            page.get_by_text("gate-1: the last 40 frames").wait_for()
            fine(page, "attached")
    finally:
        service.stop()


def test_every_panel_of_the_console(chrome: Any, full_app: str) -> None:
    with opened(chrome, f"{full_app}/?image=1") as page:
        page.wait_for_selector(".display[data-updates]")
        page.get_by_role("button", name="pin A").click()
        answered(page)
        page.get_by_role("button", name="nervous").click()
        answered(page)
        for tab in page.get_by_role("tab").all():
            tab.click()
            page.wait_for_function(
                "(id) => knobPart('scope').message.panel.id === id", arg=tab.get_attribute("data-panel")
            )
            answered(page)
            fine(page, tab.inner_text())
        page.get_by_role("button", name="set a goal").first.click()
        fine(page, "a goal is being typed")
        page.keyboard.type("0")
        page.keyboard.press("Enter")
        page.get_by_text("missed", exact=False).first.wait_for()
        fine(page, "a goal is missed")
        page.get_by_role("button", name="▶ play").click()
        page.get_by_role("button", name="❚❚ pause").click()
        answered(page)
        fine(page, "live")
