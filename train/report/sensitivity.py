"""How much each measure moves with damping and natural frequency: the report's table, figure and sentences.

From assets/results/sensitivity.csv (`train.sensitivity`): one row a model and setting, home among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from knob_core.maps.measure_words import MEASURES
from knob_core.settings import HOME
from train.report.result_set import Results, markdown

FILE = "sensitivity"
SHOWN = ("excess_flips", "delay_mean", "sure_wrong", "accuracy", "nll", "ece")  # in the figure
FACTORS = (0.5, 2.0)  # of a knob's home value
TURNS = [("home", 1.0, 1.0)] + [
    (f"{symbol} × {factor:g}", *((factor, 1.0) if symbol == "ζ" else (1.0, factor)))
    for symbol in ("ζ", "ω_n") for factor in FACTORS
]  # fmt: skip


def there(results: Results) -> bool:
    return (results.folder / f"{FILE}.csv").is_file()


def over_seeds(results: Results) -> Any:
    """Means over the models' seeds, by (zeta, omega_n)."""
    return results[FILE].groupby(["zeta", "omega_n"]).mean(numeric_only=True).reset_index()


def at(frame: Any, zeta: float, omega_n: float) -> Any:
    """The row of one setting of the table."""
    return frame.iloc[int((np.log(frame["zeta"] / zeta) ** 2 + np.log(frame["omega_n"] / omega_n) ** 2).argmin())]


def table(results: Results) -> str:
    """Every measure at home, and with one knob at half and at double of it."""
    frame = over_seeds(results)
    turned = [(words, at(frame, HOME.zeta * z, HOME.omega_n * w)) for words, z, w in TURNS]
    rows = [[measure.words, *(measure.shown(row[name]) for _, row in turned)] for name, measure in MEASURES.items()]
    return markdown(["", *(words for words, _ in turned)], rows)


def monotone(frame: Any, name: str, knob: str) -> tuple[float, float]:
    """Shares of the steps to the next larger value of a knob, the other held, in which a measure rises, and falls."""
    other = "omega_n" if knob == "zeta" else "zeta"
    grid = frame.pivot(index=other, columns=knob, values=name).to_numpy()
    steps = np.diff(grid, axis=1)
    return float((steps > 0).mean()), float((steps < 0).mean())


def directions(results: Results) -> str:
    """In words: what goes up and down with each knob, counted over all steps of the table."""
    frame, lines = over_seeds(results), []
    for knob, words in (("zeta", "ζ"), ("omega_n", "ω_n")):
        said = []
        for name in SHOWN:
            up, down = monotone(frame, name, knob)
            if max(up, down) >= 0.8:
                said.append(f"{MEASURES[name].words} {'up' if up > down else 'down'} in {100 * max(up, down):.0f} %")
        mixed = [MEASURES[name].words for name in SHOWN if max(monotone(frame, name, knob)) < 0.8]
        lines.append(f"- Of all steps to a larger {words}: {'; '.join(said) or 'nothing moves one way'}."
                     + (f" No one way: {', '.join(mixed)}." if mixed else ""))  # fmt: skip
    return "\n".join(lines)


def section(results: Results, figure: str) -> list[str]:
    """The report's parts on sensitivity; none where the file is missing."""
    if not there(results):
        return []
    models = sorted(results[FILE]["model"].unique())
    return [
        "## Sensitivity to ζ and ω_n",
        "The sweep that the paper leaves out: every measure over both knobs on validation change streams (held-out "
        f"training pictures, training corruptions alone and in pairs), attentive memory, {', '.join(models)}; nothing "
        "is chosen by it. Means over seeds; at home (ζ 1, ω_n 0.4), and with one knob at half and at double of it:",
        table(results),
        directions(results),
        figure,
    ]
