"""Changing scenes in a real Chromium: ribbons, cursor, goals on the cards, zoom and pan, and content by the menu."""

from __future__ import annotations

import re
from typing import Any

import made_streams
import numpy as np
import pytest
from browser import drag, message, open_console, settle, value

from knob_core.measures.change import measure
from knob_core.palette import PALETTES
from knob_core.response import respond
from knob_core.settings import Settings

pytestmark = pytest.mark.browser

PIXEL = """([name, frame]) => { const p = knobPart('scope'), s = p.scope, ratio = devicePixelRatio;
  const trace = p.figure.data.find((t) => t.name === name && t.type === 'ribbon');
  const [x, y] = [s.axes.x.toPixel(frame), s.axes.y2.toPixel(trace.y0)];
  return [...s.context.getImageData(Math.round(x * ratio), Math.round((y + 4) * ratio), 1, 1).data]; }"""


def shown(page: Any) -> Any:
    """The served stream's branches, as they ship: in half precision."""
    made = made_streams.scenes(6, 240, 20)
    half = [a.astype(np.float16).astype(np.float32) for a in (made.z_static, made.z_dyn, made.u_star)]
    return type(made)(*half, made.labels, made.severity, made.content)


def test_ribbons_and_cards_are_knob_core_s(scenes: Any) -> None:
    drag(scenes, "ωₙ", 0.4)
    stream, setting = shown(scenes), Settings(zeta=value(scenes, "ζ"), omega_n=value(scenes, "ωₙ"))
    response, bare = respond(stream, setting)[0], respond(stream, Settings(on=False))[0]
    m = measure(stream, response, bare.predicted)
    for id, number in (("excess_flips", m.excess_flips), ("delay", m.delay_mean)):
        assert scenes.locator(f".card[data-id={id}] strong").inner_text() == f"{number:.1f}"
    for name, classes in (
        ("truth", stream.labels[0]),
        ("without Knob", bare.predicted[0]),
        ("now", response.predicted[0]),
    ):
        for frame in (10, 50, 130, 200):
            pixel = scenes.evaluate(PIXEL, [name, frame])
            wanted = PALETTES["light"][f"class{classes[frame]}"]
            letters = PALETTES["light"][f"onclass{classes[frame]}"]
            near = [np.abs(np.subtract(pixel[:3], [int(c[i : i + 2], 16) for i in (1, 3, 5)])).max() < 60
                    for c in (wanted, letters)]  # fmt: skip
            assert any(near), (name, frame, pixel, wanted)


def test_the_cursor_names_the_classes_by_mouse_and_key(scenes: Any) -> None:
    canvas = scenes.locator(".scope canvas")
    canvas.focus()
    scenes.keyboard.press("ArrowRight")
    said = scenes.locator(".at").inner_text()
    frame = int(re.findall(r"frame (\d+)", said)[0])
    short = scenes.evaluate("knobPart('scope').background.short")
    truth = short[int(shown(scenes).labels[0, frame])]
    assert re.search(rf"true {truth}\s+·\s+without Knob (✕ )?\w+\s+·\s+now (✕ )?\w+$", said), said


def test_a_goal_is_set_on_its_card_by_keyboard_and_travels(scenes: Any, chrome: Any) -> None:
    card = scenes.locator(".card[data-id=delay]")
    card.get_by_role("button", name="set a goal").focus()
    scenes.keyboard.press("Enter")
    field = card.get_by_role("spinbutton")
    field.fill("0")
    field.press("Enter")
    scenes.wait_for_function("knobPart('scope').message.view.goals.delay === 0")
    settle(scenes)
    m = float(card.locator("strong").inner_text())
    line = card.locator(".goal")
    assert line.get_attribute("data-verdict") == ("met" if m == 0 else "missed")
    assert re.match(r"≤ 0: (✓ met|✕ missed) by [\d.]+", line.inner_text())
    card.get_by_role("button").click()
    card.get_by_role("spinbutton").fill("900")
    card.get_by_role("spinbutton").press("Enter")
    scenes.wait_for_function("knobPart('scope').message.view.goals.delay === 900")
    settle(scenes)
    assert "✓ met by" in line.inner_text()
    card.get_by_role("button").click()
    card.get_by_role("spinbutton").fill("7")
    card.get_by_role("spinbutton").press("Escape")  # thinks better of it
    assert "≤ 900" in line.inner_text()
    scenes.wait_for_function("location.search.includes('g.delay=900')")
    other = chrome.new_page(viewport={"width": 1280, "height": 800})
    open_console(other, scenes.url)
    assert "≤ 900" in other.locator(".card[data-id=delay] .goal").inner_text()
    other.close()
    card.get_by_role("button").click()
    card.get_by_role("spinbutton").fill("")
    card.get_by_role("spinbutton").press("Enter")
    scenes.wait_for_function("!('delay' in knobPart('scope').message.view.goals)")
    settle(scenes)
    assert line.inner_text() == "set a goal"


def time_range(page: Any) -> list[float]:
    page.wait_for_function("!knobPart('scope').redraw.pending")
    return page.evaluate("knobPart('scope').scope.axes.x.range")


def test_zoom_and_pan_by_wheel_drag_keys_and_back(scenes: Any) -> None:
    canvas, whole = scenes.locator(".scope canvas"), time_range(scenes)
    box = canvas.bounding_box()
    height = scenes.locator(".scope").bounding_box()["height"]
    x, y = box["x"] + box["width"] / 2, box["y"] + 80
    scenes.mouse.move(x, y)
    scenes.mouse.wheel(0, -600)
    scenes.wait_for_function("knobPart('scope').zoom.range !== null")
    near = time_range(scenes)
    assert near[0] > whole[0] and near[1] < whole[1]
    scenes.mouse.down()  # the part that is shown moves with the hand
    scenes.mouse.move(x - 100, y, steps=4)
    scenes.mouse.up()
    later = time_range(scenes)
    assert later[0] > near[0] and later[1] - later[0] == pytest.approx(near[1] - near[0])
    drag(scenes, "ζ", 0.3)
    assert time_range(scenes) == later  # a turn leaves the zoom alone
    assert scenes.locator(".scope").bounding_box()["height"] == pytest.approx(height, abs=1)
    canvas.focus()
    scenes.keyboard.press("Shift+ArrowLeft")
    assert time_range(scenes)[0] < later[0]
    scenes.keyboard.press("0")
    assert time_range(scenes) == whole
    scenes.keyboard.press("+")
    assert time_range(scenes)[1] - time_range(scenes)[0] == pytest.approx(240 / 1.5)
    canvas.dblclick()
    assert time_range(scenes) == whole
    scenes.mouse.move(x, y)
    scenes.mouse.down()
    scenes.mouse.move(x + 90, y, steps=4)  # with all of it shown a drag chooses a stretch
    scenes.mouse.up()
    chosen = time_range(scenes)
    assert 10 < chosen[1] - chosen[0] < 60
    first = scenes.locator(".film .cell").first.bounding_box()
    assert first["x"] < box["x"]  # the strip follows: its first picture is out of sight
    scenes.get_by_role("button", name="show all").click()
    assert time_range(scenes) == whole and not scenes.get_by_role("button", name="show all").is_visible()


def test_content_fixed_is_one_click_and_scenes_come_back(scenes: Any) -> None:
    old = message(scenes)["stream_id"]
    for option, cuts in (("Fixed", 0), ("Mixed scenes", 11)):
        scenes.locator(".st-key-menu_content input").click()
        scenes.get_by_role("option", name=option, exact=True).click()
        scenes.wait_for_function(f"knobPart('scope').box.dataset.stream !== '{old}'")
        old = message(scenes)["stream_id"]
        marks = scenes.evaluate("knobPart('scope').background.figure.layout.shapes.length")
        assert marks == cuts
        settle(scenes)
    assert "a fixed picture (" in message(scenes)["panel"]["note"]


def test_it_fits_the_screen_with_goals_and_a_pin(scenes: Any) -> None:
    scenes.get_by_role("button", name="pin A").click()
    card = scenes.locator(".card[data-id=excess_flips]")
    card.get_by_role("button", name="set a goal").click()
    card.get_by_role("spinbutton").fill("1")
    card.get_by_role("spinbutton").press("Enter")
    scenes.wait_for_function("knobPart('scope').message.view.goals.excess_flips === 1")
    settle(scenes)
    assert scenes.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight <= innerHeight")
    for selector in (".controls", ".readouts", ".scope", ".film", ".panel", ".st-key-row"):
        box = scenes.locator(selector).bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= 800 and box["x"] + box["width"] <= 1280, selector
