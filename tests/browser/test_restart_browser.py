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

# What the page shows: where the dials stand; beside them the cards' numbers, the scope's pixels and the panel's table.
# `known` has what belongs to each setting. Every look is kept, with whether all is of the dials' setting, and whether
# the page says that it is not. Between a message and its drawing nothing has changed on the screen: no look is taken.
WATCH = """() => {
  const all = (part, selector) => [...knobPart(part).box.querySelectorAll(selector)];
  const dials = () => all("knobs", "[role=slider]").map((el) => el.getAttribute("aria-valuenow")).join();
  const shown = () => JSON.stringify([
    all("scope", ".readouts strong").map((el) => el.textContent), knobPart("scope").scope.canvas.toDataURL(),
    all("scope", ".panel .side td").map((el) => el.textContent)]);
  const note = () => {
    const el = knobPart("knobs").box.getRootNode().host.closest(".pair").querySelector(".stale-note");
    return !el.hidden && el.getBoundingClientRect().top >= 0 && Number(getComputedStyle(el).opacity) > 0.9;
  };
  globalThis.known = {};
  globalThis.learn = () => { known[dials()] = shown(); };
  globalThis.look = () => ({ at: Date.now() / 1000, dials: dials(), agree: known[dials()] === shown(), said: note() });
  globalThis.looks = [];
  globalThis.keepLooking = () => setInterval(() => { if (!knobPart("scope").redraw.pending) looks.push(look()); }, 60);
}"""
SETTINGS = {"balanced": "1,0.4", "nervous": "0.15,1", "conservative": "1.4,0.12", "quick": "0.7,0.8"}
AT_ONCE = 0.6  # seconds: a turn may take as long to be answered, or to be called unanswered


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


def press(page: Any, preset: str) -> None:
    """As a hand does, also where Streamlit's own message lies over the page."""
    page.locator(f".controls [data-preset={preset}]").dispatch_event("click")


def watched(chrome: Any, url: str, known: dict[str, str]) -> Any:
    """The console, ready to be looked at; errors of a lost connection are expected."""
    page = chrome.new_page(viewport={"width": 1280, "height": 800})
    real.open_console(page, url)
    page.evaluate(WATCH)
    page.evaluate("(belongs) => { known = belongs; }", known)
    return page


def what_belongs_together(chrome: Any, url: str) -> dict[str, str]:
    """What is shown at each setting, as a page of its own shows it that no server was taken from."""
    page = watched(chrome, url, {})
    for preset in SETTINGS:
        press(page, preset)
        real.settle(page)
        page.evaluate("learn()")
    known = page.evaluate("known")
    page.close()
    assert sorted(known) == sorted(SETTINGS.values()) and len(set(known.values())) == len(known)
    return known


def silent(looks: list[dict[str, Any]], since: float) -> list[dict[str, Any]]:
    """Looks at which dials, cards and curves were not of one setting, and the page did not say so."""
    return [look for look in looks if look["at"] >= since and not look["agree"] and not look["said"]]


@pytest.mark.parametrize(
    ("turned_before", "turned_meanwhile"),
    [(False, False), (True, False), (False, True)],
    ids=["untouched", "turned before", "turned while it was down"],
)
def test_dial_cards_and_curves_agree_at_every_moment_or_the_page_says_that_they_do_not(
    server: Server, chrome: Any, turned_before: bool, turned_meanwhile: bool
) -> None:
    known = what_belongs_together(chrome, server.url)
    page = watched(chrome, server.url, known)
    if turned_before:
        press(page, "nervous")
        real.settle(page)
    old = page.evaluate("knobPart('scope').session")
    page.evaluate("keepLooking()")
    since = time.time()
    server.kill()
    if turned_meanwhile:
        press(page, "conservative")
        since = time.time() + AT_ONCE
        page.locator(".stale-note").wait_for(state="visible")  # it is said, and the old curves are dimmed
        assert page.evaluate("getComputedStyle(knobPart('scope').box.getRootNode().host).opacity") == "0.4"
    server.start()
    page.wait_for_function(f"knobPart('scope').session !== '{old}'")
    page.wait_for_function("look().agree && !look().said")
    page.wait_for_timeout(1000)  # and it stays so
    looks = page.evaluate("looks")
    assert silent(looks, since) == []
    preset = "conservative" if turned_meanwhile else "nervous" if turned_before else "balanced"
    assert looks[-1]["dials"] == SETTINGS[preset] and looks[-1]["agree"] and not looks[-1]["said"]
    assert real.message(page)["runs"][0] <= 2, "the page's script was not begun again and again"
    press(page, "quick")  # and the knobs go on as before
    since = time.time() + AT_ONCE
    page.wait_for_function("look().agree && look().dials === '0.7,0.8'")
    assert silent(page.evaluate("looks"), since) == []
    page.close()


def test_a_turn_at_the_moment_in_which_the_server_is_back_is_not_lost(server: Server, chrome: Any) -> None:
    known = what_belongs_together(chrome, server.url)
    page = watched(chrome, server.url, known)
    server.kill()
    page.evaluate("keepLooking()")
    server.start()
    press(page, "conservative")
    since = time.time() + AT_ONCE
    page.wait_for_function("look().agree && !look().said")
    page.wait_for_timeout(1000)
    looks = page.evaluate("looks")
    assert silent(looks, since) == []
    assert looks[-1]["dials"] == SETTINGS["conservative"] and looks[-1]["agree"]
    page.close()
