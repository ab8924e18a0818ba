"""Knob's front door: `streamlit run app/main.py`. One line a page."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # `streamlit run` puts app/ on the path, not the root
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402

PAGES = {  # file in app_pages, title; the first is the one that opens
    "console": "Console",
}

st.set_page_config(page_title="Knob", page_icon=":material/tune:", layout="wide")
st.html(Path(__file__).with_name("static") / "page.css")
here = Path(__file__).parent / "app_pages"
pages = [
    st.Page(here / f"{name}.py", title=title, url_path=name if i else None, default=not i)
    for i, (name, title) in enumerate(PAGES.items())
    if (here / f"{name}.py").exists()
]
st.navigation(pages, position="top").run()
