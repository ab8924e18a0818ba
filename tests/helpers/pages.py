"""Serve the app on a free port and look at a page of it in a real Chromium; for tests of single pages."""

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

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Streamlit's browser side looks for its server beside the page's own address first, and is told no.
EXPECTED_404 = ("/_stcore/health", "/_stcore/host-config")


@contextmanager
def served(**environment: str) -> Iterator[str]:
    """The address of a running app."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app/main.py", "--server.headless", "true"]
    server = subprocess.Popen(
        [*command, "--server.port", str(port)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=2)
                break
            except OSError:
                time.sleep(0.2)
        yield address
    finally:
        server.terminate()
        server.wait(20)


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser, or a skip that says what is missing."""
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install -e '.[dev]'")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs Chromium: install the package `chromium`")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def opened(browser: Any, address: str, **context: Any) -> Iterator[Any]:
    """A page at rest; on leaving, the browser's console must have been silent."""
    options = {"viewport": {"width": 1280, "height": 800}, **context}
    page = browser.new_page(**options)
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: _note(message, faults))
    page.goto(address)
    settle(page)
    yield page
    page.close()
    assert not faults, faults


def _note(message: Any, faults: list[str]) -> None:
    url = str(message.location.get("url", ""))
    if message.type == "error" and not url.endswith(EXPECTED_404):
        faults.append(f"{message.text} ({url})")


def settle(page: Any) -> None:
    """Wait until the script is at rest."""
    page.wait_for_selector('[data-testid="stApp"][data-test-connection-state="CONNECTED"]', timeout=60_000)
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=60_000)
