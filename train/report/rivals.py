"""Every gated method beside the plainest things that could explain its figures; verdicts in words, from intervals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from knob_core.corruptions import TEST
from knob_core.metrics.clustered import Estimate
from train.measuring.comparison_tables import ALL_SEEDS, RIVALS, SMOOTHED
from train.report.result_set import NAMES, Results, markdown, number

SCOPE = "standard 15"  # what no model has seen
GATES = {"fused": "Reset", "settled": "settled"}
SINGLE = [rival for rival in RIVALS if rival.method]
OWN = [rival for rival in RIVALS if not rival.method]


def section(results: Results) -> list[str]:
    """The parts of the report's chapter, in order."""
    parts = [
        "## Plain rivals",
        "Each row is a thing that could explain a gated method's figures without a gate: Static as it is, with the "
        "static branch's label smoothing (a fit of its own), and with one temperature, fitted on held-out training "
        "pictures, clean or under the four training corruptions; a gate that is one constant for all inputs, and the "
        "better branch alone, both chosen on the same held-out pictures under the training corruptions. The fifteen "
        "unseen corruptions; ± is the error over pictures.",
        table(results),
        "Ours less the rival's, paired picture by picture, with a 95 % interval over pictures; negative is better for "
        "ours:",
        differences_table(results),
        reading(results),
    ]
    lacking = [NAMES[m] for m in results.gated if difference(results, m, "fused", OWN[0].words) is None]
    if lacking:
        parts.insert(-1, f"Not compared picture by picture in Reset Mode: {', '.join(lacking)}; settled rows only.")
    if SMOOTHED not in set(results["errors"]["method"]):
        parts.insert(3, "Static with label smoothing was not fitted for these models.")
    return parts


def difference(results: Results, method: str, output: str, rival: str, score: str = "nll") -> Estimate | None:
    """Over all seeds and the unseen corruptions; None where the rival was not measured."""
    frame = results["differences"]
    rows = frame[
        (frame["method"] == method) & (frame["output"] == output) & (frame["rival"] == rival)
        & (frame["scope"] == SCOPE) & (frame["score"] == score) & (frame["seed"].astype(str) == ALL_SEEDS)
    ]  # fmt: skip
    return Estimate(*(float(rows[column].iloc[0]) for column in ("difference", "error"))) if len(rows) else None


def verdict(found: Estimate) -> str:
    """What an interval says of a score of which less is better."""
    return {-1: "better", 0: "no difference shown", 1: "**worse**"}[found.sign]


def table(results: Results) -> str:
    measured = set(results["errors"]["method"])
    rows = [_row(results, rival.words, "", rival.method, rival.output) for rival in SINGLE if rival.method in measured]
    for method in results.gated:
        rows += [_row(results, NAMES[method], rival.words, method, rival.output) for rival in OWN]
        rows += [
            _row(results, f"**{NAMES[method]}**", f"{words} gate", method, output) for output, words in GATES.items()
        ]
    return markdown(["model", "output", "Avg-C % (15)", "NLL", "Brier", "ECE_deb"], rows)


def _row(results: Results, name: str, output_words: str, method: str, output: str) -> list[str]:
    scores = (("accuracy", 2, 100), ("nll", 4, 1), ("brier", 4, 1), ("ece_deb", 4, 1))
    shown = [results.over_seeds(method, output, SCOPE, score).show(digits, scale) for score, digits, scale in scores]
    return [name, output_words, *shown]


def differences_table(results: Results) -> str:
    rows = []
    for method, output, rival in _measured(results):
        cells = []
        for score in ("nll", "ece_deb"):
            found = difference(results, method, output, rival, score)
            assert found is not None
            low, high = found.interval
            cells += [f"{found.value:+.4f} [{low:+.4f}, {high:+.4f}]", verdict(found)]
        rows.append([NAMES[method], GATES[output], rival, *cells])
    return markdown(["method", "gate", "rival", "NLL", "verdict", "ECE_deb", "verdict"], rows)


def _measured(results: Results) -> Iterator[tuple[str, str, str]]:
    for method in results.gated:
        for output in GATES:
            for rival in RIVALS:
                if difference(results, method, output, rival.words) is not None:
                    yield method, output, rival.words


def reading(results: Results) -> str:
    """Who is beaten in NLL by every gated method, by none, or by some."""
    lines = []
    names = dict.fromkeys(rival for _, _, rival in _measured(results))
    for rival in names:
        found: dict[str, Any] = {
            f"{NAMES[m]} ({GATES[o]})": difference(results, m, o, rival) for m, o, r in _measured(results) if r == rival
        }
        better = [name for name, value in found.items() if value.sign < 0]
        worse = [name for name, value in found.items() if value.sign > 0]
        if len(better) == len(found):
            words = "every gated method has the lower NLL"
        elif not better:
            words = "no gated method has a lower NLL" + (f", and {', '.join(worse)} a higher one" if worse else "")
        else:
            words = f"lower NLL for {', '.join(better)}" + (f"; higher for {', '.join(worse)}" if worse else "")
        lines.append(f"- Against {rival}: {words}.")
    plain = results["plain_rivals"]
    constant = plain.groupby("method")["constant"].mean()
    chosen = ", ".join(f"{NAMES[m]} {number(constant[m])}" for m in results.gated)
    lines.append(f"\nConstant gates, mean over seeds: {chosen}.")
    return "\n".join(lines)


def flips_section(results: Results) -> list[str]:
    """Flip probability on perturbation sequences; empty where it was not measured."""
    if not results.has("flips"):
        return []
    frame = results["flips"]
    mean = frame.groupby(["perturbation", "method"], sort=False)[["flip_probability", "error"]].mean()
    shown = [method for method in results.methods if method in set(frame["method"])]
    rows = []
    for name in dict.fromkeys(frame["perturbation"]):
        cells = [mean.loc[(name, method)] for method in shown]
        rows.append([name.replace("_", " "), *(f"{100 * c.iloc[0]:.2f} ± {100 * c.iloc[1]:.2f}" for c in cells)])
    return [
        "## Perturbation sequences",
        "Flip probability in percent (CIFAR-10-P's definition: noise against the clean frame, the others from frame "
        f"to frame), bare networks without memory, {int(frame['pictures'].min()):,} pictures; our own sequences.",
        markdown(["perturbation", *(NAMES[method] for method in shown)], rows),
    ]


def official_section(results: Results) -> list[str]:
    """Official pixels beside ours; empty where they were not compared."""
    if not results.has("official"):
        return []
    frame = results["official"]
    rows = []
    for (method, seed), part in frame[frame["corruption"] == "all"].groupby(["method", "seed"], sort=False):
        row: Any = part.iloc[0]
        found = Estimate(float(row["nll_difference"]), float(row["nll_error"]))
        low, high = found.interval
        same = "the same within sampling error" if found.sign == 0 else "**not the same**"
        accuracies = [f"{100 * row[f'{source}_accuracy']:.1f}" for source in ("official", "own")]
        rows.append([f"{NAMES.get(method, method)}, seed {seed}", *accuracies,
                     f"{found.value:+.4f} [{low:+.4f}, {high:+.4f}]", same])  # fmt: skip
    names = [name.replace("_", " ") for name in dict.fromkeys(frame["corruption"]) if name != "all"]
    return [
        "### Official pixels",
        "A sample of official CIFAR-10-C pixels beside ours, the same 100 pictures, five severities of "
        f"{', '.join(names)}; NLL of ours less official, paired by picture:",
        markdown(["model", "official %", "ours %", "NLL difference", "verdict"], rows),
    ]


def imagenet_section(results: Results) -> list[str]:
    """Pictures of 224 x 224 under ImageNet-C's constants; empty where they were not measured."""
    if not results.has("imagenet"):
        return []
    frame = results["imagenet"]
    clean = frame["corruption"] == "clean"
    severities = ", ".join(str(severity) for severity in sorted(frame["severity"][~clean].unique()))
    rows = []
    for model, part in frame.groupby("model", sort=False):
        standard = part[part["corruption"].isin(TEST)].groupby("corruption").mean(numeric_only=True).mean()
        row = part[part["corruption"] == "clean"].iloc[0]
        scores = [(100, "accuracy", 1), (1, "nll", 3), (1, "ece_deb", 3)]
        pairs = ((number(k * row[s], d), number(k * standard[s], d)) for k, s, d in scores)
        rows.append([str(model), f"{row['n']:,}", *(shown for pair in pairs for shown in pair)])
    columns = ["model", "pictures", "clean %", "Avg-C % (14)", "clean NLL", "NLL (14)", "clean ECE_deb", "ECE_deb (14)"]
    return [
        "### ImageNet-C at small scale",
        "The corruptions at 224 x 224 pixels with ImageNet-C's constants (all of the standard fifteen but frost, "
        f"severities {severities}), on pictures of CIFAR-10 that ship, enlarged; classes are CIFAR-10's, each a group "
        "of ImageNet's. It shows that the way is open (`python -m train.imagenet`), and no more: these are not "
        "ImageNet's pictures.",
        markdown(columns, rows),
    ]
