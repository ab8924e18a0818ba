"""Start of the app: `streamlit run app/main.py`. The server imports it, every visit runs it. One line a page."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
if str(HERE.parent) not in sys.path:  # `streamlit run` puts app/ on the path, not the root
    sys.path.insert(0, str(HERE.parent))

import streamlit as st  # noqa: E402

from app.server.streamlit_internals import is_page_visit, mend_uploaders  # noqa: E402

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
    page.run()


if is_page_visit():
    visit()
else:
    import pandas  # noqa: F401  (the slowest imports of all: before the first visit, not in it)
    import scipy.signal  # noqa: F401
    from starlette.middleware import Middleware

    from app.console import display  # noqa: F401
    from app.server import (
        download_turns,
        drag_endpoint,
        freed_memory,
        garbage_collector,
        housekeeping,
        script_turns,
        warm_up,
    )
    from app.server.page_messages import PageMessages
    from app.server.streamlit_internals import check_origins, keep_downloads, share_uploads
    from app.server.upload_limits import UploadLimits

    freed_memory.keep_little()
    check_origins()
    keep_downloads()
    share_uploads()
    download_turns.use()
    script_turns.use()
    app = st.App(
        __file__,
        lifespan=housekeeping.lifespan,
        routes=[drag_endpoint.route(st.get_option("server.baseUrlPath"))],
        middleware=[Middleware(PageMessages), Middleware(UploadLimits)],
    )
    garbage_collector.freeze()  # before the first session
    warm_up.start()
