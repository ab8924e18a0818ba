"""One colour, one meaning, in the app, the report and the pictures: names and their colours, light and dark.

The six meanings (severity, gate, confidence, static, dyn, wrong) differ in lightness as well as in hue, so that they
stay apart for colour-blind eyes; contrast with the background is tested. The ten colours of classes were searched for:
the least distance between two of them, or one and the background, is as large as it gets for ordinary, red-, green- and
blue-blind eyes (a test computes it); names stand on them as well.
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
CLASSES_LIGHT = (
    "#5a7cd7", "#994703", "#41bd9d", "#cb9401", "#6f1703", "#e5a9ff", "#99e487", "#8d6f82", "#2d50a6", "#3f3258",
)  # fmt: skip
CLASSES_DARK = (
    "#73bfff", "#eba839", "#94f5ff", "#f5e671", "#71810a", "#af538a", "#2c5c01", "#a4a29d", "#618ce3", "#742c72",
)  # fmt: skip
CLASS_COLOURS = len(CLASSES_LIGHT)


def luminance(color: str) -> float:
    """Relative luminance of "#rrggbb", 0 to 1, as WCAG defines it."""
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _classes(colors: tuple[str, ...]) -> dict[str, str]:
    """class0, class1, ... and, as onclass0, ..., the colour of a word on them: black or white, whichever is clearer."""
    words = ("#000000" if luminance(color) > 0.179 else "#ffffff" for color in colors)
    named = {f"class{i}": color for i, color in enumerate(colors)}
    return named | {f"onclass{i}": word for i, word in enumerate(words)}


PALETTES = {"light": LIGHT | _classes(CLASSES_LIGHT), "dark": DARK | _classes(CLASSES_DARK)}
