"""The console: turn the knobs, watch the model change while you turn."""

from __future__ import annotations

import streamlit as st

from app import sources, state, stream_row
from app.choice import Choice
from app.components.board import tape
from app.components.console import console, reply
from app.compute import Job, Jobs
from app.stream import Stream


@st.cache_resource(show_spinner=False)
def jobs() -> Jobs:
    """The process's computations."""
    return Jobs()


@st.fragment(key="fast")
def fast(stream: Stream) -> None:
    """Everything that moves with the hand, and nothing else: this reruns when a hand lets go, or has no line."""
    desk, seat, scripts = state.desk(), state.seat("console"), st.session_state["script_runs"]
    seat.reply = lambda said, seat: reply(said, seat, desk, stream, scripts)
    console(seat.answer(state.said("console")), key="console")
    if desk.done:
        state.write_link()


@st.fragment(run_every=0.7)
def waiting(job: Job) -> None:
    """A computation's progress, with a way out."""
    if job.over:
        st.rerun()
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(job.progress, f"Computing {job.choice.title()}: {100 * job.progress:.0f} %")
    if button.button("Cancel", key="cancel", help="Go back to the stream on the board", width="stretch"):
        st.session_state["cancelled"] = job.choice
        st.rerun()


def find_stream() -> tuple[Stream | None, Job | None]:
    """The chosen stream where it is at hand, otherwise the last one shown and the job that makes the chosen one."""
    choice, who = state.choice(), state.visitor()
    cancelled = st.session_state.pop("cancelled", None) == choice
    jobs().leave(who, None if cancelled else choice)
    key = sources.shipped_key(choice)
    try:
        if key is not None:
            return sources.shipped_stream(key, choice.image), None
        job = jobs().known(choice)
        if (job is None or not job.over) and not cancelled:
            return on_the_board()[1], jobs().of(choice, who)
        if job is not None and job.result is not None:
            return sources.computed_stream(choice, job.result), None
        if job is not None and job.error:
            state.complaints().append(job.error)
    except (OSError, ValueError) as error:
        state.complaints().append(str(error))
    jobs().forget(choice)
    back, stream = on_the_board()
    state.choose(back)
    return stream, None


def on_the_board() -> tuple[Choice, Stream | None]:
    """What is shown while another stream is made, or when it cannot be had."""
    if "shown" in st.session_state:
        return st.session_state["shown_choice"], st.session_state["shown"]
    return sources.fallback() or (sources.home(), None)


st.session_state["script_runs"] = st.session_state.get("script_runs", 0) + 1
state.desk()
notes, top, bottom = (st.container() for _ in range(3))  # the board must keep its place, or it is mounted anew
stream, job = find_stream()
with notes:
    if job is not None:
        waiting(job)
    faults = [*state.complaints(), stream.fault if stream else "", sources.sample_fault()]
    for fault in dict.fromkeys(filter(None, faults)):
        st.warning(state.plain(fault), icon=":material/info:")
    if stream is None:
        st.error(state.plain(f"There is no stream to show: {sources.why_nothing()}."), icon=":material/error:")
if stream is not None:
    if job is None:
        st.session_state["shown"], st.session_state["shown_choice"] = stream, state.choice()
    with top:
        fast(stream)
with bottom:
    with st.container(key="row"):
        stream_row.row(stream)
    if stream is not None:
        tape(stream.tape(), key="tape")
state.freeze_garbage()
