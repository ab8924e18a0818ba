"""One colour, one meaning, on every page: the palette, light and dark.

Names stand in figures ("gate", "gate/0.2" for a tint) and become colours when a theme is known. The six meanings differ
in lightness as well as in hue, so that they stay apart for colour-blind eyes; contrast with the background is tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from app.figures.packed import unpack
from knob_core.palette import CLASS_COLOURS, PALETTES

PAINTED = ("color", "fillcolor", "colorscale", "gridcolor", "linecolor", "tickcolor")  # keys that hold colours


def colour(name: str, theme: str) -> str:
    """A palette name, or a tint "name/alpha" of it, as CSS; anything else comes back as it is."""
    base, _, alpha = name.partition("/")
    value = PALETTES[theme].get(base)
    if value is None:
        return name
    if not alpha:
        return value
    red, green, blue = (int(value[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"


def painted(figure: dict[str, Any], theme: str) -> dict[str, Any]:
    """The figure with colours for names, ready for plotly; our own keys, which plotly would refuse, are left out."""
    own = {"hover", "titlegap", "hidden", "classes"}

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {k: walk(v, k) for k, v in value.items() if k not in own}
        if isinstance(value, list):
            return [walk(v, key) for v in value]
        return colour(value, theme) if isinstance(value, str) and key in PAINTED else value

    names = figure["layout"].get("classes", [])
    data = [class_cells(t, names) if t["type"] == "ribbon" else t for t in figure["data"]]
    out = walk({**figure, "data": data})
    text, paper = PALETTES[theme]["text"], PALETTES[theme]["background"]
    out["layout"] |= {
        "font": {"color": text},
        "paper_bgcolor": paper,
        "plot_bgcolor": PALETTES[theme]["plot"],
        "showlegend": False,
    }
    return out


def class_cells(trace: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """A ribbon as plotly's cells: one colour a class, the class's name on hover. Names are untrusted."""
    classes = unpack(trace["z"]).astype(int)
    steps = [[place / CLASS_COLOURS, f"class{k}"] for k in range(CLASS_COLOURS) for place in (k, k + 1)]
    return {
        "type": "heatmap", "x0": 0, "dx": 1, "y0": trace["y0"], "dy": 1, "yaxis": trace["yaxis"], "name": trace["name"],
        "z": [[None if k < 0 else k % CLASS_COLOURS + 0.5 for k in classes.tolist()]],
        "text": [[escape(names[k]) if 0 <= k < len(names) else "" for k in classes.tolist()]],
        "hovertemplate": f"frame %{{x}}: %{{text}}<extra>{escape(trace['name'])}</extra>",
        "zmin": 0, "zmax": CLASS_COLOURS, "colorscale": steps, "showscale": False,
    }  # fmt: skip
