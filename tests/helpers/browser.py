"""The app as people meet it: served by Streamlit in a process of its own, seen by a real Chromium."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
HOW = "needs Chromium: apt-get install chromium (or put a chromium on the PATH)"

# Our components keep their part on the shadow root they live in.
PARTS = """
globalThis.knobPart = (has) => {
  for (const el of document.querySelectorAll("*"))
    if (el.shadowRoot && el.shadowRoot._part && has in el.shadowRoot._part) return el.shadowRoot._part;
};
"""


def chromium() -> str | None:
    """Where the browser is, if there is one."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@contextmanager
def served(script: Path, **environment: str) -> Iterator[str]:
    """Run `streamlit run script` on a free port; the address. It is ended when the block is left."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        str(script),
        "--server.port",
        str(port),
        "--server.headless",
        "true",
    ]
    log = subprocess.PIPE if False else subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environment}, stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}"
        for _ in range(600):
            try:
                urllib.request.urlopen(url + "/_stcore/health", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(10)


@contextmanager
def browser() -> Iterator[Any]:
    """A Chromium, headless."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chrome = play.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield chrome
        chrome.close()


def open_console(page: Any, url: str) -> None:
    """Go there and wait until the board has been drawn."""
    page.add_init_script(PARTS)
    page.goto(url)
    page.wait_for_selector('[data-testid="stApp"][data-test-connection-state="CONNECTED"]', timeout=60_000)
    page.wait_for_selector(".board[data-updates]", timeout=60_000)
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=60_000)


def message(page: Any) -> dict[str, Any]:
    """What the board was last told."""
    return page.evaluate("knobPart('scope').message")


def settle(page: Any, milliseconds: int = 4000) -> None:
    """Wait until Python has answered the last thing the hand did and the board has drawn it."""
    page.wait_for_function(
        "(() => { const d = knobPart('knobs'), b = knobPart('scope');"
        " return !d.dirty && b.message.seq >= d.hand.seq && !b.asked; })()",
        timeout=milliseconds * 5,
    )
