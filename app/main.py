"""Knob's front door: `streamlit run app/main.py`. One line a page."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # `streamlit run` puts app/ on the path, not the root
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402

STATIC = Path(__file__).resolve().with_name("static")
PAGES = {  # file in app_pages, title; the first is the one that opens
    "console": "Console",
    "calibration": "Calibration",
    "learning": "Learning",
    "results": "Results",
    "your_stream": "Your stream",
    "lessons": "Lessons",
    "about": "About",
}

st.set_page_config(page_title="Knob", page_icon=str(STATIC / "icon.svg"), layout="wide")
st.logo(str(STATIC / "logo.svg"), size="large")
st.html(STATIC / "page.css")
here = Path(__file__).resolve().parent / "app_pages"
pages = [
    st.Page(here / f"{name}.py", title=title, url_path=name if i else None, default=not i)
    for i, (name, title) in enumerate(PAGES.items())
    if (here / f"{name}.py").exists()
]
st.navigation(pages, position="top").run()
