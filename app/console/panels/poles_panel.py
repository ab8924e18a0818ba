"""The Poles panel: the gate's poles in the z-plane and in the s-plane, and how long it remembers."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.console.panels.panel_input import PanelInput, complex_text, frames_text
from app.figures.pole_map import pole_map
from knob_core import methods
from knob_core.gates import SECOND_ORDER

DAMPINGS = np.geomspace(0.03, 4, 160)


def content(shown: PanelInput, unit: str) -> dict[str, Any]:
    """Figure, table and note."""
    s = shown.settings
    note = "crosses: the poles; faint: where they go when ζ turns; the nearer to the circle, the longer it remembers"
    for gate in (shown.acting, methods.get(shown.stream.method).gate, SECOND_ORDER):  # the first that has any
        found, path = gate.poles(s.zeta, s.omega_n), gate.poles(DAMPINGS, s.omega_n)
        if found is not None and path is not None:
            break
    assert found is not None and path is not None
    if gate is not shown.acting:
        note = f"the {gate.name.replace(' ', '-')} gate is not acting now; these are its poles at this setting"
    if not shown.gated:
        note = "this model has no gate; these are the poles of its memory"
        note += "" if shown.remembers else ", which is not acting now"
    size = float(np.abs(found.z).max())
    rows = [
        ["", "z", "s"],
        *[[f"pole {i + 1}", complex_text(found.z[i]), complex_text(found.s[i])] for i in range(len(found.z))],
        ["largest |z|", f"{size:.3f}", ""],
        ["forgets half in", half_life_text(size), ""],
    ]
    return {"figure": pole_map(found, path), "numbers": rows, "note": note}


def half_life_text(size: float) -> str:
    """Frames after which half is left, from the largest |z|: without damping it is 1, but for rounding."""
    if size > 1 - 1e-12:
        return "never"
    return frames_text(np.log(0.5) / np.log(size)) if size > 0 else "at once"
