"""Tune: say what you want of a stream, and see which settings do it: a map of both knobs, and a frontier."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from app.console import session
from app.console.problem_notes import problem_notes
from app.server.background_jobs import Job
from app.tune import stream_sets, tune_display
from app.tune.answer import Answer
from app.tune.map_job import JOBS, Charted, MapRequest, request
from app.tune.stream_sets import SEVERAL
from app.tune.tune_display import measure_words
from app.widgets import figure_sheet, page_layout
from app.widgets.browser_component import component_value
from app.widgets.untrusted import escape_markdown, fault_words
from knob_core import goals as goals_
from knob_core.goals import Goals
from knob_core.maps import MEASURES, find
from knob_core.maps.find import SOFT

SHEET = "tune_sheet"
FIRST_GOALS = Goals(excess_flips=1.0, delay=3.0)  # proposed where none are set
SHORT = {"excess_flips": "excess flips ≤", "delay": "frames to a new class ≤",
         "confident_errors": "confident errors ≤", "accuracy": "right answers, % ≥"}  # fmt: skip
WHOSE = "Knobs and goals are the console's."
OFF = "Knob is off: the cards say what the streams are without it, and a setting that you choose turns it on."


def goals() -> Goals:
    """The setting's goals; proposed ones only until somebody has set some, so that removed goals stay removed."""
    wanted = session.console_state().settings.goals
    if wanted:
        st.session_state["goals_were_set"] = True
    return wanted if st.session_state.get("goals_were_set") else FIRST_GOALS


def keep(new: Goals) -> None:
    """The goals belong to the setting: the console's cards, the link and the settings file have them too."""
    st.session_state["goals_were_set"] = True
    state = session.console_state()
    if state.settings.goals != new:
        state.set_from_python(replace(state.settings, goals=new))


def edited() -> None:
    """A goal's field was changed; an empty field asks for nothing."""
    limits = {}
    for name, kind in goals_.KINDS.items():
        value = st.session_state.get(f"tune_{name}")
        limits[name] = None if value is None else min(max(value / kind.scale, kind.bounds[0]), kind.bounds[1])
    keep(Goals(**limits))


def ask() -> None:
    """Find was pressed: it acts when the map is there."""
    keep(goals())
    st.session_state["tune_asked"] = True


def controls() -> tuple[str, list[str]]:
    """Streams, goals, what is to be best, and the button; gives the kind of streams and their names."""
    row = st.container(key="goals_row")  # for the stylesheet: it wraps on a tablet
    where, *fields, best, button = row.columns([2.1, 1, 1.3, 1.05, 1.05, 1.65, 0.78], vertical_alignment="bottom")
    kinds = stream_sets.kinds()
    if st.session_state.get("tune_kind") not in kinds:
        st.session_state["tune_kind"] = stream_sets.first_kind()
    kind = where.segmented_control(
        "Meet these goals on", kinds, key="tune_kind", required=True,
        help="One stream, or several: then the goals hold in the worst of them",
    )  # fmt: skip
    wanted = goals()
    for field, (name, limited) in zip(fields, goals_.KINDS.items(), strict=True):
        limit = getattr(wanted, name)
        st.session_state[f"tune_{name}"] = None if limit is None else float(f"{limit * limited.scale:.6g}")
        field.number_input(
            SHORT[name], limited.bounds[0] * limited.scale, limited.bounds[1] * limited.scale, None, key=f"tune_{name}",
            step=5 * limited.step * limited.scale, format="%g", on_change=edited, placeholder="any",
            help=f"{measure_words(limited.measure)}, {limited.sense}; empty asks for nothing",
        )  # fmt: skip
    best.selectbox(
        "and then the best", list(MEASURES), list(MEASURES).index(SOFT), key="tune_soft",
        format_func=measure_words, help="Among the settings that meet the goals",
    )  # fmt: skip
    button.button("Find", key="tune_find", type="primary", on_click=ask, width="stretch",
                  help="Turn the knobs to the setting that meets the goals, or comes nearest")  # fmt: skip
    names: list[str] = []
    if kind == SEVERAL:
        known = list(stream_sets.shipped())
        names = st.multiselect("Streams", known, known[: stream_sets.MOST], key="tune_names",
                               max_selections=stream_sets.MOST, help="Goals must hold in each")  # fmt: skip
    return kind or kinds[0], names


def turn(zeta: float, omega_n: float) -> None:
    """Turn the console's knobs."""
    state = session.console_state()
    state.set_from_python(replace(state.settings, zeta=zeta, omega_n=omega_n, on=True))
    session.write_link()


def picked() -> None:
    """A setting was picked on the map or the frontier."""
    charted: Charted | None = st.session_state.get("tune_charted")
    found = tune_display.picked_setting(component_value(SHEET, "pick"), charted) if charted else None
    if found is not None:
        turn(*found)


def answer(charted: Charted, wanted: MapRequest) -> None:
    """Look for the setting, once it was asked for."""
    found = find(charted.map, goals(), st.session_state.get("tune_soft", SOFT), charted.sets)
    st.session_state["tune_asked"], st.session_state["tune_found"] = False, Answer(found, wanted, goals())
    turn(found.zeta, found.omega_n)


def draw(job: Job, titles: str) -> None:
    """Progress, what was found, cards, map and frontier; runs again by itself while the map is being made."""
    state = session.console_state()
    charted: Charted | None = job.result or job.partial
    words, choice = st.columns([3, 1.3], vertical_alignment="center")  # progress and words share a place: no shift
    running = job.result is None and not job.over
    if running:
        job.ask()
        bar, button = words.columns([6, 1.2], vertical_alignment="center")
        bar.progress(job.progress, f"Measuring settings: {100 * job.progress:.0f} %")
        if button.button("Cancel", key="tune_cancel", width="stretch", help="Keep the map as coarse as it is"):
            st.session_state["tune_cancelled"] = replace(job.key, streams=())  # equal, and keeps no visitor's stream
            JOBS.leave(session.session_id())
            st.rerun()
    elif st.session_state.get("tune_running"):
        st.session_state["tune_running"] = False
        st.rerun()  # without the timer
    if charted is None:
        return
    st.session_state["tune_charted"] = charted
    if st.session_state.get("tune_asked") and job.over:
        answer(charted, job.key)
    said: Answer | None = st.session_state.get("tune_found")
    if said is not None and said.holds(job.key, state.settings) and not running:
        shown_as = words.success if said.found.met else words.warning
        shown_as(escape_markdown(said.found.words), icon=":material/tune:")
    elif not running:
        what = "Say what you want, and press Find; or click into the figures."
        words.caption(escape_markdown(f"On {titles}. {WHOSE if state.settings.on else OFF} {what}"))
    measured = tune_display.measurable(charted.map)
    if not measured:
        st.info("These streams have too few frames to measure anything.")
        return
    if st.session_state.get("tune_measure") not in measured:
        st.session_state["tune_measure"] = measured[0]
    help = "One of all measures of these streams"
    measure = choice.selectbox("The map shows", measured, key="tune_measure", help=help,
                               format_func=measure_words)  # fmt: skip
    shown = tune_display.Shown(charted, measure, goals(), state.settings, state.pins)
    now = tune_display.now(charted, state.settings)
    cell = tune_display.place_of(state.settings)
    figure_sheet.sheet(
        tune_display.figures(shown, now), key=SHEET, on_pick=picked, count_picks=True, picked=cell,
        cards=tune_display.cards(now, goals(), len(charted.sets)), label="map of settings and frontier",
    )  # fmt: skip
    if shown.front is None:
        st.caption(
            "No class changes in these streams, so there are no frames to a new class, and there is no frontier."
        )


def page() -> None:
    """All of it, or why not."""
    kind, names = controls()
    try:
        streams = stream_sets.streams(kind, names)
    except (OSError, ValueError) as error:
        st.warning(fault_words(error))
        return
    if not streams:
        st.info("There is no stream to look at. Choose one on the Console, or give your own under Your stream.")
        return
    if not any((stream.branches.labels >= 0).any() for stream in streams):
        st.info("These streams have no labels: flips can be counted, but not whether they are right, or late.")
    wanted, who = request(streams, session.console_state().settings, kind != stream_sets.OWN), session.session_id()
    JOBS.leave(who, wanted)
    job = JOBS.known(wanted)
    if job is None or not (job.over and st.session_state.get("tune_cancelled") == wanted):
        job = JOBS.of(wanted, who)  # also one that runs: it is stopped when nobody wants it who asked for it here
    st.session_state["tune_job"] = job  # a map of one's own stream is kept by the session alone
    if job.error:
        st.warning(fault_words(job.error))
    st.session_state["tune_running"] = not job.over
    titles = "; ".join(stream.title for stream in streams)
    st.fragment(draw, run_every=None if job.over else 0.4)(job, titles)


page_layout.style()
page_layout.unseen_title("Tune")
session.console_state()
with st.container(key="notes"):
    problem_notes()
page()
session.write_link()
