"""What we set out to show, each with its target, what was measured, and whether it holds. The verdicts are computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from knob_core.corruptions import TEST
from knob_core.methods import DEFAULT, PLAINEST
from knob_core.metrics.clustered import Estimate
from train.measuring.comparison_tables import RIVALS
from train.report import filters, published, rivals
from train.report.result_set import NAMES, Results

NOISES = ("shot_noise", "gaussian_noise", "impulse_noise")
MAX_LAG = 10.0  # frames


class Claim(NamedTuple):
    what: str
    target: str
    measured: str
    holds: bool


def claims(results: Results) -> list[Claim]:
    parts = (_benchmark, _rivals, _branches, _cost, _e1, _e2, _e3, _streams, _change_streams)
    return [claim for part in parts for claim in part(results)]


def _benchmark(results: Results) -> Iterator[Claim]:
    seeds, images = len(results.seeds), int(results.note["images"])
    cells = results["cells"].query("corruption != 'clean'").groupby(["method", "seed"]).size()
    yield Claim(
        "Everything is measured",
        f"{len(published.PAPER)} methods x 3 seeds, at least 2,000 images x 95 cells",
        f"{len(results.methods)} methods x {seeds} seeds, {images:,} images x {cells.min()} cells",
        set(results.methods) >= set(published.PAPER) and seeds >= 3 and images >= 2000 and cells.min() == 95,
    )
    for scope in ("all 19", "standard 15"):
        compared = [m for m in results.methods if m in published.PAPER]
        ours = {m: 100 * results.over_seeds(m, "fused", scope, "accuracy").mean for m in compared}
        worst = min(ours, key=lambda m: ours[m] - published.PAPER[m].avg_c)
        theirs = published.PAPER[worst].avg_c
        yield Claim(
            f"Avg-C ({scope}) above the paper's, method by method",
            "above",
            f"closest: {NAMES[worst]} {ours[worst]:.1f} % against {theirs:.1f} %",
            ours[worst] > theirs,
        )
    for output, mode in (("fused", "Reset Mode"), ("settled", "settled gate")):
        ece = {m: results.over_seeds(m, output, "all 19", "ece_deb").mean for m in results.gated}
        worst = max(ece, key=lambda m: ece[m])
        yield Claim(
            f"ECE_deb of every Knob variant ({mode})", "<= 0.06", f"{NAMES[worst]} {ece[worst]:.4f}", ece[worst] <= 0.06
        )
        static = results.over_seeds(PLAINEST, "fused", "all 19", "ece_deb").mean
        yield Claim(
            f"ECE_deb of every Knob variant below Static's ({mode})",
            f"< {static:.4f}",
            f"highest: {NAMES[worst]} {ece[worst]:.4f}",
            ece[worst] < static,
        )


def _rivals(results: Results) -> Iterator[Claim]:
    """Beside the plainest things that could explain a figure, over the 15 unseen corruptions."""
    scope = rivals.SCOPE
    for what, target, score in (("Avg-C (15, unseen)", 83.2, scope), ("clean accuracy", 90.0, "clean")):
        ours = {m: 100 * results.over_seeds(m, "fused", score, "accuracy").mean for m in results.methods}
        worst = min(ours, key=lambda m: ours[m])
        yield Claim(
            f"{what} of every method", f">= {target:.2f} %", f"lowest: {NAMES[worst]} {ours[worst]:.2f} %",
            ours[worst] >= target,
        )  # fmt: skip
    for output, mode in (("fused", "Reset Mode"), ("settled", "settled gate")):
        ece = {m: results.over_seeds(m, output, scope, "ece_deb").mean for m in results.gated}
        worst = max(ece, key=lambda m: ece[m])
        yield Claim(
            f"ECE_deb of every Knob variant on the 15 unseen ({mode})", "<= 0.04",
            f"highest: {NAMES[worst]} {ece[worst]:.4f}", ece[worst] <= 0.04,
        )  # fmt: skip
        for rival in RIVALS:
            found = {m: rivals.difference(results, m, output, rival.words) for m in results.gated}
            known = {m: value for m, value in found.items() if value is not None}
            if len(known) < len(results.gated):  # "every" is said of all
                continue
            worst = max(known, key=lambda m: known[m].interval[1])
            low, high = known[worst].interval
            yield Claim(
                f"NLL of every Knob variant below that of: {rival.words} ({mode})",
                "95 % interval below 0",
                f"closest: {NAMES[worst]} {known[worst].value:+.4f} [{low:+.4f}, {high:+.4f}]",
                all(value.sign < 0 for value in known.values()),
            )
    agree = 100 * results["e1_summary"].groupby("method")["agree_corrupted"].mean()
    yield Claim(
        "Branches agree on at most 92 % of corrupted pictures", "<= 92 %",
        ", ".join(f"{NAMES[m]} {agree[m]:.1f} %" for m in results.gated), bool(agree.max() <= 92),
    )  # fmt: skip
    reset = results["e1_summary"].query("mode == 'reset'").groupby("method").mean(numeric_only=True)
    width = reset["gate_q95"] - reset["gate_q05"]
    yield Claim(
        "Reset Mode: the gate's 5-95 % range", ">= 0.2 wide, every Knob variant",
        ", ".join(f"{NAMES[m]} {width[m]:.2f}" for m in results.gated), bool(width.min() >= 0.2),
    )  # fmt: skip


def _branches(results: Results) -> Iterator[Claim]:
    """Complementary branches, and a gate that feels the severity."""
    frame = results["cells"].query("method in @results.gated")
    who = ["method", "seed"]
    unseen = frame[frame["corruption"].isin(TEST)]
    for what, rows, better, worse in (
        ("on clean images the dynamic", frame.query("severity == 0"), "dyn", "static"),
        ("at severity 5 (15 unseen corruptions) the static", unseen.query("severity == 5"), "static", "dyn"),
    ):
        nll = rows.groupby(who)[[f"{better}_nll", f"{worse}_nll"]].mean()
        row = nll.loc[(nll[f"{better}_nll"] - nll[f"{worse}_nll"]).idxmax()]
        yield Claim(
            f"Branches: {what} branch has the lower cross-entropy",
            "every method and seed",
            f"closest: {row[f'{better}_nll']:.3f} against {row[f'{worse}_nll']:.3f}",
            bool((nll[f"{better}_nll"] < nll[f"{worse}_nll"]).all()),
        )
    shot = frame.query("corruption == 'shot_noise'").pivot_table("gate_mean", who, "severity")
    fall = shot[1] - shot[5]
    each = ", ".join(f"{NAMES[m]} {fall[m].mean():.3f} ({fall[m].min():.3f} at least)" for m in results.gated)
    yield Claim(
        "Gate: mean sigmoid(u*) falls from shot noise 1 to 5", ">= 0.2, every seed", each, bool(fall.min() >= 0.2)
    )
    means = unseen.pivot_table("u_star_mean", [*who, "corruption"], "severity")  # (models x 15, 5)
    rank = means.rank(axis=1).corrwith(pd.Series(means.columns, means.columns), axis=1)  # Spearman with the severity
    monotone = (rank <= -0.9 + 1e-9).groupby(level=who).sum()
    yield Claim(
        "Gate: mean u* falls with severity (Spearman <= -0.9)",
        ">= 12 of the 15 unseen corruptions, every seed",
        f"{monotone.min()} at least, {monotone.mean():.1f} on average",
        bool(monotone.min() >= 12),
    )


def _cost(results: Results) -> Iterator[Claim]:
    for width, rows in results["cost"].groupby("width"):
        row = rows.set_index("method").loc[DEFAULT]
        limit = 1.05 if width >= 64 else 1.10  # a small network is quick, and small operations weigh more
        yield Claim(
            f"Latency of Knob-ODE against Static, width {width}",
            f"<= {limit:.2f}",
            f"{row['ratio_to_static']:.2f} (quartiles {row['ratio_q25']:.2f} to {row['ratio_q75']:.2f})",
            row["ratio_to_static"] <= limit,
        )


def _e1(results: Results) -> Iterator[Claim]:
    summary = results["e1_summary"]
    groups = {
        "Knob-IA, as in the paper": summary["method"] == "knob-ia",
        "settled, every method": summary["mode"] == "settled",
        "Reset Mode, every method": summary["mode"] == "reset",
    }
    for name, chosen in groups.items():
        lowest = summary.loc[chosen, "spearman_severity_medians"].min()
        yield Claim(
            f"E-1: Spearman of T_eff with severity, over severity medians ({name})",
            ">= 0.9",
            f"{lowest:.2f} at least",
            bool(lowest >= 0.9),
        )
    yield Claim(
        "E-1: T_eff >= 1 and CSR <= 1 for every sample",
        "always",
        f"smallest T_eff {summary['t_eff_min'].min():.6g}, largest CSR {summary['csr_max'].max():.6g}",
        bool(summary["t_eff_min"].min() >= 1 and summary["csr_max"].max() <= 1),
    )
    rows = results["e1"].query("severity > 0").pivot_table(
        "csr_mean", ["method", "seed", "mode", "severity"], "subset"
    )  # fmt: skip
    changes = results["e1_csr"].query("mode == 'settled'")
    for subset, part in changes.groupby("subset", sort=False):
        found = [Estimate(float(r["change"].mean()), float(r["error"].mean())) for _, r in part.groupby("method")]
        worst = max(found, key=lambda change: change.interval[1])
        yield Claim(
            f"E-1: CSR falls from severity 1 to 5 ({subset}, settled, every method)",
            "95 % interval below 0",
            f"closest: {worst.value:+.4f} [{worst.interval[0]:+.4f}, {worst.interval[1]:+.4f}]",
            all(change.sign < 0 for change in found),
        )
    yield Claim(
        "E-1: CSR below 1, and lower where the branches disagree",
        "in every severity",
        f"largest mean on agreement {rows['agree'].max():.4f}, on disagreement {rows['disagree'].max():.4f}",
        bool((rows["all"] < 1).all() and (rows["disagree"] < rows["agree"]).all()),
    )


def _e2(results: Results) -> Iterator[Claim]:
    rows = results["e2_rivals"].query("score != 'gate'").groupby(["method", "score"]).mean(numeric_only=True)
    ahead = {place: Estimate(r["gate_less_this"], r["difference_error"]) for place, r in rows.iterrows()}
    closest = min(ahead, key=lambda place: ahead[place].interval[0])
    low, high = ahead[closest].interval
    yield Claim(
        "E-2: the gate's AUC (OA) above that of p_max of either branch, corrupted pictures",
        "95 % interval above 0",
        f"closest: {NAMES[closest[0]]} less {closest[1]} {ahead[closest].value:+.3f} [{low:+.3f}, {high:+.3f}]",
        all(difference.sign > 0 for difference in ahead.values()),
    )
    frame = results["e2_test"].query("severity == 'corrupted' and subset == 'all' and mode == 'settled'")
    columns = ["auc_oa", "auc_gca", "polarisation", "saturated"]
    mean = frame.groupby("method")[columns].mean().loc[results.gated]
    worst = mean["auc_oa"].idxmin()
    row = mean.loc[worst]
    yield Claim(
        "E-2: on corrupted test images every gate leans towards the better branch",
        "AUC OA >= 0.72, GCA >= 0.70",
        f"lowest: {NAMES[worst]} {row['auc_oa']:.3f}, {row['auc_gca']:.3f}",
        bool((mean["auc_oa"] >= 0.72).all() and (mean["auc_gca"] >= 0.70).all()),
    )
    yield Claim(
        "E-2: as well as the paper's, and no more polarised than 0.15",
        "AUC OA >= 0.79, GCA >= 0.74, Π <= 0.15",
        f"lowest: {NAMES[worst]} {row['auc_oa']:.3f}, {row['auc_gca']:.3f}, Π {row['polarisation']:.3f}",
        bool(
            (mean["auc_oa"] >= 0.79).all() and (mean["auc_gca"] >= 0.74).all() and (mean["polarisation"] <= 0.15).all()
        ),
    )
    saturated = mean["saturated"].max()
    yield Claim(
        "E-2: no saturation: samples with g outside [0.02, 0.98]",
        "< 5 %",
        f"{100 * saturated:.1f} % at most",
        bool(saturated < 0.05),
    )


def _e3(results: Results) -> Iterator[Claim]:
    gate = results["e3_gate_bode"]
    db, degrees = gate["error_db"].abs().max(), gate["error_degrees"].abs().max()
    yield Claim(
        f"E-3: the gate's Bode plot on theory, up to {gate['freq'].max():g} cycles/frame",
        "0.1 dB, 1°",
        f"{db:.1e} dB, {degrees:.1e}° at most",
        bool(db <= 0.1 and degrees <= 1),
    )
    info = results["e3_step_info"]
    times = info[info["measure"].isin(["RiseTime", "SettlingTime"])]
    off = (times["measured"] - times["theory"]).abs()
    yield Claim(
        "E-3: rise and settling of the step within a frame of theory",
        "1 frame",
        f"{off.max():.0f} at most, {off.mean():.2f} on average, over {len(off)} times",
        bool(off.max() <= 1),
    )
    for severities in ("continuous", "rounded"):
        ode, ia = (stream_gain(results, method, severities) for method in ("knob-ode", "knob-ia"))
        yield Claim(
            f"E-3: end to end, attenuation at the highest frequency beyond Knob-IA's ({severities} severities)",
            ">= 10 dB",
            f"{(ia - ode).mean():.1f} dB (Knob-ODE {ode.mean():.1f}, Knob-IA {ia.mean():.1f})",
            bool((ia - ode).min() >= 10),
        )


def stream_gain(results: Results, method: str, severities: str) -> np.ndarray:
    """dB at the highest frequency, by seed."""
    frame = results["e3_stream_bode"]
    rows = frame[(frame["method"] == method) & (frame["severities"] == severities)]
    return rows[rows["freq"] == rows["freq"].max()].sort_values("seed")["gain_db"].to_numpy()


def noise_streams(results: Results, schedules: tuple[str, ...] = ("step", "spikes")) -> Any:
    frame = results["streams"]
    return frame[frame["corruption"].isin(NOISES) & frame["schedule"].isin(schedules)]


def _streams(results: Results) -> Iterator[Claim]:
    frame = noise_streams(results)
    for schedule in ("step", "spikes"):
        part = frame[frame["schedule"] == schedule]
        jitter = part.pivot_table("gate_jitter", ["seed", "corruption"], "variant")
        ratio = jitter["knob-ia"] / jitter["knob-ode"]
        lag = part[part["variant"] == "knob-ode"]["gate_lag63"].mean()
        yield Claim(
            f"Streams: Knob-ODE's gate trembles less than Knob-IA's ({schedule}, noises)",
            ">= 3 x",
            f"{ratio.min():.1f} x at least, {ratio.mean():.1f} x on average, at a lag of {lag:.1f} frames",
            bool(ratio.min() >= 3),
        )
    flips = frame.pivot_table("flips", ["seed", "corruption", "schedule"], "variant")
    ratio = flips["knob-ia"].mean() / flips["knob-ode + memory"].mean()
    mean = frame[frame["variant"] == "knob-ode + memory"].mean(numeric_only=True)
    yield Claim(
        "Streams: plain memory at the home setting gives fewer flips (noises)",
        ">= 3 x at a lag <= 10 frames",
        f"{ratio:.1f} x ({flips['knob-ia'].mean():.1f} -> {flips['knob-ode + memory'].mean():.1f}); lag "
        f"{mean['cut_lag63']:.1f} frames after a cut, {mean['gate_lag63']:.1f} of the gate",
        bool(ratio >= 3 and max(mean["cut_lag63"], mean["gate_lag63"]) <= MAX_LAG),
    )
    best = calmest(results, "knob-ode + memory")
    yield Claim(
        "Streams: plain memory at its calmest setting within the lag gives fewer flips (noise steps)",
        ">= 3 x at a lag <= 10 frames",
        f"{best.ratio:.1f} x ({best.before:.1f} -> {best.flips:.1f}) at {best.lag:.1f} frames, "
        f"ζ {best.zeta:g}, ω_n {best.omega_n:g}",
        bool(best.ratio >= 3),
    )


class Calmest(NamedTuple):
    """The setting of a family with the fewest flips among those whose lag after a cut is allowed."""

    zeta: float
    omega_n: float
    flips: float
    before: float  # frame by frame
    lag: float  # frames
    ratio: float


def calmest(results: Results, family: str) -> Calmest:
    frame = results["trade_off"]
    before = frame[frame["family"] == "knob-ia frame by frame"]["flips"].mean()
    mean = trade_off_means(results, family)
    allowed = mean[mean["cut_lag63"] <= MAX_LAG]
    row = allowed.loc[allowed["flips"].idxmin()]
    lag, flips = float(row["cut_lag63"]), float(row["flips"])
    return Calmest(
        float(row["zeta"]), float(row["omega_n"]), flips, float(before), lag, float(before) / max(flips, 1e-9)
    )


def trade_off_means(results: Results, family: str) -> Any:
    """A family's sweep, averaged over seeds and corruptions."""
    frame = results["trade_off"]
    settings = ["zeta", "omega_n", "min_cutoff", "beta"]
    rows = frame[frame["family"] == family]
    return rows.groupby(settings, dropna=False).mean(numeric_only=True).reset_index()


def _change_streams(results: Results) -> Iterator[Claim]:
    """Attentive memory beside filters that were tuned alike; none where change streams were not measured."""
    if not results.has(filters.FILE) or not results.has(filters.HOME_FILE):
        return
    nearest = {model: filters.nearest_rivals(filters.rows(results, model, "mixed")) for model in filters.MODELS}
    for model, column, first, what in (
        (DEFAULT, "ours_less", 1.0, "below every rival at every delay, every seed"),
        (DEFAULT, "ours_less_high", 1.25, "below every rival from a delay of 1.25 on, by more than chance, every seed"),
        (PLAINEST, "ours_less", 1.25, "below every rival from a delay of 1.25 on, every seed"),
    ):
        rows = nearest[model][nearest[model]["delay"] >= first]
        row: Any = rows.loc[rows[column].idxmax()]
        yield Claim(
            f"Change streams, {filters.MODELS[model]}: excess flips {what}",
            "difference below 0" if column == "ours_less" else "95 % interval below 0",
            f"closest: {row['ours_less']:+.2f} [{row['ours_less_low']:+.2f}, {row['ours_less_high']:+.2f}] against "
            f"{filters.name_of(row['filter'])}, {row['model']}, delay {row['delay']:g}",
            bool(row[column] < 0),
        )
    means = filters.over_seeds(filters.rows(results, DEFAULT, "mixed")).loc["attentive"]
    calm, nll = float(means[1.5]), float(means["nll"])
    yield Claim("Change streams: excess flips at a delay of 1.5 frames", "<= 0.55", f"{calm:.2f}", calm <= 0.55)
    yield Claim("Change streams: NLL of the best setting", "<= 0.545", f"{nll:.3f}", nll <= 0.545)
    home = results[filters.HOME_FILE]
    sure = home[home["model"].str.startswith(f"{DEFAULT}-s")].groupby("setting")["sure_wrong"].mean()
    cusum = next((float(sure[name]) for name in sure.index if name.startswith("CUSUM")), np.nan)
    ours = float(sure[filters.OURS_AT_HOME])
    yield Claim(
        "Change streams: confident errors per 100 frames at home not above CUSUM's at the same delay",
        f"<= {cusum:.2f}", f"{ours:.2f}", ours <= cusum,
    )  # fmt: skip
