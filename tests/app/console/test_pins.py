"""Pins: names, room and actions; and the table of all of them, whose numbers are knob_core's."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from console_answers import answer, frames
from hypothesis import given
from hypothesis import strategies as st

from app.console import compared, outcome
from app.console.console_controller import ConsoleController
from app.console.console_state import ConsoleState, View
from app.console.display_export import compared_csv, html_text
from app.console.pins import LONGEST, MOST, RESERVED, Pins, clean_name
from app.console.shown_stream import ShownStream
from knob_core.goals import Goals
from knob_core.measures.operator import measure
from knob_core.response import respond
from knob_core.settings import Settings

CALM, ALERT = Settings(zeta=2.0, omega_n=0.1), Settings(zeta=0.4, omega_n=2.0, memory="plain", temperature=1.5)
TWO = Pins().press(CALM).press(ALERT)


def test_letters_in_turn_and_no_more_than_there_is_room_for() -> None:
    pins = Pins()
    for n in range(MOST + 2):
        pins = pins.press(Settings(zeta=0.1 + n / 10))
    assert [pin.name for pin in pins] == list("ABCDEFGH") and pins.drawn == "H"
    assert pins.button(Settings(zeta=3.0)) == "" and pins.button(Settings(zeta=0.1)) == "unpin A"
    assert pins.remove("C").button(Settings(zeta=3.0)) == "pin C"


def test_the_button_s_help_is_of_what_it_does_now() -> None:
    pins = Pins().press(CALM)
    assert "as A" in Pins().button_help(CALM) and "as B" in pins.button_help(ALERT)
    assert "Forget A" in pins.button_help(CALM)
    for n in range(MOST):
        pins = pins.press(Settings(zeta=0.1 + n / 10))
    assert f"{MOST} pins already" in pins.button_help(Settings(zeta=3.0))


def test_a_pin_keeps_what_acts_and_nothing_else() -> None:
    pins = Pins().press(Settings(zeta=2.0, goals=Goals(delay=1.0), frame_rate=30.0))
    assert [pin.settings for pin in pins] == [Settings(zeta=2.0)]
    assert pins.same(Settings(zeta=2.0, frame_rate=5.0)) is not None


def test_names() -> None:
    assert clean_name("  night \n shift ") == "night   shift"
    assert clean_name("x" * 50) == "x" * LONGEST
    assert [clean_name(name) for name in (*RESERVED, "Now", "", None, 3, "\x00")] == [""] * (len(RESERVED) + 5)
    assert TWO.act({"act": "rename", "pin": 0, "to": "B"}) == TWO  # taken
    night = TWO.act({"act": "rename", "pin": 1, "to": "night"})
    assert [pin.name for pin in night] == ["A", "night"] and night.drawn == "night"


def test_a_pin_keeps_its_id_and_a_refused_name_its_reason() -> None:
    night = TWO.rename("A", "night")
    assert [pin.id for pin in night] == [0, 1] and night.remove("night").press(CALM).by_id(0) is not None
    state = ConsoleState(pins=TWO)
    for seq, (to, why) in enumerate((("Home", "“Home” cannot"), ("B", "another pin's name"), ("night", "")), 1):
        action = {"act": "rename", "pin": 0, "to": to}
        state.apply_view({**state.view_taken(), "seq": seq, "commands": [action]})
        assert why in state.name_refused and bool(why) == bool(state.name_refused)
        assert [pin.name for pin in state.pins] == (["A", "B"] if why else ["night", "B"])
    draw = {"act": "draw", "pin": 0}  # pressed before the new name was shown
    state.apply_view({**state.view_taken(), "seq": 4, "commands": [draw]})
    assert state.pins.drawn == "night"


def test_the_table_says_why_a_name_was_refused_until_another_panel_is_open(scenes: ShownStream) -> None:
    state = ConsoleState(view=View("compare"), pins=TWO, name_refused="taken")
    told = answer(state, scenes)["panel"]["compare"]
    assert told["refused"] == "taken" and [row["id"] for row in told["rows"]] == [-1, -1, 0, 1]
    state.apply_view({**state.view_taken(), "panel": "step"})
    assert state.name_refused == ""


@given(st.dictionaries(st.sampled_from(["act", "pin", "to"]), st.sampled_from(
    ["draw", "rename", "remove", "A", "B", "Z", "", None, 0, 1, 3])))  # fmt: skip
def test_no_action_breaks_the_pins(action: dict[str, Any]) -> None:
    pins = TWO.act(action)
    names = [pin.name for pin in pins]
    assert len(set(names)) == len(names) and pins.drawn in ("", *names)


def test_the_table_has_knob_core_s_numbers_for_each_setting(scenes: ShownStream) -> None:
    state = ConsoleState(settings=Settings(zeta=0.7), view=View("compare"), pins=TWO)
    rows = {row.name: row for row in outcome.compare(state, scenes)}
    assert list(rows) == ["now", "without Knob", "A", "B"]
    for name, settings in (
        ("now", Settings(zeta=0.7)),
        ("without Knob", Settings(on=False)),
        ("A", CALM),
        ("B", ALERT),
    ):
        wanted = measure(
            scenes.branches, respond(scenes.branches, settings)[0], scenes.known, scenes.without_knob.predicted
        )
        np.testing.assert_equal(asdict(rows[name].measures), asdict(wanted))  # where NaN equals NaN
    told = answer(state, scenes)["panel"]["compare"]
    labels = [id for id, _, _ in told["columns"]]
    at = {row["name"]: dict(zip(labels, row["cells"], strict=True)) for row in told["rows"]}
    assert at["A"]["delay"] == f"{rows['A'].measures.delay_mean:.2f}" and at["A"]["zeta"] == "2"
    assert at["without Knob"]["zeta"] == "–"
    assert [row["drawn"] for row in told["rows"]] == [False, False, False, True]


def test_live_mode_compares_over_the_whole_stream(scenes: ShownStream) -> None:
    state = ConsoleState(view=View("compare"), pins=TWO)
    controller = ConsoleController(state)
    controller.show(scenes, 0)
    whole = controller.update({}, 1)["display"]["panel"]["compare"]
    live = {"epoch": 0, "seq": 1, "live": True, "playing": True}
    controller.update({"controls": live}, 2)
    assert controller.update({"controls": {**live, "seq": 2, "commands": frames(9)}}, 3)["display"]["panel"][
        "compare"
    ] == whole  # fmt: skip


@pytest.mark.parametrize("order", ["zeta", "-zeta", "excess", "-right", ""])
def test_rows_are_sorted_and_those_without_a_number_come_last(scenes: ShownStream, order: str) -> None:
    state = ConsoleState(view=View("compare", sort=order), pins=TWO)
    rows = compared.ordered(outcome.compare(state, scenes), order)
    if not order:
        assert [row.name for row in rows] == ["now", "without Knob", "A", "B"]
        return
    values = [row.value(compared.COLUMNS[order.removeprefix("-")]) for row in rows]
    known = [v for v in values if v == v]
    assert known == sorted(known, reverse=order.startswith("-")) and all(v != v for v in values[len(known) :])
    if "zeta" in order:
        assert rows[-1].name == "without Knob"


def test_a_turn_measures_the_pins_only_once(scenes: ShownStream, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Settings] = []
    whole = ShownStream.respond
    monkeypatch.setattr(ShownStream, "respond", lambda stream, s: calls.append(s) or whole(stream, s))
    controller = ConsoleController(ConsoleState(view=View("compare"), pins=TWO))
    controller.show(scenes, 0)
    for seq in range(1, 6):
        controls = {"epoch": 0, "seq": seq, "zeta": 0.2 * seq, "omega_n": 0.4, "on": True}
        controller.update({"controls": controls}, seq)
    pins = [pin.settings for pin in TWO]
    assert sorted(s.zeta for s in calls if s in pins) == [0.4, 2.0]


def test_the_file_has_every_measure_in_full(scenes: ShownStream) -> None:
    state = ConsoleState(view=View(sort="-zeta"), pins=TWO.rename("A", "=1+1"))
    text = compared_csv(state, replace(scenes, title='a,"=1+1\r.csv'))
    assert text.startswith("# a,'=1+1 .csv; ")
    rows = list(csv.DictReader(io.StringIO(text.split("\n", 1)[1])))
    assert [row["name"] for row in rows] == ["'=1+1", "now", "B", "without Knob"]  # no formula
    b = measure(scenes.branches, respond(scenes.branches, ALERT)[0], scenes.known)
    assert float(rows[2]["nll"]) == b.nll and float(rows[2]["delay_90"]) == b.delay_90
    assert rows[2]["memory"] == "plain" and float(rows[2]["temperature"]) == 1.5
    assert all(row["lag63"] == "" for row in rows)  # pictures change here


def test_the_page_has_table_and_class_names(scenes: ShownStream) -> None:
    state = ConsoleState(view=View("compare"), pins=TWO.rename("A", "<b>x").draw("<b>x"))
    page = html_text(state, scenes)
    assert "<td>&lt;b&gt;x</td>" in page and "<td>B</td>" in page and "<b>x" not in page
    assert r"\u003cb\u003ex" not in page  # in a figure: plotly would take it for markup
    names = {scenes.short_names[k] for k in scenes.frame_truth.tolist()}
    assert all(f'"{name}"' in page for name in names) and "frame %{x}: %{text}" in page


def test_both_pages_have_the_same_pins(scenes: ShownStream) -> None:
    console = ConsoleState(pins=TWO)
    own = ConsoleController(ConsoleState(), console)
    own.show(scenes, 0)
    own.update({}, 1)
    assert own.state.pins == TWO
    command = {"act": "remove", "pin": 0}
    own.update({"view": {**own.state.view_taken(), "seq": 1, "commands": [command]}}, 2)
    assert [pin.name for pin in console.pins] == ["B"]
