"""What axe-core finds wrong with a page: WCAG 2.2, levels A and AA, and its best practices.

axe-core comes with the JavaScript tools (`npm ci`); tests that need it are skipped where it is missing.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from knob_core.assets import ROOT

SOURCE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
MISSING = "axe-core is missing: `npm ci` in the clone brings it (Node.js 20.19 or newer)"
OPTIONS = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"],
    "rules": {"target-size": {"enabled": True}},  # in WCAG 2.2 AA, but off unless asked for
    "resultTypes": ["violations"],
}

needed = pytest.mark.skipif(not SOURCE.exists(), reason=MISSING)


@cache
def _source() -> str:
    return SOURCE.read_text(encoding="utf-8")


def violations(page: Any, within: str | None = None) -> list[str]:
    """One line for each element that breaks a rule: rule, element, what is wrong. Empty is what we want.

    within: CSS selector of the part to look at; the whole page without it. Shadow roots are looked into.
    """
    if not page.evaluate("'axe' in globalThis"):
        page.evaluate(_source())
    found = page.evaluate(
        "([within, options]) => axe.run(within ?? document, options).then((result) => result.violations)",
        [within, OPTIONS],
    )
    return [_line(rule, node) for rule in found for node in rule["nodes"]]


def _line(rule: dict[str, Any], node: dict[str, Any]) -> str:
    place = " ".join(" >> ".join(part) if isinstance(part, list) else part for part in node["target"])
    reasons = [check["message"] for kind in ("any", "all", "none") for check in node[kind]]
    return f"{rule['id']}: {place}: {'; '.join(reasons)} | {node['html'][:160]}"
