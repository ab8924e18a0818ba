"""A stream whose picture changes: its cuts, its classes, its cards and goals, and what its panels are measured on."""

from __future__ import annotations

import json
from dataclasses import replace

import made_streams
import numpy as np
import pytest
from console_answers import answer, frames, readouts

from app.console.console_state import ConsoleState, View
from app.console.panels import PANELS
from app.console.pins import Pins
from app.console.shown_stream import ShownStream
from app.figures import scope
from app.figures.packed import unpack
from app.your_stream.uploaded_stream import UploadedStream
from knob_core.branches import Branches
from knob_core.goals import Goals
from knob_core.measures.change import measure
from knob_core.response import respond
from knob_core.settings import Settings


def ribbons(figure: dict) -> dict[str, np.ndarray]:
    return {t["name"]: unpack(t["z"]) for t in figure["data"] if t["type"] == "ribbon"}


def test_cuts_and_classes_are_drawn(scenes: ShownStream) -> None:
    background = scenes.background()
    figure = background["figure"]
    marks = [shape["x0"] for shape in figure["layout"]["shapes"]]
    assert marks == [19.5, 39.5, 59.5, 79.5, 99.5]  # before the new picture's first frame
    drawn = ribbons(figure)
    assert drawn["truth"].tolist() == scenes.branches.labels[0].tolist() == unpack(background["truth"]).tolist()
    assert drawn["without Knob"].tolist() == scenes.without_knob.predicted[0].tolist()
    told = answer(ConsoleState(), scenes)["scope"]
    assert ribbons(told)["now"].tolist() == respond(scenes.branches, Settings())[0].predicted[0].tolist()
    assert "cut" in told["legend"] and not told["axes"]


def test_a_frame_without_a_label_is_no_change() -> None:
    """Of an uploaded stream some frames may have no label: the picture does not change there."""
    z, frames = np.zeros((2, 6, 3)), np.zeros(6)
    one_class = np.array([[1, 1, -1, -1, 1, 1], [-1, 2, 2, 2, 2, -1]])
    two_classes = np.array([[1, 1, -1, 2, 0, 0], [2] * 6])
    for labels, changing, cuts in ((one_class, False, []), (two_classes, True, [4]), (np.full(2, -1), False, [])):
        shown = ShownStream("a", "a", "knob-ode", Branches(z, z, np.zeros((2, 6)), labels, frames), 1)
        assert (shown.changing, shown.cuts) == (changing, cuts)


def test_the_pinned_setting_gets_a_row(scenes: ShownStream) -> None:
    pin = Settings(zeta=2.0, omega_n=0.05)
    told = answer(ConsoleState(pins=Pins().press(pin)), scenes)["scope"]
    assert ribbons(told)["A"].tolist() == respond(scenes.branches, pin)[0].predicted[0].tolist()
    axis = told["axes"][scope.axis_key("classes")]
    assert axis["ticktext"] == ["A", "now", "without", "truth"] and axis["range"] == [-1.5, 2.5]


@pytest.mark.parametrize("settings", [Settings(), Settings(on=False), Settings(zeta=2.0, omega_n=0.1)])
def test_excess_flips_and_delay_are_knob_core_s(scenes: ShownStream, settings: Settings) -> None:
    told = readouts(answer(ConsoleState(settings=settings), scenes))
    response, _ = respond(scenes.branches, settings)
    m = measure(scenes.branches, response, scenes.without_knob.predicted)
    assert list(told) == [
        "excess_flips",
        "delay",
        "accuracy",
        "disagreement",
        "confident_errors",
        "ece",
        "jitter",
    ]
    assert told["excess_flips"]["now"] == f"{m.excess_flips:.1f}"
    assert told["delay"]["now"] == f"{m.delay_mean:.1f}"
    assert told["delay"]["beside"] == f"median {m.delay_median:.0f}\nslowest tenth {m.delay_90:.0f}"


def test_live_measures_are_of_the_frames_that_have_arrived(scenes: ShownStream) -> None:
    state = ConsoleState()
    controls = {"epoch": 0, "seq": 1, "live": True, "playing": True}
    state.apply_controls(controls)
    state.apply_controls({**controls, "seq": 2, "commands": frames(50)})
    told = readouts(answer(state, scenes))
    part = made_streams.scenes(frames=120)
    first = replace(
        part, z_static=part.z_static[:, :50], z_dyn=part.z_dyn[:, :50], u_star=part.u_star[:, :50],
        labels=part.labels[:, :50], severity=part.severity[:50], content=part.content[:, :50],
    )  # fmt: skip
    m = measure(first, respond(first, Settings())[0], respond(first, Settings(on=False))[0].predicted)
    assert told["delay"]["now"] == f"{m.delay_mean:.1f}"
    assert told["excess_flips"]["now"] == f"{m.excess_flips:.1f}"


def test_goals_are_judged_in_words_and_signs(scenes: ShownStream) -> None:
    state = ConsoleState()
    m = measure(scenes.branches, respond(scenes.branches, Settings())[0], scenes.without_knob.predicted)
    goals = {"excess_flips": m.excess_flips + 0.5, "delay": max(0.0, m.delay_mean - 0.5), "accuracy": 100.0}
    state.apply_view({"epoch": 0, "seq": 1, "goals": goals})
    told = {id: card["goal"] for id, card in readouts(answer(state, scenes)).items()}
    assert told["excess_flips"]["verdict"] == "met" and "✓ met by 0.5" in told["excess_flips"]["words"]
    assert told["delay"]["verdict"] == "missed" and "✕ missed by 0.5" in told["delay"]["words"]
    short = f"{100 * (1 - m.accuracy):.2f}".rstrip("0").rstrip(".")
    assert told["accuracy"]["words"] == f"≥ 100 %: ✕ missed by {short}" and told["accuracy"]["limit"] == 100
    assert told["confident_errors"] == {"limit": None, "verdict": "", "words": ""}
    assert told["jitter"] is None and told["ece"] is None


def test_a_goal_that_this_stream_cannot_judge_is_shown_and_says_so(stream: ShownStream) -> None:
    state = ConsoleState(settings=Settings(goals=Goals(delay=3.0)))
    told = readouts(answer(state, stream))
    assert told["delay"]["now"] == "–" and told["delay"]["goal"]["verdict"] == "unknown"
    assert "lag" in told and "flips" in told
    assert told["delay"]["beside"] == "not measurable: no new class is recognised"
    bare = replace(stream, branches=replace(stream.branches, labels=np.full_like(stream.branches.labels, -1)))
    assert readouts(answer(state, bare))["delay"]["beside"] == "not measurable without labels"


@pytest.mark.parametrize(
    ("goals", "taken"),
    [
        ({"delay": 3, "accuracy": 95.5}, Goals(delay=3.0, accuracy=0.955)),
        ({"delay": -1, "accuracy": 1e9, "unknown": 1}, Goals(delay=0.0, accuracy=1.0)),
        ({"delay": "x", "accuracy": None, "excess_flips": float("nan")}, Goals()),
        ("nonsense", Goals()),
        ({}, Goals()),
    ],
)
def test_goals_from_the_browser_are_not_trusted(goals: object, taken: Goals) -> None:
    state = ConsoleState(settings=Settings(goals=Goals(delay=9.0)))
    state.apply_view({"epoch": 0, "seq": 1, "goals": goals})
    assert state.settings.goals == taken
    assert state.view_taken()["goals"] == {n: (100 if n == "accuracy" else 1) * v for n, v in taken.set().items()}


@pytest.mark.parametrize("panel", ["step", "bode"])
def test_step_and_bode_are_measured_on_a_fixed_picture_and_say_so(
    scenes: ShownStream, stream: ShownStream, panel: str
) -> None:
    state = ConsoleState(view=View(panel))
    alone = answer(state, scenes)["panel"]
    assert "on a fixed picture only" in alone["note"]
    fixed = made_streams.branches(1, 6, 120)
    beside = answer(state, replace(scenes, probe=(fixed, "cat")))["panel"]
    assert "a fixed picture (cat)" in beside["note"]
    own = answer(state, ShownStream("own", "", "knob-ode", fixed, 6))["panel"]
    if panel == "step":  # the gate's plot is the second one: the answer after the cuts is the first
        assert [row[:2] for row in beside["numbers"][-2:]] == [row[:2] for row in own["numbers"][-2:]]
    else:
        assert beside["figure"] == own["figure"] and beside["numbers"] == own["numbers"]
    assert len(beside["figure"]["data"]) > len(alone["figure"]["data"])


@pytest.mark.parametrize("panel", PANELS)
def test_every_panel_opens_on_scenes(scenes: ShownStream, panel: str) -> None:
    json.dumps(answer(ConsoleState(view=View(panel)), scenes), allow_nan=False)


def test_rows_without_content_are_left_out(scenes: ShownStream) -> None:
    bare = replace(scenes.branches, labels=np.full(6, -1), content=None)
    unlabelled = UploadedStream("film", "", "knob-ode", bare, 6, severity_known=False)
    figure = unlabelled.background()["figure"]
    axes = {name for name in figure["layout"] if name.startswith("yaxis")}
    assert axes == {scope.axis_key(row) for row in ("classes", "gate", "confidence", "alertness", "disagrees")}
    assert set(ribbons(figure)) == {"without Knob"}
    told = answer(ConsoleState(), unlabelled)
    assert list(readouts(told)) == ["flips", "disagreement", "jitter"]  # no verdict without labels
    assert "wrong" not in told["scope"]["legend"] and [
        t["yaxis"] for t in told["scope"]["data"] if t["type"] == "heatmap"
    ] == [scope.ROWS["disagrees"].axis]
