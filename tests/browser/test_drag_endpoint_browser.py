"""The drag endpoint in a real Chromium: a drag goes over it; where it is missing, cut or mute, knobs act on release."""

from __future__ import annotations

from typing import Any

import browser as real
import pytest
from browser import drag, knob, value

pytestmark = pytest.mark.browser
LINE = "**/knob-drag"


def held(page: Any, symbol: str, answered: bool = True) -> None:
    """Take a knob and turn it for a while, without letting go."""
    box = knob(page, symbol).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(40):
        page.mouse.move(x, y - step)
        page.wait_for_timeout(20)
    if answered:
        real.settle(page)


def shown(page: Any) -> float:
    """The damping that the display was last told of, from its caption."""
    return float(real.message(page)["caption"].split("ζ ")[1].split(",")[0])


def count_sent(page: Any) -> dict[str, int]:
    """How many messages the page has sent, counted from now on: over the drag endpoint, and through Streamlit."""
    sent: dict[str, int] = {"knob-drag": 0, "stream": 0}

    def watch(socket: Any) -> None:
        name = socket.url.rsplit("/", 1)[-1].split("?")[0]
        socket.on("framesent", lambda _: sent.update({name: sent.get(name, 0) + 1}))

    page.on("websocket", watch)
    return sent


def test_a_drag_goes_over_the_websocket_and_streamlit_hears_of_its_end(app: str, page: Any) -> None:
    sent = count_sent(page)
    real.open_console(page, app)
    page.wait_for_function("[...__knobSockets.values()].some((line) => line.socket.readyState === 1)")
    quiet = sent["stream"]
    held(page, "ζ")
    assert sent["knob-drag"] >= 5
    assert sent["stream"] == quiet
    assert shown(page) == value(page, "ζ")
    assert "z=1&" in page.url
    page.mouse.up()
    page.wait_for_function(f"location.search.includes('z={value(page, 'ζ'):g}&')")
    assert sent["stream"] > quiet


def test_a_stylesheet_that_comes_late_asks_for_no_other_panels(app: str, page: Any) -> None:
    """Without it, the display is as wide as the page: room for three panels, for which a run each way would ask."""
    held: list[Any] = []
    page.route("**/console.css", lambda route: held.append(route))
    sent = count_sent(page)
    page.add_init_script(real.PARTS)
    page.goto(app)
    page.wait_for_function("knobPart('scope')?.background")
    page.wait_for_timeout(500)
    held[0].continue_()
    page.wait_for_selector(".display[data-updates]")
    page.wait_for_timeout(500)
    assert sent["stream"] == 1


@pytest.mark.parametrize("way", [lambda socket: socket.close(), lambda socket: socket.on_message(lambda text: None)],
                         ids=["none", "mute"])  # fmt: skip
def test_without_a_websocket_a_knob_acts_when_it_is_released(app: str, page: Any, way: Any) -> None:
    """Until then the page says that its numbers are of an earlier setting."""
    page.route_web_socket(LINE, way)
    real.open_console(page, app)
    held(page, "ζ", answered=False)
    page.locator(".stale-note").wait_for(state="visible")
    assert shown(page) == 1.0 != value(page, "ζ")
    before = real.message(page)["runs"][0]
    page.mouse.up()
    page.locator(".stale-note").wait_for(state="hidden")
    real.settle(page)
    assert shown(page) == value(page, "ζ") != 1.0 and real.message(page)["runs"][0] == before


def test_a_websocket_that_is_cut_in_the_middle_of_a_drag_loses_nothing(app: str, page: Any) -> None:
    """Drop a message, then close: Streamlit gets the setting when the knob is released."""
    passed = 0

    def cut(socket: Any) -> None:
        server = socket.connect_to_server()

        def forward(text: str) -> None:
            nonlocal passed
            passed += 1
            if passed < 5:
                server.send(text)
            else:
                socket.close()

        socket.on_message(forward)

    page.route_web_socket(LINE, cut)
    real.open_console(page, app)
    held(page, "ζ", answered=False)
    assert passed >= 5
    page.mouse.up()
    real.settle(page)
    assert shown(page) == value(page, "ζ") != 1.0


def test_an_unknown_token_is_refused_and_the_console_goes_on(console: Any) -> None:
    codes = console.evaluate(
        """(texts) => Promise.all(texts.map((text) => new Promise((done) => {
          const socket = new WebSocket(location.origin.replace("http", "ws") + "/knob-drag");
          socket.onopen = () => socket.send(typeof text === "string" ? text : new Uint8Array(text));
          socket.onclose = (e) => done(e.code);
        })))""",
        ["garbage", '{"token": "guess", "controls": {"zeta": 3}}', "[" * 9000, [1, 2, 3]],
    )
    assert codes == [1008] * 4
    drag(console, "ωₙ", 0.5)
    assert shown(console) == value(console, "ζ") == 1.0
