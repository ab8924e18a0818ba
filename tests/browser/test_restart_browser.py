"""The server is killed and started again while the page is open: dial, cards and curves agree, or the page says so."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browser as real
import made_streams
import pytest

from tools.screenshots import started

pytestmark = pytest.mark.browser

AGREE = """() => { const d = knobPart('knobs'), b = knobPart('scope'), v = d.values, s = b.message;
  const says = v.on ? `ζ ${v.zeta}, ωₙ ${v.omega_n}, ` : 'off';
  return s.seq === v.seq && s.caption.includes(says) && !b.redraw.pending && d.knobs.zeta.value === v.zeta; }"""


class Server:
    """The app on one port, whenever it runs."""

    def __init__(self, folder: Path) -> None:
        self.port = real.free_port()
        self.url, self.folder = f"http://127.0.0.1:{self.port}", folder
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "streamlit", "run", str(real.ROOT / "app" / "main.py")]
        command += ["--server.port", str(self.port), "--server.headless", "true", "--server.fileWatcherType", "none"]
        self.process = started(command, {**os.environ, "KNOB_ASSETS": str(self.folder)})
        for _ in range(900):
            try:
                urllib.request.urlopen(self.url + "/_stcore/health", timeout=1).close()
                return
            except OSError:
                time.sleep(0.1)
        raise TimeoutError("the server did not start")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(10)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    if real.chromium() is None:
        pytest.skip(real.HOW)
    running = Server(made_streams.assets(tmp_path / "assets"))
    running.start()
    yield running
    running.kill()


@pytest.mark.parametrize("turned_before", [False, True], ids=["untouched", "turned"])
@pytest.mark.parametrize("turned_meanwhile", [False, True], ids=["idle", "turned while it was down"])
def test_dial_cards_and_curves_agree_again(
    server: Server, chrome: Any, turned_before: bool, turned_meanwhile: bool
) -> None:
    page = chrome.new_page(viewport={"width": 1280, "height": 800})  # errors of the lost connection are expected
    real.open_console(page, server.url)
    if turned_before:
        page.get_by_role("button", name="nervous").click()
        real.settle(page)
    old = page.evaluate("knobPart('scope').session")
    server.kill()
    if turned_meanwhile:
        page.evaluate("Object.values(knobPart('knobs').box.querySelectorAll('[data-preset=conservative]'))[0].click()")
        page.locator(".stale-note").wait_for(state="visible")  # it is said, and the old curves are dimmed
        assert page.evaluate("getComputedStyle(knobPart('scope').box.getRootNode().host).opacity") == "0.4"
    server.start()
    page.wait_for_function(f"knobPart('scope').session !== '{old}'")
    page.wait_for_function(AGREE)
    page.locator(".stale-note").wait_for(state="hidden")
    zeta = 1.4 if turned_meanwhile else 0.15 if turned_before else 1.0
    assert real.value(page, "ζ") == zeta and f"ζ {zeta:g}," in real.message(page)["caption"]
    page.get_by_role("button", name="quick").click()  # and the knobs go on as before
    page.wait_for_function("knobPart('scope').message.caption.includes('ζ 0.7, ωₙ 0.8')")
    page.wait_for_function(AGREE)
    page.close()
