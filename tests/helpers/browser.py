"""The app as people meet it: served by Streamlit in a process of its own, seen by a real Chromium."""

from __future__ import annotations

from typing import Any

from app.screenshots import HOW, Served, browser, chromium, served
from knob_core.paths import ROOT

__all__ = ["HOW", "PATIENCE", "ROOT", "Served", "browser", "chromium", "message", "open_console", "served", "settle"]

PATIENCE = 120_000  # milliseconds: a busy machine is slow, not wrong

# Our components keep their part on the shadow root they live in.
PARTS = """
globalThis.knobPart = (has) => {
  const all = (root) =>
    [...root.querySelectorAll("*")].flatMap((el) => (el.shadowRoot ? [el, ...all(el.shadowRoot)] : []));
  for (const el of all(document))
    if (el.shadowRoot._part && has in el.shadowRoot._part) return el.shadowRoot._part;
};
"""


def open_console(page: Any, url: str) -> None:
    """Go there and wait until the board has been drawn."""
    page.add_init_script(PARTS)
    page.set_default_timeout(PATIENCE)
    page.goto(url)
    page.wait_for_selector('[data-testid="stApp"][data-test-connection-state="CONNECTED"]')
    page.wait_for_selector(".board[data-updates]")
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')


def message(page: Any) -> dict[str, Any]:
    """What the board was last told."""
    return page.evaluate("knobPart('scope').message")


def settle(page: Any) -> None:
    """Wait until Python has answered the last thing the hand did and the board has drawn it."""
    page.wait_for_function(
        "(() => { const d = knobPart('knobs'), b = knobPart('scope');"
        " return !d.dirty && b.message.seq >= d.hand.seq && !b.asked; })()"
    )
