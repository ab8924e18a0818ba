"""Every lesson in a real browser, by keyboard alone: its check passes when the thing is done, and not before."""

from __future__ import annotations

import re
from typing import Any

import pytest
from pages import drawn, opened, settle

from app.lessons import LESSONS

pytestmark = pytest.mark.browser

# What a pupil presses, dial by dial (the tab order finds them): digits are typed into the number beside the dial.
KEYS = {
    "ring": {"ζ": ["PageDown"] * 4},
    "critical": {"ζ": ["1.0"]},
    "speed": {"ωₙ": ["0.13"]},
    "poles": {"ζ": ["0.2"], "ωₙ": ["0.68"]},
    "resonance": {"ζ": ["PageDown"] * 4, "ωₙ": ["0.32"]},
    "lowpass": {"ωₙ": ["PageDown"] * 3},
    "fogbank": {"ωₙ": ["0.36"]},
    "aliasing": {"fps": ["11.6"]},
    "pumping": {"ζ": ["Home"], "n": ["4"]},
}


def tab_to(page: Any, role: str, name: str) -> None:
    """Press Tab until the wanted control has the focus: no mouse, no shortcut."""
    wanted = page.get_by_role(role, name=name, exact=True).first
    for _ in range(60):
        if wanted.evaluate("el => el.getRootNode().activeElement === el"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never reached {role} {name!r}")


def ticked(page: Any) -> int:
    """How many lessons the row of all shows as done."""
    page.get_by_role("button", name="Printable summary").wait_for()  # the last of the page's buttons
    return page.get_by_role("button", name=re.compile("^✓ ")).count()


def test_every_lesson_by_keyboard_alone(chrome: Any, app: str) -> None:
    with opened(chrome, f"{app}/lessons") as page:
        for number, (id, keys) in enumerate(KEYS.items(), 1):
            page.get_by_role("heading", name=f"{number}. {LESSONS[id].title}").wait_for()
            drawn(page)
            assert ticked(page) == number - 1
            assert page.get_by_text("Done at").count() == 0  # opened, read, not done: not passed
            for dial, presses in keys.items():
                for press in presses:
                    if re.match(r"[\d.]+$", press):
                        tab_to(page, "textbox", f"{dial} typed")
                        page.keyboard.type(press)
                        page.keyboard.press("Enter")
                    else:
                        tab_to(page, "slider", dial)
                        page.keyboard.press(press)
            page.get_by_text("Done at").wait_for()
            settle(page)
            if number < len(KEYS):
                tab_to(page, "button", "Next →")
                page.keyboard.press("Enter")
        assert ticked(page) == len(LESSONS)
        assert f"{len(LESSONS)} of {len(LESSONS)} done" in page.inner_text("body")
        link = page.url
    with opened(chrome, link) as page:  # the link alone, in a new session
        page.get_by_role("heading", name=re.compile(r"^9\. ")).wait_for()
        assert ticked(page) == len(LESSONS)
    forged = re.sub(r"ring_[\d.]+_", "ring_0.7_", link)
    assert forged != link
    with opened(chrome, forged) as page:  # a link that claims what its dial positions do not show
        page.get_by_text("do not meet the goals of 'Make it ring'").wait_for()
        assert ticked(page) == len(LESSONS) - 1


def test_a_wrong_turn_does_not_pass(chrome: Any, app: str) -> None:
    with opened(chrome, f"{app}/lessons") as page:
        before = drawn(page)
        tab_to(page, "slider", "ζ")
        page.keyboard.press("End")  # the wrong way: as calm as can be
        drawn(page, before)
        settle(page)
        assert ticked(page) == 0
        assert page.get_by_text("Done at").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_have_alternative_text_and_are_painted(chrome: Any, app: str, scheme: str) -> None:
    with opened(chrome, f"{app}/lessons?lesson=pumping", color_scheme=scheme) as page:
        canvases = page.locator(".sheet canvas")
        canvases.first.wait_for()
        page.wait_for_timeout(300)
        assert canvases.count() == 2
        for i in range(2):
            assert len(canvases.nth(i).get_attribute("aria-label") or "") > 20
            colours = canvases.nth(i).evaluate(
                "c => new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, "
                "c.height).data.buffer)).size"
            )
            assert colours > 5
