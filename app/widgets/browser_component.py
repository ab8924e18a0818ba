"""Register a browser component whose JavaScript is a static file.

Inline JavaScript would travel with every message of a drag; two lines that import the file travel instead.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from knob_core.palette import PALETTES

_LOADER = """
export default (component) => {
  const modules = (globalThis.__knobModules ??= {});
  const file = new URL(component.data.base + "%(module)s.js", location.origin);
  (modules["%(module)s"] ??= import(file)).then((m) => m.default(component));
};
"""


def register(name: str, module: str, isolate_styles: bool = True) -> Any:
    """A component that runs app/static/<module>.js; register once per process, at import."""
    return st.components.v2.component(name, html="", js=_LOADER % {"module": module}, isolate_styles=isolate_styles)


def common() -> dict[str, Any]:
    """What the data of every component holds: the URL of the static files, and the palette."""
    prefix = st.get_option("server.baseUrlPath").strip("/")
    return {"base": f"/{prefix}/app/static/" if prefix else "/app/static/", "palettes": PALETTES}


def no_callback() -> None:
    """Streamlit wants a callback for every value that a component may set; the page reads the value instead."""
