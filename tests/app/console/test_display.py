"""The display's update: every number in it is knob_core's, and every panel says what it measured."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from console_answers import answer, frames, readouts
from quick import slow_but

from app.console import display, panels
from app.console.console_controller import ConsoleController
from app.console.console_state import ConsoleState, View
from app.console.panels import PANELS
from app.console.pins import Pin, Pins, clean_name
from app.console.setting_words import regime
from app.console.shown_stream import ShownStream
from app.figures.bode_plot import UNITS
from app.figures.packed import unpack
from knob_core import fusion, gate, theory
from knob_core.gates import FIRST_ORDER, SecondOrder
from knob_core.goals import Goals
from knob_core.measures.stability import measure
from knob_core.methods import METHODS
from knob_core.response import respond
from knob_core.settings import HOME, Settings

SETTINGS = [
    Settings(), Settings(zeta=0.05, omega_n=3.0), Settings(zeta=3, omega_n=0.02), Settings(memory="plain"),
    Settings(on=False), Settings(mode="reset"), Settings(memory="off"),
]  # fmt: skip


def longest_disagreement(shown: np.ndarray, own: np.ndarray) -> int:
    """By counting."""
    longest = 0
    for path in shown != own:
        run = 0
        for apart in path:
            run = run + 1 if apart else 0
            longest = max(longest, run)
    return longest


def trace(message: dict, name: str) -> np.ndarray:
    (found,) = [t for t in message["scope"]["data"] if t.get("name") == name]
    return unpack(found["y"])


def ribbon(figure: dict, name: str) -> np.ndarray:
    (found,) = [t for t in figure["data"] if t["type"] == "ribbon" and t["name"] == name]
    return unpack(found["z"])


@pytest.mark.parametrize("settings", SETTINGS)
def test_scope_and_read_outs_are_knob_core_s(stream: ShownStream, settings: Settings) -> None:
    message = answer(ConsoleState(settings=settings), stream)
    response, _ = respond(stream.branches, settings)
    rows = slice(6, 12)  # the second image
    np.testing.assert_allclose(trace(message, "gate"), np.median(response.g[rows], 0), atol=1e-6)
    np.testing.assert_allclose(trace(message, "confidence"), np.median(response.p_max[rows], 0), atol=1e-6)
    np.testing.assert_allclose(trace(message, "alertness"), np.median(response.omega[rows], 0) / settings.omega_n,
                               rtol=1e-6)  # fmt: skip
    m = measure(stream.branches, response)
    shown = {id: r["now"] for id, r in readouts(message).items()}
    assert shown == {
        "flips": f"{m.flips:.1f}", "jitter": f"{m.jitter:.3f}",
        "disagreement": f"{longest_disagreement(response.predicted, stream.without_knob.predicted)}",
        "lag": f"{m.lag63:.1f}" if np.isfinite(m.lag63) else "–",
        "accuracy": f"{100 * m.accuracy:.1f} %", "confident_errors": f"{m.sure_wrong:.1f}", "ece": f"{m.ece:.3f}",
    }  # fmt: skip
    assert message["film"]["predicted"] == response.predicted[6, stream.film_frames].tolist()
    assert ribbon(message["scope"], "now").tolist() == response.predicted[6].tolist()
    beside = {id: r["beside"] for id, r in readouts(message).items()}
    assert beside["ece"].split("\n")[0] == f"floor {m.ece_floor:.3f}"
    why = "not measurable (no step, or noise)"
    assert beside["lag"] == (f"{m.lag63 / settings.frame_rate:.2f} s" if np.isfinite(m.lag63) else why)


def test_a_wide_view_has_two_more_panels(stream: ShownStream) -> None:
    state = ConsoleState()
    assert answer(state, stream)["side_panels"] == []
    for panel, others in (("step", ["bode", "poles"]), ("poles", ["step", "bode"]), ("spring", ["step", "bode"])):
        state.apply_view({**state.view_taken(), "panel": panel, "wide": True})
        message = answer(state, stream)
        assert [shown["id"] for shown in message["side_panels"]] == others and message["view"]["wide"] is True
        assert all(shown["figure"] for shown in message["side_panels"])
    state.apply_view({**state.view_taken(), "wide": "yes"})  # nothing from the browser is trusted
    assert answer(state, stream)["side_panels"] == []


@pytest.mark.parametrize("method", slow_but(["knob-ode"], METHODS))
@pytest.mark.parametrize("panel", PANELS)
def test_every_panel_for_every_method(stream: ShownStream, method: str, panel: str) -> None:
    for settings in SETTINGS:
        for unit in UNITS:
            state = ConsoleState(settings=settings, view=View(panel, unit))
            message = answer(state, replace(stream, method=method))
            json.dumps(message, allow_nan=False)  # the browser's JSON has no NaN
            assert message["panel"]["id"] == panel and message["panel"]["note"]
            kind, words = regime(settings, method)
            assert kind in ("", "under", "critical", "over") and words


@pytest.mark.parametrize("memory", ["off", "plain"])
def test_step_panel_has_theory_s_numbers(stream: ShownStream, memory: str) -> None:
    state = ConsoleState(settings=Settings(zeta=0.4, omega_n=0.3, memory=memory))
    table = {row[0]: row[1:] for row in answer(state, stream)["panel"]["numbers"]}
    info = theory.step_info(theory.step_response(0.4, 0.3, 2000), final=1.0)
    assert table["gate: rise 10-90 %"][1] == f"{info.RiseTime:.1f} frames"
    assert table["gate: overshoot"][1] == f"{info.Overshoot:.1f} %" and len(table[""]) == 2


def test_the_step_s_theory_is_the_spring_at_the_frequency_that_acted(scenes: ShownStream) -> None:
    """Of an attentive memory it is another one at the cuts than between them."""
    settings = Settings(zeta=0.7, omega_n=0.1)
    panel = answer(ConsoleState(settings=settings), scenes)["panel"]
    curves = {t["name"]: unpack(t["y"]) for t in panel["figure"]["data"] if t.get("xaxis", "x") == "x" and "name" in t}
    response = scenes.respond(settings)
    cuts = np.diff(scenes.branches.frame_labels[0]).nonzero()[0] + 1
    at = np.isin(np.arange(scenes.frames), cuts)
    n = len(curves["theory"])
    for name, chosen in (("theory", ~at), ("theory at changes", at)):
        ideal = theory.step_response(0.7, float(np.median(response.omega[:, chosen])), n)
        np.testing.assert_allclose(np.corrcoef(curves[name], ideal)[0, 1], 1, atol=1e-6)
    p = np.stack([response.probabilities[:, t, scenes.frame_truth[t]] for t in cuts]).ravel()
    assert curves["measured"][5] == pytest.approx(np.median(p), abs=1e-6)  # five frames before the cut are drawn
    plain = answer(ConsoleState(settings=replace(settings, memory="plain")), scenes)["panel"]["figure"]["data"]
    assert not [t for t in plain if t.get("name") == "theory at changes"]
    off = answer(ConsoleState(settings=replace(settings, memory="off")), scenes)["panel"]
    assert "no memory acts" in off["note"]


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_temperature_panel_is_the_fusion_s(scenes: ShownStream, settings: Settings) -> None:
    panel = answer(ConsoleState(settings=settings, view=View("temperature")), scenes)["panel"]
    b, g = scenes.branches, scenes.respond(settings).g
    fused = fusion.diagnose(b.z_static, b.z_dyn, g.astype(b.z_static.dtype))
    agree = fusion.agreement(b.z_static, b.z_dyn)
    drawn = {t["name"]: unpack(t["y"]) for t in panel["figure"]["data"] if "name" in t}
    np.testing.assert_allclose(drawn["CSR"], np.median(fused.csr, axis=0), atol=1e-6)
    table = {row[0]: row[1:] for row in panel["numbers"]}
    assert table["share of frames"] == [f"{agree.mean():.1%}", f"{(~agree).mean():.1%}"]
    for name, values in (("median T_eff", fused.t_eff), ("median CSR", fused.csr)):
        assert table[name] == [f"{np.median(values[split]):.3f}" for split in (agree, ~agree)]


@pytest.mark.parametrize(("unit", "factor"), [("cycles/frame", 1), ("rad/frame", 2 * np.pi), ("Hz", 25)])
def test_bode_axis_is_in_the_unit_it_says(stream: ShownStream, unit: str, factor: float) -> None:
    state = ConsoleState(settings=Settings(frame_rate=25), view=View("bode", unit))
    figure = answer(state, stream)["panel"]["figure"]
    assert unit in figure["layout"]["xaxis"]["title"]["text"]
    x, y = unpack(figure["data"][0]["x"]), unpack(figure["data"][0]["y"])
    h = theory.frequency_response(HOME.zeta, HOME.omega_n, x / factor)
    np.testing.assert_allclose(y, 20 * np.log10(np.abs(h)), atol=0.02)
    measured = [t for t in figure["data"] if t.get("name") == "measured"]
    assert len(measured) == 2 and all(len(unpack(t["error_y"]["array"])) == 11 for t in measured)


def test_poles_panel_marks_the_poles(stream: ShownStream) -> None:
    figure = answer(ConsoleState(view=View("poles")), stream)["panel"]["figure"]
    z_plane, s_plane = [t for t in figure["data"] if t.get("name") == "poles"]
    found = theory.poles(HOME.zeta, HOME.omega_n)
    np.testing.assert_allclose(unpack(z_plane["x"]) + 1j * unpack(z_plane["y"]), found.z, atol=1e-6)
    np.testing.assert_allclose(unpack(s_plane["x"]) + 1j * unpack(s_plane["y"]), found.s, atol=1e-6)


class ThirdOrder(SecondOrder):
    """A gate with one more pole, in place of the table's own."""

    def poles(self, zeta: float | np.ndarray, omega_n: float | np.ndarray) -> theory.Poles:
        two = theory.poles(zeta, omega_n)
        return theory.Poles(*(np.concatenate([p, p[..., :1].real - 0.1], -1) for p in (two.s, two.z)))


def test_poles_panel_asks_the_gate(stream: ShownStream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, stream.method, replace(METHODS[stream.method], gate=ThirdOrder()))
    panel = answer(ConsoleState(view=View("poles")), stream)["panel"]
    assert [len(unpack(t["x"])) for t in panel["figure"]["data"] if t.get("name") == "poles"] == [3, 3]
    assert [row[0] for row in panel["numbers"]][1:4] == ["pole 1", "pole 2", "pole 3"]
    off = answer(ConsoleState(settings=Settings(on=False), view=View("poles")), stream)["panel"]
    assert off["figure"] == panel["figure"] and "is not acting now; these are its poles" in off["note"]


def test_poles_panel_of_the_first_order_gate_has_one_pole(stream: ShownStream, monkeypatch: pytest.MonkeyPatch) -> None:
    """It showed those of a second-order gate, which this model has not."""
    monkeypatch.setitem(METHODS, stream.method, replace(METHODS[stream.method], gate=FIRST_ORDER))
    panel = answer(ConsoleState(settings=Settings(memory="off"), view=View("poles")), stream)["panel"]
    assert [row[1] for row in panel["numbers"][1:3]] == [f"{np.exp(-HOME.omega_n):.3f}"] * 2
    assert "not acting" not in panel["note"]


def test_a_pinned_setting_is_drawn_and_measured(stream: ShownStream) -> None:
    pin = Settings(zeta=0.1, omega_n=2.0)
    message = answer(ConsoleState(pins=Pins().press(pin)), stream)
    response, _ = respond(stream.branches, pin)
    np.testing.assert_allclose(trace(message, "A gate"), np.median(response.g[6:12], 0), atol=1e-6)
    rest = dict(message["readouts"][0]["rest"])
    assert rest["A"] == f"{measure(stream.branches, response).flips:.1f}"


def test_now_before_and_without_knob_stand_together(stream: ShownStream) -> None:
    state = ConsoleState(settings=Settings(zeta=0.1, omega_n=2.0))
    answer(state, stream)
    began = state.now
    state.apply_controls(
        {"epoch": 0, "seq": 1, "commands": [{"act": "begin"}], "zeta": 1.5, "omega_n": 0.1, "on": True, "memory": True}
    )
    card = answer(state, stream)["readouts"][0]
    assert began is not None and state.now is not None
    assert card["now"] == f"{state.now.flips:.1f}"
    assert dict(card["rest"]) == {
        "previous setting": f"{began.flips:.1f}",
        "without Knob": f"{stream.measures_without.flips:.1f}",
    }


def test_live_frames_appear_as_they_come(stream: ShownStream) -> None:
    state = ConsoleState()
    controls = {"epoch": 0, "seq": 1, "live": True, "playing": True}
    state.apply_controls(controls)
    state.apply_controls({**controls, "seq": 2, "commands": frames(30)})
    message = answer(state, stream)
    gate = trace(message, "gate")
    assert np.isfinite(gate[:30]).all() and np.isnan(gate[30:]).all()
    assert [k is None for k in message["film"]["predicted"]] == [t >= 30 for t in stream.film_frames]
    for panel in PANELS:
        state.view = View(panel)
        json.dumps(answer(state, stream), allow_nan=False)


def test_a_message_is_small(stream: ShownStream) -> None:
    for panel in PANELS:
        assert len(json.dumps(answer(ConsoleState(view=View(panel)), stream))) < 40_000


def test_a_pinned_setting_steps_with_its_own_dynamics(stream: ShownStream) -> None:
    """A pinned "off" follows at once, whatever acts now."""
    shown = panels.PanelInput(Settings(), stream, stream.respond(Settings()), pin=Pin("A", Settings(on=False)))
    (pinned,) = [t for t in panels.panel("step", shown, "frames")["figure"]["data"] if t.get("name") == "A"]
    np.testing.assert_array_equal(unpack(pinned["y"]), 1)


def test_live_numbers_are_all_of_the_frames_that_have_arrived(stream: ShownStream) -> None:
    """The ghost's, and A's: on the first frames all are easy."""
    pin, played = Settings(zeta=2.0, omega_n=0.1), 40
    state = ConsoleState(pins=Pins().press(pin))
    controls = {"epoch": 0, "seq": 1, "live": True, "playing": True}
    state.apply_controls(controls)
    state.apply_controls({**controls, "seq": 2, "commands": frames(played)})
    message = answer(state, stream)
    first = stream.branches.at(slice(played))
    for place, settings in ((-1, Settings(on=False)), (-2, pin)):
        wanted = measure(first, respond(first, settings)[0])
        rests = {id: r["rest"][place][1] for id, r in readouts(message).items()}
        assert rests["flips"] == f"{wanted.flips:.1f}" and rests["accuracy"] == f"{100 * wanted.accuracy:.1f} %"
    assert {"A gate", "A confidence"} <= {t.get("name") for t in message["scope"]["data"]}
    assert "pin" in message["scope"]["legend"]


def test_while_too_few_frames_have_arrived_to_measure_every_number_is_a_dash(stream: ShownStream) -> None:
    console = ConsoleController(ConsoleState(settings=Settings(goals=Goals(delay=3.0, accuracy=0.9))))
    console.show(stream, 0)
    console.update({}, 1)
    live = {"epoch": 0, "seq": 1, "live": True, "playing": True}
    for arrived in range(4):
        controls = {**live, "seq": 1 + arrived, "commands": frames(1)}
        told = readouts(console.update({"controls": controls}, 2)["display"])
        card = told["accuracy"]
        assert ({card["now"], *dict(card["rest"]).values()} == {"–"}) == (arrived < 3)
        assert ("nothing measured yet" in card["goal"]["words"]) == (arrived < 3)
        assert (told["lag"]["beside"] == "") == (arrived < 3)


def test_the_page_s_fields_have_the_limits_that_python_holds_them_to() -> None:
    limits, state = display.constants()["limits"], ConsoleState()
    for name in ("frame_rate", "temperature"):
        for beyond, held in zip((-1e9, 1e9), limits[name], strict=True):
            state.apply_view({**state.view_taken(), name: beyond})
            assert getattr(state.settings, name) == held
    assert len(clean_name("x" * 99)) == limits["name"]


def test_reset_mode_steps_once_and_no_further(stream: ShownStream) -> None:
    settings = Settings(zeta=0.7, omega_n=1.0, mode="reset")
    found = answer(ConsoleState(settings=settings, view=View("step")), stream)["panel"]
    (ideal,) = [t for t in found["figure"]["data"] if t.get("name") == "theory"]
    np.testing.assert_allclose(unpack(ideal["y"]), gate.reset_gain(0.7, 1.0), rtol=1e-6)
    assert "Reset Mode" in found["note"]
    assert regime(settings, "knob-ode")[0] == ""


def test_a_model_without_a_gate_says_so_in_every_panel(stream: ShownStream) -> None:
    shut = replace(stream, method="static")
    for panel in ("bode", "poles", "spring"):
        assert "has no gate" in answer(ConsoleState(view=View(panel)), shut)["panel"]["note"]
    for memory, words in (("off", "has no gate"), ("plain", "the memory's spring by theory")):
        told = answer(ConsoleState(settings=Settings(memory=memory), view=View("step")), shut)["panel"]
        assert words in told["note"]
    assert "mixes no branches" in answer(ConsoleState(view=View("temperature")), shut)["panel"]["note"]
    scope = shut.background()["figure"]
    assert "yaxis3" not in scope["layout"] and not any("σ" in t.get("name", "") for t in scope["data"])
    assert "gate" not in {t.get("name") for t in answer(ConsoleState(), shut)["scope"]["data"]}
