"""The open panel: Step, Bode, Poles, Reliability ... Each is one file: a figure or a table, a sentence.

Numbers come from knob_core, pictures from app.figures. A registry is a dict: the tabs are its keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.console.panels import (
    bode_panel,
    compare_panel,
    poles_panel,
    reliability_panel,
    spring_panel,
    step_panel,
    temperature_panel,
)
from app.console.panels.panel_input import PanelInput

__all__ = ["PANELS", "PanelInput", "beside", "panel"]

PANELS = {  # id: (label, help)
    "step": ("Step", "How the answer goes to a new class and the gate to a new level: measured, and by theory"),
    "bode": ("Bode", "How much of a swing passes, and how late, at every frequency"),
    "poles": ("Poles", "Where the gate's poles lie: z-plane and s-plane"),
    "reliability": ("Reliability", "How often answers are right, by how sure they are: over this stream, as it is now"),
    "temperature": ("Temperature", "How much mixing the two branches takes from confidence: T_eff and CSR"),
    "spring": ("Spring", "The gate as a mass on a spring with a damper, moving with u(t)"),
    "compare": ("Compare", "The settings that you pinned, side by side, with all measures"),
}
BESIDE = ("step", "bode", "poles", "reliability")  # those that can stand beside the open one
_CONTENT: dict[str, Callable[[PanelInput, str], dict[str, Any]]] = {
    "step": step_panel.content,
    "bode": bode_panel.content,
    "poles": poles_panel.content,
    "reliability": reliability_panel.content,
    "temperature": temperature_panel.content,
    "spring": spring_panel.content,
    "compare": compare_panel.content,
}


def beside(name: str) -> list[str]:
    """Which two stand beside the open panel on a large screen; the table of pins needs all of its width."""
    return [id for id in BESIDE if id != name][:2] if name != "compare" else []


def panel(name: str, shown: PanelInput, unit: str) -> dict[str, Any]:
    """A PanelUpdate; `unit` is the frequency axis's."""
    return {"id": name, "numbers": [], "note": "", **_CONTENT[name](shown, unit)}
