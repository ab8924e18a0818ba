"""What axe-core finds wrong with a page: WCAG 2.2, levels A and AA, and its best practices.

axe-core comes with the JavaScript tools (`npm ci` in tools/js); where it is missing, a warning says that pages were not
looked at.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

from pages import still

from knob_core.assets import ROOT

SOURCE = ROOT / "tools" / "js" / "node_modules" / "axe-core" / "axe.min.js"
MISSING = "not looked at by axe-core: `npm ci` in tools/js brings it (Node.js 20.19 or newer)"
OPTIONS = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"],
    "rules": {"target-size": {"enabled": True}},  # in WCAG 2.2 AA, but off unless asked for
    "resultTypes": ["violations"],
}
COLOURS = ["color-contrast", "link-in-text-block"]  # all rules above that look at colours; the others see the same page


@cache
def _source() -> str:
    return SOURCE.read_text(encoding="utf-8")


def violations(page: Any, colours_only: bool = False) -> list[str]:
    """One line for each element that breaks a rule: rule, element, what is wrong. Empty is what we want.

    Shadow roots are looked into. colours_only: only the rules that ask for colours, for a page looked at before.
    """
    if not page.evaluate("'axe' in globalThis"):
        page.evaluate(_source())
    found = page.evaluate(
        "(options) => axe.run(document, options).then((result) => result.violations)",
        {**OPTIONS, "runOnly": COLOURS} if colours_only else OPTIONS,
    )
    return [_line(rule, node) for rule in found for node in rule["nodes"]]


def in_both_schemes(page: Any) -> list[str]:
    """Violations of a page in light colours, and those of its colours in dark ones."""
    if not SOURCE.exists():
        warnings.warn(MISSING, stacklevel=2)
        return []
    found = []
    for scheme in ("dark", "light"):  # light last: as it was opened
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(
            "(scheme) => getComputedStyle(document.querySelector('.stApp')).colorScheme === scheme", arg=scheme
        )
        still(page)
        found += [f"{scheme}: {line}" for line in violations(page, colours_only=scheme == "dark")]
    return found


def no_fault(page: Any) -> None:
    """Nothing to complain of in either scheme, one heading of the first level, and a title of the page's own."""
    assert in_both_schemes(page) == []
    assert page.locator("h1").count() == 1
    assert page.title().endswith(" · Knob") and not page.title().startswith("Knob")


def no_fault_in_popovers(page: Any) -> None:
    """Look at each popover while it is open."""
    for button in page.locator('[data-testid="stPopover"] button[aria-expanded]:visible').all():
        button.click()
        page.mouse.move(2, 2)  # no tooltip of the button over what it opened
        page.locator('[data-testid="stPopoverBody"]').wait_for()
        assert in_both_schemes(page) == [], button.inner_text()
        page.locator('[data-testid="stPopoverBody"]').wait_for()  # it was open all the time
        page.keyboard.press("Escape")
        page.locator('[data-testid="stPopoverBody"]').wait_for(state="detached")


def _line(rule: dict[str, Any], node: dict[str, Any]) -> str:
    place = " ".join(" >> ".join(part) if isinstance(part, list) else part for part in node["target"])
    reasons = [check["message"] for kind in ("any", "all", "none") for check in node[kind]]
    return f"{rule['id']}: {place}: {'; '.join(reasons)} | {node['html'][:160]}"
