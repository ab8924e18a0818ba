"""Headings for screen readers, columns that lie one below the other on a narrow screen, and their stylesheet."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any, Literal

import streamlit as st

_STYLE = Path(__file__).parents[1] / "static" / "reading_pages.css"


def style() -> None:
    """Load the stylesheet of the pages beside the console."""
    st.html(_STYLE)


def unseen_title(title: str) -> None:
    """The page's heading where the screen has no room for one: for screen readers, which find their way by it."""
    st.html(f'<h1 class="unseen-title">{html.escape(title)}</h1>')


def columns(key: str, widths: list[float], align: Literal["top", "center"] = "top", gap: Any = "small") -> list[Any]:
    """st.columns in a container of its own, which the stylesheet finds by its key."""
    return st.container(key=f"stack_{key}").columns(widths, gap=gap, vertical_alignment=align)
