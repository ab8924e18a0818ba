"""The Poles panel: the gate's poles in the z-plane and in the s-plane, and how long it remembers."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.console.panels.panel_input import PanelInput, complex_text, frames_text
from app.figures.pole_map import pole_map
from knob_core import theory

DAMPINGS = np.geomspace(0.03, 4, 160)


def content(shown: PanelInput, unit: str) -> dict[str, Any]:
    """Figure, table and note."""
    gate, s = shown.acting, shown.settings
    note = "crosses: the poles; faint: where they go when ζ turns; the nearer to the circle, the longer it remembers"
    found, path = gate.poles(s.zeta, s.omega_n), gate.poles(DAMPINGS, s.omega_n)
    if found is None or path is None:
        note = "the second-order gate is not acting now; these are its poles at this setting"
        found, path = theory.poles(s.zeta, s.omega_n), theory.poles(DAMPINGS, s.omega_n)
    size = float(np.abs(found.z).max())
    rows = [
        ["", "z", "s"],
        *[[f"pole {i + 1}", complex_text(found.z[i]), complex_text(found.s[i])] for i in range(len(found.z))],
        ["largest |z|", f"{size:.3f}", ""],
        ["forgets half in", frames_text(np.log(0.5) / np.log(size)) if 0 < size < 1 else "at once", ""],
    ]
    return {"figure": pole_map(found, path), "numbers": rows, "note": note}
