"""Popovers of a page, each looked at by axe while it is open."""

from __future__ import annotations

from typing import Any

import axe
from pages import still


def every_popover(page: Any) -> None:
    """Open each, find no broken rule, and close it."""
    for button in page.locator('[data-testid="stPopover"] button[aria-expanded]:visible').all():
        button.click()
        page.mouse.move(2, 2)  # no tooltip of the button over what it opened
        page.locator('[data-testid="stPopoverBody"]').wait_for()
        still(page)
        assert axe.violations(page) == [], button.inner_text()
        page.keyboard.press("Escape")
        page.locator('[data-testid="stPopoverBody"]').wait_for(state="detached")
