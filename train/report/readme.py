"""The README's table of results, written between its two markers so that it cannot fall behind the files."""

from __future__ import annotations

from knob_core import methods
from train.report import published
from train.report.result_set import NAMES, Results, markdown, number

BEGIN, END = "<!-- results: written by train.report -->", "<!-- end of results -->"


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
    """The README with its table renewed."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"the README must hold {BEGIN!r} and, after it, {END!r}, once each")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    return f"{before}{BEGIN}\n{table(results)}\n{END}{after}"
