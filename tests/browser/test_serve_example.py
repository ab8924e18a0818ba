"""The guide's JavaScript in a real browser: a canvas is sent to a service, and its answer comes back."""

from __future__ import annotations

from typing import Any

import pytest
from serve_guide import example, pictures
from services import running

pytestmark = pytest.mark.browser

DRAW = """
socket.onopen = () => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 30, height: 20 });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "rgb(250, 20, 10)";
  pen.fillRect(0, 0, 30, 20);
  send(canvas);
};
"""


def test_a_canvas_is_answered(page: Any) -> None:
    with running(pictures()) as service:
        page.route("**/favicon.ico", lambda route: route.fulfill(status=204))
        page.goto(f"{service.url}/healthz")  # a page of the service's own origin
        script = example("js", "onmessage", service.url) + DRAW
        with page.expect_console_message(lambda said: said.type == "log") as told:
            page.evaluate(f"() => {{ {script} }}")
        assert told.value.text.split()[:2] == ["1", "red"]
