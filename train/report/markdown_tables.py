"""The report's tables, as Markdown: every number from a result file or from `train.report.published`."""

from __future__ import annotations

from typing import Any

import numpy as np

from knob_core.corruptions import NAMES as CORRUPTIONS
from knob_core.corruptions import TRAINING
from knob_core.library import benchmark
from knob_core.methods import DEFAULT, METHODS, PLAINEST
from train.report import published
from train.report.claims import claims, noise_streams
from train.report.result_set import NAMES, Results, Spread, markdown, number

ANCHORED = (PLAINEST, DEFAULT)  # of ours, beside what others published
VARIANTS = (
    *METHODS,
    "knob-ode, trained knobs",
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
    """Table 1, ours and the paper's side by side."""
    names = [NAMES[method] for method in results.methods]
    paper = published.paper()
    all_19, unseen, clean = (
        benchmark.table_1(results["summary"], paper, "fused", scope).set_index("method").reindex(names)
        for scope in ("all 19", "standard 15", "clean")
    )
    rows = []
    for name in names:
        row: Any = all_19.loc[name]
        rows.append(
            [
                name,
                _spread(row, "Avg-C, %", "± Avg-C", 2),
                number(row["paper's Avg-C, %"]),
                number(row["Err-C, %"]),
                number(row["paper's Err-C, %"]),
                _spread(row, "ECE (debiased)", "± ECE", 4),
                number(row["paper's ECE"], 4),
                _spread(unseen.loc[name], "Avg-C, %", "± Avg-C", 2),
                _spread(clean.loc[name], "Avg-C, %", "± Avg-C", 2),
            ]
        )
    header = [
        "method", "Avg-C % (19)", "paper", "Err-C %", "paper", "ECE_deb (19)", "paper", "Avg-C % (15, unseen)",
        "clean %",
    ]  # fmt: skip
    return markdown(header, rows)


def _spread(row: Any, mean: str, scatter: str, digits: int) -> str:
    return Spread(row[mean], row.get(scatter, np.nan)).show(digits)


def outputs_table(results: Results) -> str:
    """Reset Mode, the settled gate, and each branch alone."""
    rows = []
    for method in results.methods:
        for output in ("fused", "settled", "static", "dyn") if method in results.gated else ("fused",):
            name = {
                "fused": "Reset Mode",
                "settled": "settled gate",
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
    """Temperature scaling beside and on top of fusion."""
    fitted = results["temperatures"].groupby(["method", "output", "fitted_on"])["temperature"].mean()
    rows = []
    for method in results.methods:
        for output in ("fused", "settled") if method in results.gated else ("fused",):
            row = [NAMES[method], ("Reset" if output == "fused" else "settled") if method in results.gated else "-"]
            row.append(results.over_seeds(method, output, "all 19", "ece_deb").show(4))
            for on in ("clean", "corrupted"):
                row.append(number(fitted[method, output, on]))
                row += [
                    results.over_seeds(method, f"{output}_t_{on}", "all 19", m).show(d)
                    for m, d in (("ece_deb", 4), ("nll", 3))
                ]
            rows.append(row)
    header = ["method", "gate", "ECE_deb", "T (clean)", "ECE_deb", "NLL", "T (training corruptions)", "ECE_deb", "NLL"]
    return markdown(header, rows)


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
    rows = []
    for (method, mode), part in results["e1_summary"].groupby(["method", "mode"], sort=False):
        e1 = results["e1"].query(f"method == '{method}' and mode == '{mode}' and subset == 'all' and severity > 0")
        medians = e1.groupby("severity")["t_eff_median"].mean()
        rows.append(
            [
                NAMES[str(method)],
                str(mode),
                " ".join(number(value, 3) for value in medians),
                number(part["spearman_severity_medians"].mean()),
                number(part["spearman_cell_medians"].mean()),
                number(part["spearman_samples"].mean()),
                number(100 * part["agree"].mean(), 1),
                number(100 * part["top2_preserved"].mean(), 1),
            ]
        )
    header = [
        "method", "gate", "median T_eff, severity 1 to 5", "ρ (severity medians)", "ρ (95 cell medians)", "ρ (samples)",
        "agree %", "top-2 preserved %",
    ]  # fmt: skip
    return markdown(header, rows)


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
                    f"{row['auc_oa']:.3f} ± {row['auc_oa_error']:.3f}",
                    f"{row['auc_gca']:.3f} ± {row['auc_gca_error']:.3f}",
                    number(apart["auc_oa"], 3),
                    number(100 * apart["share"], 1),
                    number(row["polarisation"], 3),
                ]
            )
    header = ["method", "severity", "mean gate", "AUC (OA)", "AUC (GCA)", "AUC (OA), disagreeing", "disagreeing %", "Π"]
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
        "sure and wrong / 100", "accuracy", "NLL", "ECE_deb",
    ]  # fmt: skip
    return markdown(header, rows)


def floor(results: Results) -> float:
    return float(np.nanmean(results["streams"]["ece_floor"]))
