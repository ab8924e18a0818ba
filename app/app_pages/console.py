"""The console: turn the knobs, watch the model change while you turn."""

from __future__ import annotations

import streamlit as st

from app.console import console_component, session, stream_menus, stream_sources
from app.console.compute_stream import JOBS
from app.console.problem_notes import problem_notes
from app.console.shown_stream import ShownStream
from app.console.stream_choice import StreamChoice
from app.server.background_jobs import Job
from app.widgets import page_layout
from app.widgets.untrusted import fault_words


@st.fragment(key="fast")
def fast(stream: ShownStream, waiting: bool) -> None:
    """Everything that moves with a knob, and nothing else: this reruns when a knob is released."""
    controller, endpoint = session.controller(), session.endpoint("console")
    controller.show(stream, st.session_state["script_runs"], waiting)
    endpoint.reply = controller.update
    console_component.mount(endpoint, session.reported("console"), controller.constants(), key="console")
    if controller.state.released:
        session.write_link()


@st.fragment(run_every=0.7)
def waiting(job: Job) -> None:
    """A computation's progress, with a way out."""
    if job.over:
        st.rerun()
    job.ask()
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(job.progress, f"Computing {job.key.title()}: {100 * job.progress:.0f} %")
    if button.button("Cancel", key="cancel", help="Go back to the stream on the display", width="stretch"):
        st.session_state["cancelled"] = job.key
        st.rerun()


def find_stream() -> tuple[ShownStream | None, Job | None]:
    """The chosen stream where it is at hand, otherwise the last one shown and the job that makes the chosen one."""
    choice, who = session.choice(), session.session_id()
    cancelled = st.session_state.pop("cancelled", None) == choice
    JOBS.leave(who, None if cancelled else choice)
    key = stream_sources.shipped_key(choice)
    try:
        if key is not None:
            return stream_sources.shipped_stream(key, choice.image), None
        job = JOBS.known(choice)
        if job is not None and job.result is not None:
            return stream_sources.computed_stream(choice, job.result), None
        if job is not None and job.error:
            session.problems().append(job.error)
        elif not cancelled:  # also where it stopped because this page was asleep
            return on_display()[1], JOBS.of(choice, who)
    except (OSError, ValueError) as error:
        session.problems().append(str(error))
    JOBS.forget(choice)
    back, stream = on_display()
    session.choose(back)
    return stream, None


def on_display() -> tuple[StreamChoice, ShownStream | None]:
    """What is shown while another stream is made, or when it cannot be had."""
    if "shown" in st.session_state:
        return st.session_state["shown_choice"], st.session_state["shown"]
    return stream_sources.fallback() or (stream_sources.home(), None)


st.session_state["script_runs"] = st.session_state.get("script_runs", 0) + 1
session.console_state()
page_layout.unseen_title("Console")
notes = st.container(key="notes")  # over the page: a message moves nothing
top, bottom = st.container(), st.container()  # the display must keep its place, or it is mounted anew
stream, job = find_stream()
with notes:
    if job is not None:
        waiting(job)
    problem_notes(filter(None, [stream.fault if stream else "", stream_sources.sample_fault()]))
    if stream is None:
        st.error(fault_words(f"There is no stream to show: {stream_sources.why_nothing()}."), icon=":material/error:")
if stream is not None:
    if job is None:
        st.session_state["shown"], st.session_state["shown_choice"] = stream, session.choice()
        st.session_state["last_stream"] = "console"
    with top:
        fast(stream, job is not None)
with bottom:
    with st.container(key="row"):
        stream_menus.menus(stream)
    if stream is not None:
        console_component.mount_background(stream.background(), key="background")
