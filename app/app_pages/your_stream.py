"""Your stream: upload logits or pictures, tune on them with the same knobs and panels, and take the setting away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from app import own_stream, state
from app.components.board import tape
from app.components.console import console, reply
from app.desk import Desk
from app.line import Seat
from app.own_stream import OwnStream
from knob_core import settings as settings_file
from knob_core.data import CLASSES
from knob_core.uploads import Uploaded, read_logits, read_pictures
from knob_core.uploads.pictures import KINDS
from knob_core.wrap.command import Command
from knob_core.wrap.fitting import fit

MOST_MB = 50  # .streamlit/config.toml has the same: more never reaches us
LOGITS = ["npz", "npy", "csv", "parquet"]
PICTURES = ["zip", *(kind.removeprefix(".") for kind in KINDS), "csv"]
FORMATS = """
**Logits**: one model's answers before softmax, frame after frame.
- `.npz` with `logits` of shape (frames, classes) or (streams, frames, classes), or `z_static` and `z_dyn` of a model
  with two branches; if you have them also `u_star`, `labels` and `severity`. `.npy`: logits alone.
- `.csv` or `.parquet`: one row a frame, one column a class; optional columns `stream`, `label`, `severity`, `u_star`.

**Pictures**: a zip or folder of PNG, JPEG, WebP, BMP or GIF files, in the order of their names; one animated GIF, WebP
or PNG; or a short video (MP4, MOV, AVI, MKV, WebM or MPEG, up to 3,000 frames). A `labels.csv` with lines `file,label`
may lie beside them.

Files are read in memory, kept while this page is open in your browser, and never written to a disk.
"""


def own_desk() -> Desk:
    """This page's desk; its knobs follow the console's, and the console's follow them (`fast`)."""
    if "own_desk" not in st.session_state:
        st.session_state["own_desk"] = Desk(settings=state.desk().settings)
    return st.session_state["own_desk"]


@st.fragment(key="own_fast")
def fast(stream: OwnStream) -> None:
    """Everything that moves with the hand."""
    desk, shared, seat, scripts = own_desk(), state.desk(), state.seat("own_console"), st.session_state["script_runs"]

    def answer(said: Mapping[str, Any], seat: Seat) -> dict[str, Any]:
        with desk.lock:
            if desk.settings != shared.settings:  # moved on another page, or by a fit
                desk.push(shared.settings)
            before = desk.settings
            shown = reply(said, seat, desk, stream, scripts)
            if desk.settings != before:
                shared.push(desk.settings)
        return shown

    seat.reply = answer
    console(seat.answer(state.said("own_console")), key="own_console")
    if desk.done:
        state.write_link()


def read(kind: str, files: list[tuple[str, bytes]]) -> None:
    """Take new files, or say why not; what was there before stays."""
    id = own_stream.file_id(files)
    if st.session_state.get("own_seen") == id:
        return
    st.session_state["own_seen"], st.session_state["own_complaint"] = id, ""
    title = files[0][0] if len(files) == 1 else f"{len(files)} files"
    try:
        if kind == "Logits":
            uploaded = read_logits(*files[0])
            show(own_stream.of_logits(id, title, uploaded), uploaded)
        else:
            with news, st.spinner("Reading the pictures"):
                pictures = read_pictures(files, CLASSES)
            bar = news.progress(0.0, "Looking at the pictures")
            show(own_stream.of_pictures(id, title, pictures, bar.progress), None)
            bar.empty()
    except ValueError as error:
        st.session_state["own_complaint"] = str(error)


def show(made: tuple[OwnStream, list[str]], uploaded: Uploaded | None, command: Command | None = None) -> None:
    """Put a stream on the board."""
    st.session_state["own_stream"], st.session_state["own_notes"] = made
    st.session_state["own_uploaded"], st.session_state["own_command"] = uploaded, command
    desk = own_desk()
    with desk.lock:
        desk.change_stream()
        desk.epoch += 1
        desk.pin = None


def upload() -> None:
    """The upload row."""
    left, middle, right = st.columns([1.3, 2.6, 0.8], vertical_alignment="top")
    kinds = ["Logits", "Pictures", "Folder of pictures"]
    told = "Answers of a model of your own, or pictures for ours"
    kind = left.segmented_control("What you have", kinds, default="Logits", key="own_kind", help=told) or "Logits"
    round_ = st.session_state.get("own_round", 0)
    given = middle.file_uploader(
        "Your stream", LOGITS if kind == "Logits" else PICTURES, key=f"own_files_{kind}_{round_}",
        max_upload_size=MOST_MB,
        accept_multiple_files="directory" if kind.startswith("Folder") else kind == "Pictures",
        help="Which files are taken is said under Formats, or below",
    )  # fmt: skip
    if st.session_state.get("own_stream") is not None:  # before, the page has room to say it at length
        told = "Which files are taken, and what is in them"
        right.popover("Formats", icon=":material/description:", help=told).markdown(FORMATS)
    files = given if isinstance(given, list) else [given] if given is not None else []
    if files:
        read(kind, [(file.name, file.getvalue()) for file in files])


def choose_stream(stream: OwnStream) -> OwnStream:
    """Which of several streams is on the scope; the read-outs run over all."""
    if stream.images == 1:
        return stream
    number = st.number_input("Stream on the scope", 1, stream.images, 1, key=f"own_number_{stream.id}",
                             help=f"The read-outs run over all {stream.images} streams")  # fmt: skip
    title = f"{stream.title}, stream {number} (read-outs over all {stream.images})"
    return replace(stream, id=f"{stream.id}-{number}", title=title, image=int(number) - 1)


def forget() -> None:
    """Let go of the visitor's files."""
    for name in ("own_stream", "own_notes", "own_uploaded", "own_command", "own_seen", "own_complaint"):
        st.session_state.pop(name, None)
    st.session_state["own_round"] = st.session_state.get("own_round", 0) + 1  # another, empty, uploader


def tune(stream: OwnStream) -> None:
    """Fit the command and the knobs where labels allow it."""
    uploaded: Uploaded | None = st.session_state.get("own_uploaded")
    if uploaded is None or uploaded.u_star is not None or stream.frames < 2:
        return
    full = (uploaded.labels >= 0).all(axis=1)
    told = "How late memory may follow a change to 63 %"
    most = st.number_input("Largest lag, frames", 1, 50, 5, key="own_lag", help=told)
    told = "Finds the command and the knobs with the best likelihood; needs labelled streams"
    if not st.button("Fit to the labels", disabled=not full.any(), key="own_fit", help=told, width="stretch"):
        return
    one = uploaded.z_dyn is uploaded.z_static
    paths, frames = np.flatnonzero(full)[: len(stream.branches.labels)], slice(0, stream.frames)
    z_static, z_dyn = uploaded.z_static[paths, frames], None if one else uploaded.z_dyn[paths, frames]
    with st.spinner("Fitting"):
        found = fit(z_static, z_dyn, uploaded.labels[paths, frames], float(most))
    show(own_stream.of_logits(f"{stream.id[:16]}-fit", stream.title, uploaded, found.command), uploaded, found.command)
    st.session_state["own_notes"].insert(
        0, f"Fitted: flips {found.flips_before:.1f} → {found.flips:.1f} per 100 frames, "
        f"NLL {found.nll_before:.3f} → {found.nll:.3f}, lag {found.lag:.0f} frames."
    )  # fmt: skip
    state.desk().push(replace(state.desk().settings, zeta=found.zeta, omega_n=found.omega_n, on=True, memory=True))
    st.rerun()


def take_away() -> None:
    """The setting as a file, and the lines that run it."""
    command, desk = st.session_state.get("own_command"), own_desk()  # a download has no session to ask
    st.download_button(
        "Settings file", lambda: settings_file.to_toml(desk.settings), "knob.toml", "application/toml",
        on_click="ignore", key="own_settings", help="Where the knobs stand; the runtime loads it",
    )  # fmt: skip
    uploaded: Uploaded | None = st.session_state.get("own_uploaded")
    if uploaded is None:
        lines = 'stream = KnobStream("assets/checkpoints/knob-ode-s0.safetensors", settings="knob.toml")'
        needs = []
    elif uploaded.u_star is not None:
        lines = 'stream = KnobStream(wrap.two_branch(model), settings="knob.toml")'
        needs = ["from knob_core import wrap"]
    else:
        door = "classifier" if uploaded.z_dyn is uploaded.z_static else "two_branch"
        own = command or Command()
        weights = ", ".join(f"{w:.4g}" for w in own.weights)
        lines = (
            f"command = Command(weights=({weights}))\n"
            f"source = wrap.{door}(model, command)\n"
            'stream = KnobStream(source, settings="knob.toml")'
        )
        needs = ["from knob_core import wrap", "from knob_core.wrap.command import Command"]
    imports = "\n".join([*needs, "from knob_core.runtime import KnobStream"])
    st.code(f"{imports}\n\n{lines}\nfor frame in camera:\n    answer = stream.step(frame)", language="python")


st.session_state["script_runs"] = st.session_state.get("script_runs", 0) + 1
row, news, stage = st.container(), st.container(), st.container()  # fixed places: what comes and goes moves nothing
with row:
    upload()
with news:
    if st.session_state.get("own_complaint"):
        st.error(state.plain(st.session_state["own_complaint"]), icon=":material/error:")
with stage:
    if st.session_state.get("own_stream") is None:
        st.info("Tune the knobs on what your own model sees: give its logits, or pictures or a short video for ours.")
        st.markdown(FORMATS)
    else:
        above, below = st.container(), st.columns([1, 1, 2], gap="medium")
        with below[0]:
            shown = choose_stream(st.session_state["own_stream"])
            st.caption(" ".join(st.session_state["own_notes"]))
            st.button("Forget this stream", key="own_forget", on_click=forget, help="Let go of your files at once")
        with above:
            fast(shown)
        with below[1]:
            tune(shown)
        with below[2]:
            take_away()
        tape(shown.tape(), key="own_tape")
state.freeze_garbage()
