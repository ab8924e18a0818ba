"""Lessons: a check cannot be passed without doing the thing, links are evidence, and the figures show the numbers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from app.figures.packed import unpack
from app.lessons import LESSONS, Lesson, fogbank, lowpass, printable_summary, progress_link, pumping, ring
from app.lessons.lesson_state import LessonState, goal_cards
from knob_core import gate, theory
from knob_core.palette import PALETTES

ROOT = Path(__file__).resolve().parents[3]
DONE: dict[str, dict[str, float]] = {  # one way to do each lesson
    "ring": {"zeta": 0.2, "omega_n": 0.4},
    "critical": {"zeta": 1.0, "omega_n": 0.4},
    "speed": {"zeta": 0.7, "omega_n": 0.13},
    "poles": {"zeta": 0.2, "omega_n": 0.68},
    "resonance": {"zeta": 0.2, "omega_n": 0.32},
    "lowpass": {"zeta": 0.7, "omega_n": 0.4},
    "fogbank": {"zeta": 0.7, "omega_n": 0.36},
    "aliasing": {"frame_rate": 11.6, "zeta": 0.7, "omega_n": 0.4},
    "pumping": {"rhythm": 4.0, "zeta": 0.05, "omega_n": 0.6},
}
ALL = pytest.mark.parametrize("lesson", LESSONS.values(), ids=lambda lesson: lesson.id)


def test_six_to_ten_lessons_in_the_order_of_the_path() -> None:
    assert 6 <= len(LESSONS) <= 10
    assert list(DONE) == list(LESSONS)


@ALL
def test_opening_a_lesson_does_not_pass_it_and_doing_it_does(lesson: Lesson) -> None:
    assert not lesson.done(lesson.start)
    assert lesson.done(DONE[lesson.id])


@ALL
def test_most_positions_do_not_pass(lesson: Lesson) -> None:
    """Turning blindly is no way through: of positions drawn evenly over the dials, less than a third pass."""
    rng = np.random.default_rng(0)
    passed = 0
    for _ in range(120):
        low, high = (np.log([dial[end] for dial in lesson.knobs]) for end in ("low", "high"))
        drawn = np.exp(rng.uniform(low, high))
        passed += lesson.done(dict(zip((dial["id"] for dial in lesson.knobs), drawn, strict=True)))
    assert passed < 40


@ALL
def test_every_goal_can_fail(lesson: Lesson) -> None:
    """No goal is decoration, but for the one that is a theorem: our coordinates never grow."""
    rng = np.random.default_rng(1)
    failed: set[int] = set()
    for _ in range(300):
        low, high = (np.log([dial[end] for dial in lesson.knobs]) for end in ("low", "high"))
        values = dict(zip((dial["id"] for dial in lesson.knobs), np.exp(rng.uniform(low, high)), strict=True))
        failed |= {i for i, goal in enumerate(lesson.goals(values)) if not goal.met}
    theorem = {1} if lesson.id == "pumping" else set()
    assert failed == set(range(len(lesson.goals(lesson.start)))) - theorem


@ALL
def test_words_are_there_and_figures_are_whole(lesson: Lesson) -> None:
    for words in (lesson.title, lesson.idea, lesson.equation, lesson.plain, lesson.units, lesson.task, lesson.meaning):
        assert words.strip()
    assert {dial["id"] for dial in lesson.knobs} == set(lesson.start)
    for values in (lesson.start, DONE[lesson.id], *corners(lesson)):
        ids = []
        for figure in lesson.figures(values):
            ids.append(figure["id"])
            assert figure["title"] and len(figure["alt"]) > 20
            for trace in figure["figure"]["data"]:
                assert np.isfinite(unpack(trace["y"])).all()
                assert trace["line"]["color"].split("/")[0] in PALETTES["light"]
        assert len(set(ids)) == len(ids)


def corners(lesson: Lesson) -> list[dict[str, float]]:
    ends = [(dial["low"], dial["high"]) for dial in lesson.knobs]
    names = [dial["id"] for dial in lesson.knobs]
    return [dict(zip(names, values, strict=True)) for values in np.array(np.meshgrid(*ends)).reshape(len(ends), -1).T]


@ALL
def test_dials_hold_what_comes_from_outside(lesson: Lesson) -> None:
    for hostile in (math.nan, math.inf, -1e9, "drop table", None, [1], 10**400):
        held = lesson.held(dict.fromkeys(lesson.start, hostile))
        for dial in lesson.knobs:
            assert dial["low"] <= held[dial["id"]] <= dial["high"]
        lesson.goals(held)


def test_what_is_drawn_is_what_the_core_says() -> None:
    values = DONE["ring"]
    trace = ring.LESSON.figures(values)[0]["figure"]["data"][0]
    np.testing.assert_allclose(unpack(trace["y"])[1:], theory.step_response(0.2, 0.4, ring.FRAMES), rtol=1e-6)
    assert ring.goals(values)[0].now == f"{theory.step_info(ring.response(values), final=1.0).Overshoot:.0f} %"
    gain = lowpass.LESSON.figures(DONE["lowpass"])[0]["figure"]["data"][0]
    at = unpack(gain["x"]).astype(float)
    wanted = 20 * np.log10(np.abs(theory.frequency_response(0.7, 0.4, at)))
    np.testing.assert_allclose(unpack(gain["y"]), wanted, atol=1e-3)
    fog = fogbank.LESSON.figures(DONE["fogbank"])[0]["figure"]["data"][1]
    np.testing.assert_allclose(unpack(fog["y"]), fogbank.opened(DONE["fogbank"]), rtol=1e-5)


def test_pumping_blows_up_the_papers_coordinates_and_never_ours() -> None:
    paper, ours = pumping.both(DONE["pumping"])
    assert paper.max() > 1e3
    assert ours.max() <= 1


@settings(max_examples=60, deadline=None)
@given(zeta=st.floats(0.05, 3), omega_n=st.floats(0.02, 3), rhythm=st.floats(1, 30))
def test_no_hand_can_pump_our_coordinates(zeta: float, omega_n: float, rhythm: float) -> None:
    values = {"zeta": zeta, "omega_n": omega_n, "rhythm": rhythm}
    assert pumping.both(values)[1].max() <= 1 + 1e-12
    still = gate.run(np.zeros(50), zeta, omega_n, state=np.array([1.0, 0.0]))[0]
    assert np.abs(still).max() <= 1 + 1e-12


def test_a_link_is_evidence_and_not_a_claim() -> None:
    link = progress_link.write(DONE)
    assert progress_link.read(link) == (DONE, [])
    assert progress_link.read("") == ({}, [])
    for id, lesson in LESSONS.items():
        done, problems = progress_link.read(progress_link.write({id: lesson.start}))
        assert not done and lesson.title in problems[0]


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300) | st.from_regex(r"(ring|critical|poles)(_[0-9e.+naif-]{1,8}){0,4}", fullmatch=True))
def test_hostile_links_prove_nothing_they_do_not_show(text: str) -> None:
    done, _ = progress_link.read(text)
    for id, values in done.items():
        assert LESSONS[id].done(values)


def test_only_its_own_epoch_is_taken_and_only_a_released_knob_counts() -> None:
    own, lesson = LessonState(), LESSONS["ring"]
    assert not own.take(lesson, {"epoch": 7, "zeta": 0.2, "released": True})
    assert own.values["ring"] == lesson.start
    assert not own.take(lesson, {"epoch": 0, "zeta": 0.2, "omega_n": 0.4, "seq": 3, "released": False})
    assert own.values["ring"]["zeta"] == 0.2 and own.seq["ring"] == 3
    assert own.take(lesson, {"epoch": 0, "zeta": 0.2, "omega_n": 0.4, "seq": 4, "released": True})
    assert own.check(lesson, lesson.goals(own.values["ring"]))
    assert not own.check(lesson, lesson.goals(own.values["ring"]))  # told once
    own.again("ring")
    assert own.values["ring"] == lesson.start and own.epoch["ring"] == 1 and "ring" in own.done
    assert own.next() == "critical"
    assert [card["mood"] for card in goal_cards(lesson.goals(DONE["ring"]))] == ["good", "good"]


def test_the_summary_prints_what_was_done_and_what_was_not() -> None:
    page = printable_summary.html({"ring": DONE["ring"]})
    assert "1 of 9 done" in page and "ζ = 0.2, ωₙ = 0.4 rad/frame" in page
    assert page.count("not done yet") == len(LESSONS) - 1
    for lesson in LESSONS.values():
        assert printable_summary.escape(lesson.plain) in page and printable_summary.escape(lesson.title) in page
    assert "<script" not in page and "http" not in page  # nothing from outside


def app() -> AppTest:
    return AppTest.from_file(str(ROOT / "app" / "app_pages" / "lessons.py"), default_timeout=60)


def said(at: AppTest) -> str:
    kinds = ("markdown", "caption", "subheader", "success", "info", "warning")
    return "\n".join(element.value for kind in kinds for element in at.get(kind))


def test_a_link_puts_the_dials_where_it_proves_them() -> None:
    at = app()
    at.query_params["lessons"], at.query_params["lesson"] = progress_link.write(DONE), "ring"
    at.run()
    own = at.session_state["lesson_state"]
    assert own.values["ring"] == pytest.approx(DONE["ring"]) and not at.warning
    assert all(goal.met for goal in LESSONS["ring"].goals(own.values["ring"]))


def test_a_link_cannot_put_a_picture_on_the_page() -> None:
    at = app()
    at.query_params["z"] = "![](//evil.co/x)"
    at.run()
    assert r"\!\[\](//evil.co/x)" in at.warning[0].value


def turn(at: AppTest, id: str, values: dict[str, float], **more: Any) -> AppTest:
    at.session_state[f"lesson_knobs_{id}"] = {"controls": {**values, "epoch": 0, "seq": 1, "released": True, **more}}
    return at.run()


def test_the_page_passes_a_lesson_only_when_its_dials_say_so() -> None:
    at = app().run()
    assert not at.exception
    assert "1. Make it ring" in said(at) and "0 of 9 done" in said(at) and not at.success
    turn(at, "ring", {"zeta": 0.9, "omega_n": 0.4})
    assert not at.success and "0 of 9 done" in said(at)
    turn(at, "ring", DONE["ring"], released=False, seq=2)  # still in the hand
    assert not at.success
    turn(at, "ring", DONE["ring"], seq=3)
    assert len(at.success) == 1 and "1 of 9 done" in said(at)
    assert at.query_params["lessons"] == "ring_0.2_0.4"
    at.button(key="next").click().run()
    assert "2. Find critical damping" in said(at) and at.query_params["lesson"] == "critical"
    at.button(key="open_pumping").click().run()
    assert "9. Why turning a knob" in said(at) and at.button(key="next").disabled
    at.button(key="previous").click().run()
    assert "8. Aliasing" in said(at)


def test_every_lesson_can_be_done_on_the_page() -> None:
    at = app().run()
    for id, values in DONE.items():
        at.button(key=f"open_{id}").click().run()
        turn(at, id, values)
        assert len(at.success) == 1, id
    assert "9 of 9 done" in said(at)


def test_the_page_reads_a_link_and_names_what_it_cannot_use() -> None:
    at = app()
    at.query_params["lessons"] = "ring_0.2_0.4-critical_3_0.4-nonsense_1"
    at.query_params["lesson"] = "poles"
    at.run()
    assert not at.exception
    assert "4. Put the poles" in said(at) and "1 of 9 done" in said(at)
    assert [True for warning in at.warning if "Find critical damping" in warning.value]
    assert [True for warning in at.warning if "nonsense" in warning.value]


def test_starting_again_puts_the_dials_back_and_keeps_what_was_done() -> None:
    at = app().run()
    turn(at, "ring", DONE["ring"])
    at.button(key="again").click().run()
    assert at.session_state["lesson_state"].values["ring"] == LESSONS["ring"].start
    assert "1 of 9 done" in said(at)
