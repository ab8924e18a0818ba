"""What the Tune page draws: every mark at its place, goals judged by the map's own numbers, picks checked."""

from __future__ import annotations

import math
from dataclasses import replace

import change_branches
import numpy as np
import pytest

from app.console.pins import Pins
from app.console.shown_stream import ShownStream
from app.figures import map_figures
from app.figures.packed import unpack
from app.server.background_jobs import Cancelled, Job
from app.tune import map_job, tune_display
from app.tune.map_job import PLACES, Charted
from app.tune.tune_display import Shown
from app.widgets.knobs import OMEGA_N, ZETA
from knob_core.goals import Goals
from knob_core.maps import MEASURES, Grid
from knob_core.maps.frontier import RivalCurve
from knob_core.measures.change import measure
from knob_core.response import respond
from knob_core.settings import Settings

STREAM = ShownStream("made", "a made-up stream", "knob-ode", change_branches.made_up(6, 80, 10), 1)
GOALS = Goals(excess_flips=3.0, delay=8.0)


@pytest.fixture(scope="module")
def charted() -> Charted:
    """A coarse map of one stream."""
    return computed(map_job.request((STREAM,), Settings(), shipped=True))


def computed(wanted: map_job.MapRequest, size: int = 17) -> Charted:
    patch = pytest.MonkeyPatch()
    patch.setattr(map_job, "GRID", Grid(ZETA, OMEGA_N, size))
    try:
        return map_job.compute(Job(wanted, asked=math.inf))  # no page asks here, however long it takes
    finally:
        patch.undo()


def shown(charted: Charted, **changed: object) -> Shown:
    return Shown(**{"charted": charted, "measure": "excess_flips", "goals": GOALS, "settings": Settings(), **changed})  # type: ignore[arg-type]


def test_a_job_shows_coarse_maps_first_and_stops_when_told() -> None:
    wanted = map_job.request((STREAM,), Settings(), shipped=False)
    job, seen = Job(wanted), []

    class Watched(Job):
        def __setattr__(self, name: str, value: object) -> None:
            if name == "partial" and value is not None:
                seen.append(len(value.map.zeta))  # type: ignore[attr-defined]
            super().__setattr__(name, value)

    result = map_job.compute(Watched(wanted, asked=math.inf))
    assert seen == [5, 9, 17, 33] and len(result.map.zeta) == PLACES and not result.rivals
    job.stop.set()
    with pytest.raises(Cancelled):
        map_job.compute(job)


def test_equal_requests_are_one_job_and_knobs_and_goals_do_not_matter() -> None:
    a = map_job.request((STREAM,), Settings(zeta=2.0, on=False, goals=GOALS, frame_rate=5.0), shipped=False)
    assert a == map_job.request((STREAM,), Settings(), shipped=False) and hash(a)
    assert a != map_job.request((STREAM,), Settings(memory="plain"), shipped=False)
    assert a.private and not map_job.request((STREAM,), Settings(), shipped=True).private  # the first are a visitor's
    assert a != map_job.request((replace(STREAM, id="other"),), Settings(), shipped=False)


def test_measures_at_the_knobs_are_the_response_s(charted: Charted) -> None:
    now = tune_display.at(charted, 0.8, 0.3)
    bare = respond(STREAM.branches, Settings(on=False))[0].predicted
    wanted = measure(STREAM.branches, respond(STREAM.branches, Settings(zeta=0.8, omega_n=0.3))[0], bare)
    for name in MEASURES:
        assert now[name] == pytest.approx(getattr(wanted, name), abs=1e-9), name


def test_cards_say_met_and_missed_in_words_and_sign(charted: Charted) -> None:
    now = {**tune_display.at(charted, 1.0, 0.4), "excess_flips": 2.0, "delay_mean": 9.5, "sure_wrong": float("nan")}
    goals = replace(GOALS, confident_errors=1.0)
    flips, delay, errors, accuracy, nll = tune_display.cards(now, goals, 1)
    assert flips["rest"][0] == ["✓ met", "at most 3"] and flips["mood"] == "good"
    assert delay["rest"][0] == ["✗ missed", "at most 8"] and delay["mood"] == "bad"
    assert "missed by 1.5" in delay["help"] and [name for name, _ in delay["rest"][1:]] == ["median", "slowest tenth"]
    assert errors["rest"][0][0] == "not measurable" and errors["now"] == "–"
    assert accuracy["rest"] == [] and nll["now"].startswith(f"{now['nll']:.2f}"[:3])


def test_frames_to_a_new_class_have_one_name(charted: Charted) -> None:
    now = tune_display.at(charted, 1.0, 0.4)
    assert tune_display.cards(now, GOALS, 1)[1]["label"] == "frames to a new class"
    spec = tune_display.figures(shown(charted, measure="delay_mean"), now)[0]
    assert spec["title"] == "Frames to a new class, on average"
    assert any(text.startswith("goal: frames to a new class, on average") for _, _, text in spec["legend"])


def test_the_map_has_a_mark_for_home_a_and_now_at_their_places(charted: Charted) -> None:
    pin = Settings(zeta=3.0, omega_n=0.02)
    spec, _ = tune_display.figures(
        shown(charted, pins=Pins().press(pin), settings=Settings(zeta=0.05, omega_n=3.0)),
        tune_display.at(charted, 0.05, 3.0),
    )
    places = {t["name"]: (unpack(t["x"])[0], unpack(t["y"])[0]) for t in spec["figure"]["data"] if t.get("marker")}
    assert places["A"] == (0, PLACES - 1) and places["now"] == (PLACES - 1, 0)
    assert 0 < places["home"][0] < PLACES - 1
    lines = {t["name"] for t in spec["figure"]["data"] if t["type"] == "scatter" and t["mode"] == "lines"}
    assert len(lines) >= 1 and len(spec["grid"]["text"]) == PLACES**2
    assert len(set(spec["grid"]["columns"])) == PLACES  # a cell's name is its own


def test_worse_is_darker_and_the_settings_that_meet_the_goals_are_marked(charted: Charted) -> None:
    for name, measure_ in MEASURES.items():
        values = charted.map.worst(name)
        shade = tune_display.shade(values, measure_.more_is_better)
        worst = values.argmin() if measure_.more_is_better else values.argmax()
        assert shade.ravel()[worst] == 1 and shade.min() == 0, name
    meets = tune_display.met(charted.map, GOALS)
    wanted = (charted.map.worst("excess_flips") <= 3) & (charted.map.worst("delay_mean") <= 8)
    assert meets.any() and (meets == wanted).all()
    assert not tune_display.met(charted.map, Goals()).any()


def test_cells_of_a_coarse_map_take_the_nearest_setting() -> None:
    axis = np.geomspace(0.1, 10, 3)
    found = map_figures.cells(np.arange(9.0).reshape(3, 3), axis, axis, 5)
    assert found[0].tolist() == [0, 0, 1, 1, 2] or found[0].tolist() == [0, 1, 1, 1, 2]
    assert found[-1, -1] == 8


def test_a_click_on_any_cell_and_on_any_place_of_the_frontier_is_a_setting(charted: Charted) -> None:
    spec, front = tune_display.figures(shown(charted), tune_display.at(charted, 1.0, 0.4))
    for row in ("0", "32"):
        for column in (spec["grid"]["columns"][0], spec["grid"]["columns"][-1]):
            found = tune_display.picked_setting(f"map/{row}.{column}#4", charted)
            assert found is not None and f"{found[1]:.3g}" == column
            assert found[0] == pytest.approx(ZETA[int(row) > 0])
    place = tune_display.place_of(Settings())
    zeta, omega_n = tune_display.picked_setting(place, charted) or (0, 0)
    assert abs(np.log(zeta / 1.0)) < 0.08 and abs(np.log(omega_n / 0.4)) < 0.1
    on = shown(charted).front
    assert on is not None
    assert tune_display.picked_setting("frontier/f0#1", charted) == (on.zeta[0], on.omega_n[0])
    assert len(front["targets"]) <= len(on.zeta)


@pytest.mark.parametrize(
    "wrong", [None, 3, "", "map/", "map/64.0.4", "map/-1.0.4", "map/1.7", "frontier/f99999", "frontier/fx", "else/f0",
              "map/1.nan", "frontier/f²"],
)  # fmt: skip
def test_what_is_not_on_the_page_cannot_be_picked(wrong: object, charted: Charted) -> None:
    assert tune_display.picked_setting(wrong, charted) is None


def test_rivals_stand_beside_and_the_goals_as_lines(charted: Charted) -> None:
    curve = RivalCurve("EMA of logits", np.array([1.0, 4.0, 40.0]), np.array([9.0, 3.0, 0.0]))
    spec = tune_display.figures(shown(replace(charted, rivals=(curve,))), tune_display.at(charted, 1.0, 0.4))[1]
    assert "EMA of logits" in [text for _, _, text in spec["legend"]]
    assert len(spec["figure"]["layout"]["shapes"]) == 2
    low, high = spec["figure"]["layout"]["yaxis"]["range"]
    for trace in spec["figure"]["data"]:
        assert (unpack(trace["y"]) >= 10**low * 0.999).all() and (unpack(trace["y"]) <= 10**high * 1.001).all()


def test_several_streams_are_drawn_as_the_worst_of_them() -> None:
    other = replace(STREAM, id="b", branches=change_branches.made_up(6, 80, 10, seed=5))
    both = computed(map_job.request((STREAM, other), Settings(), shipped=False), 9)
    spec = tune_display.figures(shown(both), tune_display.at(both, 1.0, 0.4))[0]
    assert "worst of 2 streams" in spec["title"]


def test_streams_without_labels_have_a_map_of_flips_alone() -> None:
    blind = replace(STREAM, id="c", branches=replace(STREAM.branches, labels=np.full(6, -1), content=None))
    found = computed(map_job.request((blind,), Settings(), shipped=False), 9)
    assert tune_display.measurable(found.map) == ["flips"]
    specs = tune_display.figures(shown(found, measure="flips"), tune_display.at(found, 1.0, 0.4))
    assert [spec["id"] for spec in specs] == ["map"]


def test_a_name_near_the_right_end_of_the_frontier_stands_left_of_its_point() -> None:
    delay, flips = np.array([1.0, 2.0, 4.0]), np.array([2.0, 1.0, 0.5])
    marks = [("a long name of a pin", 4.0, 0.5, "text", "circle"), ("B", 1.0, 2.0, "text", "circle")]
    drawn = map_figures.frontier(delay, flips, ["", "", ""], {"now": 1}, [], marks, (None, None), words="", alt="")
    side = {note["text"]: note["xanchor"] for note in drawn["figure"]["layout"]["annotations"]}
    assert side == {"now": "left", "a long name of a pin": "right", "B": "left"}


def test_names_of_marks_that_lie_on_each_other_are_one_text() -> None:
    """A setting that was found beside home had its name written over home's."""
    axis, none = np.array([0.05, 3.0]), np.zeros((64, 64))
    marks = [
        map_figures.Mark(name, 1.0, omega_n, "gate") for name, omega_n in (("home", 1.0), ("A", 0.2), ("now", 1.01))
    ]
    drawn = map_figures.settings_map(none, none, [], axis, axis, 64, marks, [], title="", words="", alt="")
    assert [note["text"] for note in drawn["figure"]["layout"]["annotations"]] == ["now, home", "A"]
    assert [trace["name"] for trace in drawn["figure"]["data"][2:]] == ["home", "A", "now"]
