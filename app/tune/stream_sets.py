"""Which streams a setting is looked for on: the console's, the visitor's own, or several that ship."""

from __future__ import annotations

import streamlit as st

from app.console import session, stream_sources
from app.console.shown_stream import ShownStream
from knob_core.library import StreamKey

THIS, OWN, SEVERAL = "Console", "Your stream", "Several"  # short: three stand in one row at 1280 pixels
MOST = 12  # sets of streams


def kinds() -> list[str]:
    """What can be chosen now."""
    return [THIS, *([OWN] if st.session_state.get("own_stream") is not None else []), SEVERAL]


def first_kind() -> str:
    """The stream that the visitor looked at last."""
    return OWN if st.session_state.get("last_stream") == "own" and OWN in kinds() else THIS


def this_stream() -> ShownStream | None:
    """The console's; where the console was not open yet, the one that it opens with."""
    if "shown" in st.session_state:
        return st.session_state["shown"]
    key = stream_sources.shipped_key(session.choice())
    if key is not None:
        try:
            return stream_sources.shipped_stream(key, session.choice().image)
        except (OSError, ValueError):
            pass
    found = stream_sources.fallback()
    return found[1] if found else None


def shipped() -> dict[str, StreamKey]:
    """Streams of the console's model by their names; those whose picture changes, where there are any."""
    choice = session.choice()
    keys = [k for k in stream_sources.shipped_streams() if (k.method, k.seed) == (choice.method, choice.model)]
    changing = [k for k in keys if k.changing]
    return {stream_sources.choice_of(k).title(): k for k in (changing or keys)}


def streams(kind: str, names: list[str]) -> tuple[ShownStream, ...]:
    """The chosen ones; raises OSError or ValueError with the cause."""
    if kind == OWN:
        return (st.session_state["own_stream"],)
    if kind == SEVERAL:
        known = shipped()
        keys = [known[name] for name in names if name in known][:MOST]
        return tuple(stream_sources.shipped_stream(key, key.images[0]) for key in keys)
    stream = this_stream()
    return (stream,) if stream is not None else ()
