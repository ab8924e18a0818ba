"""The Tune page: goals in, a setting out, for the console's stream, several, and the visitor's own."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import change_branches
import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.console import stream_sources
from app.console.console_state import ConsoleState
from app.console.outcome import evaluate
from app.server.background_jobs import Job
from app.tune import map_job, stream_sets, tune_display
from app.widgets.knobs import OMEGA_N, ZETA
from app.your_stream import uploaded_stream
from knob_core.goals import Goals
from knob_core.maps import Grid
from knob_core.settings import Settings
from knob_core.uploads import Uploaded

PAGE = Path(__file__).resolve().parents[3] / "app" / "app_pages" / "tune.py"


@pytest.fixture(autouse=True)
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """A coarse grid on what ships."""
    monkeypatch.setattr(map_job, "GRID", Grid(ZETA, OMEGA_N, 9))
    map_job.JOBS._jobs.clear()


def opened(**session: Any) -> AppTest:
    at = AppTest.from_file(str(PAGE), default_timeout=60)
    for name, value in session.items():
        at.session_state[name] = value
    return whole(at.run())


def whole(at: AppTest) -> AppTest:
    """Run until the map is there."""
    for _ in range(200):
        assert not at.exception, at.exception
        if all(
            job.over for job in [*map_job.JOBS._jobs.values(), *map_job.JOBS._private.values()]
        ):  # a visitor's own, too
            return at.run()
        time.sleep(0.05)
        at.run()
    raise AssertionError("the map was never finished")


def press(at: AppTest, key: str) -> AppTest:
    return whole(at.button(key=key).click().run())


def settings(at: AppTest) -> Settings:
    return at.session_state["console_state"].settings


def said(at: AppTest) -> str:
    return " ".join(block.value for kind in (at.success, at.warning, at.info, at.caption) for block in kind)


def test_the_page_opens_with_goals_and_a_map_and_leaves_the_setting_alone() -> None:
    at = opened()
    assert at.number_input(key="tune_excess_flips").value == 1.0 and at.number_input(key="tune_delay").value == 3.0
    assert at.number_input(key="tune_accuracy").value is None
    assert settings(at) == Settings()  # proposed goals are not set before somebody asks
    assert len(at.get("bidi_component")) == 1 and "press Find" in said(at)


def test_find_turns_the_knobs_and_says_what_is_met() -> None:
    at = opened()
    at.number_input(key="tune_excess_flips").set_value(30.0).run()
    at = press(at.number_input(key="tune_delay").set_value(60.0).run(), "tune_find")
    found = at.session_state["tune_found"].found
    assert found.met and "meets every goal" in said(at)
    now = settings(at)
    assert (now.zeta, now.omega_n) == (found.zeta, found.omega_n) != (1.0, 0.4)
    assert now.goals == Goals(excess_flips=30.0, delay=60.0)
    assert at.query_params["z"] in (f"{found.zeta:g}", [f"{found.zeta:g}"])


@pytest.mark.slow
def test_goals_that_nothing_meets_give_the_nearest_and_what_it_misses() -> None:
    at = opened()
    at.number_input(key="tune_excess_flips").set_value(0.0).run()
    at = press(at.number_input(key="tune_delay").set_value(0.0).run(), "tune_find")
    assert "No setting meets every goal" in said(at) and "missed by" in said(at)


@pytest.mark.slow
def test_goals_of_the_session_are_taken_and_an_empty_field_asks_for_nothing() -> None:
    state = ConsoleState(settings=Settings(goals=Goals(accuracy=0.5, delay=20.0)))
    at = opened(console_state=state, choice=stream_sources.home(), problems=[], other_pages={})
    assert at.number_input(key="tune_accuracy").value == 50.0 and at.number_input(key="tune_excess_flips").value is None
    at = whole(at.number_input(key="tune_accuracy").set_value(None).run())
    assert settings(at).goals == Goals(delay=20.0)


@pytest.mark.slow
def test_several_streams_are_met_in_the_worst_of_them() -> None:
    at = opened()
    at = whole(at.segmented_control(key="tune_kind").set_value(stream_sets.SEVERAL).run())
    names = at.multiselect(key="tune_names").value
    assert len(names) == 10 and all("in" in name for name in names)  # those whose picture changes
    at = press(at.multiselect(key="tune_names").set_value(names[:3]).run(), "tune_find")
    found = at.session_state["tune_found"].found
    assert found.sets == 3 and "of 3 streams" in said(at)
    at = whole(at.multiselect(key="tune_names").set_value([]).run())
    assert "There is no stream to look at" in said(at)


@pytest.mark.slow
def test_the_visitors_own_stream_comes_first_after_it_was_looked_at() -> None:
    branches = change_branches.made_up(3, 60, 4)
    labels = np.asarray(branches.labels)
    given = Uploaded(branches.z_static, branches.z_static, None, labels, None, tuple("abcd"))
    stream, _ = uploaded_stream.of_logits("mine", "mine.npz", given)
    at = opened(own_stream=stream, last_stream="own")
    assert at.segmented_control(key="tune_kind").value == "Your stream" and "mine.npz" in said(at)
    at = press(at, "tune_find")
    assert at.session_state["tune_charted"].sets[0].branches.frame_labels.shape == (3, 60)
    assert not at.session_state["tune_charted"].rivals  # they were tuned for another model


@pytest.mark.slow
def test_a_stream_without_labels_says_what_cannot_be_told() -> None:
    branches = change_branches.made_up(3, 60, 4)
    given = Uploaded(branches.z_static, branches.z_static, None, np.full((3, 60), -1), None, tuple("abcd"))
    stream, _ = uploaded_stream.of_logits("blind", "blind.npz", given)
    at = opened(own_stream=stream, last_stream="own")
    assert "no labels" in said(at) and "no frontier" in said(at)
    assert at.selectbox(key="tune_measure").options == ["flips per 100 frames"]


def console(**settings_: Any) -> dict[str, Any]:
    """A session whose console has this setting."""
    state = ConsoleState(settings=Settings(**settings_))
    return {"console_state": state, "choice": stream_sources.home(), "problems": [], "other_pages": {}}


def cards(at: AppTest, monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, float]]:
    """The measures that the next run's cards show."""
    seen: dict[str, dict[str, float]] = {}
    make = tune_display.cards

    def watched(now: dict[str, float], *rest: Any) -> list[dict[str, Any]]:
        seen["now"] = now
        return make(now, *rest)

    monkeypatch.setattr(tune_display, "cards", watched)
    at.run()
    return seen


@pytest.mark.slow
def test_with_knob_off_the_cards_are_the_consoles_and_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    session = console(on=False, goals=Goals(excess_flips=1.0))
    at = opened(**session)
    now = cards(at, monkeypatch)["now"]
    shown = stream_sources.fallback()
    assert shown is not None
    measured = evaluate(session["console_state"], shown[1]).measures
    assert measured is not None
    assert now["excess_flips"] == pytest.approx(measured.excess_flips) and now["nll"] == pytest.approx(measured.nll)
    assert "Knob is off" in said(at)
    at = press(at, "tune_find")
    assert settings(at).on and "Knob is off" not in said(at)


@pytest.mark.slow
def test_what_find_said_is_shown_only_while_it_is_true() -> None:
    at = press(opened(**console(goals=Goals(excess_flips=30.0, delay=60.0))), "tune_find")
    assert "meets every goal" in said(at)
    state = at.session_state["console_state"]
    answer = state.settings
    for other in ({"zeta": 2.0}, {"goals": Goals(delay=0.0)}, {"memory": "plain"}, {"on": False}):
        state.set_from_python(replace(answer, **other))
        assert "meets every goal" not in said(whole(at.run())), other
    state.set_from_python(answer)
    assert "meets every goal" in said(whole(at.run()))


@pytest.mark.slow
def test_what_find_said_of_one_stream_is_not_said_of_another() -> None:
    branches = change_branches.made_up(3, 60, 4)
    mine = Uploaded(branches.z_static, branches.z_static, None, np.asarray(branches.labels), None, tuple("abcd"))
    stream, _ = uploaded_stream.of_logits("mine", "mine.npz", mine)
    at = press(opened(own_stream=stream, **console(goals=Goals(excess_flips=30.0, delay=60.0))), "tune_find")
    assert "meets every goal" in said(at)
    at = whole(at.segmented_control(key="tune_kind").set_value("Your stream").run())
    assert "meets every goal" not in said(at) and "press Find" in said(at)


@pytest.mark.slow
def test_goals_that_were_removed_on_the_console_stay_removed() -> None:
    at = opened(**console(goals=Goals(delay=20.0)))
    state = at.session_state["console_state"]
    state.set_from_python(replace(state.settings, goals=Goals()))
    at = whole(at.run())
    assert at.number_input(key="tune_delay").value is None and at.number_input(key="tune_excess_flips").value is None


@pytest.mark.slow
def test_what_a_link_cannot_mean_can_be_closed() -> None:
    at = opened(**{**console(), "problems": ["z in the link is not a number"]})
    assert len(at.warning) == 1
    at.button(key="close_notes").click().run()
    assert not at.exception and not at.warning and not [b for b in at.button if b.key == "close_notes"]


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Maps that are never finished."""

    def compute(job: Job) -> None:
        while True:
            job.go_on()
            time.sleep(0.01)

    monkeypatch.setattr(map_job.JOBS, "_compute", compute)


def test_a_map_goes_on_while_anybody_who_looks_at_it_wants_it(endless: None) -> None:
    """It was stopped when the visitor left who had asked first: others who had joined it lost what there was."""
    first, second = (AppTest.from_file(str(PAGE), default_timeout=60).run() for _ in range(2))
    job = first.session_state["tune_job"]
    assert second.session_state["tune_job"] is job
    map_job.JOBS.leave(first.session_state["session_id"])
    assert not job.over
    map_job.JOBS.leave(second.session_state["session_id"])
    assert job.over


def test_a_cancelled_map_stays_as_it_is_and_keeps_no_stream(endless: None) -> None:
    """*Forget this stream* left the logits in memory: the request that was cancelled had them."""
    branches = change_branches.made_up(3, 60, 4)
    given = Uploaded(branches.z_static, branches.z_static, None, np.asarray(branches.labels), None, tuple("abcd"))
    at = AppTest.from_file(str(PAGE), default_timeout=60)
    at.session_state["own_stream"], _ = uploaded_stream.of_logits("cancelled", "mine.npz", given)
    at.session_state["last_stream"] = "own"
    job = at.run().session_state["tune_job"]
    assert job.key.streams and not job.over
    at.button(key="tune_cancel").click().run()
    assert not at.exception and job.over and at.run().session_state["tune_job"] is job
    assert at.session_state["tune_cancelled"] == job.key and not at.session_state["tune_cancelled"].streams
