"""A plain-words reading of each part, written from the numbers: what holds, what does not, and why we differ."""

from __future__ import annotations

from train import published
from train.report.claims import calmest, noise_streams, stream_gain, trade_off_means
from train.report.results import GATED, NAMES, Results


def setting(results: Results) -> str:
    note = results.note
    widths = sorted({model["width"] for model in note["models"].values()})
    return (
        f"{len(note['models'])} models ({len(results.methods)} methods x {len(results.seeds)} seeds, width "
        f"{', '.join(map(str, widths))}), the first {note['images']:,} images of the CIFAR-10 test split under 19 "
        f"corruptions x 5 severities ({note['pixels']}, noise seed {note['noise_seed']}). Means over severities, "
        "then over "
        f"corruptions; ± is the standard deviation over seeds. The four training corruptions are among the 19 and not "
        f"among the 15."
    )


def benchmark(results: Results) -> str:
    accuracy = {m: results.over_seeds(m, "fused", "all 19", "accuracy").mean for m in results.methods}
    ece = {m: results.over_seeds(m, "fused", "all 19", "ece_deb").mean for m in results.methods}
    settled = {m: results.over_seeds(m, "settled", "all 19", "ece_deb").mean for m in GATED}
    best, calm = max(accuracy, key=lambda m: accuracy[m]), min(ece, key=lambda m: ece[m])
    spread = 100 * (max(accuracy.values()) - min(accuracy.values()))
    lines = [
        f"Accuracy hardly tells the methods apart: {spread:.1f} points between the best ({NAMES[best]}) and the worst, "
        f"since all methods of a seed stand on one encoder. In Reset Mode the lowest ECE_deb is {NAMES[calm]}'s, "
        f"{ece[calm]:.4f}; Static has {ece['static']:.4f}."
    ]
    better = [NAMES[m] for m in GATED if ece[m] < ece["static"]]
    worse = [NAMES[m] for m in GATED if ece[m] >= ece["static"]]
    if better:
        lines.append(f"Better calibrated than Static in Reset Mode: {', '.join(better)}.")
    if worse:
        lines.append(f"Not better calibrated than Static in Reset Mode: {', '.join(worse)}.")
    lines.append(
        "Settled, that is at the gate value that a stream comes to rest at: "
        + ", ".join(f"{NAMES[m]} {settled[m]:.4f}" for m in GATED)
        + "."
    )
    twins = same_branches(results)
    if twins:
        lines.append(
            f"{' and '.join(NAMES[m] for m in twins)} have the same weights seed by seed: their branches and u* are "
            "trained by the same losses from the same start, and only the dynamics between u* and g differ. So their "
            "settled figures are the same, and the Reset Mode column shows what one step from rest does to the gate: "
            "it "
            "shrinks u* towards 0, and with it the gate towards 0.5."
        )
    lines.append(
        "Where we differ from the paper, and why: our branches are trained to be complementary (static modest and on "
        "all "
        "images, dynamic sharp and on clean ones), ECE is far lower because the static branch is label-smoothed and "
        "the "
        "encoder has seen four corruptions, and our network is a quarter as wide."
    )
    return "\n\n".join(lines)


def same_branches(results: Results) -> list[str]:
    """Gated methods whose branch outputs are the same numbers in every seed."""
    models = results.note["models"]
    digests = {m: tuple(models[f"{m}-s{seed}"]["branches"] for seed in results.seeds) for m in GATED}
    return [m for m in GATED if list(digests.values()).count(digests[m]) > 1]


def temperature(results: Results) -> str:
    def ece(method: str, output: str) -> float:
        return results.over_seeds(method, output, "all 19", "ece_deb").mean

    static = {on: ece("static", f"fused_t_{on}") for on in ("clean", "corrupted")}
    best = min(GATED, key=lambda m: ece(m, "settled"))
    on_top = {on: ece(best, f"settled_t_{on}") for on in ("clean", "corrupted")}
    wins = ece(best, "settled") < min(static.values())
    return (
        f"One temperature for Static, fitted on clean held-out images, leaves {static['clean']:.4f}; fitted on the "
        "four "
        f"training corruptions {static['corrupted']:.4f}. The settled gate of {NAMES[best]} without any temperature "
        "has "
        f"{ece(best, 'settled'):.4f}, "
        + ("better than either" if wins else "which does not beat the better of the two")
        + f"; with a temperature on top {on_top['clean']:.4f} and {on_top['corrupted']:.4f}. "
        "A temperature is one number for all inputs; the gate is one for each, and can be turned while it runs."
    )


def cost(results: Results) -> str:
    parts = []
    for width, rows in results["cost"].groupby("width"):
        ratio = rows.set_index("method")["ratio_to_static"]
        parts.append(f"{ratio['knob-ode']:.2f} at width {width}")
    paper = published.PAPER["knob-ode"].latency_ms / published.PAPER["static"].latency_ms
    return (
        f"Knob-ODE costs {' and '.join(parts)} times Static for a single image (the paper: {paper:.2f}). Multiply-"
        "accumulates differ in the fourth digit; what is left of the ratio is the overhead of a few small operations "
        "(stage statistics, the command's two layers, the fusion), which weighs more the narrower the network."
    )


def e1(results: Results) -> str:
    summary = results["e1_summary"].query("mode == 'settled'")
    rho, samples = summary["spearman_severity_medians"].mean(), summary["spearman_samples"].mean()
    rows = results["e1"].query("mode == 'settled' and severity == 5").groupby("subset")["csr_mean"].mean()
    holds = bool((summary["spearman_severity_medians"] >= 0.9).all())
    return (
        f"Over each severity's median, T_eff {'rises' if holds else 'does not rise'} with severity (ρ = {rho:.2f}; the "
        f"paper: {published.PAPER_SPEARMAN}); sample by sample the correlation is weak (ρ = {samples:.2f}): severity "
        "is "
        f"one of many things that set two branches apart. At severity 5 the mean CSR is {rows['agree']:.3f} where the "
        f"branches agree and {rows['disagree']:.3f} where they do not. Margins are taken along the fused top-2, where "
        "T_eff >= 1 is a theorem; with each branch's own top-2 it would be false for some samples."
    )


def e2(results: Results) -> str:
    frame = results["e2_test"].query("mode == 'settled' and subset == 'all'")
    mean = frame.groupby(["method", "severity"]).mean(numeric_only=True)
    row = mean.loc["knob-ode", "all"]
    clean, worst = mean.loc["knob-ode", "0"]["gate_mean"], mean.loc["knob-ode", "5"]["gate_mean"]
    return (
        f"On the test cells the gate of Knob-ODE finds the better branch with an AUC of {row['auc_oa']:.2f} (OA) and "
        f"{row['auc_gca']:.2f} (GCA) at a polarisation of {row['polarisation']:.2f}; the paper reports "
        f"{published.PAPER_AUC_OA}, {published.PAPER_AUC_GCA} and {published.PAPER_POLARISATION}. Its mean goes from "
        f"{clean:.2f} on clean images to {worst:.2f} at severity 5. The curves over epochs are measured on held-out "
        "training images, clean and corrupted alike."
    )


def e3(results: Results) -> str:
    gate = results["e3_gate_bode"]
    ode, ia = (stream_gain(results, method, "continuous").mean() for method in ("knob-ode", "knob-ia"))
    rounded = stream_gain(results, "knob-ode", "rounded").mean()
    frame = results["e3_stream_bode"]
    part = frame[(frame["method"] == "knob-ode") & (frame["severities"] == "continuous")]
    mean = part.groupby("freq").mean(numeric_only=True)
    top = mean.index.max()
    off = (mean["gain_db"] - mean["gate_theory_db"]).abs().drop(top).max()
    return (
        f"The gate alone lies on theory to {gate['error_db'].abs().max():.0e} dB and "
        f"{gate['error_degrees'].abs().max():.0e} degrees. End to end the whole model does what its gate does: up to "
        "the "
        f"last frequency but one the two curves differ by at most {off:.1f} dB, and at {top:g} cycles/frame Knob-ODE "
        "has "
        f"{ode:.1f} dB where Knob-IA has {ia:.1f}. The paper found the empirical curve shallower than the ideal one "
        "and "
        "blamed rounded severities; here severity is continuous, and rounding it changes the last point from "
        f"{ode:.1f} "
        f"to {rounded:.1f} dB, so that rounding alone does not make a curve shallow. What does limit a measured "
        "curve is "
        "the noise of the pictures: averaged without its phase it would fill in the stop band."
    )


def streams(results: Results) -> str:
    mean = noise_streams(results).groupby("variant").mean(numeric_only=True)
    ia, ode, memory = (mean.loc[name] for name in ("knob-ia", "knob-ode", "knob-ode + memory"))
    ema = mean.loc["knob-ia + EMA of p"]
    best = calmest(results, "knob-ode + memory")
    change = 100 * (ia["flips"] - ode["flips"]) / ia["flips"] if ia["flips"] else 0.0
    rival = trade_off_means(results, "knob-ia + EMA of p")
    within = rival[rival["cut_lag63"] <= best.lag]
    lines = [
        f"On the noise streams Knob-ODE's gate trembles {ia['gate_jitter'] / ode['gate_jitter']:.1f} times less than "
        f"Knob-IA's at a lag of {ode['gate_lag63']:.1f} frames. That alone changes little of what an operator sees: "
        "flips "
        f"go from {ia['flips']:.1f} to {ode['flips']:.1f} per 100 frames ({change:.0f} % fewer), jitter of the "
        "confidence "
        f"from {ia['jitter']:.4f} to {ode['jitter']:.4f}, because the branch logits themselves jump with every frame.",
        f"With static memory at the same knobs flips fall to {memory['flips']:.1f} and jitter to "
        f"{memory['jitter']:.4f}; "
        f"after a cut to another picture the new class has made 63 % of its way in {memory['cut_lag63']:.1f} frames. "
        "At "
        f"ζ {best.zeta:g}, ω_n {best.omega_n:g} memory gives {best.flips:.1f} flips at {best.lag:.1f} frames.",
    ]
    if len(within):
        flips = within["flips"].min()
        verdict = "fewer than ours" if flips < best.flips else "no fewer than ours"
        lines.append(
            f"The outside baselines are strong: an EMA of the probabilities gets {flips:.1f} flips within the same "
            "lag, "
            f"{verdict}; matched to the home setting it has {ema['flips']:.1f} flips and an NLL of {ema['nll']:.3f} "
            f"(ours with memory: {memory['nll']:.3f}). What it does not have is a gate: it can be turned slower or "
            "faster, "
            "but it never decides between what it remembers and what it sees."
        )
    return "\n\n".join(lines)
