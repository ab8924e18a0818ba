"""Write RESULTS.md, its figures and the README's table from assets/results: `python -m train.report`.

No number is typed by hand.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from knob_core import files
from knob_core.assets import ROOT
from knob_core.library import result_tables
from train import commands
from train.measuring.stream_tables import FIRST
from train.report import (
    choices,
    filters,
    markdown_tables,
    paper_recipe,
    published,
    readings,
    readme,
    rivals,
    sensitivity,
    words,
)
from train.report.claims import claims
from train.report.result_set import Results

FOLDER = "figures"


def document(results: Results, figures: str) -> str:
    """The whole of RESULTS.md; `figures` is the path of the figures as seen from it."""

    def picture(name: str, words: str) -> str:
        return f"![{words}]({figures}/{name}.png)"

    failed = [claim for claim in claims(results) if not claim.holds]
    honest = (
        "\n".join(f"- {claim.what}: wanted {claim.target}, got {claim.measured}." for claim in failed)
        or "Every claim of the table above holds."
    )
    parts = [
        "# Results",
        "Written by `python -m train.report` from the files in `assets/results`; `python -m train.evaluate`, "
        "`python -m train.library` and `python -m train.cost` make those.",
        readings.setting(results),
        *words.section(results.methods),
        "## What we set out to show",
        markdown_tables.verdicts(results),
        "## What does not hold",
        honest,
        *choices.section(results),
        "## Table 1: accuracy and calibration on CIFAR-10-C",
        markdown_tables.main_table(results),
        readings.benchmark(results),
        *paper_recipe.section(results, picture("paper_recipe", "AUC of the gate over the epochs by subset, and Π")),
        "Reset Mode, the settled gate and each branch alone, all 19 corruptions:",
        markdown_tables.outputs_table(results),
        picture("severities", "Accuracy and debiased calibration error by severity, a line a method"),
        *rivals.section(results),
        "### Temperature scaling",
        markdown_tables.temperature_table(results),
        readings.temperature(results),
        "### Published anchors",
        "Not measured here, except ours; standard 15 corruptions.",
        markdown_tables.anchors_table(results),
        *rivals.official_section(results),
        *rivals.imagenet_section(results),
        *rivals.flips_section(results),
        "## Table 2: cost",
        markdown_tables.cost_table(results),
        readings.cost(results),
        picture("pareto", "Debiased calibration error against multiply-accumulates and against latency"),
        "## Corruption by corruption",
        "Accuracy in percent, Reset Mode:",
        markdown_tables.corruption_table(results, "accuracy", 1),
        "ECE_deb, Reset Mode:",
        markdown_tables.corruption_table(results, "ece_deb", 3),
        "## E-1: fusion as a temperature",
        "Corrupted pictures alone, so that all three levels rank the same samples; ± is the error over pictures:",
        markdown_tables.e1_table(results),
        "The paper says that CSR falls with severity, overall, where the branches agree, and where they do not:",
        markdown_tables.csr_table(results),
        picture("e1", "CSR and T_eff by severity; reliability and per-bin error by agreement of the branches"),
        readings.e1(results),
        "## E-2: the gate leans towards the better branch",
        markdown_tables.e2_table(results),
        "Against what needs no gate, each branch's own confidence (corrupted pictures; ± over pictures):",
        markdown_tables.e2_rivals_table(results),
        picture("e2", "AUC of the gate against both advantages, polarisation and knobs over the epochs"),
        readings.e2(results),
        "## E-3: the dynamics",
        picture("e3_bode", "Bode plots: the gate alone on theory, and the whole model from severity to gate"),
        readings.e3(results),
        picture("e3_step", "Gate and confidence through a step of severity, with dynamics and frame by frame"),
        "Measured / theory, mean over seeds; times in frames:",
        markdown_tables.step_table(results),
        *filters.section(results, picture("change_filters", "Excess flips and NLL against mean delay, every filter")),
        *sensitivity.section(results, picture("sensitivity", "Maps of six measures over damping and frequency")),
        "## Streams: what an operator gets",
        f"Frames before the {FIRST}th are left out. ECE_deb of a perfectly calibrated predictor on one "
        "stream: about "
        f"{markdown_tables.floor(results):.3f}. Noise streams (shot, Gaussian, impulse; step and spikes), "
        "all seeds:",
        markdown_tables.streams_table(results, noises_only=True),
        readings.streams(results),
        picture("trade_off", "Flips and jitter against lag for knobs, memory, EMA and one-euro smoothing"),
        "All corruptions and schedules, first seed:",
        markdown_tables.streams_table(results, noises_only=False),
    ]
    return "\n\n".join(parts) + "\n"


def work(folder: Path, out: Path, readme_path: Path) -> None:
    from train.report import plots  # needs matplotlib

    results = Results(folder)
    place = Path(os.path.relpath(folder / FOLDER, out.parent)).as_posix()
    text = document(results, place)  # reads all tables, so nothing is written where one is missing
    summary = readme.insert(readme_path.read_text(encoding="utf-8"), results)
    plots.draw(results, folder / FOLDER)
    result_tables.write([claim._asdict() for claim in claims(results)], folder / "claims.csv")
    result_tables.write(published.paper(), folder / "paper.csv")
    result_tables.write(published.anchors(), folder / "anchors.csv")
    for path, content in ((out, text), (readme_path, summary)):
        files.write_text(path, content)
    print(out)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = commands.parser("train.report", __doc__)
    add = functools.partial(parser.add_argument, type=commands.out_file)
    parser.add_argument(
        "--results",
        type=commands.out_folder,
        default=result_tables.RESULTS,
        metavar="DIR",
        help="default: assets/results",
    )
    add("--out", default=ROOT / "RESULTS.md", metavar="FILE", help="default: RESULTS.md")
    add("--readme", default=ROOT / "README.md", metavar="FILE", help="default: README.md")
    args = parser.parse_args(arguments)
    return commands.run("train.report", lambda: work(args.results, args.out, args.readme))


if __name__ == "__main__":
    sys.exit(main())
