"""The console from a phone to a large screen: nothing overlaps, nothing sticks out, and the space is used."""

from __future__ import annotations

from typing import Any

import pytest
from pages import in_both_themes, opened
from screens import PHONE, SIZES, TABLET, every_size

pytestmark = pytest.mark.browser

CONTROLS_INSIDE = """() => { const box = knobPart("knobs").box, right = box.getBoundingClientRect().right;
  return [...box.querySelectorAll("*")].every((el) => el.getBoundingClientRect().right <= right + 1); }"""


def test_console(chrome: Any, app: str) -> None:
    with opened(chrome, app) as page:
        page.wait_for_selector(".display[data-updates]")
        for scheme in in_both_themes(page):
            assert page.locator(".display").get_attribute("data-theme") == scheme
            for width, height in every_size(page, SIZES if scheme == "light" else [TABLET, (1280, 800)]):
                assert page.evaluate(CONTROLS_INSIDE), (width, height)
                parts = (".controls", ".display", ".dials", ".readouts", ".st-key-row")
                boxes = {name: page.locator(name).bounding_box() for name in parts}
                ends = {name: box["y"] + box["height"] for name, box in boxes.items()}
                beside = boxes[".controls"]["x"] + boxes[".controls"]["width"] <= boxes[".display"]["x"]
                assert beside or ends[".controls"] <= boxes[".display"]["y"], (width, height)
                if height >= 720 and (width, height) != PHONE:
                    assert ends[".readouts"] <= height, (width, height)
                if (width, height) == PHONE:  # both dials, and the first two rows of read-outs
                    assert ends[".dials"] <= 300 and boxes[".readouts"]["y"] <= 500
                if width >= 1280:
                    assert ends[".st-key-row"] <= height, (width, height)
                if height >= 1000 and width >= 1500:
                    assert ends[".st-key-row"] >= 0.65 * height, "a large screen is used"


def test_a_page_that_opens_dark_is_painted_dark(chrome: Any, app: str) -> None:
    with opened(chrome, app, color_scheme="dark") as page:
        page.wait_for_selector(".display[data-updates]")
        assert page.locator(".display").get_attribute("data-theme") == "dark"
        assert page.locator(".controls").get_attribute("data-theme") == "dark"
