"""The console's main task by keyboard alone and by touch alone: turn, set a goal, compare, export; nothing moves.

The task: turn a dial, see the read-outs follow, set a goal, look at another panel, pin, and save the settings file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser import knob, message, settle, value
from pages import opened, tab_to
from playwright.sync_api import expect

from knob_core import settings as settings_file

pytestmark = pytest.mark.browser

SHIFTS = """
globalThis.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries())
    for (const { node, previousRect: a, currentRect: b } of entry.sources)
      if (node && !node.parentElement?.closest('[data-testid="stPopoverBody"], .st-key-notes'))
        shifts.push(`${node.nodeName} ${node.className} ${a.x},${a.y} -> ${b.x},${b.y}`);
}).observe({ type: "layout-shift", buffered: true });
"""


def saved(page: Any, press: Any, folder: Path) -> settings_file.Settings:
    """The settings file that a press saves."""
    with page.expect_download() as caught:
        press()
    path = folder / caught.value.suggested_filename
    caught.value.save_as(path)
    return settings_file.load(path)


def test_by_keyboard_alone(console: Any, tmp_path: Path) -> None:
    page, press = console, console.keyboard.press
    before = message(page)["readouts"]
    tab_to(page, knob(page, "ζ"))
    for _ in range(8):
        press("ArrowDown")
    settle(page)
    assert value(page, "ζ") < 1 and message(page)["readouts"] != before
    pin = page.get_by_role("button", name="pin A")
    tab_to(page, pin)
    press("Enter")
    goal = page.get_by_role("button", name="set a goal").first
    tab_to(page, goal)
    press("Enter")
    page.keyboard.type("5")
    press("Enter")
    tab_to(page, page.get_by_role("tab", name="Step"))
    press("ArrowRight")
    page.wait_for_function("knobPart('scope').message.panel.id === 'bode'")
    settle(page)
    tab_to(page, page.get_by_role("button", name="Export"))
    press("Enter")
    button = page.get_by_role("link", name="Settings file", exact=True)
    button.wait_for()
    tab_to(page, button)
    kept = saved(page, lambda: press("Enter"), tmp_path)
    assert kept.zeta == pytest.approx(value(page, "ζ"), rel=1e-3)
    assert list(kept.goals.set().values()) == [5]


def test_by_touch_alone(chrome: Any, app: str, tmp_path: Path) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with opened(chrome, f"{app}/?image=1", accept_downloads=True, **phone) as page:
        page.wait_for_selector(".display[data-updates]")
        box, before = knob(page, "ζ").bounding_box(), message(page)["readouts"]
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        finger = page.context.new_cdp_session(page)
        for kind, down in (("touchStart", 0), ("touchMove", 15), ("touchMove", 30), ("touchMove", 45)):
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y + down}]})
        page.wait_for_timeout(150)  # let go in motion it would fling, and the browser takes the next tap for a stop
        finger.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": x, "y": y + 45}]})
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        settle(page)
        turned = value(page, "ζ")
        assert turned < 1 and message(page)["readouts"] != before
        assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0, "the dial, not the page"
        page.get_by_role("button", name="zoom in").tap()
        page.wait_for_function("((a) => a.range[1] - a.range[0] === 160)(knobPart('scope').cursor.axis)")
        page.get_by_role("button", name="zoom out").tap()
        page.get_by_role("button", name="show all").wait_for(state="hidden")
        page.get_by_role("button", name="Memory, mode, live").tap()
        page.get_by_role("button", name="pin A").tap()
        page.get_by_role("button", name="set a goal").first.tap()
        page.keyboard.type("5")  # a phone's own keyboard
        page.keyboard.press("Enter")
        page.get_by_role("tab", name="Bode").tap()
        page.wait_for_function("knobPart('scope').message.panel.id === 'bode'")
        settle(page)
        page.get_by_role("button", name="Export").tap()
        button = page.get_by_role("link", name="Settings file", exact=True)
        kept = saved(page, button.tap, tmp_path)
        assert kept.zeta == pytest.approx(turned, rel=1e-3) and list(kept.goals.set().values()) == [5]


def test_nothing_moves_when_a_message_comes_and_goes(console: Any, tmp_path: Path) -> None:
    page = console
    bad = tmp_path / "mine.toml"
    bad.write_text("zeta = 1\n")
    places = "['.readouts', '.scope', '.panel', '.regime'].map((s) => knobPart(s === '.regime' ? 'knobs' : 'scope')"
    places += ".box.querySelector(s).getBoundingClientRect().toJSON())"
    page.get_by_role("button", name="Export").click()
    page.get_by_role("link", name="Settings file", exact=True).wait_for()
    page.wait_for_timeout(500)
    before = page.evaluate(places)
    page.evaluate(SHIFTS)
    page.evaluate("shifts.length = 0")
    page.locator('[data-testid="stPopoverBody"] input[type=file]').set_input_files(bad)
    note = page.locator(".st-key-notes").get_by_text("it lacks")
    note.wait_for()
    assert "mine.toml cannot be used" in page.locator(".st-key-notes").inner_text()
    page.wait_for_timeout(300)
    assert page.evaluate(places) == before
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Close", exact=True).click()
    note.wait_for(state="detached")
    page.wait_for_timeout(300)
    assert page.evaluate(places) == before and page.evaluate("shifts") == []


def test_high_contrast_shows_what_is_on_and_reduced_motion_stands_still(chrome: Any, app: str) -> None:
    with opened(chrome, f"{app}/?image=1&panel=spring", forced_colors="active", reduced_motion="reduce") as page:
        page.wait_for_selector(".display[data-updates]")
        looks = """(el) => { const s = getComputedStyle(el);
          return [s.backgroundColor, s.borderColor, s.borderWidth, s.outline].join(); }"""
        for on, off in (("balanced", "quick"), ("attentive", "plain"), ("continuous", "reset")):
            styles = [page.locator(".controls").get_by_text(name, exact=True).evaluate(looks) for name in (on, off)]
            assert styles[0] != styles[1], on
        tabs = [page.get_by_role("tab", name=name).evaluate(looks) for name in ("Spring", "Step")]
        assert tabs[0] != tabs[1]
        pixels = "knobPart('scope').panel.canvas.toDataURL()"
        before = page.evaluate(pixels)
        page.wait_for_timeout(400)
        assert page.evaluate(pixels) == before


def test_high_contrast_shows_what_is_chosen_on_other_pages(chrome: Any, app: str) -> None:
    """Streamlit tells it by colour alone, which a browser in this mode takes away."""
    background = "(el) => getComputedStyle(el).backgroundColor"
    with opened(chrome, f"{app}/lessons", forced_colors="active") as page:
        chosen = page.get_by_role("button", name="1 Ring").evaluate(background)
        assert chosen != page.get_by_role("button", name="2 Critical").evaluate(background)
        options = page.locator('[data-testid="stRadioOption"]')
        options.nth(1).click()
        mark = '[data-testid="stRadioOption"][data-selected="true"] > div > div'
        expect(page.locator(mark).first).to_have_css("background-color", chosen)  # Streamlit fades it in
        assert options.first.locator("> div > div").first.evaluate(background) != chosen
        assert page.locator(".katex").first.evaluate("(el) => getComputedStyle(el).forcedColorAdjust") == "none"
    with opened(chrome, f"{app}/tune", forced_colors="active") as page:
        on, off = (page.get_by_role("radio", name=name) for name in ("Console", "Several"))
        assert on.evaluate(background) == chosen != off.evaluate(background)
