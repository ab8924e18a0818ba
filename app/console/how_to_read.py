"""How to read the console: the README's own table, so that page and README cannot say two things."""

from __future__ import annotations

from functools import cache

from knob_core.assets import ROOT

HEADING = "How to read the console"


@cache
def table() -> str:
    """The section's text in Markdown; where the README is missing, where to find it."""
    try:
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
    except OSError:
        return "README.md, which explains every part of the console, is missing from this installation."
    section = readme.split(f"## {HEADING}\n", 1)[-1].split("\n## ", 1)[0].strip()
    return section.replace("ω_n", "ωₙ")  # as the pages write it
