"""Screens from a phone to a large one, and a page at twice its size: what sticks out of one, what overlaps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pages import settle

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


def every_screen(page: Any, dials: bool = False) -> Iterator[tuple[int, int]]:
    """Each size in turn, with nothing sticking out of it and, on a page with dials, none of their parts overlapping."""
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(300)
        settle(page)
        assert page.evaluate(OUTSIDE) == [], (width, height)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if dials:
            assert page.evaluate(OVERLAPS) == [], (width, height)
        yield width, height


def fits_every_screen(page: Any, dials: bool = False) -> None:
    """The same, with no more to look at; the page is then as large as before."""
    before = page.viewport_size
    for _ in every_screen(page, dials):
        pass
    page.set_viewport_size(before)
    settle(page)


def parts_inside(page: Any, scheme: str) -> None:
    """The console as it was opened: in this scheme, controls beside or above the display, and nothing sticks out."""
    assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
    assert page.locator(".display").get_attribute("data-theme") == scheme
    controls, display = page.locator(".controls").bounding_box(), page.locator(".display").bounding_box()
    beside = controls["x"] + controls["width"] <= display["x"]
    above = controls["y"] + controls["height"] <= display["y"]
    assert beside or above
    inside = page.evaluate(
        "[...knobPart('knobs').box.querySelectorAll('*')].every((el) => el.getBoundingClientRect().right <= "
        "knobPart('knobs').box.getBoundingClientRect().right + 1)"
    )
    assert inside
