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


# Where the focus is, seen from an element: "there", "behind" or "before" it.
FOCUS = """(wanted) => {
  const root = wanted.getRootNode();
  if (root.activeElement === wanted) return "there";
  const inside = root.host && root.activeElement; // both within one of our components
  const from = inside ? root.activeElement : document.activeElement;
  const to = inside ? wanted : (root.host ?? wanted);
  return from.compareDocumentPosition(to) & Node.DOCUMENT_POSITION_PRECEDING ? "behind" : "before";
}"""


def tab_to(page: Any, wanted: Any) -> None:
    """Press Tab until the wanted control has the focus, after Shift+Tab back over it: no mouse, no shortcut."""
    element = wanted.element_handle()  # found once: looking it up after each press would take most of the time
    back = True
    for _ in range(80):
        focus = element.evaluate(FOCUS)
        if focus == "there":
            return
        back = back and focus == "behind"
        page.keyboard.press("Shift+Tab" if back else "Tab")
    raise AssertionError(f"Tab never reached {wanted}")


def still(page: Any) -> None:
    """Nothing is dimmed or fading any more: axe takes a fading text for a pale one."""
    settle(page)
    page.wait_for_function(
        "document.getAnimations().every((animation) => animation.playState === 'finished')"
        " && !document.querySelector('[data-stale=true]')"
    )


def unfold(page: Any) -> None:
    """Open every box of the page."""
    shut = page.locator("details:not([open]) > summary")
    for _ in range(shut.count()):
        shut.first.click()
    settle(page)
    assert shut.count() == 0


def drawn(page: Any, after: int = 0) -> int:
    """Wait until the sheet has been drawn more often than `after` times; how often it has been."""
    sheet = page.locator(".figure-sheet[data-updates]")
    sheet.wait_for()
    while (updates := int(sheet.get_attribute("data-updates"))) <= after:
        page.wait_for_timeout(50)
    return updates
