"""Pictures of the finished pages for the README: `python -m tools.screenshots` (or `make screenshots`).

Serves the app on a free port, opens it in a real Chromium, light and dark, and writes assets/screenshots/*.png.
Names choose some of them: `python -m tools.screenshots console results-dark`.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from knob_core import files
from knob_core.assets import ASSETS, ROOT

FOLDER = ASSETS / "screenshots"
PR_SET_PDEATHSIG = 1  # of prctl(2)
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
HOW = "needs Chromium: apt-get install chromium (or put a chromium on the PATH)"
READY = '[data-testid="stApp"][data-test-connection-state="CONNECTED"][data-test-script-state="notRunning"]'


class Served(NamedTuple):
    """A running app."""

    url: str
    pid: int


class Shot(NamedTuple):
    """One picture: a page of the app, how large, in which theme, and what is done before it is taken."""

    name: str
    page: str  # "" is the console
    width: int
    height: int
    scheme: str
    act: Callable[[Any], None]


def chromium() -> str | None:
    """Where the browser is, if there is one."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def end_with_parent() -> None:
    """Linux: the kernel ends this process when the one that started it ends, even if that was killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def started(command: list[str], environment: dict[str, str], log: Path | None = None) -> subprocess.Popen[bytes]:
    """A process in the project's folder that does not outlive this one; what it says goes to the end of `log`."""
    with (log or Path(os.devnull)).open("ab") as said:
        return subprocess.Popen(
            command, cwd=ROOT, env=environment, preexec_fn=end_with_parent, stdout=said, stderr=said
        )


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def served(script: Path, port: int | None = None, log: Path | None = None, **environment: str) -> Iterator[Served]:
    """Run `streamlit run script` on a port, a free one unless told. It is ended when the block is left."""
    port = port or free_port()
    options = ["--server.port", str(port), "--server.headless", "true"]
    options += ["--server.fileWatcherType", "none"]  # an edit meanwhile would import half of the app anew
    command = [sys.executable, "-m", "streamlit", "run", str(script), *options]
    process = started(command, {**os.environ, **environment}, log)
    try:
        url = f"http://127.0.0.1:{port}"
        for _ in range(900):
            try:
                urllib.request.urlopen(url + "/_stcore/health", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield Served(url, process.pid)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:  # a busy machine
            process.kill()
            process.wait(10)


@contextmanager
def browser() -> Iterator[Any]:
    """A Chromium, headless."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chrome = play.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield chrome
        chrome.close()


def still(page: Any) -> None:
    """Wait until the page stands still: the script is done, nothing is being loaded, two looks at it are the same."""
    page.wait_for_load_state("networkidle")
    last = b""
    for _ in range(120):
        page.wait_for_selector(READY, timeout=60_000)
        now = page.screenshot()
        if now == last:
            return
        last = now
        page.wait_for_timeout(500)
    raise TimeoutError(f"{page.url} does not come to rest")


def console(page: Any) -> None:
    """Wait for the display, pin the home setting, and turn a little towards calm."""
    page.wait_for_selector(".display[data-updates]", timeout=60_000)
    page.get_by_role("button", name="pin A").click()
    page.get_by_role("button", name="unpin A").wait_for()
    page.get_by_role("slider", name="damping ζ", exact=True).focus()
    page.keyboard.press("PageUp")
    still(page)


def figures(page: Any) -> None:
    """Wait for the figure sheet, which is drawn after its page has run."""
    page.wait_for_selector(".figure-sheet[data-updates]", timeout=60_000)
    still(page)


def lesson(page: Any) -> None:
    """The prediction comes first, then the knobs."""
    page.locator('[data-testid="stRadio"] label').nth(1).click()
    page.get_by_role("button", name="That is my prediction").click()
    figures(page)


PAGES = ("tune", "calibration", "learning", "results", "your_stream", "live", "lessons", "about")
ACTS = {"tune": figures, "calibration": figures, "lessons": lesson}  # done before the picture; the others: `still`
SHOTS = [
    *(Shot(f"console-{scheme}", "", 1280, 800, scheme, console) for scheme in ("light", "dark")),
    Shot("console-tablet", "", 820, 1180, "light", console),
    *(
        Shot(f"{name.replace('_', '-')}-{scheme}", name, 1280, 800, scheme, ACTS.get(name, still))
        for name in PAGES
        for scheme in ("light", "dark")
    ),
]


def take(chrome: Any, url: str, shot: Shot, folder: Path = FOLDER) -> Path:
    """Take one picture; the file appears whole or not at all."""
    page = chrome.new_page(viewport={"width": shot.width, "height": shot.height}, color_scheme=shot.scheme)
    page.goto(f"{url}/{shot.page}")
    page.wait_for_selector(READY, timeout=60_000)
    shot.act(page)
    path = folder / f"{shot.name}.png"
    files.write_bytes(path, page.screenshot())
    page.close()
    return path


def chosen(names: list[str]) -> list[Shot]:
    """The pictures whose names begin so; all where none is named."""
    for name in names:
        if not any(shot.name.startswith(name) for shot in SHOTS):
            raise ValueError(f"name is {name!r}, expected the beginning of one of {', '.join(s.name for s in SHOTS)}")
    return [shot for shot in SHOTS if not names or shot.name.startswith(tuple(names))]


def main(arguments: list[str] | None = None) -> None:
    """Take the pictures that were asked for."""
    parser = argparse.ArgumentParser(prog="python -m tools.screenshots", description="Take pictures of the pages.")
    parser.add_argument("names", nargs="*", help=f"how names begin (default: all): {', '.join(s.name for s in SHOTS)}")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where to write them (default: %(default)s)")
    asked = parser.parse_args(arguments)
    try:
        shots = chosen(asked.names)
    except ValueError as error:
        parser.error(str(error))
    if chromium() is None:
        raise SystemExit(HOW)
    with served(ROOT / "app" / "main.py") as app, browser() as chrome:
        for shot in shots:
            print(take(chrome, app.url, shot, asked.folder))


if __name__ == "__main__":
    main()
