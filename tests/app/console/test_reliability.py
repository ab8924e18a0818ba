"""Confidence explained: why it is off, the Reliability panel, and a temperature that repairs it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from console_answers import answer, frames, readouts

from app.console import readouts as cards
from app.console.console_controller import ConsoleController
from app.console.console_state import ConsoleState, View
from app.console.outcome import fit_temperature
from app.console.shown_stream import ShownStream
from app.figures.packed import unpack
from knob_core import metrics
from knob_core.measures.operator import OperatorMeasures, known_truth, measure
from knob_core.metrics.reliability import bin_by_mass
from knob_core.response import respond
from knob_core.settings import Settings


def flatter(stream: ShownStream, factor: float) -> ShownStream:
    """The same answers, said with less confidence (factor < 1) or more."""
    b = stream.branches
    return replace(stream, branches=replace(b, z_static=b.z_static * factor, z_dyn=b.z_dyn * factor))


@pytest.mark.parametrize(("factor", "says"), [(0.2, "too modest"), (4.0, "too sure")])
def test_the_card_says_why(scenes: ShownStream, factor: float, says: str) -> None:
    stream = flatter(scenes, factor)
    told = readouts(answer(ConsoleState(settings=Settings(on=False)), stream))["ece"]
    m = measure(stream.branches, stream.without_knob, stream.known)
    assert told["why"] == f"says {100 * m.confidence:.0f} %, is right {100 * m.accuracy:.0f} %"
    assert told["beside"] == f"floor {m.ece_floor:.3f}\n{says}"


def test_little_is_not_worth_a_word_and_both_ways_is_said() -> None:
    values = dict.fromkeys(OperatorMeasures.__dataclass_fields__, 0.0)
    good = OperatorMeasures(**values | {"ece": 0.02, "ece_floor": 0.01, "confidence": 0.9, "accuracy": 0.92})
    both = replace(good, ece=0.2, confidence=0.9, accuracy=0.91)
    assert cards.why(good) == "" and cards.why(replace(good, ece=math.nan)) == ""
    assert (cards.fault(both), cards.why(both)) == ("uneven", "sure here, modest there")


def test_the_panel_is_the_stream_s_table(scenes: ShownStream) -> None:
    state = ConsoleState(view=View("reliability"))
    found = answer(state, scenes)["panel"]
    response, _ = respond(scenes.branches, Settings())
    correct = response.predicted == scenes.branches.frame_labels
    table = bin_by_mass(response.p_max.ravel(), correct.ravel())
    (now,) = [t for t in found["figure"]["data"] if t.get("name") == "now"]
    np.testing.assert_allclose(unpack(now["y"]), table.accuracy, atol=1e-6)
    np.testing.assert_allclose(unpack(now["x"]), table.confidence, atol=1e-6)
    rows = {row[0]: row[1:] for row in found["numbers"]}
    assert rows["ECE"][0] == f"{table.ece_debiased():.3f}" and rows["is right"][0] == f"{correct.mean():.1%}"
    assert found["temperature"] is True and rows["temperature"] == ["1", "1"]


def test_without_labels_the_panel_says_what_it_needs(scenes: ShownStream) -> None:
    bare = replace(scenes.branches, labels=np.full(6, -1), content=None)
    found = answer(ConsoleState(view=View("reliability")), replace(scenes, branches=bare))["panel"]
    assert "needs labels" in found["note"] and "temperature" not in found


def test_live_only_frames_that_have_arrived_count(scenes: ShownStream) -> None:
    state = ConsoleState(view=View("reliability"))
    controls = {"epoch": 0, "seq": 1, "live": True, "playing": True}
    state.apply_controls(controls)
    assert "needs labels" in answer(state, scenes)["panel"]["note"]
    state.apply_controls({**controls, "seq": 2, "commands": frames(30)})
    assert answer(state, scenes)["panel"]["numbers"]


@pytest.mark.parametrize("factor", [0.3, 3.0])
def test_a_fit_by_the_button_repairs_confidence_and_changes_no_answer(scenes: ShownStream, factor: float) -> None:
    stream = flatter(scenes, factor)
    console = ConsoleController(ConsoleState())
    console.show(stream, 0)
    before = console.update({}, 1)["display"]
    assert before["view"]["temperature"] == 1.0
    told = console.update({"view": {"epoch": 0, "seq": 1, "commands": [{"act": "fit"}]}}, 2)["display"]
    settings = console.state.settings
    assert settings.temperature == fit_temperature(stream, Settings()) == told["view"]["temperature"]
    assert (settings.temperature > 1) == (factor > 1) and told["view"]["epoch"] == 1  # the browser takes it over
    plain, repaired = (respond(stream.branches, s)[0] for s in (Settings(), settings))
    np.testing.assert_array_equal(plain.predicted, repaired.predicted)
    labels = stream.branches.frame_labels.ravel()
    losses = [metrics.nll(r.probabilities.reshape(-1, 10), labels) for r in (plain, repaired)]
    assert losses[1] < losses[0]
    again = console.update({"view": {"epoch": 1, "seq": 2}}, 3)["display"]
    assert again["view"] == {**told["view"], "seq": 2}  # no second fit


def test_a_typed_temperature_starts_a_new_previous_setting(stream: ShownStream) -> None:
    controller = ConsoleController(ConsoleState())
    controller.show(stream, 0)

    before = readouts(controller.update({}, 1)["display"])["ece"]["now"]
    for seq, temperature in enumerate((2.0, 2.0, 4.0), 1):  # the same view again is no turn
        changed = temperature != controller.state.settings.temperature
        view = {"epoch": 0, "seq": seq, "temperature": temperature}
        card = readouts(controller.update({"view": view}, seq)["display"])["ece"]
        assert dict(card["rest"])["previous setting"] == before != card["now"]
        before = card["now"] if not changed else before


def test_a_temperature_from_the_browser_is_held() -> None:
    state = ConsoleState()
    for given, taken in ((1.7, 1.7), (1e9, 20.0), (-1, 0.05), ("x", 0.05)):
        state.apply_view({"epoch": 0, "seq": 1, "temperature": given})
        assert state.settings.temperature == taken


def test_without_labels_a_fit_changes_nothing(scenes: ShownStream) -> None:
    bare = replace(scenes, branches=replace(scenes.branches, labels=np.full(6, -1), content=None))
    assert fit_temperature(bare, Settings(temperature=1.5)) == 1.5
    assert known_truth(bare.branches, bare.without_knob.predicted) is None
