"""The README's figures, written between pairs of markers so that they cannot fall behind the files."""

from __future__ import annotations

from knob_core import methods
from train.report import filters, published
from train.report.result_set import NAMES, Results, markdown, number

BEGIN, END = "<!-- results: written by train.report -->", "<!-- end of results -->"
STREAMS_BEGIN, STREAMS_END = "<!-- change streams: written by train.report -->", "<!-- end of change streams -->"


def table(results: Results) -> str:
    """Accuracy, calibration and cost of each method, ours beside the paper's."""
    rows = []
    for method in results.methods:
        paper = published.PAPER.get(method, published.NOT_IN_THE_PAPER)
        ratio = results["cost"].query("method == @method and width == 64")["ratio_to_static"]
        rows.append(
            [
                NAMES[method],
                results.over_seeds(method, "fused", "clean", "accuracy").show(1, 100),
                results.over_seeds(method, "fused", "all 19", "accuracy").show(1, 100),
                number(paper.avg_c, 1),
                results.over_seeds(method, "fused", "all 19", "ece_deb").show(3),
                number(paper.ece_deb, 3),
                " ".join(number(value) for value in ratio),
                number(paper.latency_ms / published.PAPER[methods.PLAINEST].latency_ms),
            ]
        )
    header = ["method", "clean %", "Avg-C %", "paper", "ECE_deb", "paper", "latency / Static (width 64)", "paper"]
    return markdown(header, rows)


def insert(text: str, results: Results) -> str:
    """The README with its figures renewed; those of change streams where they were measured."""
    text = _between(text, BEGIN, END, table(results))
    if results.has(filters.FILE):
        text = _between(text, STREAMS_BEGIN, STREAMS_END, filters.for_operators(results))
    return text


def _between(text: str, begin: str, end: str, part: str) -> str:
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        raise ValueError(f"the README must hold {begin!r} and, after it, {end!r}, once each")
    before, after = text.split(begin)[0], text.split(end)[1]
    return f"{before}{begin}\n{part}\n{end}{after}"
