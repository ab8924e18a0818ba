"""Place a chart that stands still: colours by the theme, words for those who cannot see it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from app.figures.figure_colours import painted


def theme() -> str:
    """ "light" or "dark", as the visitor has it."""
    return "dark" if st.context.theme.type == "dark" else "light"


def chart(figure: dict[str, Any], *, key: str, alt: str, note: str = "") -> None:
    """A plotly chart, and under it what it says in words."""
    drawn = painted(figure, theme())
    drawn["layout"] |= {"showlegend": True, "paper_bgcolor": "rgba(0,0,0,0)"}
    drawn["layout"]["dragmode"] = False  # a finger on it scrolls the page; its buttons zoom
    drawn["layout"]["font"] |= {"family": '"Source Sans", sans-serif', "size": 13}
    config = {"displaylogo": False, "modeBarButtonsToRemove": ["lasso2d", "select2d"]}
    st.plotly_chart(drawn, theme=None, key=key, alt=alt, config=config)
    if note:
        st.caption(note)
