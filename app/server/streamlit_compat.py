"""Every place where the app relies on the insides of Streamlit; look here first after an upgrade.

Read here: `get_script_run_ctx`, `is_host_allowed`, `Runtime._session_mgr` and its `_session_storage._cache`; in the
browser: the states of connection and script at Streamlit's outermost element (`static/page/side_by_side.js`), and the
folder of its scripts (`widgets/browser_component.py`).
Replaced, both in the browser: `history.pushState` (`static/page/history.js`) and the role of uploaders (below).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any
from urllib.parse import urlparse

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

__all__ = ["is_host_allowed"]

_MEND_UPLOADERS = """<script>
if (!globalThis.knobUploadersMended) {
  globalThis.knobUploadersMended = true;
  const mend = () =>
    document
      .querySelectorAll('[data-testid="stFileUploaderDropzone"][role="presentation"]')
      .forEach((place) => place.setAttribute("role", "group"));
  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
  mend();
}
</script>"""


def is_page_visit() -> bool:
    """True where a visitor's page script runs, False where the server imports main.py to find its routes.

    Both execute the same file, and Streamlit offers no public way to tell them apart.
    """
    return get_script_run_ctx(suppress_warning=True) is not None


def mend_uploaders() -> None:
    """Streamlit marks the place for files as decoration, though it has a name and takes the focus: a group it is.

    Our own components live in shadow roots, which the observer does not see, so a drag does not wake it.
    """
    st.html(_MEND_UPLOADERS, unsafe_allow_javascript=True)


def is_origin_allowed(origin: str | None, host: str | None) -> bool:
    """Whether a page of this origin may open a WebSocket, by the server's own settings.

    Same check as Streamlit's, without its blocking lookup of the public IP.
    """
    if not is_host_allowed(host):
        return False
    if origin is None or not st.get_option("server.enableCORS"):  # no browser leaves its origin out
        return True
    try:
        listed = [each.lower().rstrip("/") for each in st.get_option("server.corsAllowedOrigins")]
        return urlparse(origin).netloc == host or origin in listed
    except ValueError:  # such as "http://["
        return False


def sessions() -> dict[str, Any]:
    """The sessions that the server keeps, by id: of open pages, and of closed ones that may still come back.

    Streamlit forgets a closed page's session, when its time is over, only on the next change of its table: here it is
    told to look. Call it in the server's event loop, as Streamlit does.
    """
    if not runtime.exists():
        return {}
    manager: Any = runtime.get_instance()._session_mgr
    manager._session_storage._cache.expire()
    return {info.session.id: info.session for info in manager.list_sessions()}


def are_given_up(file_ids: Collection[str]) -> Callable[[], bool]:
    """Tells, from any thread and while they are read, whether the page was closed or one of these files removed on it.

    The page's script cannot: it hears of neither before it comes to its next element. Call it in the script.
    """
    context: Any = get_script_run_ctx(suppress_warning=True)

    def given_up() -> bool:
        if not runtime.exists():
            return False
        kept = context.uploaded_file_mgr.get_files(context.session_id, list(file_ids))
        return len(kept) < len(file_ids) or not runtime.get_instance().is_active_session(context.session_id)

    return given_up


def remove_uploads(file_ids: set[str]) -> None:
    """Remove files of this session that its page lists no longer: Streamlit keeps them until the session is over."""
    context: Any = get_script_run_ctx(suppress_warning=True)
    for id in file_ids:
        context.uploaded_file_mgr.remove_file(context.session_id, id)
