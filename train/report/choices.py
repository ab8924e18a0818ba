"""How the models that are measured were chosen: the rule's own rows, and the history as train/PROTOCOL.md tells it."""

from __future__ import annotations

from pathlib import Path

from train import choose
from train.report.result_set import Results, markdown, number

PROTOCOL = Path(__file__).parents[1] / "PROTOCOL.md"
HISTORY = "## History: choices that had test corruptions in sight\n"


def section(results: Results) -> list[str]:
    """Empty where nothing was chosen by the rule."""
    if not results.has("choice"):
        return []
    frame = results["choice"]
    means = frame.pivot_table(index="variant", columns="encoder", values=choose.SCORE, sort=False)
    chosen = choose.choice(frame.to_dict("records"))
    rows = [
        [
            f"**{name}**, chosen" if name == chosen else str(name),
            *(number(value, 4) for value in row),
            number(row.mean(), 4),
        ]
        for name, row in means.iterrows()
    ]
    return [
        "## How the models were chosen",
        "No test picture and no test corruption was looked at (`train/PROTOCOL.md`). Mean NLL on held-out training "
        "pictures under each of the four training corruptions in turn, on short encoders that have not seen it and on "
        "a finished one that has; the simplest variant within one standard error of the lowest mean is taken "
        "(`python -m train.choose`):",
        markdown(["variant", *map(str, means.columns), "mean"], rows),
        "Not every choice before was blind:",
        PROTOCOL.read_text(encoding="utf-8").partition(HISTORY)[2].strip(),
    ]
