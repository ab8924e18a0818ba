"""Results, Learning and About in a real browser: drawn, told in words, silent on the console, light and dark."""

from __future__ import annotations

from typing import Any

import pytest
from pages import opened, settle

pytestmark = pytest.mark.browser


def told(page: Any, charts: int) -> None:
    """Every chart has a text for those who cannot see it."""
    found = page.locator('[data-testid="stPlotlyChart"]')
    found.nth(charts - 1).wait_for()
    settle(page)
    assert found.count() == charts
    for chart in found.all():
        chart.scroll_into_view_if_needed()
        chart.locator(".main-svg").first.wait_for()
        words = chart.evaluate(
            "el => [el, ...el.querySelectorAll('*')].map(e => e.getAttribute('aria-label') || '').join(' ')"
        )
        assert len(words.strip()) > 20


def test_results(chrome: Any, full_app: str) -> None:
    with opened(chrome, f"{full_app}/results?z=0.3") as page:
        page.get_by_role("heading", name="Table 1").wait_for()
        told(page, 3)
        page.get_by_text("does not hold").first.wait_for(state="attached")  # the last table
        settle(page)
        assert page.locator('[data-testid="stDataFrame"]').count() == 4
        assert page.locator('[data-testid="stTable"]').count() == 1
        page.wait_for_url("**z=0.3**")  # the knobs travel with the link


def test_learning(chrome: Any, full_app: str) -> None:
    with opened(chrome, f"{full_app}/learning") as page:
        page.get_by_role("heading", name="Does the gate learn whom to trust?").wait_for()
        told(page, 4)
        page.get_by_text("Does it lean towards the better branch?").wait_for()


def test_about(chrome: Any, full_app: str) -> None:
    with opened(chrome, f"{full_app}/about") as page:
        page.get_by_role("heading", name="This installation").wait_for()
        page.locator(".katex").nth(2).wait_for()
        assert page.locator(".katex-error").count() == 0


def test_lessons_equations_are_rendered(chrome: Any, full_app: str) -> None:
    from app.lessons import course

    with opened(chrome, f"{full_app}/lessons") as page:
        for lesson in course().values():
            page.get_by_role("button", name=lesson.short).click()
            page.get_by_role("heading", name=lesson.title).wait_for()
            page.locator(".katex").first.wait_for()
            assert page.locator(".katex-error").count() == 0


@pytest.mark.parametrize("name", ["calibration", "learning", "results"])
def test_without_assets_every_page_says_so_and_how(chrome: Any, app: str, name: str) -> None:
    """`app` has streams, but neither predictions nor results."""
    with opened(chrome, f"{app}/{name}") as page:
        page.get_by_text("python -m train.").first.wait_for()
        assert page.locator('[data-testid="stException"]').count() == 0
