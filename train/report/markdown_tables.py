"""The report's tables, as Markdown: every number from a result file or from `train.report.published`."""

from __future__ import annotations

from typing import Any

import numpy as np

from knob_core.corruptions import NAMES as CORRUPTIONS
from knob_core.corruptions import TRAINING
from knob_core.library import benchmark
from knob_core.methods import DEFAULT, METHODS, PLAINEST
from knob_core.metrics.clustered import Estimate
from train.report import published
from train.report.claims import claims, noise_streams
from train.report.result_set import NAMES, Results, Spread, markdown, number

E2_SCORES = ("gate", "p_max dynamic", "p_max static")
ANCHORED = (PLAINEST, DEFAULT)  # of ours, beside what others published
VARIANTS = (
    *METHODS,
    *(f"{key}, trained knobs" for key, method in METHODS.items() if "zeta" in method.gate.knobs),
    "knob-ode + memory",
    "static + memory",
    "knob-ia + EMA of p",
    "knob-ia + one-euro of p",
    "static + EMA of p",
)


def verdicts(results: Results) -> str:
    rows = [
        [claim.what, claim.target, claim.measured, "holds" if claim.holds else "**does not hold**"]
        for claim in claims(results)
    ]
    return markdown(["claim", "target", "measured", "verdict"], rows)


def main_table(results: Results) -> str:
    """Table 1, ours and the paper's side by side; Reset Mode as the paper has it first, then in its other form."""
    shown = [(method, "fused") for method in results.methods]
    shown += [(method, "settled") for method in results.gated if METHODS[method].gate.inertia]
    rows = []
    for method, output in shown:
        literal = output == "fused"
        paper = published.PAPER.get(method, published.NOT_IN_THE_PAPER) if literal else published.NOT_IN_THE_PAPER
        accuracy = results.over_seeds(method, output, "all 19", "accuracy")
        rows.append(
            [
                NAMES[method] if literal else f"{NAMES[method]}, normalised",
                accuracy.show(2, 100),
                number(100 * accuracy.std),
                number(paper.avg_c),
                number(100 - 100 * accuracy.mean),
                number(100 - paper.avg_c),
                results.over_seeds(method, output, "all 19", "ece_deb").show(4),
                number(paper.ece_deb, 4),
                results.over_seeds(method, output, "standard 15", "accuracy").show(2, 100),
                results.over_seeds(method, output, "clean", "accuracy").show(2, 100),
            ]
        )
    header = [
        "method", "Avg-C % (19)", "sd over seeds", "paper", "Err-C %", "paper", "ECE_deb (19)", "paper",
        "Avg-C % (15, unseen)", "clean %",
    ]  # fmt: skip
    return markdown(header, rows)


def _spread(row: Any, mean: str, scatter: str, digits: int) -> str:
    return Spread(row[mean], row.get(scatter, np.nan)).show(digits)


def outputs_table(results: Results) -> str:
    """Reset Mode, the settled gate, and each branch alone."""
    rows = []
    for method in results.methods:
        for output in ("fused", "settled", "static", "dyn") if method in results.gated else ("fused",):
            normalised = ", Reset Mode normalised" if METHODS[method].gate.inertia else ""
            name = {
                "fused": "Reset Mode",
                "settled": f"settled gate{normalised}",
                "static": "static branch",
                "dyn": "dynamic branch",
            }
            shown = name[output] if method in results.gated else "its only output"
            cells = [results.over_seeds(method, output, "all 19", m) for m in ("accuracy", "nll", "brier", "ece_deb")]
            clean = [results.over_seeds(method, output, "clean", m) for m in ("accuracy", "ece_deb")]
            rows.append(
                [
                    NAMES[method],
                    shown,
                    cells[0].show(2, 100),
                    cells[1].show(3),
                    cells[2].show(3),
                    cells[3].show(4),
                    clean[0].show(2, 100),
                    clean[1].show(4),
                ]
            )
    return markdown(["method", "output", "Avg-C %", "NLL", "Brier", "ECE_deb", "clean %", "clean ECE_deb"], rows)


def temperature_table(results: Results) -> str:
    """Temperature scaling beside and on top of fusion: ECE, NLL and Brier score, 19 corruptions."""
    fitted = results["temperatures"].groupby(["method", "output", "fitted_on"])["temperature"].mean()
    rows = []
    for method, output in dict.fromkeys((m, o) for m, o, _ in fitted.index):
        name = NAMES.get(method, "Static, smoothed")
        gate = ("Reset" if output == "fused" else "settled") if method in results.gated else "-"
        for on, words in (("", "none"), ("clean", "clean"), ("corrupted", "training corruptions")):
            chosen = f"{output}_t_{on}" if on else output
            scores = (("ece_deb", 4), ("nll", 4), ("brier", 4))
            shown = [results.over_seeds(method, chosen, "all 19", score).show(digits) for score, digits in scores]
            rows.append([name, gate, words, number(fitted[method, output, on]) if on else "-", *shown])
    return markdown(["method", "gate", "T fitted on", "T", "ECE_deb", "NLL", "Brier"], rows)


def anchors_table(results: Results) -> str:
    """What others published, and two of ours."""
    width = min(model["width"] for model in results.note["models"].values())
    shown = benchmark.anchors(published.anchors(), results["summary"])
    rows = []
    for _, row in shown.iterrows():
        ours = row["training"].startswith("ours, ")
        if not ours or row["training"] in [f"ours, {NAMES[method]}" for method in ANCHORED]:
            network = f"{row['network']}, width {width}" if ours else row["network"]
            accuracy, ece = _spread(row, "Avg-C, %", "± Avg-C", 1), _spread(row, "ECE", "± ECE", 3)
            rows.append([row["training"], network, accuracy, ece])
    return markdown(["training (standard 15)", "network", "Avg-C %", "ECE"], rows)


def cost_table(results: Results) -> str:
    """Table 2."""
    rows = []
    for _, row in benchmark.table_2(results["cost"], published.paper()).iterrows():
        wide = row["width"] == benchmark.PAPER_WIDTH
        quartiles = f"{row['ratio, 1st quartile']:.2f} to {row['ratio, 3rd quartile']:.2f}"
        rows.append(
            [
                row["method"],
                str(row["width"]),
                number(row["parameters, M"]),
                number(row["paper's parameters, M"]) if wide else "",
                number(row["GMAC"], 4),
                number(row["paper's GFLOPs"], 4) if wide else "",
                number(row["latency, ms"]),
                f"{row['ratio to Static']:.2f} ({quartiles})",
                number(row["paper's ratio"]) if wide else "",
            ]
        )
    header = ["method", "width", "parameters, M", "paper", "GMAC", "paper", "latency, ms", "ratio to Static", "paper"]
    return markdown(header, rows)


def corruption_table(results: Results, metric: str, digits: int) -> str:
    """One row for each corruption, mean over severities and seeds, Reset Mode."""
    shown = benchmark.per_corruption(results["cells"], "fused", metric, CORRUPTIONS)
    seen = {name.replace("_", " ") for name in TRAINING}
    rows = []
    for _, row in shown.iterrows():
        name, *values = row
        label = f"{name} (seen in training)" if name in seen else name
        rows.append([label, *(number(value, digits) for value in values)])
    return markdown(list(shown.columns), rows)


def e1_table(results: Results) -> str:
    """T_eff by severity, and its rank correlation with severity at three levels, over the same corrupted samples."""
    rows = []
    for (method, mode), part in results["e1_summary"].groupby(["method", "mode"], sort=False):
        e1 = results["e1"].query(f"method == '{method}' and mode == '{mode}' and subset == 'all' and severity > 0")
        medians = e1.groupby("severity")["t_eff_median"].mean()
        mean = part.mean(numeric_only=True)
        rhos = [f"spearman_{level}" for level in ("severity_medians", "cell_medians", "samples")]
        rows.append(
            [
                NAMES[str(method)],
                str(mode),
                " ".join(number(value, 3) for value in medians),
                *(f"{mean[rho]:.2f} ± {mean[f'{rho}_error']:.2f}" for rho in rhos),
                f"{mean['gate_q05']:.2f} to {mean['gate_q95']:.2f}",
                number(100 * mean["agree_corrupted"], 1),
                number(100 * mean["top2_preserved"], 1),
            ]
        )
    header = [
        "method", "gate", "median T_eff, severity 1 to 5", "ρ (5 severity medians)", "ρ (95 cell medians)",
        "ρ (samples)", "gate, 5-95 %", "agree %", "top-2 preserved %",
    ]  # fmt: skip
    return markdown(header, rows)


def csr_table(results: Results) -> str:
    """CSR where the branches agree, where they do not, and over all: does it fall with severity?"""
    rows = []
    for (method, mode, subset), part in results["e1_csr"].groupby(["method", "mode", "subset"], sort=False):
        found = csr_change(part)
        words = {-1: "falls", 0: "no change shown", 1: "**rises**"}[found.sign]
        e1 = results["e1"].query(f"method == '{method}' and mode == '{mode}' and subset == '{subset}' and severity > 0")
        means = e1.groupby("severity")["csr_mean"].mean()
        low, high = found.interval
        rows.append(
            [
                NAMES[str(method)],
                str(mode),
                str(subset),
                " ".join(number(value, 3) for value in means),
                f"{found.value:+.4f} [{low:+.4f}, {high:+.4f}]",
                words,
            ]
        )
    return markdown(["method", "gate", "branches", "mean CSR, severity 1 to 5", "severity 5 less 1", "verdict"], rows)


def csr_change(rows: Any) -> Estimate:
    """Mean over seeds; the seeds share their pictures, so the mean of their errors is no smaller than the mean's."""
    return Estimate(float(rows["change"].mean()), float(rows["error"].mean()))


def e2_table(results: Results) -> str:
    frame = results["e2_test"].query("mode == 'settled'")
    mean = frame.groupby(["method", "severity", "subset"]).mean(numeric_only=True)
    rows = []
    for method in results.gated:
        for scope in ("all", "0", "1", "3", "5"):
            row, apart = mean.loc[method, scope, "all"], mean.loc[method, scope, "disagree"]
            rows.append(
                [
                    NAMES[method],
                    {"all": "all", "0": "clean"}.get(scope, scope),
                    number(row["gate_mean"]),
                    number(row["auc_oa"], 3),
                    number(row["auc_gca"], 3),
                    number(apart["auc_oa"], 3),
                    number(100 * apart["share"], 1),
                    number(row["polarisation"], 3),
                ]
            )
    header = ["method", "severity", "mean gate", "AUC (OA)", "AUC (GCA)", "AUC (OA), disagreeing", "disagreeing %", "Π"]
    return markdown(header, rows)


def e2_rivals_table(results: Results) -> str:
    """The gate's AUC beside that of each branch's confidence, which needs no training."""
    rows = []
    for method in results.gated:
        part = results["e2_rivals"].query(f"method == '{method}'").groupby("score").mean(numeric_only=True)
        cells = [f"{part.loc[s, 'auc_oa']:.3f} ± {part.loc[s, 'error']:.3f}" for s in E2_SCORES]
        best = part.drop(index="gate")["auc_oa"].idxmax()
        found = Estimate(*(float(part.loc[best, column]) for column in ("gate_less_this", "difference_error")))
        low, high = found.interval
        words = {-1: "**the gate is worse**", 0: "no difference shown", 1: "the gate is better"}[found.sign]
        rows.append([NAMES[method], *cells, f"{found.value:+.3f} [{low:+.3f}, {high:+.3f}]", words])
    header = ["method", "gate", "p_max, dynamic", "p_max, static", "gate less the better p_max", "verdict"]
    return markdown(header, rows)


def step_table(results: Results) -> str:
    wanted = ["RiseTime", "SettlingTime", "Overshoot", "PeakTime"]
    info = results["e3_step_info"]
    mean = info[info["measure"].isin(wanted)].groupby(["zeta", "omega_n", "start", "measure"]).mean(numeric_only=True)
    rows = []
    for zeta, omega_n, start in dict.fromkeys((z, w, s) for z, w, s, _ in mean.index):
        row = [f"{zeta:g}", f"{omega_n:g}", str(start)]
        for measure in wanted:
            found = mean.loc[zeta, omega_n, start, measure]
            row.append(f"{found['measured']:.1f} / {found['theory']:.1f}")
        rows.append(row)
    return markdown(["ζ", "ω_n", "step at frame", "rise", "settling (10 %)", "overshoot %", "peak at"], rows)


def streams_table(results: Results, noises_only: bool) -> str:
    """Means over streams; the first seed, all schedules and corruptions, or the noise streams of every seed."""
    frame = results["streams"]
    frame = noise_streams(results) if noises_only else frame[frame["seed"] == results.seeds[0]]
    mean = frame.groupby("variant").mean(numeric_only=True)
    columns = (
        ("flips", 1), ("jitter", 4), ("gate_jitter", 4), ("gate_lag63", 1), ("cut_lag63", 1), ("cut_lag95", 1),
        ("sure_wrong", 2), ("accuracy", 3), ("nll", 3), ("ece", 3),
    )  # fmt: skip
    rows = [[name, *(number(mean.loc[name, c], d) for c, d in columns)] for name in VARIANTS if name in mean.index]
    header = [
        "output", "flips / 100", "jitter of p_max", "jitter of g", "lag of g 63 %", "lag at a cut 63 %", "95 %",
        "confident errors / 100", "accuracy", "NLL", "ECE_deb",
    ]  # fmt: skip
    return markdown(header, rows)


def floor(results: Results) -> float:
    return float(np.nanmean(results["streams"]["ece_floor"]))
