"""The report's figures: numbers in, pictures out. Needs matplotlib, which the "dev" extra brings."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from knob_core import files, palette, theory
from knob_core.maps.measure_words import MEASURES
from knob_core.methods import DEFAULT, METHODS
from knob_core.probes.learning import SUBSETS
from knob_core.settings import HOME
from train.report import filters, paper_recipe, sensitivity
from train.report.claims import trade_off_means
from train.report.result_set import NAMES, Results

matplotlib.use("Agg")

SEVERITY, GATE, CONFIDENCE, STATIC, DYNAMIC, WRONG = (
    palette.LIGHT[name] for name in ("severity", "gate", "confidence", "static", "dyn", "wrong")
)
MATPLOTLIB = {"square": "s", "diamond": "D", "triangle-up": "^", "cross": "X", "circle": "o", "star": "*"}
METHOD = {key: palette.LIGHT[method.colour] for key, method in METHODS.items()}
MARK = {key: MATPLOTLIB.get(method.marker, "P") for key, method in METHODS.items()}
FILTERS = (SEVERITY, CONFIDENCE, STATIC, DYNAMIC, WRONG, palette.LIGHT["under"], palette.LIGHT["critical"],
           palette.LIGHT["over"], "0.35", "0.6")  # fmt: skip
FAMILY = {
    "knob-ode": (GATE, "-"),
    "knob-ode + memory": (GATE, "--"),
    "static + memory": (STATIC, "--"),
    "knob-ia + EMA of p": (DYNAMIC, "-"),
    "knob-ia + one-euro of p": (CONFIDENCE, "-"),
}
STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "savefig.dpi": 110,
}


def panels(count: int, width: float = 9.0, height: float = 3.1) -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(width, height))
    return figure, list(np.atleast_1d(figure.subplots(1, count)))


def pareto(results: Results) -> Figure:
    """ECE_deb against what it costs: multiply-accumulates, and latency as a ratio to Static."""
    figure, axes = panels(2)
    cost = results["cost"]
    cost = cost[cost["width"] == cost["width"].min()].set_index("method")
    for axis, column, label, scale in (
        (axes[0], "macs", "million multiply-accumulates an image", 1e-6),
        (axes[1], "ratio_to_static", "latency, ratio to Static", 1.0),
    ):
        for method in results.methods:
            for output, fill in (("fused", "full"), ("settled", "none")):
                ece = results.over_seeds(method, output, "all 19", "ece_deb")
                if np.isnan(ece.mean):
                    continue
                name = NAMES[method] + ("" if output == "fused" else ", settled")
                x = scale * cost.loc[method, column]
                axis.errorbar(
                    x, ece.mean, yerr=None if np.isnan(ece.std) else ece.std, color=METHOD[method],
                    marker=MARK[method], fillstyle=fill, label=name, capsize=2, linestyle="none",
                )  # fmt: skip
        axis.set_xlabel(label)
        axis.set_ylabel("ECE_deb, mean over 95 cells")
        axis.set_ylim(bottom=0)
    axes[1].legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def e1(results: Results) -> Figure:
    """CSR and T_eff by severity, reliability and per-bin error by agreement, of Knob-IA as in the paper."""
    figure, axes = panels(4, 13.0)
    rows = results["e1"].query("method == 'knob-ia' and mode == 'settled' and severity > 0")
    mean = rows.groupby(["subset", "severity"]).mean(numeric_only=True)
    colours = {"all": GATE, "agree": STATIC, "disagree": DYNAMIC}
    for subset, colour in colours.items():
        part = mean.loc[subset]
        axes[0].errorbar(
            part.index, part["csr_mean"], yerr=part["csr_sem"], color=colour, label=subset, marker=".", capsize=2
        )
        axes[1].semilogy(part.index, part["t_eff_median"] - 1, color=colour, label=subset, marker=".")
    every = mean.loc["all"]
    axes[1].fill_between(every.index, every["t_eff_q25"] - 1, every["t_eff_q75"] - 1, color=GATE, alpha=0.15, lw=0)
    axes[0].set(xlabel="severity", ylabel="CSR, mean ± SEM")
    axes[1].set(xlabel="severity", ylabel="T_eff - 1, median (band: quartiles)")
    axes[0].legend()
    bins = results["e1_reliability"].query(f"method == 'knob-ia' and mode == 'settled' and seed == {results.seeds[0]}")
    axes[2].plot([0, 1], [0, 1], color=SEVERITY, lw=0.8)
    for subset in ("agree", "disagree"):
        part = bins[bins["subset"] == subset]
        error = [part["accuracy"] - part["low"], part["high"] - part["accuracy"]]
        axes[2].errorbar(
            part["confidence"], part["accuracy"], yerr=np.clip(error, 0, None), color=colours[subset], marker=".",
            label=subset, capsize=2,
        )  # fmt: skip
        share = part["counts"] / part["counts"].sum()
        axes[3].plot(part["confidence"], share * part["gap"].abs(), color=colours[subset], marker=".", label=subset)
    axes[2].set(xlabel="confidence", ylabel="accuracy (95 % interval)", xlim=(0, 1), ylim=(0, 1))
    axes[3].set(xlabel="confidence", ylabel="share of ECE in the bin")
    axes[2].legend()
    return figure


def e2(results: Results) -> Figure:
    """AUC of the gate against both advantages, polarisation and the knobs, over the epochs of training."""
    figure, axes = panels(3, 12.0)
    learning = results["learning"]
    rows = learning[learning["method"].isin(results.gated)]
    for method, part in rows.groupby("method", sort=False):
        curve = part.groupby("epoch").mean(numeric_only=True)
        spread = part.groupby("epoch").std(numeric_only=True)
        colour, name = METHOD[str(method)], NAMES[str(method)]
        for column, line in (("auc_oa_all", "-"), ("auc_gca_all", "--")):
            label = f"{name}, {'OA' if line == '-' else 'GCA'}"
            axes[0].errorbar(curve.index, curve[column], yerr=spread[column], color=colour, ls=line, label=label)
        axes[1].plot(curve.index, curve["auc_oa_disagree"], color=colour, label=f"{name}, disagreeing")
        axes[1].plot(curve.index, curve["polarisation"], color=colour, ls=":", label=f"{name}, Π")
        for column, line in (("zeta", "-"), ("omega_n", "--")):
            if column in curve and curve[column].notna().any():
                axes[2].plot(curve.index, curve[column], color=colour, ls=line, label=f"{name}, {column}")
    axes[0].axhline(0.5, color=SEVERITY, lw=0.8)
    axes[0].set(xlabel="epoch", ylabel="ROC-AUC, all samples (bars: seeds)")
    axes[1].set(xlabel="epoch", ylabel="AUC (OA) where branches disagree; Π")
    axes[2].set(xlabel="epoch", ylabel="ζ, ω_n (rad/frame)")
    for axis in axes:
        axis.legend(fontsize=6)
    return figure


def paper_gate(results: Results) -> Figure:
    """E-2 of the paper's recipe as the paper draws it: AUC by subset over the epochs, Π on the right."""
    learning = paper_recipe.gated_curves(Results(results.folder / paper_recipe.FOLDER))
    methods = list(dict.fromkeys(learning["method"]))
    figure, axes = panels(len(methods), 4.5 * len(methods))
    for axis, method in zip(axes, methods, strict=True):
        curve = learning[learning["method"] == method].groupby("epoch").mean(numeric_only=True)
        for subset, colour in zip(SUBSETS, (GATE, WRONG, DYNAMIC, STATIC), strict=True):
            for advantage, line in (("oa", "-"), ("gca", "--")):
                label = f"{subset.replace('_', ' ')}, {advantage.upper()}"
                axis.plot(curve.index, curve[f"auc_{advantage}_{subset}"], color=colour, ls=line, label=label)
        axis.axhline(0.5, color=SEVERITY, lw=0.8)
        axis.set(xlabel="epoch", ylabel=f"ROC-AUC of {NAMES[method]}'s gate")
        right = axis.twinx()
        right.plot(curve.index, curve["polarisation"], "^", color=SEVERITY, ms=3)
        right.set(ylabel="Π (triangles)", ylim=(0, 0.5))
        axis.legend(fontsize=6)
    return figure


def e3_bode(results: Results) -> Figure:
    """The gate alone on theory, and end to end at continuous and rounded severities."""
    figure, axes = panels(3, 12.0)
    gate = results["e3_gate_bode"]
    fine = np.geomspace(gate["freq"].min(), 0.499, 300)
    for index, ((zeta, omega_n), part) in enumerate(gate.groupby(["zeta", "omega_n"], sort=False)):
        colour = list(METHOD.values())[index % len(METHOD)]
        h = theory.frequency_response(zeta, omega_n, fine)
        label = f"ζ {zeta:g}, ω_n {omega_n:g}"
        axes[0].semilogx(fine, 20 * np.log10(np.abs(h)), color=colour, lw=0.9)
        axes[0].semilogx(part["freq"], part["measured_db"], ".", color=colour, label=label)
        axes[1].semilogx(fine, np.degrees(np.unwrap(np.angle(h))), color=colour, lw=0.9)
        axes[1].semilogx(part["freq"], np.degrees(np.unwrap(np.radians(part["measured_phase"]))), ".", color=colour)
    axes[0].set(xlabel="cycles/frame", ylabel="gate alone, dB (lines: theory)", ylim=(-70, 12))
    axes[1].set(xlabel="cycles/frame", ylabel="phase, degrees")
    axes[0].legend(fontsize=7)
    stream = results["e3_stream_bode"]
    for method in results.gated:
        for severities, line in (("continuous", "-"), ("rounded", ":")):
            part = stream[(stream["method"] == method) & (stream["severities"] == severities)]
            mean = part.groupby("freq").mean(numeric_only=True)
            axes[2].errorbar(
                mean.index, mean["gain_db"], yerr=mean["gain_sem"], color=METHOD[method], ls=line, marker=MARK[method],
                ms=3, capsize=2, label=f"{NAMES[method]}, {severities}",
            )  # fmt: skip
    ideal = stream[stream["method"] == DEFAULT].groupby("freq")["gate_theory_db"].mean()
    axes[2].plot(ideal.index, ideal, color="black", lw=0.8, label="the gate's theory")
    axes[2].set(xlabel="cycles/frame", ylabel="s → g, dB against the slowest (bars: SEM)", xscale="log")
    axes[2].legend(fontsize=6)
    return figure


def e3_step(results: Results) -> Figure:
    """Gate and confidence through 1 -> 5 -> 1, medians and quartiles, with dynamics and frame by frame."""
    figure, axes = panels(2, 11.0)
    frame = results["e3_step"].query(f"seed == {results.seeds[0]}")
    for axis, method in zip(axes, ("knob-ode", "knob-ia"), strict=True):
        part = frame[frame["method"] == method]
        axis.plot(part["frame"], part["severity"] / 5, color=SEVERITY, lw=0.8, label="severity / 5")
        for name, colour in (("g", GATE), ("p_max", CONFIDENCE)):
            axis.plot(part["frame"], part[f"{name}_median"], color=colour, label=f"{name}, median")
            axis.fill_between(
                part["frame"], part[f"{name}_q25"], part[f"{name}_q75"], color=colour, alpha=0.2, lw=0
            )  # fmt: skip
        axis.set(xlabel="frame", title=f"{NAMES[method]}, shot noise", ylim=(0, 1.05))
    axes[0].legend(fontsize=7, loc="lower center")
    return figure


def trade_off(results: Results) -> Figure:
    """The trade-off: flips and jitter against the lag after a cut, over the settings."""
    figure, axes = panels(2, 11.0, 3.6)
    frame = results["trade_off"]
    for axis, column, label in ((axes[0], "flips", "flips per 100 frames"), (axes[1], "jitter", "jitter of p_max")):
        for family, (colour, line) in FAMILY.items():
            mean = trade_off_means(results, family)
            split: list[str] = [c for c in ("zeta", "beta") if mean[c].notna().any()]
            groups = mean.groupby(split) if split else [((), mean)]
            for index, (key, part) in enumerate(groups):
                part = part.sort_values("cut_lag63")
                values = key if isinstance(key, tuple) else (key,)
                text = ", ".join(f"{'ζ' if n == 'zeta' else 'β'} {v:g}" for n, v in zip(split, values, strict=True))
                axis.plot(
                    part["cut_lag63"], part[column], color=colour, ls=line, alpha=1 - 0.3 * index, marker=".", ms=4,
                    label=f"{family} {text}".strip(),
                )  # fmt: skip
        plain = frame[frame["family"] == "knob-ia frame by frame"][column].mean()
        axis.axhline(plain, color=WRONG, lw=0.8, label="frame by frame")
        axis.set(xlabel="lag after a cut to 63 %, frames", ylabel=label, xlim=(-0.5, 25))
        axis.set_ylim(bottom=0)
    axes[1].legend(fontsize=6, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def change_filters(results: Results) -> Figure:
    """Excess flips and NLL against mean delay on change streams, every filter, band over streams."""
    figure, axes = panels(2, 10.0, 3.6)
    frame = filters.curves(results)
    bases = dict.fromkeys(str(name).removesuffix("-u") for name in frame["filter"].unique() if name not in filters.OURS)
    colours = dict(zip(bases, itertools.cycle(FILTERS), strict=False))
    for name, part in frame.groupby("filter"):
        own = name in filters.OURS
        colour, width = (GATE, 2.4) if own else (colours[str(name).removesuffix("-u")], 1.1)
        line = "--" if str(name).endswith("-u") else "-"
        label = filters.name_of(str(name)).strip("*")
        axes[0].plot(part["delay"], part["excess_flips"], color=colour, lw=width, ls=line, marker=".", label=label)
        axes[0].fill_between(part["delay"], part["low"], part["high"], color=colour, alpha=0.12, lw=0)
        axes[1].plot(part["delay"], part["nll"], color=colour, lw=width, ls=line, marker=".", label=label)
    axes[0].set(xlabel="mean delay, frames", ylabel="excess flips per 100 frames", yscale="log")
    axes[1].set(xlabel="mean delay, frames", ylabel="NLL at those settings, nats")
    axes[1].legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def severities(results: Results) -> Figure:
    """Accuracy and ECE_deb by severity, mean over corruptions and seeds."""
    figure, axes = panels(2)
    cells = results["cells"]
    for method in results.methods:
        mean = cells[cells["method"] == method].groupby("severity").mean(numeric_only=True)
        for output, line in (("fused", "-"), ("settled", ":")):
            if output == "settled" and method not in results.gated:
                continue
            label = NAMES[method] + (", settled" if output == "settled" else "")
            for axis, metric in zip(axes, ("accuracy", "ece_deb"), strict=True):
                axis.plot(
                    mean.index, mean[f"{output}_{metric}"], color=METHOD[method], ls=line, marker=".", label=label
                )
    axes[0].set(xlabel="severity (0: clean)", ylabel="accuracy")
    axes[1].set(xlabel="severity (0: clean)", ylabel="ECE_deb")
    axes[1].legend(fontsize=7)
    return figure


def sensitivity_maps(results: Results) -> Figure:
    """Six measures over both knobs, means over seeds; the ring is home."""
    figure = Figure(figsize=(10.0, 5.6))
    frame = sensitivity.over_seeds(results)
    for axis, name in zip(figure.subplots(2, 3).ravel(), sensitivity.SHOWN, strict=True):
        grid = frame.pivot(index="zeta", columns="omega_n", values=name)
        measure = MEASURES[name]
        values = measure.scale * grid.to_numpy()
        if name in ("excess_flips", "delay_mean"):  # from tenths to ten: equal steps in log
            levels: Any = np.geomspace(values.min(), values.max(), 13)
            drawn = axis.contourf(grid.columns, grid.index, values, levels, norm=LogNorm(), cmap="cividis")
        else:
            drawn = axis.contourf(grid.columns, grid.index, values, 12, cmap="cividis")
        figure.colorbar(drawn, ax=axis, format="%.2g")
        axis.plot(HOME.omega_n, HOME.zeta, "o", mfc="none", mec="white", mew=1.6)
        axis.set(xscale="log", yscale="log", xlabel="ω_n, rad/frame", ylabel="ζ")
        axis.set_title(measure.words, fontsize=8)
        axis.grid(False)
    return figure


FIGURES: dict[str, Callable[[Results], Figure]] = {
    "pareto": pareto,
    "severities": severities,
    "e1": e1,
    "e2": e2,
    "e3_bode": e3_bode,
    "e3_step": e3_step,
    "trade_off": trade_off,
}


def draw(results: Results, folder: Path) -> None:
    """Every figure as PNG; each file whole or not at all, and free of dates."""
    optional = {"change_filters": (filters.FILE, change_filters), "sensitivity": (sensitivity.FILE, sensitivity_maps)}
    known = {name: make for name, (file, make) in optional.items() if (results.folder / f"{file}.csv").is_file()}
    if paper_recipe.gated_curves(Results(results.folder / paper_recipe.FOLDER)) is not None:
        known["paper_recipe"] = paper_gate
    for name, make in (FIGURES | known).items():
        with matplotlib.rc_context(STYLE), files.replacing(folder / f"{name}.png") as temporary:
            make(results).savefig(temporary, format="png", metadata={"Software": None})
