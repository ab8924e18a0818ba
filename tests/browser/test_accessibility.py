"""The console, light and dark, with everything opened, as axe-core sees it: no violation of WCAG 2.2 A and AA."""

from __future__ import annotations

from typing import Any

import axe
import pytest
from browser import settle as answered
from pages import in_both_themes, opened
from popovers import every_popover

pytestmark = pytest.mark.browser


def test_console(chrome: Any, house: str) -> None:
    with opened(chrome, house) as page:
        page.wait_for_selector(".display[data-updates]")
        for scheme in in_both_themes(page):
            axe.accessible(page, scheme)
            every_popover(page)
        page.get_by_role("button", name="off", exact=True).click()
        answered(page)
        for scheme in in_both_themes(page):
            axe.accessible(page, scheme)
