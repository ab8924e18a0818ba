"""A page of the app in a real Chromium, at rest; for tests of single pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from browser import PARTS, PATIENCE

# Streamlit's browser side looks for its server beside the page's own address first, and is told no.
EXPECTED_404 = ("/_stcore/health", "/_stcore/host-config")


@contextmanager
def opened(chrome: Any, address: str, **options: Any) -> Iterator[Any]:
    """A page of 1280 x 800 at rest; on leaving, the browser's console must have been silent."""
    context = chrome.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: _note(message, faults))
    page.add_init_script(PARTS)
    page.goto(address)
    settle(page)
    yield page
    context.close()
    assert not faults, faults


def _note(message: Any, faults: list[str]) -> None:
    url = str(message.location.get("url", ""))
    if message.type == "error" and not url.endswith(EXPECTED_404):
        faults.append(f"{message.text} ({url})")


def settle(page: Any) -> None:
    """Wait until the script is at rest."""
    page.wait_for_selector('[data-testid="stApp"][data-test-connection-state="CONNECTED"]')
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')


def drawn(page: Any, after: int = 0) -> int:
    """Wait until the sheet has been drawn more often than `after` times; how often it has been."""
    sheet = page.locator(".figure-sheet[data-updates]")
    sheet.wait_for()
    while (updates := int(sheet.get_attribute("data-updates"))) <= after:
        page.wait_for_timeout(50)
    return updates
