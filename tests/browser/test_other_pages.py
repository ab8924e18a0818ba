"""Every page but Console, Tune and Lessons, one visit each: drawn, told in words, any screen, light, dark, by axe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import axe
import numpy as np
import pytest
from pages import drawn, in_both_themes, opened, settle
from popovers import every_popover
from screens import fits_every_screen

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


def in_every_form(page: Any, charts: int = 0) -> None:
    """On every screen; then with every box open, in light and in dark: charts told, and no rule broken."""
    fits_every_screen(page)
    for summary in page.locator("summary").all():
        summary.click()
    for scheme in in_both_themes(page):
        if charts:
            told(page, charts)
        axe.accessible(page, scheme)


def test_results(chrome: Any, house: str) -> None:
    with opened(chrome, f"{house}/results?z=0.3") as page:
        page.get_by_role("heading", name="Table 1").wait_for()
        page.get_by_role("heading", name="What we set out to show").wait_for()
        page.get_by_text("does not hold").first.wait_for(state="attached")  # the last table
        settle(page)
        assert page.locator('[data-testid="stDataFrame"]').count() == 4
        assert page.locator('[data-testid="stTable"]').count() == 1
        page.wait_for_url("**z=0.3**")  # the knobs travel with the link
        in_every_form(page, charts=3)


def test_learning(chrome: Any, house: str) -> None:
    with opened(chrome, f"{house}/learning") as page:
        page.get_by_role("heading", name="Does the gate learn whom to trust?").wait_for()
        page.get_by_role("heading", name="At the end of training").wait_for()
        page.get_by_text("Does it lean towards the better branch?").wait_for()
        in_every_form(page, charts=4)


def test_about(chrome: Any, house: str) -> None:
    with opened(chrome, f"{house}/about") as page:
        page.get_by_role("heading", name="This installation").wait_for()
        page.locator(".katex").nth(2).wait_for()
        assert page.locator(".katex-error").count() == 0
        in_every_form(page)


def test_live(chrome: Any, house: str) -> None:
    with opened(chrome, f"{house}/live") as page:
        page.get_by_role("heading", name="Live").wait_for()
        in_every_form(page)


def test_calibration(chrome: Any, house: str) -> None:
    with opened(chrome, f"{house}/calibration") as page:
        before = drawn(page)
        for canvas in page.locator(".figure-sheet canvas").all():
            assert len(canvas.get_attribute("aria-label") or "") > 20
        in_every_form(page)
        page.get_by_role("button", name="off", exact=True).click()
        drawn(page, before)
        cells = page.locator("canvas.pickable").first
        cells.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Pictures:").wait_for()
        for scheme in in_both_themes(page):
            axe.accessible(page, scheme)


def test_your_stream(chrome: Any, house: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(rng.integers(0, 10, 4), 60).reshape(4, 60)
    logits = rng.normal(0, 1, (4, 60, 10)) + 4 * np.eye(10)[labels]
    np.savez(tmp_path / "mine.npz", logits=logits.astype(np.float32), labels=labels)
    with opened(chrome, f"{house}/your_stream") as page:
        page.get_by_text("Forget this stream").wait_for()
        in_every_form(page)
        page.locator("input[type=file]").set_input_files(tmp_path / "mine.npz")
        page.wait_for_selector(".display[data-updates]")
        settle(page)
        for scheme in in_both_themes(page):
            axe.accessible(page, scheme)
            every_popover(page)


@pytest.mark.parametrize("name", ["calibration", "learning", "results"])
def test_without_assets_every_page_says_so_and_how(chrome: Any, app: str, name: str) -> None:
    """`app` has streams, but neither predictions nor results."""
    with opened(chrome, f"{app}/{name}") as page:
        page.get_by_text("python -m train.").first.wait_for()
        assert page.locator('[data-testid="stException"]').count() == 0
