"""A plain-words reading of each part, written from the numbers: what holds, what does not, and why we differ."""

from __future__ import annotations

from knob_core import methods, models
from knob_core.library.benchmark import PAPER_WIDTH as WIDE
from train.cost import parameters
from train.report import published
from train.report.claims import calmest, noise_streams, stream_gain
from train.report.result_set import NAMES, Results


def setting(results: Results) -> str:
    note = results.note
    widths = sorted({model["width"] for model in note["models"].values()})
    family = len(results.methods) * len(results.seeds)
    rivals = f", and {len(note['models']) - family} plain rivals" if len(note["models"]) > family else ""
    return (
        f"{family} models ({len(results.methods)} methods x {len(results.seeds)} seeds, width "
        f"{', '.join(map(str, widths))}){rivals}, {pictures(results)} of the CIFAR-10 test split under 19 "
        f"corruptions x 5 severities ({note['pixels']}, noise seed {note['noise_seed']}). Means over severities, "
        "then over corruptions, then over seeds; ± is the standard error over pictures (all cells and seeds of a "
        "picture belong together), unless a column says that it is over seeds. The four training corruptions are "
        "among the 19 and not among the 15."
    )


def pictures(results: Results) -> str:
    """Which test pictures were measured, counted from 0."""
    first = int(results.note.get("first_image", 0))
    return f"pictures {first:,} to {first + int(results.note['images']) - 1:,}"


def benchmark(results: Results) -> str:
    accuracy = {m: results.over_seeds(m, "fused", "all 19", "accuracy").mean for m in results.methods}
    ece = {m: results.over_seeds(m, "fused", "all 19", "ece_deb").mean for m in results.methods}
    settled = {m: results.over_seeds(m, "settled", "all 19", "ece_deb").mean for m in results.gated}
    best, calm = max(accuracy, key=lambda m: accuracy[m]), min(ece, key=lambda m: ece[m])
    spread = 100 * (max(accuracy.values()) - min(accuracy.values()))
    lines = [
        f"Accuracy hardly tells the methods apart: {spread:.1f} points between the best ({NAMES[best]}) and the worst, "
        f"since all methods of a seed stand on one encoder. In Reset Mode the lowest ECE_deb is {NAMES[calm]}'s, "
        f"{ece[calm]:.4f}; Static has {ece['static']:.4f}."
    ]
    better = [NAMES[m] for m in results.gated if ece[m] < ece["static"]]
    worse = [NAMES[m] for m in results.gated if ece[m] >= ece["static"]]
    if better:
        lines.append(f"Better calibrated than Static in Reset Mode: {', '.join(better)}.")
    if worse:
        lines.append(f"Not better calibrated than Static in Reset Mode: {', '.join(worse)}.")
    lines.append(
        "Settled, that is at the gate value that a stream comes to rest at: "
        + ", ".join(f"{NAMES[m]} {settled[m]:.4f}" for m in results.gated)
        + "."
    )
    twins = same_branches(results)
    if twins:
        lines.append(
            f"{' and '.join(NAMES[m] for m in twins)} have the same weights seed by seed: their branches and u* are "
            "trained by the same losses from the same start, and only what lies between u* and g differs. So their "
            "settled figures are the same, and Reset Mode shows what one step from rest does: it shrinks u* towards 0, "
            "and with it the gate towards 0.5."
        )
    lines.append(
        "Where we differ from the paper, and why: our branches are trained to be complementary (static modest, on all "
        "images, reading the encoder's stages 1 to 3; dynamic sharp and on clean images; the fused loss teaches both), "
        "ECE is far lower because the static branch is label-smoothed and the encoder has seen four corruptions, and "
        "our network is a quarter as wide."
    )
    return "\n\n".join(lines)


def same_branches(results: Results) -> list[str]:
    """Gated methods whose branch outputs are the same numbers in every seed."""
    models = results.note["models"]
    digests = {m: tuple(models[f"{m}-s{seed}"]["branches"] for seed in results.seeds) for m in results.gated}
    return [m for m in results.gated if list(digests.values()).count(digests[m]) > 1]


def temperature(results: Results) -> str:
    def ece(method: str, output: str) -> float:
        return results.over_seeds(method, output, "all 19", "ece_deb").mean

    def nll(method: str, output: str) -> float:
        return results.over_seeds(method, output, "all 19", "nll").mean

    static = {on: ece("static", f"fused_t_{on}") for on in ("clean", "corrupted")}
    best = min(results.gated, key=lambda m: ece(m, "settled"))
    on_top = {on: ece(best, f"settled_t_{on}") for on in ("clean", "corrupted")}
    wins = ece(best, "settled") < min(static.values())
    worse = min(on_top.values()) > ece(best, "settled")
    return (
        f"One temperature for Static leaves {static['clean']:.4f} when fitted on clean held-out images, "
        f"{static['corrupted']:.4f} on the four training corruptions. The settled gate of {NAMES[best]} has "
        f"{ece(best, 'settled'):.4f} without any temperature, "
        + ("better than either" if wins else "which does not beat the better of the two")
        + f"; with a temperature on top it has {on_top['clean']:.4f} and {on_top['corrupted']:.4f}"
        + (
            ": worse, since on held-out images the fused output is too modest, and what sharpens it there makes it "
            "overconfident on corruptions that nobody has seen. "
            if worse
            else ". "
        )
        + f"In NLL one temperature for Static has {nll('static', 'fused_t_clean'):.4f} and "
        f"{nll('static', 'fused_t_corrupted'):.4f}, {NAMES[best]} {nll(best, 'settled'):.4f}: *Plain rivals* has the "
        "intervals. A temperature is fixed; a gate can be turned while it runs."
    )


def cost(results: Results) -> str:
    parts = []
    for width, rows in results["cost"].groupby("width"):
        ratio = rows.set_index("method")["ratio_to_static"]
        parts.append(f"{ratio['knob-ode']:.2f} at width {width}")
    paper = published.PAPER["knob-ode"].latency_ms / published.PAPER["static"].latency_ms
    plainest = models.build(methods.PLAINEST, WIDE)
    static, unused = (parameters(part) / 1e6 for part in (plainest, plainest.dyn_head))
    return (
        f"Knob-ODE costs {' and '.join(parts)} times Static for a single image (the paper: {paper:.2f}). Multiply-"
        "accumulates differ in the fourth digit; what is left of the ratio is the overhead of a few small operations "
        "(stage statistics, the command's two layers, the fusion), which weighs more the narrower the network. "
        f"Static's {static:.2f} million count the other branch's head, which it has, as in the paper's table, and does "
        f"not use: without it they are {static - unused:.2f} million."
    )


def e1(results: Results) -> str:
    summary = results["e1_summary"].query("mode == 'settled'").mean(numeric_only=True)
    medians = results["e1"].query("mode == 'settled' and method == 'knob-ia' and subset == 'all'")
    medians = medians.groupby("severity")["t_eff_median"].mean()
    rises = summary["spearman_severity_medians"] >= 0.9
    reset = results["e1_summary"].query("mode == 'reset'").groupby("method")["spearman_severity_medians"].mean()
    lost = [NAMES[m] for m in results.gated if reset[m] < 0.9]
    lines = [
        f"Over the five medians T_eff {'rises' if rises else 'does not rise'} with severity "
        f"(ρ = {summary['spearman_severity_medians']:.2f}); over the medians of single cells ρ is "
        f"{summary['spearman_cell_medians']:.2f}, over samples {summary['spearman_samples']:.2f}. The paper gives "
        f"{published.PAPER_SPEARMAN} without saying over what, so only a like level may be compared with it: five "
        "medians can hardly show anything but 1 or -1, and severity is one of many things that set two branches "
        f"apart. The size of the effect, for Knob-IA: a median of {medians[1]:.3f} at severity 1, {medians[5]:.3f} at "
        "severity 5.",
    ]
    if lost:
        lines.append(
            f"In Reset Mode T_eff does not rise for {' and '.join(lost)}: one step from rest leaves the gate near 0.5 "
            "whatever the input, so that T_eff no longer follows it. For them the claim is not made."
        )
    lines.append(
        "Margins are taken along the fused top-2, where T_eff >= 1 is a theorem; with each branch's own top-2 it "
        "would be false for some samples."
    )
    return "\n\n".join(lines)


def e2(results: Results) -> str:
    frame = results["e2_test"].query("mode == 'settled'")
    mean = frame.groupby(["method", "severity", "subset"]).mean(numeric_only=True)
    row, apart = mean.loc["knob-ode", "all", "all"], mean.loc["knob-ode", "all", "disagree"]
    clean, worst = (mean.loc["knob-ode", severity, "all"]["gate_mean"] for severity in ("0", "5"))
    return (
        f"On the test cells the gate of Knob-ODE finds the better branch with an AUC of {row['auc_oa']:.2f} (OA) and "
        f"{row['auc_gca']:.2f} (GCA) at a polarisation of {row['polarisation']:.2f}; the paper reports "
        f"{published.PAPER_AUC_OA}, {published.PAPER_AUC_GCA} and {published.PAPER_POLARISATION:.2f}. Its mean goes "
        f"from {clean:.2f} on clean images to {worst:.2f} at severity 5. Where the branches name different classes, "
        f"which is {100 * apart['share']:.1f} % of the samples, it "
        + ("knows hardly more than chance" if apart["auc_oa"] < 0.55 else "still knows more than chance")
        + f" (AUC {apart['auc_oa']:.2f}). OA, against which it is scored, is also one of its training targets; p_max "
        f"is not trained for it.\n\n{auc_over_epochs(results)}"
    )


def auc_over_epochs(results: Results) -> str:
    """The paper says that the AUC rises through training: what ours do, method by method."""
    frame = results["learning"]
    parts = []
    for method in results.gated:
        rows = frame[(frame["method"] == method) & (frame["epoch"] > 0)].dropna(subset="auc_oa_all")
        curve = rows.groupby("epoch")["auc_oa_all"].mean()
        if len(curve) > 1:
            first, last = float(curve.iloc[0]), float(curve.iloc[-1])
            words = "rises" if last > first + 0.005 else "falls" if last < first - 0.005 else "stays"
            parts.append(f"{NAMES[method]} {words} ({first:.3f} after the first epoch, {last:.3f} after the last)")
    return (
        "Over the epochs, on held-out training pictures, clean and corrupted alike, the AUC against OA of "
        + "; ".join(parts)
        + f". The paper's rises to {published.PAPER_AUC_OA}."
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
    ema, alone = (mean.loc[name] for name in ("knob-ia + EMA of p", "static + memory"))
    best = calmest(results, "knob-ode + memory")
    rivals = {"an EMA of the probabilities": "knob-ia + EMA of p", "Static with memory": "static + memory"}
    found = {words: calmest(results, family) for words, family in rivals.items()}
    lines = [
        f"On the noise streams Knob-ODE's gate trembles {ia['gate_jitter'] / ode['gate_jitter']:.1f} times less than "
        f"Knob-IA's at a lag of {ode['gate_lag63']:.1f} frames. That alone changes little of what an operator sees: "
        f"{ia['flips']:.1f} flips per 100 frames become {ode['flips']:.1f}, the confidence's jitter goes from "
        f"{ia['jitter']:.4f} to {ode['jitter']:.4f}, because the branch logits themselves jump with every frame.",
        f"With plain memory at the same knobs there are {memory['flips']:.1f} flips, a jitter of "
        f"{memory['jitter']:.4f} and an accuracy of {100 * memory['accuracy']:.1f} % (frame by frame "
        f"{100 * ia['accuracy']:.1f} %). After a cut to another picture the new class has made 63 % of its way in "
        f"{memory['cut_lag63']:.1f} frames and 95 % in {memory['cut_lag95']:.1f}.",
        f"On noise steps alone the calmest setting of Knob-ODE with memory that makes 63 % of its way within ten "
        f"frames is ζ {best.zeta:g} and ω_n {best.omega_n:g}: {best.flips:.1f} flips, 63 % after {best.lag:.1f}.",
    ]
    within = " and ".join(f"{words} {each.flips:.1f} (63 % after {each.lag:.1f})" for words, each in found.items())
    calmer = all(each.flips < best.flips for each in found.values())
    lines.append(
        f"The outside baselines are strong. Within the same ten frames the fewest flips are, for {within}: "
        f"{'both are calmer' if calmer else 'not both are calmer'}. Matched to the home setting the EMA has "
        f"{ema['flips']:.1f} flips and an NLL of {ema['nll']:.3f} (Knob-ODE with memory {memory['nll']:.3f}), but "
        f"after a cut it needs {ema['cut_lag95']:.1f} frames for 95 % of the way, where memory needs "
        f"{memory['cut_lag95']:.1f}: a first-order filter starts at once and arrives late. A memory without a gate "
        f"(Static with memory) has {alone['flips']:.1f} flips there, at {alone['cut_lag63']:.1f} and "
        f"{alone['cut_lag95']:.1f} frames, so whoever wants nothing but calm can have it cheaper. What an operator "
        "gets where pictures change is above, under *Change streams*."
    )
    lines.append(
        "These are eight images, most of them easy, seen for a long time: all outputs are underconfident on them, "
        "and the "
        "ECE column compares outputs, not networks."
    )
    return "\n\n".join(lines)
