"""Register a browser component whose JavaScript is a static file.

Inline JavaScript would travel with every message of a drag; two lines that import the file travel instead.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from knob_core.palette import PALETTES

# The address of app/static/ follows from where the page's own script was loaded: a server behind a proxy that strips a
# prefix does not know the prefix. `data.base` is for a page without such a script.
_LOADER = """
export default (component) => {
  const modules = (globalThis.__knobModules ??= {});
  const page = [...document.scripts].map((s) => s.src).find((src) => src.includes("/static/js/"));
  const own = page ? page.slice(0, page.lastIndexOf("/static/js/")) + "/app/static/" : component.data.base;
  const base = (globalThis.__knobBase ??= new URL(own, location.origin).href);
  (modules["%(module)s"] ??= import(base + "%(module)s.js")).then((m) =>
    m.default({ ...component, data: { ...component.data, base } }),
  );
};
"""


def register(name: str, module: str) -> Any:
    """A component that runs app/static/<module>.js; register once per process, at import."""
    return st.components.v2.component(name, html="", js=_LOADER % {"module": module})


def common() -> dict[str, Any]:
    """What the data of every component holds: the URL of the static files, and the palette."""
    prefix = st.get_option("server.baseUrlPath").strip("/")
    return {"base": f"/{prefix}/app/static/" if prefix else "/app/static/", "palettes": PALETTES}


def component_value(key: str, name: str) -> Any:
    """What one of our components last reported, before it is mounted in this run; None where it has not.

    The mounting call returns the value too, but the data to mount it with depends on the value.
    """
    reported = st.session_state.get(key)
    return reported.get(name) if reported is not None and hasattr(reported, "get") else None


def no_callback() -> None:
    """Streamlit wants a callback for every value that a component may set; the page reads the value instead."""
