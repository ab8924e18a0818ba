"""Tune in a real browser: from opening the app to a setting that meets the goals in a few clicks, and by keyboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browser as real
import change_branches
import numpy as np
import pytest

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def shipped() -> Iterator[str]:
    """The app on what ships."""
    if real.chromium() is None:
        pytest.skip(real.HOW)
    with real.served(real.ROOT / "app" / "main.py") as running:
        yield running.url


class Clicks:
    """A hand that counts."""

    def __init__(self, page: Any) -> None:
        self.page, self.count = page, 0

    def __call__(self, role: str, name: str) -> None:
        self.page.get_by_role(role, name=name, exact=True).first.click()
        self.count += 1


def setting(page: Any) -> tuple[str, str]:
    """ζ and ωₙ as the address says them."""
    found = re.search(r"[?&]z=([^&]+)&w=([^&]+)", page.url)
    assert found, page.url
    return found[1], found[2]


def whole(page: Any) -> None:
    """Wait until the map is finished and the page is at rest."""
    page.wait_for_selector(".figure-sheet[data-updates]")
    page.wait_for_selector('[data-testid="stProgress"]', state="detached")
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')


def words(page: Any) -> str:
    page.wait_for_function("document.querySelector('[data-testid=stAlert]')")
    return page.locator('[data-testid="stAlert"]').inner_text()


def test_from_opening_the_app_to_a_setting_on_shot_noise_in_two_clicks(shipped: str, page: Any) -> None:
    real.open_console(page, shipped)
    click = Clicks(page)
    click("link", "Tune")
    page.wait_for_selector(".figure-sheet[data-updates]")
    assert page.get_by_label(re.compile("^excess flips")).first.input_value() == "1"
    assert page.get_by_label(re.compile("^frames to a new class")).first.input_value() == "3"
    click("button", "Find")
    assert "meets every goal" in words(page) and click.count <= 4
    whole(page)
    found = setting(page)
    page.get_by_role("link", name="Console", exact=True).first.click()
    page.wait_for_selector(".display[data-updates]")
    real.settle(page)
    assert real.value(page, "ζ") == pytest.approx(on_a_dial(found[0]), rel=1e-3)
    assert real.value(page, "ωₙ") == pytest.approx(on_a_dial(found[1]), rel=1e-3)


def on_a_dial(value: str) -> float:
    """A dial shows three digits."""
    return float(f"{float(value):.3g}")


def test_the_same_on_an_uploaded_file_with_labels_in_four_clicks(shipped: str, page: Any, tmp_path: Path) -> None:
    branches = change_branches.made_up(4, 120, 5, seed=3)
    calm = np.asarray(branches.z_static) + 4 * np.eye(5)[branches.labels]
    np.savez(tmp_path / "mine.npz", logits=calm, labels=branches.labels)
    real.open_console(page, shipped)
    click = Clicks(page)
    click("link", "Your stream")
    page.locator('input[type="file"]').first.set_input_files(tmp_path / "mine.npz")
    click.count += 1  # choosing the file
    page.wait_for_selector(".display[data-updates]")
    click("link", "Tune")
    page.wait_for_selector(".figure-sheet[data-updates]")
    page.get_by_text("mine.npz").first.wait_for()  # the words come when the map is whole
    click("button", "Find")
    assert "meets every goal" in words(page) and click.count <= 4


def test_the_map_by_keyboard_from_where_the_knobs_stand_then_clicks_on_it_and_on_the_frontier(
    shipped: str, page: Any
) -> None:
    real.open_console(page, shipped)
    page.get_by_role("link", name="Tune", exact=True).first.click()
    whole(page)
    canvas = page.locator('figure[data-figure="map"] canvas')
    place = canvas.bounding_box()
    canvas.focus()
    for key in ("ArrowLeft", "ArrowLeft", "ArrowUp"):
        canvas.press(key)
    page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    said = page.locator('figure[data-figure="map"] .at').inner_text()
    assert canvas.bounding_box() == place, "what is said of a cell does not move the map"
    canvas.press("Enter")
    page.wait_for_function("location.search.includes('z=') && !location.search.includes('z=1&w=0.4')")
    zeta, omega_n = (float(v) for v in setting(page))
    assert zeta > 1.0 and omega_n < 0.4 and f"ζ {zeta:.3g}, ωₙ {omega_n:.3g}" in said
    whole(page)
    seen = {("1", "0.4"), setting(page)}
    for figure, where in (("map", (0.3, 0.4)), ("map", (0.7, 0.6)), ("frontier", (0.6, 0.5))):
        canvas = page.locator(f'figure[data-figure="{figure}"] canvas')
        box = canvas.bounding_box()
        canvas.click(position={"x": where[0] * box["width"], "y": where[1] * box["height"]})
        page.wait_for_function("seen => !seen.some(([z, w]) => location.search.includes(`z=${z}&w=${w}&`)"
                               " || location.search.endsWith(`z=${z}&w=${w}`))"
                               " && location.search.includes('z=')", arg=[list(s) for s in seen])  # fmt: skip
        assert setting(page) not in seen
        seen.add(setting(page))
        whole(page)
