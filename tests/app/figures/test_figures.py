"""Figures: plotly accepts them all, and colours can be told apart and read, in both themes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import plotly.graph_objects as go
import pytest
from console_answers import answer

from app.console.console_state import ConsoleState, View
from app.console.pins import Pins
from app.console.shown_stream import ShownStream
from app.figures.figure_colours import colour, painted
from app.figures.packed import pack, unpack
from knob_core.palette import CLASS_COLOURS, DARK, LIGHT, PALETTES
from knob_core.settings import Settings

MEANINGS = ("severity", "gate", "confidence", "static", "dyn", "wrong")


def luminance(value: str) -> float:
    channels = np.array([int(value[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


# How the three kinds of colour blindness see (Machado, Oliveira & Fernandes 2009, severity 1), on linear RGB.
BLIND = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def lab(value: str, blindness: str | None) -> np.ndarray:
    """CIELAB of a colour as somebody sees it."""
    channels = np.array([int(value[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    if blindness:
        linear = np.clip(np.array(BLIND[blindness]) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear
    f = np.cbrt(np.maximum(xyz / [0.9505, 1.0, 1.089], 0.008856))
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_everything_can_be_read(palette: dict[str, str]) -> None:
    for name in ("text", "muted", "wrong", "good", *MEANINGS):
        assert contrast(palette[name], palette["background"]) >= 4.5, name
        assert contrast(palette[name], palette["plot"]) >= 4.5, name
    for name in ("under", "critical", "over", "focus", "command"):
        assert contrast(palette[name], palette["background"]) >= 3, name
    assert contrast(palette["ongate"], palette["gate"]) >= 4.5
    assert all(contrast(palette["onregime"], palette[name]) >= 4.5 for name in ("under", "critical", "over"))


@pytest.mark.parametrize("blindness", [None, *BLIND])
@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_the_meanings_can_be_told_apart(palette: dict[str, str], blindness: str | None) -> None:
    for a, b in combinations(MEANINGS, 2):
        assert np.linalg.norm(lab(palette[a], blindness) - lab(palette[b], blindness)) > 10, (a, b)


@pytest.mark.parametrize("blindness", [None, *BLIND])
@pytest.mark.parametrize("theme", PALETTES)
def test_ten_classes_can_be_told_apart_and_their_names_read(theme: str, blindness: str | None) -> None:
    palette = PALETTES[theme]
    colours = [palette[f"class{i}"] for i in range(CLASS_COLOURS)]
    for a, b in combinations([*colours, palette["plot"]], 2):
        assert np.linalg.norm(lab(a, blindness) - lab(b, blindness)) > 9, (a, b)
    for i, value in enumerate(colours):
        assert contrast(palette[f"onclass{i}"], value) >= 4.5


def test_both_themes_have_the_same_names() -> None:
    assert LIGHT.keys() == DARK.keys() and PALETTES["light"].keys() == PALETTES["dark"].keys()


def test_tints_and_plain_css() -> None:
    assert colour("gate/0.2", "light") == "rgba(10,91,211,0.2)"
    assert colour("#123456", "dark") == "#123456"


def test_arrays_travel_whole() -> None:
    values = np.array([0.0, 1 / 3, np.nan, -2.5])
    np.testing.assert_array_equal(unpack(pack(values)), values.astype(np.float32))


@pytest.mark.parametrize("theme", PALETTES)
def test_plotly_accepts_every_figure(stream: ShownStream, theme: str) -> None:
    for settings in (Settings(), Settings(on=False)):
        for panel in ("step", "bode", "poles"):
            message = answer(
                ConsoleState(settings=settings, view=View(panel), pins=Pins().press(Settings(zeta=2.0))), stream
            )
            base = stream.background()["figure"]
            scope = {"data": [*base["data"], *message["scope"]["data"]], "layout": base["layout"]}
            for figure in (scope, message["panel"]["figure"]):
                go.Figure(painted(figure, theme))
