"""Screens from a phone to a large one, and a page at twice its size: nothing overlaps, nothing sticks out."""

from __future__ import annotations

from typing import Any

import pytest
from pages import drawn, opened, settle

pytestmark = pytest.mark.browser

SIZES = [(360, 740), (640, 400), (700, 900), (768, 1024), (1024, 768), (1280, 720), (1280, 800),
         (1920, 1080), (2560, 1440)]  # 640: 1280 at 200 %  # fmt: skip
OUTSIDE = """() => {
  const found = [];
  const walk = (root) => {
    for (const el of root.querySelectorAll("*")) {
      const box = el.getBoundingClientRect();
      if (box.width && box.right > innerWidth + 1 && el.matches("button, input, select, svg, canvas, label, p, h1, h2"))
        found.push(`${el.tagName} ${el.textContent.slice(0, 30)} ends at ${Math.round(box.right)}`);
      if (el.shadowRoot) walk(el.shadowRoot);
    }
  };
  walk(document.querySelector("[data-testid=stMain]"));
  return found;
}"""
OVERLAPS = """() => {
  const box = knobPart("knobs").box;
  const parts = [...box.querySelectorAll(".knob-name, .knob-value, .knob svg, .regime, .regime-text, button, select")];
  const seen = parts.map((el) => [el, el.getBoundingClientRect()]).filter(([, r]) => r.width && r.height);
  const shared = (p, q, low, high) => Math.min(p[high], q[high]) - Math.max(p[low], q[low]);
  const over = ([a, p], [b, q]) =>
    !a.contains(b) && !b.contains(a) && shared(p, q, "left", "right") > 1 && shared(p, q, "top", "bottom") > 1;
  const pairs = seen.flatMap((a, i) => seen.slice(i + 1).map((b) => [a, b]));
  return pairs.filter(([a, b]) => over(a, b)).map(([[a], [b]]) => [a.outerHTML, b.outerHTML]);
}"""


def test_console(chrome: Any, app: str) -> None:
    with opened(chrome, app) as page:
        page.wait_for_selector(".display[data-updates]")
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(300)
            assert page.evaluate(OUTSIDE) == [], (width, height)
            assert page.evaluate(OVERLAPS) == [], (width, height)
            boxes = {name: page.locator(name).bounding_box() for name in (".dials", ".readouts", ".st-key-row")}
            ends = {name: box["y"] + box["height"] for name, box in boxes.items()}
            if height >= 720 and width != 360:
                assert ends[".readouts"] <= height, (width, height)
            if (width, height) == (360, 740):  # both dials, and the first two rows of read-outs
                assert ends[".dials"] <= 300 and boxes[".readouts"]["y"] <= 500
            if width >= 1280:
                assert ends[".st-key-row"] <= height, (width, height)
            if height >= 1000 and width >= 1500:
                assert ends[".st-key-row"] >= 0.65 * height, "a large screen is used"


@pytest.mark.parametrize("name", ["calibration", "learning", "results", "your_stream", "about"])
def test_other_pages(chrome: Any, full_app: str, name: str) -> None:
    with opened(chrome, f"{full_app}/{name}") as page:
        if name == "calibration":
            drawn(page)
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(300)
            settle(page)
            assert page.evaluate(OUTSIDE) == [], (width, height)
            if name == "calibration":
                assert page.evaluate(OVERLAPS) == [], (width, height)
