"""The Spring panel: the gate as a mass on a spring with a damper, moving with u(t)."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.console.panels.panel_input import PanelInput
from app.console.protocol import SpringUpdate
from app.figures.packed import pack


def content(shown: PanelInput, unit: str) -> dict[str, Any]:
    """The median path's u and u*, or the newest frame's in live mode."""
    rows = shown.stream.rows()
    u, u_star = np.median(shown.response.u[rows], axis=0), np.median(shown.stream.branches.u_star[rows], axis=0)
    reach = float(np.ceil(max(2.0, np.abs(u_star).max() + 0.7)))
    first = 0
    if shown.newest is not None:
        arrived = np.isfinite(u)
        first = max(shown.newest, 0)
        u, u_star = (np.array([series[first]]) if arrived.any() else np.zeros(1) for series in (u, u_star))
    spring: SpringUpdate = {
        "u": pack(u), "u_star": pack(u_star), "range": [-reach, reach], "first": first,
        "live": shown.newest is not None, "zeta": shown.settings.zeta, "omega_n": shown.settings.omega_n,
    }  # fmt: skip
    note = (
        "the network pulls the mass to u*; spring (ωₙ) and damper (ζ) decide how it gets there; its place is the gate"
    )
    if not shown.gated:
        note = "this model has no gate: the spring is drawn at rest, and the knobs act on the memory only"
    return {"spring": spring, "figure": None, "note": note}
