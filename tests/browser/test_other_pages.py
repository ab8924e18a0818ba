"""Every page but console, lessons and Tune, each in one visit.

Drawn, told in words, silent on the console, within every screen from a phone to a large one, and as axe-core sees it
with everything opened, light and dark: no violation of WCAG 2.2 A and AA.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import axe
import numpy as np
import pytest
from pages import drawn, opened, settle, unfold
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


def test_results(chrome: Any, full_app: str) -> None:
    with opened(chrome, f"{full_app}/results?z=0.3") as page:
        page.get_by_role("heading", name="Table 1").wait_for()
        told(page, 3)
        page.get_by_text("does not hold").first.wait_for(state="attached")  # the last table
        page.get_by_role("heading", name="What we set out to show").wait_for()
        settle(page)
        assert page.locator('[data-testid="stDataFrame"]').count() == 4
        assert page.locator('[data-testid="stTable"]').count() == 1
        page.wait_for_url("**z=0.3**")  # the knobs travel with the link
        fits_every_screen(page)
        unfold(page)
        axe.no_fault(page)


def test_learning(chrome: Any, full_app: str) -> None:
    with opened(chrome, f"{full_app}/learning") as page:
        page.get_by_role("heading", name="Does the gate learn whom to trust?").wait_for()
        told(page, 4)
        page.get_by_text("Does it lean towards the better branch?").wait_for()
        page.get_by_role("heading", name="At the end of training").wait_for()
        fits_every_screen(page)
        unfold(page)
        axe.no_fault(page)


def test_about(chrome: Any, full_app: str) -> None:
    with opened(chrome, f"{full_app}/about") as page:
        page.get_by_role("heading", name="This installation").wait_for()
        page.locator(".katex").nth(2).wait_for()
        assert page.locator(".katex-error").count() == 0
        fits_every_screen(page)
        unfold(page)
        axe.no_fault(page)


def test_calibration(chrome: Any, full_app: str) -> None:
    with opened(chrome, f"{full_app}/calibration") as page:
        before = drawn(page)
        for canvas in page.locator(".figure-sheet canvas").all():
            assert len(canvas.get_attribute("aria-label") or "") > 20
        fits_every_screen(page, dials=True)
        axe.no_fault(page)
        page.get_by_role("button", name="off", exact=True).click()
        drawn(page, before)
        page.get_by_text("What these words mean").click()
        cells = page.locator("canvas.pickable").first
        cells.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        page.get_by_role("heading", name="Pictures:").wait_for()
        axe.no_fault(page)


def test_calibration_opened_on_a_tablet_in_the_dark(chrome: Any, full_app: str) -> None:
    options = {"color_scheme": "dark", "viewport": {"width": 820, "height": 1100}}
    with opened(chrome, f"{full_app}/calibration", **options) as page:
        drawn(page)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0  # nothing sticks out at the side


def test_your_stream(chrome: Any, full_app: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(rng.integers(0, 10, 4), 60).reshape(4, 60)
    logits = rng.normal(0, 1, (4, 60, 10)) + 4 * np.eye(10)[labels]
    np.savez(tmp_path / "mine.npz", logits=logits.astype(np.float32), labels=labels)
    with opened(chrome, f"{full_app}/your_stream") as page:
        page.get_by_text("Forget this stream").wait_for()
        fits_every_screen(page)
        axe.no_fault(page)
        page.locator("input[type=file]").set_input_files(tmp_path / "mine.npz")
        page.wait_for_selector(".display[data-updates]")
        axe.no_fault(page)
        axe.no_fault_in_popovers(page)


def test_live(chrome: Any, full_app: str) -> None:
    with opened(chrome, f"{full_app}/live") as page:
        page.get_by_role("heading", name="Live").wait_for()
        unfold(page)
        axe.no_fault(page)


def test_without_assets_every_page_says_so_and_how(chrome: Any, app: str) -> None:
    """`app` has streams, but neither predictions nor results."""
    with opened(chrome, f"{app}/calibration") as page:
        for name in ("Calibration", "Learning", "Results"):
            page.get_by_role("link", name=name, exact=True).first.click()
            page.wait_for_function("(name) => document.title === `${name} · Knob`", arg=name)
            settle(page)
            page.get_by_text("python -m train.").first.wait_for()
            assert page.locator('[data-testid="stException"]').count() == 0


def test_a_finger_on_a_chart_scrolls_the_page_and_no_button_covers_it(chrome: Any, full_app: str) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with opened(chrome, f"{full_app}/learning", **phone) as page:
        area = page.locator(".nsewdrag").first
        area.wait_for(state="attached")
        assert area.evaluate("(el) => getComputedStyle(el).touchAction") == "auto"
        assert not page.locator(".modebar").first.is_visible()
