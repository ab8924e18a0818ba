"""What could not be used of a link, and other faults, over the page and with *Close*."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from app.console import session
from app.widgets.untrusted import fault_words


def problem_notes(lasting: Iterable[str] = ()) -> None:
    """Call it in the container `notes`, which the stylesheet puts over the page: a message moves nothing.

    `lasting` ones stay: they are true as long as the page shows what it shows.
    """
    for problem in dict.fromkeys([*session.problems(), *lasting]):
        st.warning(fault_words(problem), icon=":material/info:")
    if session.problems():
        st.button("Close", key="close_notes", on_click=session.problems().clear, help="Take these messages away")
