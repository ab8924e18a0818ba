"""Every lesson in a real browser, by keyboard alone: near misses do not pass its check, doing the thing does."""

from __future__ import annotations

import re
from pathlib import Path
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
    "lowpass": {"ωₙ": ["End", *["PageDown"] * 4]},
    "fogbank": {"ωₙ": ["0.36"]},
    "aliasing": {"fps": ["11.6"]},
    "pumping": {"ζ": ["Home"], "n": ["4"]},
}


# The same keys, and not the thing: one goal is met at most, or one knob of two is right. Pressed before those above.
WRONG = {
    "ring": [{"ζ": ["End"]}, {"ζ": ["0.4"]}],
    "critical": [{"ζ": ["0.9"]}, {"ζ": ["1.2"]}],
    "speed": [{"ωₙ": ["0.3"]}],
    "poles": [{"ζ": ["0.2"]}],
    "resonance": [{"ζ": ["Home"]}],
    "lowpass": [{"ωₙ": ["Home"]}],
    "fogbank": [{"ωₙ": ["Home"]}, {"ωₙ": ["0.8"]}],
    "aliasing": [{"fps": ["12"]}, {"fps": ["24"]}],
    "pumping": [{"ζ": ["Home"]}, {"n": ["30"]}],
}


def tab_to(page: Any, role: str, name: str) -> None:
    """Press Tab until the wanted control has the focus: no mouse, no shortcut."""
    wanted = page.get_by_role(role, name=re.compile(rf"(^|\s){re.escape(name)}$")).first
    for _ in range(60):
        if wanted.evaluate("el => el.getRootNode().activeElement === el"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab never reached {role} {name!r}")


def press(page: Any, keys: dict[str, list[str]]) -> None:
    """Turn dials by keys, or type beside them, and wait until the page has answered."""
    for dial, presses in keys.items():
        for key in presses:
            if re.match(r"[\d.]+$", key):
                tab_to(page, "textbox", f"{dial} typed")
                page.keyboard.type(key)
                page.keyboard.press("Enter")
            else:
                tab_to(page, "slider", dial)
                page.keyboard.press(key)
    page.wait_for_function(
        "() => { const d = knobPart('knobs'), s = knobPart('figures');"
        " return d && s && !d.sender.changed && s.message.seq >= d.values.seq && !s.redraw.pending; }"
    )
    settle(page)


def met(page: Any) -> list[bool]:
    """Which of the lesson's goals the page shows as met."""
    return [card.get_attribute("data-mood") == "good" for card in page.locator(".figure-sheet .card").all()]


def ticked(page: Any) -> int:
    """How many lessons the row of all shows as done."""
    page.get_by_role("button", name="Printable summary").wait_for()  # the last of the page's buttons
    return page.get_by_role("button", name=re.compile("^✓ ")).count()


def test_every_lesson_by_keyboard_alone_and_not_by_a_near_miss(chrome: Any, app: str) -> None:
    assert list(KEYS) == list(WRONG) == list(LESSONS)
    with opened(chrome, f"{app}/lessons") as page:
        for number, (id, keys) in enumerate(KEYS.items(), 1):
            page.get_by_role("heading", name=f"{number}. {LESSONS[id].title}").wait_for()
            settle(page)
            drawn(page)
            for wrong in [{}, *WRONG[id]]:  # opened and read only; then turned, and not rightly
                press(page, wrong)
                assert not all(met(page)), (id, wrong)
                assert ticked(page) == number - 1, (id, wrong)
                assert page.get_by_text("Done at").count() == 0, (id, wrong)
            press(page, keys)
            page.get_by_text("Done at").wait_for()
            settle(page)
            assert all(met(page)) and ticked(page) == number
            if number < len(KEYS):
                tab_to(page, "button", "Next →")
                page.keyboard.press("Enter")
        assert f"{len(LESSONS)} of {len(LESSONS)} done" in page.inner_text("body")
        page.get_by_role("link", name="About").click()  # what was done outlives a change of page
        page.get_by_role("heading", name="This installation").wait_for()
        page.get_by_role("link", name="Lessons").click()
        page.get_by_role("heading", name=re.compile(r"^9\. ")).wait_for()
        assert ticked(page) == len(LESSONS)
        settle(page)
        link = page.url
    with opened(chrome, link) as page:  # the link alone, in a new session
        page.get_by_role("heading", name=re.compile(r"^9\. ")).wait_for()
        assert ticked(page) == len(LESSONS)
    forged = re.sub(r"ring_[\d.]+_", "ring_0.7_", link)
    assert forged != link
    with opened(chrome, forged) as page:  # a link that claims what its dial positions do not show
        page.get_by_text("do not meet the goals of 'Make it ring'").wait_for()
        assert ticked(page) == len(LESSONS) - 1


def test_the_summary_can_be_printed(chrome: Any, app: str, tmp_path: Path) -> None:
    with opened(chrome, f"{app}/lessons?lessons=ring_0.2_0.4") as page:
        with page.expect_download() as saved:
            page.get_by_role("button", name="Printable summary").click()
        path = tmp_path / saved.value.suggested_filename
        saved.value.save_as(path)
    paper = chrome.new_page(viewport={"width": 700, "height": 990})  # A4 at 85 dots an inch
    paper.emulate_media(media="print")
    paper.goto(path.as_uri())
    assert paper.locator("section").count() == len(LESSONS)
    assert "ζ = 0.2, ωₙ = 0.4 rad/frame" in paper.locator("#ring").inner_text()
    assert paper.evaluate("document.documentElement.scrollWidth") <= 700
    pages = paper.pdf(format="A4").count(b"/Type /Page\n")
    assert 2 <= pages <= 5
    paper.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_figures_have_alternative_text_and_are_painted(chrome: Any, app: str, scheme: str) -> None:
    with opened(chrome, f"{app}/lessons", color_scheme=scheme) as page:
        for id, lesson in LESSONS.items():
            page.get_by_role("button", name=lesson.short).click()
            page.get_by_role("heading", name=lesson.title).wait_for()
            settle(page)
            drawn(page)
            canvases = page.locator(".figure-sheet canvas")
            assert canvases.count() == len(lesson.figures(lesson.start)), id
            for canvas in canvases.all():
                assert len(canvas.get_attribute("aria-label") or "") > 20
                colours = canvas.evaluate(
                    "c => new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, "
                    "c.height).data.buffer)).size"
                )
                assert colours > 5, id
