"""The menus under the display: content, image or scenes, corruption, schedule, its shape, model, and export.

The session holds the choice; every control shows it and, when changed, asks for another.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from app.console import link, session, shipped_models, stream_sources
from app.console.export_buttons import export_buttons, record_turns
from app.console.shown_stream import ShownStream
from app.console.stream_choice import (
    CORRUPTION_NAMES,
    DRAWN,
    FRAMES,
    MAX_LINK_LIST,
    REALISATIONS,
    SEEDS,
    StreamChoice,
)
from app.widgets.image_gallery import image_gallery
from app.widgets.knobs import within
from app.widgets.severity_sketch import POINTS, severity_sketch
from knob_core import methods
from knob_core import settings as settings_file
from knob_core.data import CLASSES
from knob_core.schedules import SCHEDULES, Parameter, from_csv
from knob_core.streams.scenes import CONTENTS, LISTED

ACROSS = 4  # parameters side by side
LINK_WITHOUT_LIST = "all but the list of severities, which is too long for a link"
FIRST_LIST = "cat 50, ship 40, horse 30, cat 50, truck 70"  # what an own list begins with


def nearest(choice: StreamChoice) -> StreamChoice:
    """The shipped stream of this model, corruption and schedule where there is one: it appears at once."""
    key = None if choice.parameters else stream_sources.shipped_like(choice)
    return stream_sources.choice_of(key, choice.image) if key else choice


def _changed(name: str, key: str) -> None:
    """A menu was changed."""
    if key != _key(name):
        return  # a menu that is gone: the browser may report it once more
    value = st.session_state[key]
    choice = session.choice()
    if name == "schedule":
        choice = replace(choice, schedule=value, parameters=())
    elif name == "content":
        choice = choice.with_content(value, FIRST_LIST)
    elif name == "model":
        method, seed = value
        choice = replace(choice, method=method, model=seed)
    else:
        choice = replace(choice, **{name: value})
    session.problems().clear()
    session.choose(nearest(choice), by_menu=True)


def _key(name: str) -> str:
    return f"menu_{name}_{st.session_state.get('menus', 0)}"


def _menu(name: str, label: str, options: Sequence[Any], now: Any, show: Callable[[Any], str], help: str) -> None:
    """A menu that shows the present choice and asks for another."""
    key = _key(name)
    with st.container(key=f"menu_{name}"):
        st.selectbox(
            label, options, options.index(now), show, key=key, on_change=_changed, args=(name, key), help=help
        )  # fmt: skip


def menus(stream: ShownStream | None) -> None:
    """Draw the menus for the session's choice; `stream` is the one on the display."""
    choice = session.choice()
    content, picture, corruption, schedule, shape, model, download = st.columns(
        [1.2, 1.0, 1.3, 1.05, 0.8, 2.25, 0.85], vertical_alignment="bottom"
    )
    with content:
        help = CONTENTS[choice.content].help
        _menu("content", "Content", list(CONTENTS), choice.content, lambda name: CONTENTS[name].label, help)
    with picture:
        _scenes(choice) if choice.changing else _picture(choice)
    with corruption:
        _menu("corruption", "Corruption", CORRUPTION_NAMES, choice.corruption, _words, "What spoils the pictures")
    with schedule:
        names = list(SCHEDULES)
        help = SCHEDULES[choice.schedule].help
        _menu("schedule", "Schedule", names, choice.schedule, lambda name: SCHEDULES[name].label, help)
    with (
        shape,
        st.popover("Shape", width="stretch", help="The schedule's own parameters; draw one, or upload a CSV file"),
    ):
        _shape(choice)
    with model:
        now = (choice.method, choice.model)
        quick = ((key.method, key.seed) for key in stream_sources.shipped_streams())
        models = shipped_models.ordered({*quick, *shipped_models.at_hand(), now})
        help = "Method and training seed of the checkpoint; streams of seed 0 appear at once, the others are computed"
        _menu("model", "Model", models, now, _model_words, help)
    with download, st.popover("Export", width="stretch", help="Settings file, data and figures of what you see"):
        _export(stream)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _model_words(model: tuple[str, int]) -> str:
    return f"{methods.get(model[0]).title}, seed {model[1]}"


def _picture(choice: StreamChoice) -> None:
    help = "Choose the picture that the stream shows"
    if stream_sources.sample_fault():
        st.button("Image", disabled=True, width="stretch", help=help)
        return
    key = stream_sources.shipped_like(choice)
    with st.popover(f"Image: {CLASSES[stream_sources.labels()[choice.image]]}", width="stretch", help=help):
        st.caption("Framed pictures appear at once; the others take some seconds to compute.")
        picked = image_gallery(key.images if key and not choice.parameters else (), choice.image, key="gallery")
    if picked is not None and picked != choice.image:
        session.problems().clear()
        session.choose(replace(choice, image=picked))
        st.rerun()


def _scenes(choice: StreamChoice) -> None:
    help = "Which pictures the stream shows, and for how long"
    with st.popover("Scenes", width="stretch", help=help):
        if choice.content != LISTED:
            st.caption(f"{CONTENTS[choice.content].help}; the seed, under Shape, decides which and when.")
        else:
            st.caption(f"One of {', '.join(CLASSES)}, or a number of the 1,000 pictures, and how many frames it stays.")
        with st.form("scenes", border=False):
            help = "Separated by commas or lines; the last one stays to the end"
            text = st.text_area("Pictures and frames", choice.scenes or FIRST_LIST, max_chars=MAX_LINK_LIST, help=help)
            if st.form_submit_button("Show these", help="Computes the stream; some seconds"):
                _ask(lambda: choice.with_content(LISTED, text.strip()))


def _shape(choice: StreamChoice) -> None:
    schedule = SCHEDULES[choice.schedule]
    st.caption(schedule.help)
    now = dict(choice.parameters)
    with st.form("shape", border=False):
        values: dict[str, Any] = {}
        for place, parameter in enumerate(schedule.parameters):
            if place % ACROSS == 0:
                columns = st.columns(min(ACROSS, len(schedule.parameters)), vertical_alignment="bottom")
            with columns[place % ACROSS]:
                values[parameter.name] = _control(
                    choice.schedule, parameter, now.get(parameter.name, parameter.default)
                )
        frames, realisations, seed = st.columns(3)
        length = frames.number_input("frames", *FRAMES, value=choice.frames, help="How long the stream is")
        paths = realisations.number_input(
            "realisations",
            *REALISATIONS,
            value=choice.realisations,
            help="How often the noise is drawn anew: the width of the band",
        )
        noise = seed.number_input("seed", *SEEDS, value=choice.seed, help="Which draws of the noise")
        if st.form_submit_button("Make this stream", help="Shipped streams appear at once, others are computed"):
            _ask(
                lambda: replace(choice, frames=int(length), realisations=int(paths), seed=int(noise)).with_parameters(
                    values
                )
            )
    by_hand, by_file = st.columns([3, 2])
    with by_hand:
        st.caption("Or draw severity, 0 to 5, by hand over the present one:")
        drawn = severity_sketch(*_outline(choice), key="sketch")
    if drawn is not None and drawn != st.session_state.get("drawn"):
        st.session_state["drawn"] = drawn
        stretch = max(1, choice.frames // POINTS)
        _ask(lambda: _listed(choice, [value for value in drawn for _ in range(stretch)], POINTS * stretch))
    upload = by_file.file_uploader(
        "Or upload severities (CSV)",
        type=["csv", "txt"],
        key="severities",
        help="One number from 0 to 5 a line, or a column headed severity",
        max_upload_size=4,
    )
    if upload is not None and upload.file_id != st.session_state.get("severities_seen"):
        st.session_state["severities_seen"] = upload.file_id
        _ask(lambda: _uploaded(choice, upload.getvalue()))


def _outline(choice: StreamChoice) -> tuple[list[float], int]:
    """The present severities at POINTS places, and a number that changes when they do."""
    severity = SCHEDULES[choice.schedule](choice.frames, **dict(choice.parameters))
    values = severity[np.arange(POINTS) * choice.frames // POINTS].round(4).tolist()
    return values, zlib.crc32(repr(values).encode())


def _uploaded(choice: StreamChoice, content: bytes) -> StreamChoice:
    severities = from_csv(content)
    if len(severities) > FRAMES[1]:
        raise ValueError(f"the file has {len(severities)} severities, the console shows at most {FRAMES[1]} frames")
    return _listed(choice, severities.tolist(), max(FRAMES[0], len(severities)))


def _listed(choice: StreamChoice, severities: list[float], frames: int) -> StreamChoice:
    text = " ".join(f"{value:g}" for value in severities)
    return replace(choice, schedule=DRAWN, parameters=(), frames=frames).with_parameters({"values": text})


def _ask(make: Any) -> None:
    """Choose what `make` gives, or say why it cannot be had."""
    problems = session.problems()
    problems.clear()
    try:
        new = make()
        session.choose(new)
        if not link.fits(new):
            problems.append(f"The address bar holds {LINK_WITHOUT_LIST}: to have this stream again, keep its file.")
    except ValueError as error:
        problems.append(str(error))
    st.rerun()


def _field_key(schedule: str, name: str) -> str:
    """Another key whenever the menus are made anew: under the old one a field would keep its old value."""
    made = st.session_state.get("menus", 0)
    return f"shape_{schedule}_{name}" + (f"_{made}" if made else "")


def _control(schedule: str, parameter: Parameter, value: float | int | str) -> float | int | str:
    """The input that fits a parameter."""
    key, label = _field_key(schedule, parameter.name), parameter.name.replace("_", " ")
    if parameter.kind == "text":
        return st.text_area(label, str(value), key=key, help=parameter.help)
    kind = int if parameter.kind == "integer" else float
    fine: dict[str, Any] = {"step": parameter.low, "format": "%.4f"} if parameter.logarithmic and kind is float else {}
    return st.number_input(
        label, kind(parameter.low), kind(parameter.high), kind(value), key=key, help=parameter.help, **fine
    )


def _export(stream: ShownStream | None) -> None:
    state = session.console_state()
    held = "the whole setting" if link.fits(session.choice()) else LINK_WITHOUT_LIST
    st.caption(f"The address bar holds {held}. “link” above the scope copies it, “PNG” saves the picture.")
    if stream is not None:
        export_buttons(state, stream)
        record_turns(state, session.console_states(), stream, "export")
    upload = st.file_uploader(
        "Load a settings file",
        type=["toml"],
        key="settings_file",
        help="Put the knobs where a saved file says",
        max_upload_size=1,
    )
    if upload is not None and upload.file_id != st.session_state.get("settings_seen"):
        st.session_state["settings_seen"] = upload.file_id
        problems = session.problems()
        problems.clear()
        try:
            settings, clamped = within(settings_file.from_toml(upload.getvalue()))
            state.set_from_python(settings)
            problems += clamped
        except ValueError as error:
            problems.append(f"{upload.name} cannot be used. {error}. The setting on the display stays as it was.")
        st.rerun()
