"""How to read the console: the guide's own table, so that page and guide cannot say two things."""

from __future__ import annotations

from functools import cache

from knob_core.assets import ROOT

HEADING = "How to read the console"


@cache
def table() -> str:
    """The section's text in Markdown; where the guide is missing, where to find it."""
    try:
        guide = (ROOT / "docs" / "console.md").read_text(encoding="utf-8")
    except OSError:
        return "docs/console.md, which explains every part of the console, is missing from this installation."
    section = guide.split(f"## {HEADING}\n", 1)[-1].split("\n## ", 1)[0].strip()
    return section.replace("ω_n", "ωₙ")  # as the pages write it
