"""Screens from a phone to a large one, and a page at twice its size: what overlaps there, and what sticks out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pages import SIZE, settle

PHONE, TABLET = (360, 740), (820, 1180)
TWICE = (640, 400)  # 1280 x 800 at 200 %
SIZES = [PHONE, TWICE, (700, 900), (768, 1024), TABLET, (1024, 768), (1280, 720), (1920, 1080), (2560, 1440)]
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
  const box = knobPart("knobs")?.box;
  if (!box) return [];
  const parts = [...box.querySelectorAll(".knob-name, .knob-value, .knob svg, .regime, .regime-text, button, select")];
  const seen = parts.map((el) => [el, el.getBoundingClientRect()]).filter(([, r]) => r.width && r.height);
  const shared = (p, q, low, high) => Math.min(p[high], q[high]) - Math.max(p[low], q[low]);
  const over = ([a, p], [b, q]) =>
    !a.contains(b) && !b.contains(a) && shared(p, q, "left", "right") > 1 && shared(p, q, "top", "bottom") > 1;
  const pairs = seen.flatMap((a, i) => seen.slice(i + 1).map((b) => [a, b]));
  return pairs.filter(([a, b]) => over(a, b)).map(([[a], [b]]) => [a.outerHTML, b.outerHTML]);
}"""


def every_size(page: Any, sizes: list[tuple[int, int]] = SIZES) -> Iterator[tuple[int, int]]:
    """The open page at each size in turn, nothing outside and no two controls on one place; then 1280 x 800."""
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(300)
        settle(page)
        assert page.evaluate(OUTSIDE) == [], (width, height)
        assert page.evaluate(OVERLAPS) == [], (width, height)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (width, height)
        yield width, height
    page.set_viewport_size(SIZE)
    page.wait_for_timeout(300)
    settle(page)


def fits_every_screen(page: Any) -> None:
    for _ in every_size(page):
        pass
