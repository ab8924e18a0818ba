"""The console: turn the knobs, watch the model change while you turn."""

from __future__ import annotations

import streamlit as st

from app import moving, sources, state
from app.components.board import board, tape
from app.components.deck import deck
from app.stream import Stream


@st.fragment(key="fast")
def fast(stream: Stream) -> None:
    """Everything that moves with the hand, and nothing else: this reruns some twenty times a second."""
    desk = state.desk()
    desk.take(state.component_value("deck", "hand"))
    desk.look(state.component_value("board", "view"))
    st.session_state["fast_runs"] = st.session_state.get("fast_runs", 0) + 1
    message = moving.message(desk, stream)
    message["runs"] = [st.session_state.get("script_runs", 0), st.session_state["fast_runs"]]
    regime, words = moving.regime(desk.settings, stream.method)
    left, right = st.columns([1, 3.35], gap="small")
    with left:
        deck(
            desk.values(), key="deck", epoch=desk.epoch, seq=desk.seq, regime=regime, words=words,
            pinned=moving.describe(desk.pin) if desk.pin else "", trained=stream.trained,
        )  # fmt: skip
    with right:
        board(message, key="board")
    if desk.done:
        state.write_link()


st.session_state["script_runs"] = st.session_state.get("script_runs", 0) + 1
top, bottom = st.container(), st.container()
stream = sources.demo()
with bottom:
    tape(stream.tape(), key="tape")
with top:
    fast(stream)
state.freeze_garbage()
