"""A page of the app in a real Chromium, at rest; for tests of single pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from browser import PARTS, PATIENCE

SIZE = {"width": 1280, "height": 800}
# Streamlit's browser side looks for its server beside the page's own address first, and is told no.
EXPECTED_404 = ("/_stcore/health", "/_stcore/host-config")
# Every element, those inside our components too, that names the theme it is painted in.
PAINTED_AS = """(scheme) => {
  const within = (el) => (el.shadowRoot ? all(el.shadowRoot) : []);
  const all = (root) => [...root.querySelectorAll("*")].flatMap((el) => [el, ...within(el)]);
  const [r, g, b] = getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor.match(/\\d+/g);
  const page = +r + +g + +b > 382 ? "light" : "dark";
  return page === scheme && all(document).every((el) => !el.dataset?.theme || el.dataset.theme === scheme);
}"""
MOVES = "document.getAnimations().length > 0 || document.querySelector('[data-stale=true]') !== null"


class Tab:
    """A tab that is used again: what Chromium has loaded and compiled for one test is there for the next."""

    def __init__(self, context: Any) -> None:
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.add_init_script(PARTS)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._note)
        self.faults: list[str] = []

    def _note(self, message: Any) -> None:
        url = str(message.location.get("url", ""))
        if message.type == "error" and not url.endswith(EXPECTED_404):
            self.faults.append(f"{message.text} ({url})")

    def clear(self) -> None:
        """Leave nothing to the next test but the browser's caches."""
        self.page.mouse.up()
        self.page.unroute_all()
        if self.page.url.startswith("http"):
            self.page.evaluate("localStorage.clear(), sessionStorage.clear()")
        self.page.goto("about:blank")
        self.page.context.clear_cookies()
        self.page.context.clear_permissions()


_windows: dict[Any, tuple[Any, list[Tab]]] = {}  # browser -> its window, and the tabs that nobody uses now


@contextmanager
def tab(
    chrome: Any, viewport: dict[str, int] | None = None, color_scheme: str = "light", new: bool = False
) -> Iterator[Any]:
    """An empty tab of 1280 x 800; on leaving, the browser's console must have been silent.

    new: a tab that no other test has used or will use; for tests that intercept messages or measure memory.
    """
    if chrome not in _windows:
        _windows[chrome] = chrome.new_context(), []
    context, unused = _windows[chrome]
    taken = unused.pop() if unused and not new else Tab(context)
    taken.page.set_viewport_size(viewport or SIZE)
    taken.page.emulate_media(color_scheme=color_scheme)
    whole = False
    try:
        yield taken.page
        faults = list(taken.faults)
        if not new:
            taken.clear()
            whole = True
    finally:
        taken.faults.clear()
        if whole:
            unused.append(taken)
        else:
            taken.page.close()
    assert not faults, faults


@contextmanager
def _window(chrome: Any, options: dict[str, Any]) -> Iterator[Any]:
    """A window of its own, with any options of Playwright's contexts: touch, high contrast."""
    context = chrome.new_context(**{"viewport": SIZE, **options})
    taken = Tab(context)
    try:
        yield taken.page
    finally:
        context.close()
    assert not taken.faults, taken.faults


@contextmanager
def opened(chrome: Any, address: str, **options: Any) -> Iterator[Any]:
    """The page at an address, at rest; see `tab`. Options that a tab cannot change make a window of its own."""
    usual = options.keys() <= {"viewport", "color_scheme", "new"}
    with tab(chrome, **options) if usual else _window(chrome, options) as page:
        page.goto(address)
        settle(page)
        yield page


def settle(page: Any) -> None:
    """Wait until the script is at rest."""
    page.wait_for_selector('[data-testid="stApp"][data-test-connection-state="CONNECTED"]')
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')


def still(page: Any) -> None:
    """Wait until nothing is dimmed or fading: axe takes a fading text for a pale one."""
    settle(page)
    page.wait_for_function(f"!({MOVES})")


def in_both_themes(page: Any) -> Iterator[str]:
    """The open page in light and in dark, at rest; it follows what the system prefers without being loaded again."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(PAINTED_AS, arg=scheme)
        still(page)
        yield scheme


def drawn(page: Any, after: int = 0) -> int:
    """Wait until the sheet has been drawn more often than `after` times; how often it has been."""
    page.wait_for_selector(".figure-sheet[data-updates]")
    sheet = page.locator(".figure-sheet[data-updates]")
    while (updates := int(sheet.get_attribute("data-updates"))) <= after:
        page.wait_for_timeout(50)
    return updates
