"""The app as people meet it: served by Streamlit in a process of its own, seen by a real Chromium."""

from __future__ import annotations

import math
import re
import time
from typing import Any

from knob_core.assets import ROOT
from tools.screenshots import HOW, Served, browser, chromium, free_port, served

__all__ = ["HOW", "PATIENCE", "ROOT", "Served", "browser", "chromium", "drag", "free_port", "knob", "message",
           "open_console", "served", "settle", "value"]  # fmt: skip

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
    """Go there and wait until the display has been drawn."""
    page.add_init_script(PARTS)
    page.set_default_timeout(PATIENCE)
    page.goto(url)
    page.wait_for_selector('[data-testid="stApp"][data-test-connection-state="CONNECTED"]')
    page.wait_for_selector(".display[data-updates]")
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')


def message(page: Any) -> dict[str, Any]:
    """What the display was last told."""
    return page.evaluate("knobPart('scope').message")


def settle(page: Any) -> None:
    """Wait until Python has answered the last thing the hand did and the display has drawn it."""
    page.wait_for_function(
        "(() => { const d = knobPart('knobs'), b = knobPart('scope');"
        " return !d.sender.changed && b.message.seq >= d.values.seq && !b.redraw.pending; })()"
    )


def knob(page: Any, symbol: str) -> Any:
    """The dial of a symbol; its whole name is "damping ζ"."""
    return page.get_by_role("slider", name=re.compile(rf"(^|\s){re.escape(symbol)}$"))


def value(page: Any, symbol: str) -> float:
    return float(knob(page, symbol).get_attribute("aria-valuenow"))


def drag(page: Any, symbol: str, seconds: float, swing: float = 60) -> int:
    """Take a knob and swing it up and down; how often the hand moved."""
    box = knob(page, symbol).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    began, moves = time.monotonic(), 0
    while (now := time.monotonic() - began) < seconds:
        page.mouse.move(x, y + swing * math.sin(3 * now))
        moves += 1
    page.mouse.up()
    settle(page)
    return moves
