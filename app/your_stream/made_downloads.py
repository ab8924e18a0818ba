"""Forgetting how a visitor's downloads are made: what makes a file holds the stream that it is made of."""

from __future__ import annotations

from typing import Any

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx


def forget_downloads() -> None:
    """Drop what would make this session's files; the page's next run draws its buttons anew.

    Streamlit has no public way, and we keep it for a minute after a button was drawn (`streamlit_internals`).
    """
    context: Any = get_script_run_ctx(suppress_warning=True)
    files: Any = runtime.get_instance().media_file_mgr
    with files._lock:
        for id in list(files._deferred_ids_by_session.get(context.session_id, ())):
            files._drop_deferred_id(id)
