"""Attentive memory beside its rivals on change streams: the report's table, figure and sentences.

From assets/results/change_filters.csv (`train.compare_filters test`): one row a model, kind of stream, filter and mean
delay, with intervals over streams.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from knob_core.rivals import RIVALS, WITH_COMMAND
from train.report.result_set import Results, markdown, number

FILE, HOME_FILE, SURFACE_FILE = "change_filters", "change_home", "memory_surface"
OURS = {"attentive": "**attentive memory**", "attentive-single": "**attentive memory**"}
MODELS = {"knob-ode": "Knob-ODE's fused logits with u*", "static": "a single classifier (Static), no u*"}
KINDS = {"mixed": "a cut every 40 frames", "fast": "every 15", "slow": "every 120"}


def rows(results: Results, model: str, kind: str) -> Any:
    """Of one model's seeds and one kind of stream."""
    frame = results[FILE]
    return frame[frame["model"].str.startswith(f"{model}-s") & (frame["kind"] == kind)]


def over_seeds(frame: Any) -> Any:
    """Excess flips (filter x delay) and best NLL, means over seeds, strongest last."""
    flips = frame.pivot_table(index="filter", columns="delay", values="excess_flips")
    flips["nll"] = frame.groupby("filter")["best_nll"].mean()
    return flips.sort_values(flips.columns[2], ascending=False)


def table(results: Results, model: str, kind: str) -> str:
    """Excess flips per 100 frames at each mean delay, and the best setting's NLL; means over seeds."""
    means = over_seeds(rows(results, model, kind))
    delays = [column for column in means.columns if column != "nll"]
    lines = [
        [name_of(key), *(number(row[delay]) for delay in delays), number(row["nll"], 3)]
        for key, row in means.iterrows()
    ]
    return markdown(["excess flips at a mean delay of", *(f"{delay:g}" for delay in delays), "best NLL"], lines)


def name_of(key: str) -> str:
    return OURS.get(key) or (RIVALS | WITH_COMMAND)[key].NAME


def verdict(results: Results, model: str, kind: str) -> str:
    """Seed by seed: at which delays ours is below every rival, and where the interval says so."""
    sentences = []
    for seed_name, frame in rows(results, model, kind).groupby("model"):
        rivals = frame[~frame["filter"].isin(OURS)]
        best = rivals.loc[rivals.groupby("delay")["excess_flips"].idxmin()]
        sure = [f"{row.delay:g}" for row in best.itertuples() if row.ours_less_high < 0]
        below = [f"{row.delay:g}" for row in best.itertuples() if row.ours_less < 0 <= row.ours_less_high]
        not_below = [f"{row.delay:g} ({row.filter})" for row in best.itertuples() if row.ours_less >= 0]
        parts = [f"below the best rival at {', '.join(sure)} frames (95 % interval excludes 0)"] if sure else []
        parts += [f"below it, within the noise, at {', '.join(below)}"] if below else []
        parts += [f"not below it at {', '.join(not_below)}"] if not_below else []
        sentences.append(f"- {seed_name}: " + "; ".join(parts) + ".")
    return "\n".join(sentences)


def likelihood(results: Results) -> str:
    """Where ours does not win, in words."""
    means = {model: over_seeds(rows(results, model, "mixed"))["nll"] for model in MODELS}
    words = []
    for model, nll in means.items():
        own = float(nll[[key for key in nll.index if key in OURS]].iloc[0])
        better = [name_of(str(key)) for key, value in nll.items() if value < own]
        said = f"lower for {', '.join(better)}" if better else "lowest"
        words.append(f"{MODELS[model]}: {own:.3f}, {said}")
    return "NLL of each filter's best setting is a weak spot of ours. " + "; ".join(words) + "."


def home_table(results: Results) -> str:
    """What an operator gets without turning anything: means over seeds on the mixed test streams."""
    frame = results[HOME_FILE]
    lines = []
    for model, words in MODELS.items():
        part = frame[frame["model"].str.startswith(f"{model}-s")]
        for setting, row in part.groupby("setting", sort=False).mean(numeric_only=True).iterrows():
            lines.append(
                [f"{words}: {setting}", number(row["excess_flips"]), number(row["delay_mean"]),
                 number(row["delay_90"], 1), number(100 * row["missed"], 1), number(100 * row["accuracy"], 1),
                 number(row["nll"], 3), number(row["ece"], 3), number(row["sure_wrong"])]
            )  # fmt: skip
    head = [
        "",
        "excess flips",
        "delay",
        "slowest tenth",
        "missed %",
        "accuracy %",
        "NLL",
        "ECE_deb",
        "confident errors",
    ]
    return markdown(head, lines)


def trained(results: Results) -> str:
    """Where the likelihood over the knobs is lowest, model by model."""
    frame = results[SURFACE_FILE]
    best = frame.loc[frame.groupby("model")["nll"].idxmin()]
    where = "; ".join(
        f"{row.model} ζ {row.zeta:.2g}, ω_n {row.omega_n:.2g} (NLL {row.nll:.3f})" for row in best.itertuples()
    )
    return (
        "Lowest NLL over ζ in [0.2, 3] and ω_n in [0.05, 3] on the validation streams, weights fixed: "
        f"{where}. The likelihood prefers the alert and overdamped end, often the edge of the range; calm is bought "
        "beyond that optimum."
    )


def section(results: Results, figure: str) -> list[str]:
    """The report's parts on change streams; none where the file is missing."""
    if not (results.folder / f"{FILE}.csv").is_file():
        return []
    parts = [
        "## Change streams: attentive memory beside its rivals",
        "Content and severity change independently (300 frames, the fifteen unseen corruptions, test pictures "
        "2,000-9,999, streams that no choice has seen). Every filter was tuned on validation streams (held-out "
        "training pictures under pairs of training corruptions) with the same objective and 80 evaluations; of ours "
        "one set of weights is used and only ω_n is turned. The filters with u* get what ours gets: the network's own "
        "command. Lower is better; means over three seeds.",
    ]
    for model, words in MODELS.items():
        parts += [f"{words[0].upper()}{words[1:]}, {KINDS['mixed']}:", table(results, model, "mixed"),
                  verdict(results, model, "mixed")]  # fmt: skip
    parts += [likelihood(results), figure]
    if (results.folder / f"{HOME_FILE}.csv").is_file():
        parts += ["At the home setting (ζ 1, ω_n 0.4), the same test streams:", home_table(results)]
    if (results.folder / f"{SURFACE_FILE}.csv").is_file():
        parts.append(trained(results))
    for kind in ("fast", "slow"):
        if len(rows(results, "knob-ode", kind)):
            parts += [f"Knob-ODE, {kind}: {KINDS[kind]} (60 streams a seed):", table(results, "knob-ode", kind)]
    return parts


def curves(results: Results, model: str = "knob-ode") -> pd.DataFrame:
    """Flips and NLL by filter and delay with their band, means over seeds: what the figure draws."""
    frame = rows(results, model, "mixed")
    wanted = ["excess_flips", "low", "high", "nll"]
    return frame.groupby(["filter", "delay"])[wanted].mean().reset_index()
