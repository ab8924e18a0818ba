"""The printable summary: every lesson with its equation and, where it was done, the knob positions that did it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from app.lessons import LESSONS, Lesson

_STYLE = """
body { font: 11pt/1.45 system-ui, sans-serif; color: #1c2430; background: #fff; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 18pt; margin-bottom: 0; } h2 { font-size: 12.5pt; margin: 1.4rem 0 .2rem; break-after: avoid; }
section { break-inside: avoid; border-top: 1px solid #c9ced6; } p { margin: .25rem 0; }
.equation { font-family: Cambria, "Times New Roman", serif; font-size: 12pt; margin: .4rem 0 .4rem 1.2rem; }
.open { color: #5b6675; } .units { color: #5b6675; font-size: 10pt; } .done { color: #00594f; font-weight: 600; }
"""


def positions(lesson: Lesson, values: Mapping[str, float]) -> str:
    """`ζ = 0.2, ωₙ = 0.4 rad/frame`."""
    return ", ".join(
        f"{knob['symbol']} = {values[knob['id']]:.3g}{' ' + knob['unit'] if knob['unit'] else ''}"
        for knob in lesson.knobs
    )


def html(done: Mapping[str, Mapping[str, float]]) -> str:
    """A page by itself, for paper or for a file."""
    sections = []
    for number, (id, lesson) in enumerate(LESSONS.items(), 1):
        if id in done:
            met = "; ".join(f"{goal.words}: {goal.now}" for goal in lesson.goals(done[id]))
            where = escape(positions(lesson, done[id]))
            result = f'<p class="done">✓ done at {where}</p><p>{escape(met)}</p><p>{escape(lesson.meaning)}</p>'
        else:
            result = f'<p class="open">not done yet: {escape(lesson.task)}</p>'
        sections.append(
            f'<section id="{id}"><h2>{number}. {escape(lesson.title)}</h2><p>{escape(lesson.idea)}</p>'
            f'<p class="equation">{escape(lesson.plain)}</p><p '
            f'class="units">{escape(lesson.units)}</p>{result}</section>'
        )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Knob: lessons</title>'
        f"<style>{_STYLE}</style></head><body><h1>Knob: lessons</h1><p>{len(done)} of {len(LESSONS)} "
        f"done</p>{''.join(sections)}</body></html>"
    )
