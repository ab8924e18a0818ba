"""Every lesson in a real browser, by keyboard alone: prediction, near miss, success, summary, verification; and axe."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe
import browser as real
import pytest
from pages import drawn, opened, settle, still, tab_to, unfold

from app.lessons import FAMILIES, Lesson, check_summaries, course, progress_link, summary
from app.lessons.model_answers import model_answer
from app.lessons.progress_link import Done, Progress

pytestmark = pytest.mark.browser

KEY, STUDENT = "the key of this class", "4711"
LESSONS = course(STUDENT)


@pytest.fixture(scope="module")
def school() -> Iterator[str]:
    """The app as a teacher serves it, with a class key."""
    if real.chromium() is None:
        pytest.skip(real.HOW)
    with real.served(real.ROOT / "app" / "main.py", **{summary.VARIABLE: KEY}) as running:
        yield running.url


def near_miss(id: str) -> dict[str, float]:
    """The model answer with one dial a little off: some goals may be met, not all."""
    lesson, answer = LESSONS[id], model_answer(id, STUDENT)
    for factor in (1.1, 0.9, 1.25, 0.8, 1.5, 0.6, 2.0):
        for name in answer:
            values = lesson.held(answer | {name: float(f"{answer[name] * factor:.3g}")})
            if not lesson.done(values):
                return values
    raise AssertionError(f"{id} passes everywhere near its answer")


def button(page: Any, name: str) -> Any:
    return page.get_by_role("button", name=name, exact=True).first


def predict(page: Any, id: str) -> None:
    """Answer the question before the lesson, by keys."""
    asked = LESSONS[id].prediction
    if asked.choices:
        tab_to(page, page.get_by_role("radio").first)
        page.keyboard.press("Space")
        for _ in range(int(asked.right)):
            page.keyboard.press("ArrowDown")
    else:
        tab_to(page, page.get_by_role("spinbutton").first)
        page.keyboard.type(f"{asked.right:g}")
    tab_to(page, button(page, "That is my prediction"))
    page.keyboard.press("Enter")
    drawn(page)
    settle(page)


def turn(page: Any, values: dict[str, float]) -> None:
    """Type numbers beside the dials, and wait until the page has answered."""
    for place, value in enumerate(values.values()):
        tab_to(page, page.locator(".knob-value input").nth(place))
        page.keyboard.type(f"{value:g}")
        page.keyboard.press("Enter")
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
    page.get_by_role("link", name="Printable summary").wait_for()
    page.get_by_role("button", name="Start this one again").wait_for()
    return page.get_by_role("button", name=re.compile("^✓ ")).count()


def test_every_lesson_by_keyboard_alone_from_prediction_to_verification(
    chrome: Any, school: str, tmp_path: Path
) -> None:
    with opened(chrome, f"{school}/lessons?student={STUDENT}", accept_downloads=True) as page:
        for number, (id, lesson) in enumerate(LESSONS.items(), 1):
            page.get_by_role("heading", name=f"{number}. {lesson.title}").wait_for()
            settle(page)
            assert page.locator(".figure-sheet").count() == 0, "the prediction comes first"
            predict(page, id)
            assert not all(met(page)) and ticked(page) == number - 1, id
            turn(page, near_miss(id))
            assert not all(met(page)) and ticked(page) == number - 1, id
            turn(page, model_answer(id, STUDENT))
            page.get_by_text("Done at").wait_for()
            settle(page)
            assert all(met(page)) and ticked(page) == number
            if number < len(LESSONS):
                tab_to(page, button(page, "Next →"))
                page.keyboard.press("Enter")
        tab_to(page, page.get_by_role("textbox", name="Your name, for the summary"))
        page.keyboard.type("Ada Lovelace")
        tab_to(page, page.get_by_role("link", name="Printable summary"))  # no waiting: the name must be in it
        with page.expect_download() as saved:
            page.keyboard.press("Enter")
        path = tmp_path / saved.value.suggested_filename
        saved.value.save_as(path)
        link = page.url
    row = check_summaries.check(path.name, path.read_bytes(), KEY)
    assert (row.verdict, row.name, row.student, row.done) == ("ok", "Ada Lovelace", STUDENT, len(LESSONS)), row
    assert row.predicted_right == len(LESSONS)
    forged = path.read_text("utf-8").replace("Ada Lovelace", "Bob Copycat")
    assert check_summaries.check("f", forged.encode(), KEY).verdict == "wrong"
    with opened(chrome, link) as page:  # a reload: the link alone, in a new session
        assert ticked(page) == len(LESSONS)
        assert page.get_by_role("textbox", name="Your name, for the summary").input_value() == "Ada Lovelace"
    claimed = re.sub(r"ring_[\d.]+_", "ring_0.7_", link)
    assert claimed != link
    with opened(chrome, claimed) as page:  # a link that claims what its dial positions do not show
        page.get_by_text("do not meet the goals of 'Make it ring'").wait_for()
        assert ticked(page) == len(LESSONS) - 1


PAINTED = """c => new Set(new Uint32Array(
  c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer)).size > 5"""
PLACES = """() => {
  const places = {};
  for (const el of document.querySelectorAll("[data-testid=stMain] :is(button, input, h1, h2, summary), .figure-sheet"))
    places[(el.ariaLabel || el.innerText || el.className).replace(/^(✓|\\d+) /, "")] =
      ["left", "top", "width", "height"].map((side) => Math.round(el.getBoundingClientRect()[side]));
  return places;
}"""


def places(page: Any) -> dict[int, dict[str, list[int]]]:
    """Where everything is, on a phone and on a desk."""
    found = {}
    for width in (360, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        still(page)
        page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop = 0")
        found[width] = page.evaluate(PLACES)
    return found


@pytest.mark.parametrize("id", ["ring", "calm"])
def test_nothing_moves_when_a_lesson_succeeds(chrome: Any, school: str, id: str) -> None:
    with opened(chrome, f"{school}/lessons?student={STUDENT}&lesson={id}") as page:
        predict(page, id)
        turn(page, near_miss(id))
        page.get_by_text("Not done yet").wait_for()
        before = places(page)
        turn(page, model_answer(id, STUDENT))
        page.get_by_text("Done at").wait_for()
        after = places(page)
        moved = {(w, n): (at, after[w].get(n)) for w in before for n, at in before[w].items() if after[w].get(n) != at}
        assert all(len(found) > 20 for found in before.values()) and after == before, moved


def test_an_assignment_in_a_course_page(chrome: Any, school: str) -> None:
    query = "lesson=fogbank&dials=1.5_0.2&hide=zeta,prediction,equation&embed=true"
    with opened(chrome, f"{school}/lessons?{query}") as page:
        page.get_by_role("heading", name="Filter the noise").wait_for()
        drawn(page)
        assert page.get_by_role("slider").count() == 1
        assert page.get_by_role("button", name="Next →").count() == 0
        assert page.get_by_role("link", name="Console").count() == 0, "the lesson alone"
        assert page.locator(".katex").count() == 0
        assert "embed=true" in page.url and page.get_by_role("link", name="Printable summary").count() == 1


def done_link(id: str) -> str:
    progress = Progress({id: Done(model_answer(id))}, {id: course()[id].prediction.right})
    return progress_link.write(progress, course())


def each_lesson(page: Any) -> Iterator[tuple[str, Lesson]]:
    """Open one lesson after the other by its button in the row of all."""
    for id, lesson in course().items():
        page.get_by_role("button", name=re.compile(rf"^(✓|\d+) {re.escape(lesson.short)}$")).click()
        page.mouse.move(2, 2)  # no tooltip of the button over the page
        page.get_by_role("heading", name=lesson.title).wait_for()
        settle(page)
        yield id, lesson


def test_no_lesson_breaks_a_rule_of_accessibility_before_its_prediction(chrome: Any, school: str) -> None:
    with opened(chrome, f"{school}/lessons") as page:
        for id, _ in each_lesson(page):
            page.get_by_role("button", name="That is my prediction").wait_for()
            assert axe.in_both_schemes(page) == [], id


def test_lessons_that_are_done_fit_the_screen_are_painted_and_break_no_rule_of_accessibility(
    chrome: Any, school: str
) -> None:
    """With every box open; each equation is rendered, each figure has a text and colours."""
    done = {id: Done(model_answer(id)) for id in FAMILIES}
    link = progress_link.write(Progress(done, {id: course()[id].prediction.right for id in FAMILIES}), course())
    with opened(chrome, f"{school}/lessons?lessons={link}") as page:
        assert ticked(page) == len(FAMILIES)
        for id, lesson in each_lesson(page):
            drawn(page)
            page.locator(".katex").first.wait_for()
            assert page.locator(".katex-error").count() == 0, id
            for width in (360, 1280):
                page.set_viewport_size({"width": width, "height": 800})
                still(page)
                main = page.locator('[data-testid="stMain"]')
                assert main.evaluate("el => el.scrollWidth <= el.clientWidth"), (id, width)
                canvases = page.locator(".figure-sheet canvas")
                assert canvases.count() == len(lesson.figures(lesson.start)), id
                for canvas in canvases.all():
                    assert len(canvas.get_attribute("aria-label") or "") > 20
                    page.wait_for_function(PAINTED, arg=canvas.element_handle())
            unfold(page)
            assert page.locator("details[open]").count() == 2, id
            button(page, "Show hint 1 of 3").click()
            page.get_by_text("Hint 1.").wait_for()
            assert axe.in_both_schemes(page) == [], id
            assert page.locator("h1").count() == 1


def test_the_summary_can_be_printed(chrome: Any, school: str, tmp_path: Path) -> None:
    with opened(chrome, f"{school}/lessons?lesson=ring&lessons={done_link('ring')}") as page:
        with page.expect_download() as saved:
            page.get_by_role("link", name="Printable summary").click()
        path = tmp_path / saved.value.suggested_filename
        saved.value.save_as(path)
    paper = chrome.new_page(viewport={"width": 700, "height": 990})  # A4 at 85 dots an inch
    paper.emulate_media(media="print")
    paper.goto(path.as_uri())
    assert paper.locator("section").count() == len(LESSONS)
    assert "ωₙ = 0.4 rad/frame" in paper.locator("#ring").inner_text()
    assert paper.evaluate("document.documentElement.scrollWidth") <= 700
    assert 2 <= paper.pdf(format="A4").count(b"/Type /Page\n") <= 7
    paper.close()
