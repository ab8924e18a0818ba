"""Start of the app: `streamlit run app/main.py`. The server imports it, every visit runs it. One line a page."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
if str(HERE.parent) not in sys.path:  # `streamlit run` puts app/ on the path, not the root
    sys.path.insert(0, str(HERE.parent))

import streamlit as st  # noqa: E402

from app.console import session  # noqa: E402
from app.server.streamlit_compat import is_page_visit, mend_uploaders  # noqa: E402

PAGES = {  # file in app_pages, title; the first is the one that opens
    "console": "Console",
    "tune": "Tune",
    "calibration": "Calibration",
    "learning": "Learning",
    "results": "Results",
    "your_stream": "Your stream",
    "live": "Live",
    "lessons": "Lessons",
    "about": "About",
}


def visit() -> None:
    """What a visitor sees."""
    st.logo(str(HERE / "static" / "logo.svg"), size="large")
    st.html(HERE / "static" / "page_margins.css")
    mend_uploaders()
    pages = [
        st.Page(HERE / "app_pages" / f"{name}.py", title=title, url_path=name if i else None, default=not i)
        for i, (name, title) in enumerate(PAGES.items())
    ]
    alone = st.context.is_embedded  # `embed=true`: one page in a frame of another site
    page = st.navigation(pages, position="hidden" if alone else "top")
    icon = str(HERE / "static" / "icon.svg")
    st.set_page_config(page_title=f"{page.title} · Knob", page_icon=icon, layout="wide")
    with session.downloads().script_run():
        page.run()


if is_page_visit():
    visit()
else:
    import pandas  # noqa: F401  (the slowest imports of all: before the first visit, not in it)
    import scipy.signal  # noqa: F401

    from app.console import display  # noqa: F401
    from app.server import downloads, drag_endpoint, garbage_collector
    from app.server.lifespan import lifespan

    base = st.get_option("server.baseUrlPath")
    app = st.App(__file__, lifespan=lifespan, routes=[drag_endpoint.route(base), downloads.route(base)])
    garbage_collector.freeze()  # before the first session
