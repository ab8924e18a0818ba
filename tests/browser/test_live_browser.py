"""The Live page in a real browser, on a real service: attach, watch, turn, take back, lose it and find it again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import knob, value
from pages import opened
from running_service import RunningService

pytestmark = pytest.mark.browser

TOKENS = {"operator": "operator-token-of-the-test", "viewer": "viewer-token-of-the-test"}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[RunningService]:
    running = RunningService(tmp_path, TOKENS)
    running.start()
    send(running, 40)
    yield running
    running.stop()


def send(service: RunningService, frames: int) -> None:
    """Two streams whose answers flicker."""
    for t in range(frames):
        for stream in ("gate-1", "yard-2"):
            service.send(stream, [2.0 * (t % 7 == 3), 1.0, 0.5 * (t > 20)])


def attach(page: Any, service: RunningService, role: str) -> None:
    page.get_by_label("Address of the service").fill(service.address)
    page.get_by_role("textbox", name="Token").fill(TOKENS[role])
    page.get_by_role("button", name="Attach").click()
    page.get_by_text("knobs at revision").wait_for()


def wait_for(page: Any, said: Any) -> None:
    for _ in range(600):
        if said():
            return
        page.wait_for_timeout(100)
    raise AssertionError("it did not happen within a minute")


def test_an_operator_turns_takes_back_and_sees_what_another_turns_and_a_viewer_has_no_dial(
    chrome: Any, app: str, service: RunningService
) -> None:
    with opened(chrome, f"{app}/live") as page:
        attach(page, service, "operator")
        page.get_by_text("gate-1: the last 40 frames").wait_for()
        before = service.ask("GET", "/v1/knobs")["all"]["zeta"]
        assert value(page, "ζ") == pytest.approx(before)
        knob(page, "ζ").press("PageUp")
        wait_for(page, lambda: service.ask("GET", "/v1/knobs")["all"]["zeta"] > before)
        turned = service.ask("GET", "/v1/knobs")["all"]["zeta"]
        wait_for(page, lambda: value(page, "ζ") == pytest.approx(turned, rel=1e-3))
        page.get_by_role("button", name="Take back my turns").click()
        wait_for(page, lambda: service.ask("GET", "/v1/knobs")["all"]["zeta"] == before)
        wait_for(page, lambda: value(page, "ζ") == pytest.approx(before, rel=1e-3))
        service.ask("PATCH", "/v1/knobs", {"omega_n": 1.25})
        wait_for(page, lambda: value(page, "ωₙ") == pytest.approx(1.25, rel=1e-3))
    with opened(chrome, f"{app}/live") as page:
        page.get_by_label("Address of the service").fill("http://192.0.2.1:8600")
        page.get_by_role("button", name="Attach").click()
        page.get_by_text("services on its own machine only").wait_for()
        page.get_by_text("knob demo-cameras").wait_for()
        attach(page, service, "viewer")
        page.get_by_text("gate-1: the last 40 frames").wait_for()
        page.get_by_text("turning the knobs takes the operator's token").wait_for()
        assert page.get_by_role("slider").count() == 0


def test_a_lost_service_is_said_and_found_again(chrome: Any, app: str, service: RunningService) -> None:
    with opened(chrome, f"{app}/live") as page:
        attach(page, service, "operator")
        service.stop()
        page.get_by_text("The service has not answered for").wait_for()
        page.get_by_text("gate-1: the last 40 frames").wait_for()  # what was known stays
        service.start()
        send(service, 12)
        page.get_by_text("The service has not answered for").wait_for(state="hidden")
        page.get_by_text("frames").first.wait_for()
        assert knob(page, "ζ").count() == 1
