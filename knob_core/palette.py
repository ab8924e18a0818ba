"""One colour, one meaning, in the app, the report and the pictures: names and their colours, light and dark.

The six meanings (severity, gate, confidence, static, dyn, wrong) differ in lightness as well as in hue, so that they
stay apart for colour-blind eyes; contrast with the background is tested.
"""

from __future__ import annotations

LIGHT = {
    "background": "#ffffff",
    "plot": "#fafbfc",
    "grid": "#dfe3e8",
    "text": "#1c2430",
    "muted": "#5b6675",
    "focus": "#0050b3",
    "severity": "#6e747d",
    "command": "#4a5568",
    "gate": "#0a5bd3",
    "ongate": "#ffffff",
    "confidence": "#b85600",
    "static": "#006b5e",
    "dyn": "#b3169b",
    "wrong": "#b00020",
    "good": "#1c2430",
    "under": "#7a4fd0",
    "critical": "#8a6d00",
    "over": "#46627f",
    "onregime": "#ffffff",
}
DARK = {
    "background": "#0e1117",
    "plot": "#131822",
    "grid": "#2b3340",
    "text": "#eef1f5",
    "muted": "#a7b0bd",
    "focus": "#9cc7ff",
    "severity": "#9aa2ae",
    "command": "#c3cad4",
    "gate": "#5aa6ff",
    "ongate": "#06131f",
    "confidence": "#ffab4a",
    "static": "#4be3c5",
    "dyn": "#ff80df",
    "wrong": "#ff6474",
    "good": "#eef1f5",
    "under": "#b79cff",
    "critical": "#e6c34a",
    "over": "#8fb0d1",
    "onregime": "#0e1117",
}
PALETTES = {"light": LIGHT, "dark": DARK}
