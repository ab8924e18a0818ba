"""The console behind a real nginx that strips a prefix, with the file that the guide shows."""

from __future__ import annotations

import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import browser as real
import pytest
from pages import opened
from websockets.sync.client import connect

pytestmark = pytest.mark.browser
NGINX = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")


@pytest.fixture(scope="module")
def behind(app: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the app through the proxy."""
    if NGINX is None:
        pytest.skip("needs nginx: apt-get install nginx-light")
    folder, port = tmp_path_factory.mktemp("nginx"), real.free_port()
    site = (real.ROOT / "docs" / "nginx.conf").read_text()
    site = site.replace("BACKEND/", app.removeprefix("http://") + "/").replace(
        "listen LISTEN", f"listen 127.0.0.1:{port}"
    )
    places = " ".join(f"{kind}_temp_path {folder};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    path = folder / "nginx.conf"
    path.write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
        f"http {{ access_log off; {places}\ninclude /etc/nginx/mime.types;\n{site}\n}}\n"
    )
    process = subprocess.Popen([NGINX, "-p", str(folder), "-c", str(path)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/knob/_stcore/health", timeout=5).close()
                break
            except OSError:
                assert process.poll() is None, (folder / "error.log").read_text()
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/knob"
    finally:
        process.terminate()
        process.wait(10)


def test_the_console_is_drawn_and_a_drag_goes_over_its_own_socket(behind: str, page: Any) -> None:
    seen: list[str] = []
    page.on("websocket", lambda line: seen.append(line.url))
    real.open_console(page, behind + "/")
    page.wait_for_function("[...__knobSockets.values()].some((line) => line.socket.readyState === 1)")
    real.drag(page, "ζ", 1.0)
    assert real.value(page, "ζ") != 1.0
    assert any(url.endswith("/knob/knob-drag") for url in seen), seen


def test_another_page_opens_too(behind: str, chrome: Any) -> None:
    with opened(chrome, behind + "/lessons") as page:
        page.locator('[data-testid="stRadio"] label').nth(1).click()
        page.get_by_role("button", name="That is my prediction").click()
        page.locator(".figure-sheet[data-updates]").wait_for()


def test_a_class_behind_one_address_has_room(behind: str) -> None:
    """Thirty visitors have sixty sockets; those above fifty were refused with 503."""
    with ExitStack() as sockets:
        for path in ["/_stcore/stream", "/knob-drag"] * 30:
            sockets.enter_context(connect(behind.replace("http", "ws") + path))
