"""The Compare panel: the present setting, none, and every pin in one table, with all measures of the whole stream."""

from __future__ import annotations

from typing import Any

from app.console import compared
from app.console.panels.panel_input import PanelInput
from app.console.protocol import CompareUpdate
from app.console.setting_words import describe_rest


def content(shown: PanelInput, unit: str) -> dict[str, Any]:
    """Table and note; no figure."""
    assert shown.compared is not None, "the display asks for the rows when this panel is open"
    rows = compared.ordered(shown.compared, shown.sort)
    columns = compared.measured_columns(rows)
    table: CompareUpdate = {
        "columns": [[column.id, column.label, column.help] for column in columns],
        "sort": shown.sort,
        "refused": shown.refused,
        "rows": [
            {
                "name": row.name, "id": row.id, "pinned": row.pinned,
                "drawn": row.pinned and row.name == shown.drawn, "setting": describe_rest(row.settings),
                "cells": [row.text(column) for column in columns],
            }
            for row in rows
        ],
    }  # fmt: skip
    pinned = sum(row.pinned for row in rows)
    note = "pin some settings to compare them (the button is beside play)"
    if pinned:
        note = "a name's switch draws the pin, dashed; a column's heading sorts; measured over the whole stream"
    return {"figure": None, "compare": table, "note": note}
