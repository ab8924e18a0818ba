"""What a visitor's session holds: the desk, the chosen stream, complaints; and the link that says it all.

The two knobs' values live here for every page: `desk()` is the same object wherever it is asked for.
"""

from __future__ import annotations

import re
import secrets
from typing import Any

import streamlit as st

from app import garbage, line, link, sources
from app.choice import Choice
from app.desk import Desk

BESIDE = ("lesson", "lessons", "cells")  # what other pages keep in the link: each reads and checks its own


def desk() -> Desk:
    """This visitor's desk, made from the link on the first run."""
    if "desk" not in st.session_state:
        query = st.query_params.to_dict()
        linked = link.read(query, sources.home())
        st.session_state["beside"] = {name: query[name] for name in BESIDE if name in query}
        st.session_state["desk"] = Desk(settings=linked.settings, view=linked.view)
        st.session_state["choice"] = linked.choice
        st.session_state["complaints"] = list(linked.complaints)
    return st.session_state["desk"]


def choice() -> Choice:
    """The chosen stream."""
    desk()
    return st.session_state["choice"]


def choose(new: Choice, by_menu: bool = False) -> None:
    """Look at another stream; a live run belongs to the old one.

    Unless a menu asked for it, the menus are made anew: one that is told its value while the browser still reports the
    old one would take that for a choice of the visitor's.
    """
    if new != choice():
        st.session_state["choice"] = new
        st.session_state["menus"] = st.session_state.get("menus", 0) + (not by_menu)
        desk().change_stream()


def complaints() -> list[str]:
    """What the link, an upload or a missing file was at fault for; shown until the next choice."""
    desk()
    return st.session_state["complaints"]


def plain(text: str) -> str:
    """Words from outside as Markdown that shows them as they are: no picture, link or formula of a stranger's."""
    return re.sub(r"([\\`*_\[\]#!|<>~$:&])", r"\\\1", text.replace("\n", " "))


def write_link() -> None:
    """Put the whole setting into the address bar; only when a hand has let go, and only when it changed."""
    own = desk()
    said = link.write(own.settings, own.view, choice(), sources.home()) | st.session_state["beside"]
    if st.query_params.to_dict() != said:  # a change of page empties the address, too
        st.query_params.from_dict(said)


def beside(name: str, value: str | None = None) -> str:
    """What another page keeps in the link under a name of BESIDE; given a value, keep that ("" forgets it)."""
    desk()
    kept: dict[str, str] = st.session_state["beside"]
    if value is not None:
        kept.pop(name, None)
        if value:
            kept[name] = value
    return kept.get(name, "")


def component_value(key: str, name: str) -> Any:
    """What a component of ours last reported, before it is mounted in this run."""
    state = st.session_state.get(key)
    return state.get(name) if state is not None and hasattr(state, "get") else None


def said(key: str) -> dict[str, Any]:
    """What the visitor last did at a component with a deck, as Streamlit knows it."""
    return {name: component_value(key, name) for name in line.SAID}


def visitor() -> str:
    """A name for this session among all of the process."""
    return st.session_state.setdefault("visitor", secrets.token_hex(8))


def seat(key: str) -> line.Seat:
    """This session's end of the direct line for a component."""
    name = f"{key}_seat"
    if name not in st.session_state:
        st.session_state[name] = line.Seat()
    return st.session_state[name]


@st.cache_resource(show_spinner=False)
def freeze_garbage() -> bool:
    """Once per process, when all is loaded: the collection after every rerun then walks what is new only."""
    garbage.freeze()
    return True
