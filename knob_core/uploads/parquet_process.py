"""Parquet tables, read in a process of their own: `read_in_process` asks, `answer` is what the process does."""

from __future__ import annotations

from typing import Any

import numpy as np

from knob_core.csv_columns import Words
from knob_core.uploads import parquet, process
from knob_core.uploads.budget import Budget
from knob_core.uploads.tables import Table


def read_in_process(name: str, content: bytes, budget: Budget) -> Table:
    """As `parquet.read_table`."""
    found, body = process.ask(__name__, ("pyarrow", "pyarrow.parquet"), name, content, budget)
    cells = found["rows"] * len(found["names"])
    numbers = np.frombuffer(body, np.float64, cells).reshape(found["rows"], len(found["names"]))
    labels = None
    if found["texts"] is not None:
        labels = Words(np.frombuffer(body, np.int64, offset=8 * cells), tuple(found["texts"]))
    return Table(tuple(found["names"]), numbers, labels, unused=tuple(found["unused"]))


def answer(name: str, content: bytes, budget: Budget) -> tuple[dict[str, Any], list[memoryview]]:
    """The numbers, and after them the labels' places in the list of texts; their bytes are the arrays' own."""
    table = parquet.read_table(name, content, budget)
    found = {"rows": len(table.numbers), "names": table.names, "unused": table.unused}
    found["texts"] = table.labels and table.labels.texts
    return found, [table.numbers.data, *([table.labels.codes.astype(np.int64).data] if table.labels else [])]
