"""The menus under the display, alone: what they show is the session's choice, and what they ask for becomes it."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from app.console.stream_choice import StreamChoice


def menus_alone() -> None:
    """The script that the tests run."""
    from app.console import session, stream_menus

    session.console_state()
    stream_menus.menus(None)


@pytest.fixture
def page() -> AppTest:
    at = AppTest.from_function(menus_alone, default_timeout=60)
    at.query_params["content"] = "fixed"
    return run(at)


def run(at: AppTest) -> AppTest:
    at.run()
    assert not at.exception, at.exception
    return at


def choice(at: AppTest) -> StreamChoice:
    return at.session_state["choice"]


def draw(at: AppTest, severities: list[float]) -> None:
    at.session_state["sketch"] = {"drawn": severities}
    run(at)


def captions(at: AppTest) -> str:
    return " ".join(caption.value for caption in at.caption)


def test_what_a_link_cannot_hold_is_said(page: AppTest) -> None:
    page.session_state["choice"] = StreamChoice(frames=480)
    draw(run(page), [i / 100 for i in range(60)])
    assert "holds the whole setting" in captions(page) and not page.session_state["problems"]
    page.session_state["choice"] = StreamChoice(schedule="listed").with_parameters(
        {"values": " ".join(f"{i / 1000:g}" for i in range(1000))}
    )
    assert "holds all but the list of severities" in captions(run(page))


def test_a_file_that_is_too_long_for_a_link_is_named_at_once(page: AppTest) -> None:
    rows = "\n".join(f"{5 * i / 399:.3f}" for i in range(400))
    (upload,) = [box for box in page.get("file_uploader") if "severities" in box.label]
    upload.upload("severities.csv", rows.encode(), "text/csv")
    run(page)
    assert choice(page).schedule == "listed" and "too long for a link" in " ".join(page.session_state["problems"])


def test_the_fields_of_the_shape_follow_a_drawing(page: AppTest) -> None:
    for level in (1.0, 4.0):
        draw(page, [level] * 60)
        (field,) = [box for box in page.text_area if box.label == "values"]
        assert set(field.value.split()) == {f"{level:g}"}
    drawn = choice(page)
    next(button for button in page.button if button.label == "Make this stream").click()
    assert choice(run(page)) == drawn


def test_a_picture_can_be_chosen_a_second_time(page: AppTest) -> None:
    for _ in range(2):
        page.session_state["gallery"] = {"picked": 3}
        assert choice(run(page)).image == 3
        for content in ("mixed", "fixed"):
            next(box for box in page.selectbox if box.label == "Content").select(content)
            run(page)
        assert choice(page).image != 3
