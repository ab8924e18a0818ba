"""The console on screens from a phone to a large one, at twice its size, light and dark, and as axe-core sees it."""

from __future__ import annotations

from typing import Any

import axe
import pytest
from browser import settle as answered
from pages import opened
from screens import every_screen, parts_inside

pytestmark = pytest.mark.browser


def test_every_screen(chrome: Any, full_app: str) -> None:
    with opened(chrome, full_app) as page:
        page.wait_for_selector(".display[data-updates]")
        axe.no_fault(page)
        axe.no_fault_in_popovers(page)
        for width, height in every_screen(page, dials=True):
            boxes = {name: page.locator(name).bounding_box() for name in (".dials", ".readouts", ".st-key-row")}
            ends = {name: box["y"] + box["height"] for name, box in boxes.items()}
            if height >= 720 and width != 360:
                assert ends[".readouts"] <= height, (width, height)
            if (width, height) == (360, 740):  # both dials, and the first two rows of read-outs
                assert ends[".dials"] <= 300 and boxes[".readouts"]["y"] <= 500
            if width >= 1280:
                assert ends[".st-key-row"] <= height, (width, height)
            if height >= 1000 and width >= 1500:
                assert ends[".st-key-row"] >= 0.65 * height, "a large screen is used"
        page.set_viewport_size({"width": 1280, "height": 800})
        page.get_by_role("button", name="off", exact=True).click()
        answered(page)
        axe.no_fault(page)


def test_opened_on_a_large_screen_it_shows_panels_side_by_side(chrome: Any, app: str) -> None:
    with opened(chrome, app, viewport={"width": 1920, "height": 1080}) as page:
        page.wait_for_selector(".side-panels:not([hidden]) canvas")
        parts_inside(page, "light")
        shown = [page.locator(".panels .panel").nth(i).bounding_box() for i in range(3)]
        assert page.locator(".side-panel figcaption").all_inner_texts() == ["Bode", "Poles"]
        assert shown[0]["x"] + shown[0]["width"] <= shown[1]["x"] and shown[1]["y"] == shown[2]["y"]
        assert all(box["y"] + box["height"] <= 1080 for box in shown)
        page.set_viewport_size({"width": 1280, "height": 720})
        page.locator(".side-panels").wait_for(state="hidden")
        row = page.locator(".st-key-row").bounding_box()
        assert row["y"] + row["height"] <= 720, "the stream's choices are on the first screen"
