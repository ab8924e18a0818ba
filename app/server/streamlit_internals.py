"""The places where the app relies on Streamlit's internals, each with its reason; look here first after an upgrade.

In the browser: app/static (names in its README comments): history entries are replaced, host messages are stopped.
In .streamlit/config.toml: `minCachedMessageSize`, since messages of a drag are never repeated.
"""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def is_page_visit() -> bool:
    """True where a visitor's page script runs, False where the server imports main.py to find its routes.

    Both execute the same file, and Streamlit offers no public way to tell them apart.
    """
    return get_script_run_ctx(suppress_warning=True) is not None


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


def mend_uploaders() -> None:
    """Streamlit marks the place for files as decoration, though it has a name and takes the focus: a group it is.

    Our own components live in shadow roots, which the observer does not see, so a drag does not wake it.
    """
    st.html(_MEND_UPLOADERS, unsafe_allow_javascript=True)


def component_value(key: str, name: str) -> Any:
    """What one of our components last reported, before it is mounted in this run; None where it has not.

    The mounting call returns the value too, but the data to mount it with depends on the value.
    """
    reported = st.session_state.get(key)
    return reported.get(name) if reported is not None and hasattr(reported, "get") else None
