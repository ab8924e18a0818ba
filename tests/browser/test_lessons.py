"""Every lesson in a real browser, by keyboard alone: prediction, near miss, success, summary, verification; and axe."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import axe
import browser as real
import pytest
from pages import drawn, in_both_themes, opened, settle

from app.lessons import FAMILIES, check_summaries, course, progress_link
from app.lessons.model_answers import model_answer
from app.lessons.progress_link import Done, Progress

pytestmark = pytest.mark.browser

KEY, STUDENT = real.CLASS_KEY, "4711"
LESSONS = course(STUDENT)


@pytest.fixture
def school(shipped: str) -> str:
    """The app as a teacher serves it, with a class key."""
    return shipped


def near_miss(id: str) -> dict[str, float]:
    """The model answer with one dial a little off: some goals may be met, not all."""
    lesson, answer = LESSONS[id], model_answer(id, STUDENT)
    for factor in (1.1, 0.9, 1.25, 0.8, 1.5, 0.6, 2.0):
        for name in answer:
            values = lesson.held(answer | {name: float(f"{answer[name] * factor:.3g}")})
            if not lesson.done(values):
                return values
    raise AssertionError(f"{id} passes everywhere near its answer")


TO_WANTED = """(wanted) => {
  let now = document.activeElement;
  while (now?.shadowRoot?.activeElement) now = now.shadowRoot.activeElement;
  if (now === wanted || (now?.type === "radio" && now.name === wanted.name)) return "";
  const path = (el) => (el ? [...path(el.getRootNode().host), el] : []);
  const [from, to] = [path(now ?? document.body), path(wanted)];
  const k = from.findIndex((el, i) => el !== to[i]);
  if (k < 0 || !to[k]) return "Tab";
  return from[k].compareDocumentPosition(to[k]) & Node.DOCUMENT_POSITION_PRECEDING ? "Shift+Tab" : "Tab";
}"""


def tab_to(page: Any, wanted: Any) -> None:
    """Press Tab, or Shift and Tab, until the wanted control, or its group of radios, has the focus: no mouse."""
    for _ in range(80):
        if not (key := wanted.evaluate(TO_WANTED)):
            return
        page.keyboard.press(key)
    raise AssertionError(f"Tab never reached {wanted}")


def button(page: Any, name: str) -> Any:
    return page.get_by_role("button", name=name, exact=True).first


def predict(page: Any, id: str) -> None:
    """Answer the question before the lesson, by keys."""
    asked = LESSONS[id].prediction
    if asked.choices:
        radios = page.get_by_role("radio")
        tab_to(page, radios.first)  # or another of the group: one of them has the focus
        page.keyboard.press("Space")
        further = int(asked.right) - radios.evaluate_all("all => all.indexOf(document.activeElement)")
        for _ in range(abs(further)):
            page.keyboard.press("ArrowDown" if further > 0 else "ArrowUp")
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
    page.get_by_role("button", name="Printable summary").wait_for()
    return page.get_by_role("button", name=re.compile("^✓ ")).count()


def test_every_lesson_by_keyboard_alone_from_prediction_to_verification(
    chrome: Any, school: str, tmp_path: Path
) -> None:
    with opened(chrome, f"{school}/lessons?student={STUDENT}") as page:
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
        page.keyboard.press("Enter")
        settle(page)
        tab_to(page, button(page, "Printable summary"))
        with page.expect_download() as saved:
            page.keyboard.press("Enter")
        path = tmp_path / saved.value.suggested_filename
        saved.value.save_as(path)
        link = page.url
    row = check_summaries.check(path.name, path.read_bytes(), KEY)
    assert (row.verdict, row.name, row.student, row.done) == ("ok", "Ada Lovelace", STUDENT, len(LESSONS)), row
    assert row.predicted_right == len(LESSONS)
    forged = path.read_text("utf-8").replace("Ada Lovelace", "Bob Copycat")
    assert check_summaries.check("f", forged.encode(), KEY).code == "wrong"
    with opened(chrome, link) as page:  # a reload: the link alone, in a new session
        assert ticked(page) == len(LESSONS)
        assert page.get_by_role("textbox", name="Your name, for the summary").input_value() == "Ada Lovelace"
    claimed = re.sub(r"ring_[\d.]+_", "ring_0.7_", link)
    assert claimed != link
    with opened(chrome, claimed) as page:  # a link that claims what its dial positions do not show
        page.get_by_text("do not meet the goals of 'Make it ring'").wait_for()
        assert ticked(page) == len(LESSONS) - 1


def test_an_assignment_in_a_course_page(chrome: Any, school: str) -> None:
    query = "lesson=fogbank&dials=1.5_0.2&hide=zeta,prediction,equation&embed=true"
    with opened(chrome, f"{school}/lessons?{query}") as page:
        page.get_by_role("heading", name="Filter the noise").wait_for()
        drawn(page)
        assert page.get_by_role("slider").count() == 1
        assert page.get_by_role("button", name="Next →").count() == 0
        assert page.get_by_role("link", name="Console").count() == 0, "the lesson alone"
        assert page.locator(".katex").count() == 0
        assert "embed=true" in page.url and page.get_by_role("button", name="Printable summary").count() == 1


def done_link(id: str) -> str:
    progress = Progress({id: Done(model_answer(id))}, {id: course()[id].prediction.right})
    return progress_link.write(progress, course())


def painted(page: Any, canvas: Any) -> None:
    """Told in words, and more than an empty sheet with a frame."""
    canvas.scroll_into_view_if_needed()
    assert len(canvas.get_attribute("aria-label") or "") > 20
    page.wait_for_function(
        "c => new Set(new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size > 5",
        arg=canvas.element_handle(),
    )


@pytest.mark.parametrize("id", FAMILIES)
def test_a_lesson_before_and_after_on_a_phone_and_a_screen_light_and_dark(chrome: Any, school: str, id: str) -> None:
    """Before the prediction and done, with every box open: equations, figures, the width of the screen, and axe."""
    lesson = course()[id]
    with opened(chrome, f"{school}/lessons?lesson={id}&lessons={done_link(id)}") as page:
        drawn(page)
        for width in (360, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            main = page.locator('[data-testid="stMain"]')
            page.wait_for_function("el => el.scrollWidth <= el.clientWidth", arg=main.element_handle(), timeout=5000)
            canvases = page.locator(".figure-sheet canvas")
            assert canvases.count() == len(lesson.figures(lesson.start))
            for canvas in canvases.all():
                painted(page, canvas)
        page.locator(".katex").first.wait_for()
        assert page.locator(".katex-error").count() == 0
        for box in ("Words of this lesson", "For teachers"):
            page.get_by_text(box).first.click()
        button(page, "Show hint 1 of 3").click()
        page.get_by_text("Hint 1.").wait_for()
        for scheme in in_both_themes(page):
            axe.accessible(page, scheme)
    with opened(chrome, f"{school}/lessons?lesson={id}") as page:
        page.get_by_role("button", name="That is my prediction").wait_for()
        for scheme in in_both_themes(page):
            axe.accessible(page, scheme)


def test_the_summary_can_be_printed(chrome: Any, school: str, tmp_path: Path) -> None:
    with opened(chrome, f"{school}/lessons?lesson=ring&lessons={done_link('ring')}") as page:
        with page.expect_download() as saved:
            page.get_by_role("button", name="Printable summary").click()
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
