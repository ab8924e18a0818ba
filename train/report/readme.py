"""The README's table, written between two markers so that it cannot fall behind the files."""

from __future__ import annotations

from typing import Any

from train.report import filters
from train.report.result_set import Results, markdown, number

BEGIN, END = "<!-- table: written by train.report -->", "<!-- end of table -->"
DELAY = 1.5  # frames, at which filters are compared on change streams
REAL = "real_streams"
ROWS = {  # model of change_filters, filter -> its name in the table, and in the table of a fit on real streams
    ("knob-ode", "attentive"): ("**Knob**, two branches", ""),
    ("static", "attentive"): ("**Knob**, any classifier", "Knob"),
    **{("knob-ode", key): (filters.name_of(key), filters.name_of(key))
       for key in ("change-point", "cusum", "hmm", "hysteresis", "two-speeds", "ema-logits")},
}  # fmt: skip


def table(results: Results) -> str:
    """A row a filter: change streams at one delay, then the sets of real streams; empty where it was not measured."""
    means = {model: filters.over_seeds(filters.rows(results, model, "mixed")) for model in ("knob-ode", "static")}
    sets = list(dict.fromkeys(results[REAL]["set"])) if results.has(REAL) else []
    lines = [
        [name, *_change(means[model], key), *(cell for kind in sets for cell in _real(results, kind, known_as))]
        for (model, key), (name, known_as) in ROWS.items()
    ]
    home = results[filters.HOME_FILE].query(f"setting == '{filters.BARE}' and by == 'all'")
    bare = home[home["model"].str.startswith("knob-ode")].mean(numeric_only=True)
    alone = [f"{number(bare['excess_flips'], 1)} (delay {number(bare['delay_mean'], 1)})", number(bare["nll"], 3)]
    lines.append(["without Knob", *alone, *(cell for kind in sets for cell in _real(results, kind, "off"))])
    heads = [f"{kind}: {what}" for kind in sets for what in ("right %", "flips", "delay", "NLL")]
    return markdown(["", "change streams: excess flips", "NLL", *heads], [line for line in lines if any(line[1:])])


def _change(means: Any, key: str) -> list[str]:
    return [number(means.loc[key, DELAY]), number(means.loc[key, "nll"], 3)] if key in means.index else ["", ""]


def _real(results: Results, kind: str, name: str) -> list[str]:
    frame = results[REAL].query("set == @kind and name == @name")
    if frame.empty:
        return [""] * 4
    row = frame.iloc[0]
    right, flips, delay = number(100 * row["accuracy"], 1), number(row["excess_flips"]), number(row["delay"], 1)
    return [right, flips, delay, number(row["nll"], 3)]


def insert(text: str, results: Results) -> str:
    """The README with its table renewed, where change streams were measured."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"the README must hold {BEGIN!r} and, after it, {END!r}, once each")
    if not results.has(filters.FILE):
        return text
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    return f"{before}{BEGIN}\n{table(results)}\n{END}{after}"
