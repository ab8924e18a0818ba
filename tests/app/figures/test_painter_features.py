"""The browser's painter knows every key and word that our figures use, and no other (app/static/plot/features.js)."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import change_branches
import made_cells
import made_results
import made_streams
import numpy as np
import pytest
from console_answers import answer

from app.calibration import comparison, predictions
from app.calibration.calibration_controller import CalibrationController
from app.calibration.cell_selection import Selection
from app.console.console_state import ConsoleState, View
from app.console.live_run import LiveRun
from app.console.pins import Pins
from app.console.shown_stream import ShownStream
from app.lessons import course
from app.results import result_files
from app.tune import tune_display
from app.tune.map_job import Charted
from knob_core.goals import Goals
from knob_core.maps import Grid, ManySettings, refine
from knob_core.maps.frontier import RivalCurve
from knob_core.settings import Settings

pytestmark = pytest.mark.slow  # draws every figure of every page

FILE = Path(__file__).resolve().parents[3] / "app" / "static" / "plot" / "features.js"
TRACES = ("bar", "heatmap", "ribbon", "scatter")
OF_EVERY_TRACE = ("type", "xaxis", "yaxis")

Found = dict[str, set[str]]


def listed() -> dict[str, dict[str, set[str]]]:
    """The list in features.js, which is written as JSON."""
    found = re.search(r"FEATURES =\s*(\{.*\})\s*;", FILE.read_text(), re.S)
    assert found, f"{FILE} has no list"
    return {part: {kind: set(of) for kind, of in kinds.items()} for part, kinds in json.loads(found[1]).items()}


def console_figures(stream: ShownStream) -> Iterator[dict[str, Any]]:
    """The scope and every panel: at home, with the gate off, pinned, live and turned in live mode."""
    yield stream.background()["figure"]
    for panel in ("step", "bode", "poles"):
        for settings in (Settings(), Settings(on=False), Settings(mode="reset")):
            state = ConsoleState(settings=settings, view=View(panel), pins=Pins().press(Settings(zeta=2.0)))
            told = answer(state, stream)
            yield told["panel"]["figure"]
            yield {"data": told["scope"]["data"], "layout": {}}
    live = LiveRun()
    for zeta in (0.7, 0.3):
        live.due = 50
        told = answer(ConsoleState(settings=Settings(zeta=zeta), live=live), stream)
        yield told["panel"]["figure"]
        yield {"data": told["scope"]["data"], "layout": {"shapes": told["scope"]["shapes"]}}
    assert len(told["scope"]["shapes"]) == 2  # the turn, and the frame drawn last


def calibration_figures(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """All figures of the Calibration page, before and after a turn."""
    monkeypatch.setattr(predictions, "ROOT", folder)
    monkeypatch.setattr(result_files, "FOLDER", folder / "results")
    chosen = Selection()
    shown = predictions.load(chosen)
    controller = CalibrationController(ConsoleState())
    controller.show(chosen, shown, comparison.alternatives(chosen, shown), "", 0)
    for turn in range(2):
        controller.state.turn = turn
        yield from (spec["figure"] for spec in controller.update({}, turn)["sheet"]["figures"])


def lesson_figures() -> Iterator[dict[str, Any]]:
    """All figures of the lessons."""
    for lesson in course().values():
        yield from (spec["figure"] for spec in lesson.figures(lesson.start))


def tune_figures() -> Iterator[dict[str, Any]]:
    """The map and the frontier, with goals, a pin and a rival."""
    branches = change_branches.made_up(4, 60, 10)
    sets = (ManySettings(branches),)
    map_ = [step.map for step in refine(sets, Grid(size=9)) if step.map is not None][-1]
    rival = RivalCurve("EMA", np.array([1.0, 4.0]), np.array([5.0, 2.0]))
    charted = Charted(map_, sets, (rival,))
    goals = Goals(excess_flips=2.0, delay=6.0, accuracy=0.5)
    shown = tune_display.Shown(charted, "nll", goals, Settings(), Pins().press(Settings(zeta=2.0)))
    yield from (spec["figure"] for spec in tune_display.figures(shown, tune_display.at(charted, 1.0, 0.4)))


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Everything that the painter is given."""
    stream = ShownStream("made", "a made-up stream", "knob-ode", made_streams.branches(2, 6, 120), 6, 1)
    folder = made_cells.assets(tmp_path_factory.mktemp("figures") / "assets", samples=60)
    made_results.write(folder / "results")
    with pytest.MonkeyPatch.context() as monkeypatch:
        return [*console_figures(stream), *calibration_figures(folder, monkeypatch), *lesson_figures(), *tune_figures()]


def collect(value: Any, kind: str, keys: Found, words: Found) -> None:
    """Add the keys of an object and of all within it, and the words that stand under them."""
    if isinstance(value, list):
        for item in value:
            collect(item, kind, keys, words)
    if not isinstance(value, dict):
        return
    kind = "packed" if "bdata" in value else kind
    for key, inside in value.items():
        owner = "trace" if kind in TRACES and key in OF_EVERY_TRACE else kind
        keys[owner].add(key)
        if isinstance(inside, str):
            words[f"{owner}.{key}"].add(inside)
        collect(inside, f"{kind}.{key}", keys, words)


def used(figures: list[dict[str, Any]]) -> tuple[Found, Found]:
    """(keys of every kind of object, words under every key)."""
    keys: Found = defaultdict(set)
    words: Found = defaultdict(set)
    for figure in figures:
        for trace in figure["data"]:
            collect(trace, trace["type"], keys, words)
        for key, inside in figure["layout"].items():
            axis = re.fullmatch(r"[xy]axis\d*", key)
            kind = "axis" if axis else {"shapes": "shape", "annotations": "annotation"}.get(key, key)
            if not axis:
                keys["layout"].add(key)
            collect(inside, kind, keys, words)
    return keys, words


def test_the_painter_knows_every_key_and_no_other(figures: list[dict[str, Any]]) -> None:
    keys, _ = used(figures)
    known = {kind: of | listed()["ignored"].get(kind, set()) for kind, of in listed()["keys"].items()}
    assert keys == known


def test_the_painter_knows_every_word_and_no_other(figures: list[dict[str, Any]]) -> None:
    _, words = used(figures)
    choices = listed()["values"]
    assert {key: words[key] for key in choices} == choices


def test_what_the_painter_takes_for_granted_holds(figures: list[dict[str, Any]]) -> None:
    """Rising ranges, axes that name each other, all margins, drawn lines with a width, cells one apart from 0 to 1."""
    for figure in figures:
        for name, axis in figure["layout"].items():
            if not re.fullmatch(r"[xy]axis\d*", name):
                continue
            assert axis["range"][0] < axis["range"][1], name
            crossed = axis["anchor"][0] + "axis" + axis["anchor"][1:]
            assert crossed in figure["layout"] and crossed[0] != name[0]
        for trace in figure["data"]:
            if trace["type"] == "heatmap":
                assert (trace["dy"], trace["zmin"], trace["zmax"], trace["showscale"]) == (1, 0, 1, False)
            if trace["type"] == "scatter":
                assert ("x" in trace) != ({"x0", "dx"} <= trace.keys())
                assert "lines" not in trace["mode"] or "width" in trace["line"]
                assert ("markers" in trace["mode"]) == ("marker" in trace)
        if "margin" in figure["layout"]:
            assert set(figure["layout"]["margin"]) == {"l", "r", "t", "b"}
