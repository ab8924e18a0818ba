"""What a visitor's session holds: console state and controller, chosen stream, problems to show, and the link.

The two knobs' values live here for every page: `console_state()` is the same object wherever it is asked for.
"""

from __future__ import annotations

import secrets
import threading
from typing import Any

import streamlit as st

from app.console import link, stream_sources
from app.console.console_controller import ConsoleController
from app.console.console_state import ConsoleState
from app.console.stream_choice import StreamChoice
from app.server.downloads import Downloads
from app.server.drag_endpoint import FIELDS, DragEndpoint
from app.widgets.browser_component import component_value

# link parameters of other pages: each reads and checks its own
OTHER_PAGES = ("lesson", "lessons", "student", "name", "dials", "hide", "cells")


def console_state() -> ConsoleState:
    """This visitor's console, made from the link on the first run."""
    if "console_state" not in st.session_state:
        query = st.query_params.to_dict()
        linked = link.read(query, stream_sources.home())
        st.session_state["other_pages"] = {name: query[name] for name in OTHER_PAGES if name in query}
        st.session_state["console_state"] = ConsoleState(settings=linked.settings, view=linked.view, pins=linked.pins)
        st.session_state["choice"] = linked.choice
        st.session_state["problems"] = list(linked.problems)
    return st.session_state["console_state"]


def controller() -> ConsoleController:
    """The controller of this visitor's console."""
    if "console_controller" not in st.session_state:
        st.session_state["console_controller"] = ConsoleController(console_state())
    return st.session_state["console_controller"]


def console_states() -> list[ConsoleState]:
    """Every console of this visitor: the page's own, and that of Your stream once it was opened."""
    own = st.session_state.get("own_controller")
    return [console_state(), *([own.state] if own is not None else [])]


def choice() -> StreamChoice:
    """The chosen stream."""
    console_state()
    return st.session_state["choice"]


def choose(new: StreamChoice, by_menu: bool = False) -> None:
    """Look at another stream; a live run belongs to the old one.

    Unless a menu asked for it, the menus are made anew: one that is given its value while the browser still reports the
    old one would take that for a choice of the visitor's.
    """
    if new != choice():
        st.session_state["choice"] = new
        st.session_state["menus"] = st.session_state.get("menus", 0) + (not by_menu)
        console_state().change_stream()


def problems() -> list[str]:
    """What could not be used of a link, an upload or a missing file; shown until the next choice."""
    console_state()
    return st.session_state["problems"]


def write_link() -> None:
    """Put the whole setting into the address bar; only when no knob is held, and only when it changed."""
    own = console_state()
    query = (
        link.write(own.settings, own.view, choice(), stream_sources.home(), own.pins) | st.session_state["other_pages"]
    )
    if st.query_params.to_dict() != query:  # a change of page empties the address, too
        st.query_params.from_dict(query)


def page_link_value(name: str, value: str | None = None) -> str:
    """Another page's link parameter, one of OTHER_PAGES; given a value, keep that ("" forgets it)."""
    console_state()
    kept: dict[str, str] = st.session_state["other_pages"]
    if value is not None:
        kept.pop(name, None)
        if value:
            kept[name] = value
    return kept.get(name, "")


def reported(key: str) -> dict[str, Any]:
    """What the browser last reported of a component with controls, as Streamlit knows it."""
    return {name: component_value(key, name) for name in FIELDS}


def session_id() -> str:
    """A name for this session among all of the process."""
    return st.session_state.setdefault("session_id", secrets.token_hex(8))


def endpoint(key: str) -> DragEndpoint:
    """This session's drag endpoint for a component; one answer of a session is made at a time."""
    name = f"{key}_endpoint"
    if name not in st.session_state:
        st.session_state[name] = DragEndpoint(st.session_state.setdefault("answer_lock", threading.Lock()))
    return st.session_state[name]


def downloads() -> Downloads:
    """The files that this session's pages offer."""
    if "downloads" not in st.session_state:
        st.session_state["downloads"] = Downloads()
    return st.session_state["downloads"]
