"""What could not be used of a link, over the page and with *Close*, as on the console."""

from __future__ import annotations

import streamlit as st

from app.console import session
from app.widgets.untrusted import escape_markdown


def problem_notes() -> None:
    """Call it in the container `notes`, which the stylesheet puts over the page: a message moves nothing."""
    for problem in dict.fromkeys(session.problems()):
        st.warning(escape_markdown(problem), icon=":material/info:")
    if session.problems():
        st.button("Close", key="close_notes", on_click=session.problems().clear, help="Take these messages away")
