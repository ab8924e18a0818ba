"""Your stream: upload logits or pictures, tune on them with the same knobs and panels, and export the setting."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, replace

import pandas as pd
import streamlit as st

from app.console import console_component, session
from app.console.console_controller import ConsoleController
from app.console.console_state import FRAME_RATES, ConsoleState
from app.console.export_buttons import export_buttons, record_turns
from app.console.problem_notes import problem_notes
from app.server.background_jobs import Job
from app.server.streamlit_compat import are_given_up, remove_uploads
from app.tune import map_job
from app.widgets import page_layout
from app.widgets.untrusted import clamp, escape_markdown, fault_words
from app.your_stream import fit_job, uploaded_stream
from app.your_stream.fit_job import FitRequest
from app.your_stream.uploaded_stream import UploadedStream, short_title
from knob_core.data import CLASSES
from knob_core.fitting import Fit
from knob_core.uploads import read_logits, read_pictures
from knob_core.uploads.pictures import KINDS

MOST_MB = 50  # app/.streamlit/config.toml has the same: more never reaches us
LOGITS = ["npz", "npy", "csv", "parquet"]
PICTURES = ["zip", *(kind.removeprefix(".") for kind in KINDS), "csv"]
FORMATS = """
**Logits**: one model's answers before softmax, frame after frame.
- `.npz` with `logits` of shape (frames, classes) or (streams, frames, classes), or `z_static` and `z_dyn` of a model
  with two branches; if you have them also `u_star`, `labels` and `severity`. `.npy`: logits alone.
- `.csv` or `.parquet`: one row a frame, one column a class; optional columns `stream`, `label`, `severity`, `u_star`.

Streams may differ in length: in a table as they do, in an array the shorter ones end in frames of NaN, with label -1.

A label is a class's name or its place, counted from 0; where classes are called by numbers, it is a name.

**Pictures**: a zip or folder of PNG, JPEG, WebP, BMP or GIF files, in the order of their names; one animated GIF, WebP
or PNG; or a short video (MP4, MOV, AVI, MKV, WebM or MPEG, up to 3,000 frames). A `labels.csv` with lines `file,label`
may lie beside them, or, for single frames of a video, `frame,label` with that heading and frames from 0 on.

**Limit**: 50 MB a file.

Your files stay in the server's memory until you press *Forget this stream*, or until some minutes after you close the
page. While a large file arrives it may lie in a temporary file on the server's disk, which is removed right after.
"""
OF_THE_STREAM = (  # what the session keeps that is, or holds, the visitor's stream
    "own_stream", "own_notes", "own_found", "own_seen", "own_label", "own_problem",
    "own_controller", "own_console_endpoint", "tune_job", "tune_charted", "tune_found",
)  # fmt: skip
WHOSE = (
    "Knobs, memory and goals are the console's: what you set here is set there, and on Tune. Stream and model are this "
    "page's own, and the console keeps its own."
)


def own_controller() -> ConsoleController:
    """This page's console: a state of its own, whose knobs are the console's knobs."""
    if "own_controller" not in st.session_state:
        shared = session.console_state()
        st.session_state["own_controller"] = ConsoleController(
            ConsoleState(settings=shared.settings, log=shared.log), shared
        )
    return st.session_state["own_controller"]


@st.fragment(key="own_fast")
def fast(stream: UploadedStream) -> None:
    """Everything that moves with a knob."""
    controller, endpoint = own_controller(), session.endpoint("own_console")
    controller.show(stream, st.session_state["script_runs"])
    endpoint.reply = controller.update
    console_component.mount(endpoint, session.reported("own_console"), controller.constants(), key="own_console")
    if controller.state.released:
        session.write_link()


def read(kind: str, files: list[tuple[str, bytes]], given_up: Callable[[], bool]) -> None:
    """Take new files, or say why not; what was there before stays. Files that are given up are read no further."""
    id, label = uploaded_stream.file_id(files), st.session_state.get("own_label")
    if st.session_state.get("own_seen") == (id, label):
        return
    if st.session_state.get("own_seen", ("",))[0] != id:
        st.session_state["own_label"] = label = None  # it was said of another file
    st.session_state["own_seen"], st.session_state["own_problem"] = (id, label), ""
    title = short_title([name for name, _ in files])
    try:
        with news, st.spinner("Reading"):
            logits = read_logits(*files[0], given_up, label) if kind == "Logits" else None
            pictures = read_pictures(files, CLASSES, given_up) if logits is None else None
        if logits is not None:
            show(uploaded_stream.of_logits(id, title, logits))
        if pictures is not None:
            bar = news.progress(0.0, "Looking at the pictures")
            show(uploaded_stream.of_pictures(id, title, pictures, bar.progress), pictures.frame_rate)
            bar.empty()
    except ValueError as error:
        st.session_state["own_seen"] = ("", None)  # they may come again
        if given_up():
            return
        st.session_state["own_problem"] = f"{error}. Formats says which files are accepted."
        empty_uploader()
        st.rerun()


def empty_uploader() -> None:
    """Take all files off the list: another uploader is shown."""
    st.session_state["own_round"] = st.session_state.get("own_round", 0) + 1
    remove_uploads(st.session_state.pop("own_listed", set()))


def answer_label(label: str) -> None:
    """The file is read again, with this column as the label; "" for none."""
    st.session_state["own_label"] = label


def ask_for_label(heading: str) -> None:
    """A column of small whole numbers may be the label, or a class that is always as likely as its number says."""
    shown = escape_markdown(heading)
    st.warning(f"Is the column “{shown}” the label? It is left out until you say so.", icon=":material/help:")
    for words, answer in (("Yes, the label", heading), ("No, a class", "")):
        st.button(words, key=f"own_label_{bool(answer)}", on_click=answer_label, args=(answer,))


def forget_problem() -> None:
    """The message was read."""
    st.session_state["own_problem"] = ""


def show(made: tuple[UploadedStream, list[str]], frame_rate: float | None = None) -> None:
    """Put a stream on the display; the frame rate is the file's own, where it tells."""
    stream, notes = made
    if frame_rate is not None:
        shared = session.console_state()
        taken = clamp(frame_rate, FRAME_RATES, shared.settings.frame_rate)
        shared.set_from_python(replace(shared.settings, frame_rate=taken))
        notes = [*notes, f"{taken:g} frames a second, as the file says."]
    st.session_state["own_stream"], st.session_state["own_notes"] = stream, notes
    st.session_state["own_found"] = None
    state = own_controller().state
    with state.lock:
        state.change_stream()
        state.epoch += 1


def upload() -> None:
    """The upload row."""
    left, middle, right = page_layout.columns("upload", [1.3, 2.6, 0.8], "top")
    kinds = ["Logits", "Pictures", "Folder of pictures"]
    help = "Answers of a model of your own, or pictures for ours"
    kind = left.segmented_control("What you have", kinds, default="Logits", key="own_kind", help=help) or "Logits"
    round_ = st.session_state.get("own_round", 0)
    given = middle.file_uploader(
        "Your stream", LOGITS if kind == "Logits" else PICTURES, key=f"own_files_{kind}_{round_}",
        max_upload_size=MOST_MB,
        accept_multiple_files="directory" if kind.startswith("Folder") else kind == "Pictures",
        help="Which files are taken is said under Formats, or below",
    )  # fmt: skip
    if st.session_state.get("own_stream") is not None:  # before, the page has room to say it at length
        help = "Which files are taken, and what is in them"
        right.popover("Formats", icon=":material/description:", help=help).markdown(FORMATS)
    files = given if isinstance(given, list) else [given] if given is not None else []
    listed = {file.file_id for file in files}
    remove_uploads(st.session_state.get("own_listed", set()) - listed)
    st.session_state["own_listed"] = listed
    if files:
        named = [(file.name, file.getvalue()) for file in files]
        read(kind, uploaded_stream.newest(named), are_given_up(listed))


def choose_stream(stream: UploadedStream) -> UploadedStream:
    """Which of several streams is on the scope; the read-outs run over all."""
    if stream.images == 1:
        return stream
    number = st.number_input("Stream on the scope", 1, stream.images, 1, key=f"own_number_{stream.id}",
                             help=f"The read-outs run over all {stream.images} streams")  # fmt: skip
    title = f"{stream.title}, stream {number} (read-outs over all {stream.images})"
    return replace(stream, id=f"{stream.id}-{number}", title=title, image=int(number) - 1)


def forget() -> None:
    """Remove the visitor's files, and all that was made of them, from memory."""
    map_job.JOBS.leave(session.session_id())
    session.downloads().forget()
    state = own_controller().state
    with state.lock:
        state.change_stream()
        state.measured.forget()
    for name in OF_THE_STREAM:
        st.session_state.pop(name, None)
    empty_uploader()


def tune(stream: UploadedStream) -> None:
    """Fit attentive memory and its knobs where labels allow it."""
    uploaded = stream.uploaded
    if uploaded is None or stream.frames < 4:
        return
    known = (uploaded.labels >= 0).any(axis=1)
    help = "The fit keeps to this mean: how many frames pass until a new class is shown"
    most = st.number_input("Frames to a new class, at most", 1, 50, 5, key="own_delay", help=help)
    help = "Finds weights and knobs with the best likelihood, then the calmest that keeps the delay; needs labels"
    if not st.button("Fit to the labels", disabled=not known.any(), key="own_fit", help=help, width="stretch"):
        return
    job = wait_for(FitRequest(session.session_id(), stream.id, float(most), uploaded))
    if job.result is None:
        st.warning(f"Nothing was fitted: {fault_words(job.error or 'the fit was stopped')}")
        return
    found: Fit = job.result
    st.session_state["own_found"] = found
    old = session.console_state().settings
    session.console_state().set_from_python(replace(found.settings, frame_rate=old.frame_rate, goals=old.goals))
    st.rerun()


def wait_for(wanted: FitRequest) -> Job:
    """Ask for a fit until it is over; a visitor who leaves, or does something else, stops it."""
    job, bar = fit_job.JOBS.of(wanted, wanted.session), st.progress(0.0, "Fitting")
    try:
        while not job.over:
            job.ask()
            bar.progress(job.progress, job.partial or "waiting for a turn")  # raises where the visitor is gone
            time.sleep(0.1)
    finally:
        fit_job.JOBS.leave(wanted.session)
    bar.empty()
    return job


def fitted(found: Fit | None) -> None:
    """What the fit found, and what else would do, on streams that none was fitted on."""
    if found is None:
        return
    st.caption(found.words)
    rows = pd.DataFrame([{**asdict(row), "accuracy": 100 * row.accuracy} for row in found.table])
    rows.columns = [
        "on unseen streams",
        "right answers, %",
        "excess flips per 100 frames",
        "frames to a new class",
        "confident errors per 100 frames",
        "NLL",
        "known as",
    ]
    st.dataframe(rows.round(3), hide_index=True, width="stretch")
    if found.best_rival:
        st.caption(f"The likeliest rival, to take home: {found.rival_words}")


def use_own_weights() -> None:
    """Take fitted weights back; the knobs stay."""
    state = session.console_state()
    state.set_from_python(replace(state.settings, weights=None))


def fitted_weights() -> None:
    """Fitted weights go on acting on every page, also without this stream: say so, and offer the way back."""
    if session.console_state().settings.weights is None:
        return
    st.caption(
        "Attentive memory has fitted weights: here, on the console and on Tune. The settings file holds them; a link "
        "leaves them out, and opens with the model's own."
    )
    st.button(
        "Use the model's own weights", key="own_weights", on_click=use_own_weights, width="stretch",
        help="Take the fitted weights back, on every page; the knobs stay where they are",
    )  # fmt: skip


def export(stream: UploadedStream) -> None:
    """Setting, data and figures as files, and the lines that run the setting."""
    export_buttons(own_controller().state, stream)
    record_turns(own_controller().state, session.console_states(), stream, "own")
    uploaded = stream.uploaded
    if uploaded is None:
        lines = 'stream = KnobStream("assets/checkpoints/knob-ode-s0.safetensors", settings="knob.toml")'
        needs = []
    elif uploaded.u_star is not None:
        lines = 'stream = KnobStream(wrap.two_branch(model), settings="knob.toml")'
        needs = ["from knob_core import wrap"]
    else:
        one = uploaded.z_dyn is uploaded.z_static
        source = "wrap.classifier(model)" if one else "wrap.two_branch(model)"
        lines = f'stream = KnobStream({source}, settings="knob.toml")'
        needs = ["from knob_core import wrap"]
    imports = "\n".join([*needs, "from knob_core.runtime import KnobStream"])
    st.code(
        f"{imports}\n\n{lines}\nfor frame in camera:\n    answer = stream.step(frame)",
        language="python",
        wrap_lines=True,
    )


def nothing_yet() -> None:
    """What the page takes."""
    st.info("Tune the knobs on what your own model sees: give its logits, or pictures or a short video for ours.")
    st.markdown(f"{FORMATS}\n{WHOSE}")
    fitted_weights()
    session.write_link()


def display() -> None:
    """The stream and all that is done with it. In names of this function: the script's own are kept by Streamlit."""
    above, below = st.container(), page_layout.columns("below", [1, 1, 2], gap="medium")
    with below[0]:
        shown = choose_stream(st.session_state["own_stream"])
        st.caption(" ".join([*map(escape_markdown, st.session_state["own_notes"]), WHOSE]))  # headings, names of files
        st.button("Forget this stream", key="own_forget", on_click=forget, help="Remove your files from memory at once")
    with above:
        fast(shown)
    with below[1]:
        tune(shown)
        fitted(st.session_state.get("own_found"))
        fitted_weights()
    with below[2]:
        export(shown)
    console_component.mount_background(shown.background(), key="own_background")


st.session_state["script_runs"] = st.session_state.get("script_runs", 0) + 1
session.console_state()  # a link's setting is kept, whichever page it opens
page_layout.style()
page_layout.unseen_title("Your stream")
row, news, stage = st.container(), st.container(key="notes"), st.container()  # news lie over the page
with row:
    upload()
with news:
    if st.session_state.get("own_problem"):
        st.error(fault_words(st.session_state["own_problem"]), icon=":material/error:")
        st.button("Close", key="own_close", on_click=forget_problem, help="Take this message away")
    problem_notes()
    if st.session_state.get("own_stream") is not None and (own := st.session_state["own_stream"].uploaded) and own.asks:
        ask_for_label(own.asks)
if st.session_state.get("own_stream") is not None:
    st.session_state["last_stream"] = "own"
with stage:
    if st.session_state.get("own_stream") is None:
        nothing_yet()
    else:
        display()
