"""Every page, light and dark, with everything opened, as axe-core sees it: no violation of WCAG 2.2 A and AA."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import axe
import numpy as np
import pytest
from browser import settle as answered
from pages import drawn, opened, settle

pytestmark = [pytest.mark.browser, axe.needed]

SCHEMES = pytest.mark.parametrize("scheme", ["light", "dark"])
READING = {  # page: what is on it when it is whole
    "learning": "At the end of training",
    "results": "What we set out to show",
    "about": "This installation",
    "live": "Live",
}


def fine(page: Any) -> None:
    """Nothing to complain of, one heading of the first level, and a title of the page's own."""
    assert axe.violations(page) == []
    assert page.locator("h1").count() == 1
    assert page.title().endswith(" · Knob") and not page.title().startswith("Knob")


def every_popover(page: Any) -> None:
    """Look at each popover while it is open."""
    for button in page.locator('[data-testid="stPopover"] button[aria-expanded]:visible').all():
        button.click()
        page.mouse.move(2, 2)  # no tooltip of the button over what it opened
        page.locator('[data-testid="stPopoverBody"]').wait_for()
        settle(page)
        assert axe.violations(page) == [], button.inner_text()
        page.keyboard.press("Escape")
        page.locator('[data-testid="stPopoverBody"]').wait_for(state="detached")


@SCHEMES
@pytest.mark.parametrize("name", READING)
def test_pages_of_text(chrome: Any, full_app: str, name: str, scheme: str) -> None:
    with opened(chrome, f"{full_app}/{name}", color_scheme=scheme) as page:
        page.get_by_role("heading", name=READING[name]).wait_for()
        for summary in page.locator("summary").all():
            summary.click()
        settle(page)
        fine(page)


@SCHEMES
def test_calibration(chrome: Any, full_app: str, scheme: str) -> None:
    with opened(chrome, f"{full_app}/calibration", color_scheme=scheme) as page:
        before = drawn(page)
        fine(page)
        page.get_by_role("button", name="off", exact=True).click()
        drawn(page, before)
        page.get_by_text("What these words mean").click()
        cells = page.locator("canvas.pickable").first
        cells.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Pictures:").wait_for()
        settle(page)
        fine(page)


@SCHEMES
def test_console(chrome: Any, full_app: str, scheme: str) -> None:
    with opened(chrome, full_app, color_scheme=scheme) as page:
        page.wait_for_selector(".display[data-updates]")
        fine(page)
        every_popover(page)
        page.get_by_role("button", name="off", exact=True).click()
        answered(page)
        fine(page)


@SCHEMES
def test_your_stream(chrome: Any, full_app: str, scheme: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(rng.integers(0, 10, 4), 60).reshape(4, 60)
    logits = rng.normal(0, 1, (4, 60, 10)) + 4 * np.eye(10)[labels]
    np.savez(tmp_path / "mine.npz", logits=logits.astype(np.float32), labels=labels)
    with opened(chrome, f"{full_app}/your_stream", color_scheme=scheme) as page:
        page.get_by_text("Forget this stream").wait_for()
        fine(page)
        page.locator("input[type=file]").set_input_files(tmp_path / "mine.npz")
        page.wait_for_selector(".display[data-updates]")
        settle(page)
        fine(page)
        every_popover(page)
